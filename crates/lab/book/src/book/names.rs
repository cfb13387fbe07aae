//! Values by name, as expressions in the pages see them.

use std::collections::BTreeMap;

use minijinja::{Error, ErrorKind, Value, value::Serde};
use serde::Serialize;
use serde_json::Value as Json;

/// Values under their [`normal`] names.
pub type Names = BTreeMap<String, Value>;

/// The form of a name that can be written in an expression: `lock_scope` for `lock-scope`.
pub fn normal(name: &str) -> String {
    name.replace(['-', '.', '/'], "_")
}

/// The fields of a record or of a part of it.
pub fn fields(of: &impl Serialize) -> Names {
    match serde_json::to_value(of) {
        Ok(Json::Object(fields)) => {
            fields.into_iter().map(|(name, field)| (normal(&name), value(field))).collect()
        }
        _ => Names::new(),
    }
}

fn value(json: Json) -> Value {
    match json {
        Json::Object(_) => fields(&json).into(),
        Json::Array(values) => values.into_iter().map(value).collect(),
        scalar => Serde(scalar).into(),
    }
}

pub fn failed(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("{why:#}"))
}
