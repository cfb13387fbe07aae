//! Evaluates the expressions in the pages.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{anyhow, bail, ensure};
use lab_cases::Workspace;
use lab_pictures::chart::Chart;
use lab_report::NONE;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, context, value::Serde};

use super::{
    blocks, filters,
    functions::{right_call, unknown_call},
    page::CHINESE,
    sources::Sources,
    words::Words,
};

/// Expressions, with the names that they can use.
#[derive(Debug)]
pub struct Book {
    /// The workspace, as an absolute path.
    pub root: PathBuf,
    env: Environment<'static>,
    /// The charts that the pages can show, with their paths below the workspace.
    pub charts: Vec<(String, Chart)>,
    /// The Chinese words that replace the English ones that an expression makes.
    pub words: Words,
    /// The error for a name that has no value.
    missing: String,
}

const MISSING: &str = "the record has no such figure, or one that must not be quoted: \
                       `just docs --eval CASE` lists what it has, and `just record` makes a new one";

impl Book {
    /// Reads what the pages quote.
    pub fn of(workspace: &Workspace) -> anyhow::Result<Self> {
        let sources = Arc::new(Sources::of(workspace)?);
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        filters::add_to(&mut env);
        blocks::add_to(&mut env, &sources);
        for (name, value) in sources.names()? {
            env.add_global(name, Value::from(Serde(value)));
        }
        let absent = sources.record().err().or(sources.benches().err());
        let missing = absent.map_or(MISSING.to_owned(), |why| why.to_string());
        let root = sources.root.clone();
        let words = Words::read(&root.join(CHINESE).join("words.toml"))?;
        Ok(Self { root, env, charts: blocks::charts(&sources), words, missing })
    }

    /// Evaluates an expression for a page in this directory, where its links start.
    pub fn eval(&self, expression: &str, page_dir: &Path) -> anyhow::Result<String> {
        let context = context! { page => page_dir.to_string_lossy() };
        let value =
            self.env.compile_expression(expression).and_then(|compiled| compiled.eval(context));
        let value = value.map_err(|error| self.mistake(expression, &error))?;
        if value.as_object().is_some() {
            let names = value.try_iter()?.map(|name| name.to_string());
            bail!("it is a group of values: {}", names.collect::<Vec<_>>().join(", "));
        }
        let text = value.to_string();
        let is_missing = value.is_undefined() || value.is_none() || text == NONE;
        ensure!(!is_missing, "{}", self.missing);
        Ok(text)
    }

    /// Whether every expression can use this name: of a case, a function, or another source.
    pub fn has(&self, name: &str) -> bool {
        self.env.globals().any(|(known, _)| known == name)
    }

    /// Why an expression has no value, and what to write.
    fn mistake(&self, expression: &str, error: &Error) -> anyhow::Error {
        let detail = error.detail().unwrap_or_default();
        match error.kind() {
            ErrorKind::UnknownFunction => {
                unknown_call(detail.split(' ').next().unwrap_or_default())
            }
            ErrorKind::MissingArgument | ErrorKind::TooManyArguments => {
                right_call(expression).unwrap_or_else(|| anyhow!("{error}"))
            }
            ErrorKind::UndefinedError => anyhow!("{}", self.missing),
            // Every wrong value is an `InvalidOperation`, so only the words say that it is one of arithmetic.
            ErrorKind::InvalidOperation if detail.contains("unsupported types") => {
                anyhow!("{detail}: put arithmetic in parentheses before a filter")
            }
            kind if detail.is_empty() => anyhow!("{kind}"),
            _ => anyhow!("{detail}"),
        }
    }
}
