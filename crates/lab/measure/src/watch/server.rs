//! A server, what it is asked, and the load under which it is watched.

use std::time::Duration;

use lab_cases::{Case, Workspace};
use lab_protocol::{Load, Note, Request};
use lab_servers::{Launch, RequestOptions, Subject, learn_answers};

use crate::Workload;

#[derive(Clone, Debug)]
pub struct ServerUnderLoad {
    pub name: String,
    pub launch: Launch,
    /// The requests of a visit.
    pub requests: Vec<Request>,
    pub workload: Workload,
    /// How long a visit takes that meets no other; zero if nobody knows.
    pub visit_takes: Duration,
}

impl ServerUnderLoad {
    fn new(subject: Subject, load: Load, visit_takes: Duration) -> Self {
        let Subject { name, launch, requests, .. } = subject;
        Self { name, launch, requests, workload: Workload::of_users(load), visit_takes }
    }

    /// Servers that these users visit. The answers of the first are the right answers for the others; also returns what
    /// is not checked.
    ///
    /// # Errors
    ///
    /// If the system doesn't allow as many connections, or if the answers can't be compared.
    pub async fn with_answers(
        mut subjects: Vec<Subject>,
        load: Load,
        requests: &RequestOptions,
    ) -> anyhow::Result<(Vec<Self>, Vec<Note>)> {
        // Before a server starts.
        lab_system::allow_connections(load.users)?;
        let (notes, visit_takes) = learn_answers(&mut subjects, requests).await?;
        let mut servers = Vec::new();
        for subject in subjects {
            servers.push(Self::new(subject, load, visit_takes));
        }
        Ok((servers, notes))
    }

    /// A variant of a case, under the case's load.
    ///
    /// # Errors
    ///
    /// If the system doesn't allow as many connections, or if the variant has no server.
    pub fn of_case(workspace: &Workspace, case: &Case, variant: &str) -> anyhow::Result<Self> {
        let (requests, workload) = Workload::of_case(case)?;
        let launch = Launch::of_case(workspace, case, variant)?;
        let visit_takes = Duration::ZERO;
        Ok(Self { name: variant.to_owned(), launch, requests, workload, visit_takes })
    }
}
