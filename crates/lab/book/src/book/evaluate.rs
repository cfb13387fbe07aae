//! Evaluates the expressions in the pages.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use anyhow::{anyhow, bail, ensure};
use lab_display::NONE;
use lab_model::Workspace;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, context, value::Serde};

use super::{
    blocks::{self, Drawn, Picture},
    filters,
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
    /// Reads what the pages quote.
    pub fn of(workspace: &Workspace) -> anyhow::Result<Self> {
        let sources = Arc::new(Sources::of(workspace)?);
        let drawn = Drawn::default();
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        filters::add_to(&mut env);
        blocks::add_to(&mut env, &sources, &drawn);
        for (name, value) in sources.names()? {
            env.add_global(name, Value::from(Serde(value)));
        }
        let absent = sources.record().err().or(sources.benches().err());
        let missing = absent.map_or(MISSING.to_owned(), |why| why.to_string());
        Ok(Self { root: sources.root.clone(), env, drawn, missing })
    }

    /// Evaluates an expression for a page in this directory, where its links start.
    pub fn eval(
        &self,
        expression: &str,
        page_dir: &Path,
    ) -> anyhow::Result<(String, Vec<Picture>)> {
        let context = context! { page => page_dir.to_string_lossy() };
        let value = self.env.compile_expression(expression).and_then(|it| it.eval(context));
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

    fn in_words(&self, error: &Error) -> anyhow::Error {
        let detail = error.detail().unwrap_or_default();
        let is_missing = |word| detail.contains(word);
        match error.kind() {
            ErrorKind::UndefinedError => anyhow!("{}", self.missing),
            // So are the errors of a filter that gets nothing.
            _ if ["unit value", "none to", "undefined to"].into_iter().any(is_missing) => {
                anyhow!("{}", self.missing)
            }
            _ if detail.contains("unsupported types") => {
                anyhow!("{detail}: put arithmetic in parentheses before a filter")
            }
            kind if detail.is_empty() => anyhow!("{kind}"),
            _ => anyhow!("{detail}"),
        }
    }
}

pub fn failed(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("{why:#}"))
}
