//! The suspects of a case's page, which a prediction names by their letters.

use std::fs;

use lab_cases::{Case, Workspace};

/// The letters of the page, each with its suspect: `D`, `the lock`. Without words, if the page doesn't have them.
pub fn options(workspace: &Workspace, case: &Case) -> Vec<(String, String)> {
    let page = fs::read_to_string(workspace.root().join(case.page())).unwrap_or_default();
    let option = |letter: &str| (letter.to_owned(), words(&page, letter).unwrap_or_default());
    case.letters().into_iter().map(option).collect()
}

/// `- **D: the lock.** All requests want the same map.`
fn words(page: &str, letter: &str) -> Option<String> {
    let begin = format!("- **{letter}: ");
    let words = page.lines().find_map(|line| line.strip_prefix(&begin))?;
    Some(words.split_once(".**")?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_has_its_letter_and_what_is_bold() {
        let page =
            "- **A threaded** one\n- **A: the threads.** There's one.\n- **B: copying** twice\n";
        assert_eq!(words(page, "A").as_deref(), Some("the threads"));
        assert_eq!(words(page, "B"), None);
    }
}
