//! Evaluates the expressions in the pages.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use anyhow::{anyhow, bail, ensure};
use lab_display::NONE;
use lab_model::{Workspace, unknown};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, context};

use super::{
    blocks::{self, Drawn, Picture},
    filters,
    mine::Mine,
    names::{failed, normal},
    page::CHAPTERS,
    sources::Sources,
};

/// Expressions, with the names that they can use.
#[derive(Debug)]
pub struct Book {
    /// The workspace, as an absolute path.
    pub root: PathBuf,
    env: Environment<'static>,
    drawn: Drawn,
    /// The error for a name that has no value.
    missing: String,
}

const MISSING: &str = "the record has no such figure, or one that must not be quoted: \
                       `just docs --eval CASE` lists what it has, and `just record` makes a new one";

impl Book {
    /// Reads what the pages quote. With `mine`, tables come with those of the reader's own runs.
    pub fn of(workspace: &Workspace, mine: Option<&Mine>) -> anyhow::Result<Self> {
        let sources = Arc::new(Sources::of(workspace)?);
        let drawn = Drawn::default();
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        filters::add_to(&mut env);
        blocks::add_to(&mut env, &sources, &drawn)?;
        let mut cases = Vec::new();
        for case in &sources.cases {
            let own = mine.and_then(|mine| mine.case(&case.name));
            let own = own.map(|(own, origin)| Value::from(sources.own(case, own, origin)));
            let mut names = sources.case(case);
            names.insert("mine".to_owned(), own.into());
            let value = Value::from(names);
            env.add_global(normal(&case.name), value.clone());
            cases.push(value);
        }
        env.add_global("cases", cases);
        env.add_global("record", sources.about_record());
        env.add_global("benches", sources.bench_groups());
        env.add_global("replications", sources.replications()?);
        let missing = sources.record.as_ref().err().cloned().unwrap_or(MISSING.to_owned());
        Ok(Self { root: sources.root.clone(), env, drawn, missing })
    }

    /// Evaluates an expression for a page in this directory, where its links start.
    pub fn eval(
        &self,
        expression: &str,
        page_dir: &Path,
    ) -> anyhow::Result<(String, Vec<Picture>)> {
        let value = self.value(expression, page_dir);
        // Taken even if the expression failed: the next one must not find them.
        let drawn = std::mem::take(&mut *self.drawn.lock().unwrap_or_else(PoisonError::into_inner));
        let value = value.map_err(|error| self.in_words(&error))?;
        if value.as_object().is_some() {
            let names = value.try_iter()?.map(|name| name.to_string());
            bail!("it is a group of values: {}", names.collect::<Vec<_>>().join(", "));
        }
        let text = value.to_string();
        let is_missing = value.is_undefined() || value.is_none() || text == NONE;
        ensure!(!is_missing, "{}", self.missing);
        Ok((text, drawn))
    }

    pub fn place(&self, picture: &Picture) -> PathBuf {
        self.root.join(CHAPTERS).join(&picture.path)
    }

    pub fn is_stale(&self, picture: &Picture) -> bool {
        std::fs::read_to_string(self.place(picture)).ok().as_ref() != Some(&picture.svg)
    }

    fn value(&self, expression: &str, page_dir: &Path) -> Result<Value, Error> {
        let expression = self.env.compile_expression(expression)?;
        let mut known: Vec<_> = self.env.globals().map(|(name, _)| name).collect();
        known.sort_unstable();
        for name in expression.undeclared_variables(false) {
            if !known.contains(&name.as_str()) {
                return Err(failed(unknown("value or function", &name, known)));
            }
        }
        expression.eval(context! { page => page_dir.to_string_lossy() })
    }

    /// The innermost cause: the one that the author of the page can fix.
    fn in_words(&self, error: &Error) -> anyhow::Error {
        let cause = std::error::Error::source(error);
        if let Some(cause) = cause.and_then(|cause| cause.downcast_ref()) {
            return self.in_words(cause);
        }
        let detail = error.detail().unwrap_or_default();
        match error.kind() {
            ErrorKind::UnknownFilter => {
                let name = detail.split(' ').nth(1).unwrap_or_default();
                unknown("filter", name, filters::names())
            }
            ErrorKind::UndefinedError | ErrorKind::UnknownMethod => anyhow!("{}", self.missing),
            ErrorKind::InvalidOperation if detail.contains("unsupported types") => {
                anyhow!("{detail}: put arithmetic in parentheses before a filter")
            }
            ErrorKind::InvalidOperation if !detail.is_empty() => anyhow!("{detail}"),
            kind => anyhow!("{kind}: {detail}"),
        }
    }
}
