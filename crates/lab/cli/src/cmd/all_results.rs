//! The page of all results, which `lab bench` and `lab flame` write anew.

use lab_cases::Workspace;
use lab_pictures::all_results::{ResultPlaces, write};
use lab_system::err;

/// Writes the page, and returns the line that says where it is. What was measured is kept without it, too.
pub fn renew(workspace: &Workspace) -> Option<String> {
    let written = ResultPlaces::of_workspace(workspace)
        .and_then(|places| write(workspace, &places).map(|()| places.page));
    match written {
        Ok(page) => Some(format!("all results: {}", lab_report::path(&page))),
        Err(error) => {
            err!("note: the page of all results is as it was: {error:#}");
            None
        }
    }
}
