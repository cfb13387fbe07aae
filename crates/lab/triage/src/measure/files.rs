//! The files of a server under load.

use std::{collections::BTreeMap, path::PathBuf};

use lab_profile::{OpenedFile, open_files};
use lab_protocol::{Answer, Request};

#[derive(Debug, Default)]
pub struct Files {
    /// The files that the server opens and closes, without files that are an answer. The file that most looks found
    /// open comes first.
    pub opened: Vec<OpenedFile>,
    /// The file that stays open and grows most, and the bytes that it grows by with each visit.
    pub grown: Option<(PathBuf, f64)>,
}

impl Files {
    /// The files that were opened during `visits` visits, and the growth of the files that were open `before`.
    pub fn of(
        pid: u32,
        mut opened: Vec<OpenedFile>,
        before: &BTreeMap<PathBuf, u64>,
        requests: &[Request],
        visits: u64,
    ) -> Self {
        opened.retain(|file| !requests.iter().any(|request| answers(request, file)));
        let grown = open_files(pid).into_iter().filter_map(|(path, bytes)| {
            let grown = bytes.checked_sub(*before.get(&path)?)?;
            Some((path, grown as f64 / visits.max(1) as f64))
        });
        Self { opened, grown: grown.max_by(|a, b| a.1.total_cmp(&b.1)) }
    }
}

/// Whether this file may be the answer itself. Who answers with a file opens it for each request.
fn answers(request: &Request, file: &OpenedFile) -> bool {
    match &request.expected.answer {
        Answer::Any | Answer::Parts(_) => true,
        Answer::Text(text) => text.len() as u64 == file.bytes,
        Answer::Length { from, to } => (*from..=*to).contains(&file.bytes),
        Answer::Digest { bytes, .. } => *bytes == file.bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_as_long_as_an_answer_may_be_that_answer() {
        let page = OpenedFile { path: "page".into(), bytes: 4, looks: 9 };
        let is = |answer| answers(&Request::get("/", answer), &page);
        assert!(is(Answer::Text("page".to_owned())) && is(Answer::Digest { bytes: 4, crc32: 0 }));
        assert!(is(Answer::Length { from: 3, to: 5 }) && is(Answer::Any));
        assert!(!is(Answer::Text("<p>page</p>".to_owned())));
    }
}
