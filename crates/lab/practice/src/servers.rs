//! The servers of a check: the reader's, and what it is compared with.

use anyhow::ensure;
use lab_cases::{Case, Criteria, FIXED, MINE, SLOW, Workspace};
use lab_report::translate;
use lab_servers::{
    Launch, current,
    instrumented::{self, Instrumentation},
};

use crate::source::criteria;

/// The servers of a check.
#[derive(Clone, Debug)]
pub struct Servers {
    ordinary: Workspace,
    counting: Workspace,
}

impl Servers {
    /// The servers that are built already.
    pub fn built(workspace: &Workspace) -> Self {
        let [ordinary, counting] = [workspace.clone(), workspace.clone()];
        Self { ordinary, counting }
    }

    /// Builds the reader's variants of these cases, and what they are compared with, at once.
    ///
    /// # Errors
    ///
    /// If there is no `mine.rs`, or if it does not compile.
    pub async fn build(
        workspace: &Workspace,
        cases: &[Case],
        is_timed: bool,
    ) -> anyhow::Result<Self> {
        let (mut counted, mut ordinary) = (Vec::new(), Vec::new());
        for case in cases {
            let (criteria, mine) = (criteria(case)?, case.source(MINE));
            let missing = || {
                let (file, case) = (mine.display(), &case.shown);
                translate!("there is no {file}: `just try {case}` makes it", file, case)
            };
            ensure!(mine.is_file(), missing());
            let mut variants = vec![SLOW.to_owned()];
            if is_timed || !criteria.is_counted() {
                variants.push(MINE.to_owned());
            }
            if is_timed {
                variants.push(FIXED.to_owned());
            }
            ordinary.push((case, variants));
            if criteria.is_counted() {
                // What slow costs says how far the fix is.
                let variants = [SLOW, MINE].map(str::to_owned).to_vec();
                counted.push(Case { variants, ..case.clone() });
            }
        }
        Self::build_all(workspace, &ordinary, &counted).await
    }

    /// Builds `slow` alone, for [`crate::look`].
    ///
    /// # Errors
    ///
    /// If the case cannot be practised, or if cargo fails.
    pub async fn build_slow(workspace: &Workspace, case: &Case) -> anyhow::Result<Self> {
        let slow = vec![SLOW.to_owned()];
        let counted = Case { variants: slow.clone(), ..case.clone() };
        let counted = if criteria(case)?.is_counted() { vec![counted] } else { Vec::new() };
        Self::build_all(workspace, &[(case, slow)], &counted).await
    }

    async fn build_all(
        workspace: &Workspace,
        ordinary: &[(&Case, Vec<String>)],
        counted: &[Case],
    ) -> anyhow::Result<Self> {
        let mut servers = Self::built(workspace);
        // First, because cargo puts all builds of a server in the same place.
        if !counted.is_empty() {
            servers.counting =
                instrumented::build_instrumented(workspace, counted, Instrumentation::Counts)
                    .await?;
        }
        current::build_ordinary(workspace, ordinary).await?;
        Ok(servers)
    }

    /// The workspace with the servers that users run.
    pub(super) fn workspace(&self) -> &Workspace {
        &self.ordinary
    }

    /// The workspace with those that count, if one of the gates without a clock does.
    pub(super) fn counting(&self) -> &Workspace {
        &self.counting
    }

    /// How to start a variant of a case.
    pub(super) fn launch(&self, case: &Case, variant: &str) -> anyhow::Result<Launch> {
        Launch::of_case(&self.ordinary, case, variant)
    }

    /// Where the reader's variant is that the gates without a clock judge: it counts, if one of them does.
    pub(super) fn of_mine(&self, criteria: &Criteria) -> &Workspace {
        if criteria.is_counted() { self.counting() } else { &self.ordinary }
    }
}
