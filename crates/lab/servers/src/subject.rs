//! A subject of a measurement: a server and its requests.

use lab_protocol::{BesidesCode, Http2, Request};

use super::Launch;

#[derive(Clone, Debug)]
pub struct Subject {
    pub name: String,
    /// The command, URL or revision that the user gave; empty for a server of the workspace.
    pub given: String,
    /// What its build differs in from the baseline's, besides its code; `None` until it is known.
    pub besides: Option<BesidesCode>,
    pub launch: Launch,
    /// Builds that differ in the layout of their code, used by its runs in turn; empty if there is only the
    /// one of `launch`.
    pub layouts: Vec<Launch>,
    /// The requests of a visit. Those of all subjects get the same answers.
    pub requests: Vec<Request>,
    /// [`Launch::fingerprint`], if the comparison may go on later.
    pub program: Option<u32>,
    /// Whether its requests may outlast a run.
    pub may_outlast: bool,
    /// Whether it may become faster for seconds, because it runs in a program that compiles as it runs, or nobody knows.
    pub may_compile: bool,
}

impl Subject {
    pub fn new(name: &str, launch: Launch, requests: Vec<Request>) -> Self {
        Self {
            name: name.to_owned(),
            given: String::new(),
            besides: None,
            launch,
            layouts: Vec::new(),
            requests,
            program: None,
            may_outlast: false,
            may_compile: true,
        }
    }

    pub fn given(self, given: String) -> Self {
        Self { given, ..self }
    }

    /// From now on, all its builds are asked in this protocol.
    pub(super) fn speaks(&mut self, http2: Option<Http2>) {
        for launch in [&mut self.launch].into_iter().chain(&mut self.layouts) {
            launch.http2 = http2;
        }
    }

    /// The build for the `nth` run.
    pub fn build(&self, nth: usize) -> &Launch {
        self.layouts.iter().cycle().nth(nth).unwrap_or(&self.launch)
    }
}
