//! One line of the report: what was checked, what was found, and how to fix it.

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Status {
    Ok,
    /// Good to know when figures are compared.
    Note,
    /// Distorts figures, or makes a tool useless.
    Warn,
    /// Makes a measurement fail.
    Fail,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was checked, in a word or two.
    pub topic: String,
    pub status: Status,
    /// What was found, and why it matters if it does.
    pub found: String,
    /// The command that fixes it, ready to be copied.
    pub fix: Option<String>,
}

impl Finding {
    fn new(status: Status, topic: &str, found: impl Into<String>) -> Self {
        Self { topic: topic.to_owned(), status, found: found.into(), fix: None }
    }

    pub(super) fn ok(topic: &str, found: impl Into<String>) -> Self {
        Self::new(Status::Ok, topic, found)
    }

    pub(super) fn note(topic: &str, found: impl Into<String>) -> Self {
        Self::new(Status::Note, topic, found)
    }

    pub(super) fn warn(topic: &str, found: impl Into<String>) -> Self {
        Self::new(Status::Warn, topic, found)
    }

    pub(super) fn fail(topic: &str, found: impl Into<String>) -> Self {
        Self::new(Status::Fail, topic, found)
    }

    pub(super) fn fix(self, command: impl Into<String>) -> Self {
        Self { fix: Some(command.into()), ..self }
    }
}
