//! The name of a comparison.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a record names a comparison of two servers without a name of its own.
const OWN_SERVERS: &str = "compare";

/// The name of a comparison.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(from = "String", into = "String")]
pub enum CaseName {
    /// A comparison of the user's own servers, whose names describe it.
    #[default]
    OwnServers,
    /// A case, one of several candidates, or a benchmark.
    Named(String),
}

impl CaseName {
    pub fn as_str(&self) -> &str {
        match self {
            Self::OwnServers => OWN_SERVERS,
            Self::Named(name) => name,
        }
    }

    /// `None` if it has no name of its own.
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::OwnServers => None,
            Self::Named(name) => Some(name),
        }
    }
}

impl From<String> for CaseName {
    fn from(name: String) -> Self {
        if name == OWN_SERVERS { Self::OwnServers } else { Self::Named(name) }
    }
}

impl From<&str> for CaseName {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl From<CaseName> for String {
    fn from(name: CaseName) -> Self {
        match name {
            CaseName::OwnServers => OWN_SERVERS.to_owned(),
            CaseName::Named(name) => name,
        }
    }
}

impl fmt::Display for CaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<&str> for CaseName {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}

impl PartialEq<String> for CaseName {
    fn eq(&self, name: &String) -> bool {
        self.as_str() == name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_whether_a_comparison_has_a_name() {
        for (kept, name) in
            [("\"compare\"", CaseName::OwnServers), ("\"hot-clone\"", "hot-clone".into())]
        {
            assert_eq!(serde_json::to_string(&name).unwrap(), kept);
            assert_eq!(serde_json::from_str::<CaseName>(kept).unwrap(), name);
        }
        let named = CaseName::from("hot-clone");
        assert_eq!([CaseName::OwnServers.named(), named.named()], [None, Some("hot-clone")]);
        assert!(named == "hot-clone" && format!("{named}!") == "hot-clone!");
    }
}
