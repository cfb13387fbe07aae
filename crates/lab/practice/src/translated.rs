//! The texts of a case in the language of the reader.

use lab_cases::{Case, Translation, Workspace};
use lab_report::TextLanguage;

/// The case with the hints and the other words of that language.
///
/// # Errors
///
/// If the file of the translations can't be read.
pub fn in_language(workspace: &Workspace, case: &Case) -> anyhow::Result<Case> {
    let translation = translation(workspace, case)?;
    Ok(translation.map_or_else(|| case.clone(), |texts| case.translated(&texts)))
}

/// None if the language is that of the case.
pub(super) fn translation(
    workspace: &Workspace,
    case: &Case,
) -> anyhow::Result<Option<Translation>> {
    if !TextLanguage::is_chinese() {
        return Ok(None);
    }
    Ok(Translation::all(workspace.root())?.remove(&case.name))
}

/// The page of a case, below the root of the workspace: in that language, if there is one.
pub fn page(workspace: &Workspace, case: &Case) -> String {
    in_book(workspace, case.page())
}

/// The path of a page of the book, in the language of the reader.
pub fn in_book(workspace: &Workspace, page: String) -> String {
    let chinese = page.replacen("docs/src", "docs/zh-CN/src", 1);
    let is_there = TextLanguage::is_chinese() && workspace.root().join(&chinese).is_file();
    if is_there { chinese } else { page }
}
