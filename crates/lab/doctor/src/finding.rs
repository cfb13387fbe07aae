//! One line of the doctor's: what was looked at, how it is, and what mends it.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Good to know when figures are compared.
    Note,
    /// Makes figures wrong, or a tool useless.
    Warn,
    /// Stops a measurement.
    Fail,
}

impl Status {
    /// The mark at the beginning of a line.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The processor, and who else uses it.
    Cpu,
    /// The machine as a whole.
    Machine,
    /// What a measurement uses up.
    Room,
    /// What is measured.
    Servers,
    /// What measures.
    Tools,
    /// How far two equal things are apart here.
    Noise,
}

impl Group {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Cpu => "Processor",
            Self::Machine => "Machine",
            Self::Room => "Room",
            Self::Servers => "Servers",
            Self::Tools => "Tools",
            Self::Noise => "Noise floor",
        }
    }
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Where it belongs.
    pub group: Group,
    /// What was looked at, in a word or two.
    pub topic: String,
    /// How it is.
    pub status: Status,
    /// What was found, and why it matters if it does.
    pub found: String,
    /// The command that mends it, ready to be copied. None if all is well or nothing mends it.
    pub mend: Option<String>,
}

impl Finding {
    /// Nothing to mend.
    pub(super) fn ok(group: Group, topic: &str, found: impl Into<String>) -> Self {
        let (topic, found) = (topic.to_owned(), found.into());
        Self { group, topic, status: Status::Ok, found, mend: None }
    }

    /// Something to know.
    pub(super) fn note(group: Group, topic: &str, found: impl Into<String>) -> Self {
        Self { status: Status::Note, ..Self::ok(group, topic, found) }
    }

    /// Something that makes figures wrong.
    pub(super) fn warn(group: Group, topic: &str, found: impl Into<String>) -> Self {
        Self { status: Status::Warn, ..Self::ok(group, topic, found) }
    }

    /// Something that stops a measurement.
    pub(super) fn fail(group: Group, topic: &str, found: impl Into<String>) -> Self {
        Self { status: Status::Fail, ..Self::ok(group, topic, found) }
    }

    /// The same with the command that mends it.
    pub(super) fn mend(self, command: impl Into<String>) -> Self {
        Self { mend: Some(command.into()), ..self }
    }
}
