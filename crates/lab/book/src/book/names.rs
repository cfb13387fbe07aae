//! Values by name, as expressions in the pages see them.

use std::sync::Arc;

use lab_case::unknown;
use minijinja::{
    Error, ErrorKind, State, Value,
    value::{Enumerator, Object, ObjectRepr},
};
use serde::Serialize;

/// Named values. An unknown name is an error that suggests a known one.
///
/// `-`, `.`, `/` and `_` are the same in a name, so that `lock_scope` finds `lock-scope`.
#[derive(Debug)]
pub struct Names {
    /// What the values belong to.
    pub of: String,
    values: Vec<(String, Value)>,
    /// The error for a name that is missing, if a suggestion would not help.
    missing: Option<String>,
}

impl Names {
    pub fn new(of: &str) -> Self {
        Self { of: of.to_owned(), values: Vec::new(), missing: None }
    }

    /// Adds a value. The first value of a name wins.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if self.find(name).is_none() {
            self.values.push((name.to_owned(), value.into()));
        }
        self
    }

    /// Adds the fields of a JSON object.
    pub fn with_fields(self, json: serde_json::Value) -> Self {
        let serde_json::Value::Object(fields) = json else { return self };
        fields.into_iter().fold(self, |names, (name, field)| {
            let field = from_json(&name, field);
            names.with(&name, field)
        })
    }

    /// Explains why names are missing, in place of a suggestion.
    pub fn missing(mut self, why: String) -> Self {
        self.missing = Some(why);
        self
    }

    fn find(&self, name: &str) -> Option<&Value> {
        let name = normal(name);
        self.values.iter().find(|(known, _)| normal(known) == name).map(|(_, value)| value)
    }

    fn get(&self, name: &str) -> Result<Value, Error> {
        if let Some(value) = self.find(name) {
            return Ok(value.clone());
        }
        if let Some(why) = &self.missing {
            return Err(failed(why));
        }
        let known: Vec<_> = self.values.iter().map(|(known, _)| normal(known)).collect();
        let kind = format!("value of {}", self.of);
        Err(failed(unknown(&kind, &normal(name), known.iter().map(String::as_str))))
    }
}

impl From<Names> for Value {
    fn from(names: Names) -> Self {
        Self::from_object(names)
    }
}

impl Object for Names {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        // An error in the place of a value is reported as soon as an expression uses it.
        Some(self.get(key.as_str()?).unwrap_or_else(Value::from))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.values.iter().map(|(name, _)| name.as_str().into()).collect())
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        self.get(method)?.call(state, args)
    }
}

/// The form of a name that can be written in an expression.
pub fn normal(name: &str) -> String {
    name.replace(['-', '.', '/'], "_")
}

pub fn failed(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("{why:#}"))
}

/// The fields of a record or a part of it.
pub fn fields(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn from_json(name: &str, json: serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => ().into(),
        Json::Bool(value) => value.into(),
        Json::Number(value) => match value.as_i64() {
            Some(integer) => integer.into(),
            None => value.as_f64().into(),
        },
        Json::String(value) => value.into(),
        Json::Array(values) => values.into_iter().map(|value| from_json(name, value)).collect(),
        Json::Object(_) => Names::new(name).with_fields(json).into(),
    }
}
