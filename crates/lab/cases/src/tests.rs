//! Case files that begin right and go wrong: none panics, and what is accepted can be used.

use std::path::Path;

use crate::Case;

/// The case files of the workspace.
fn cases() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = ["", "exercises"].iter().flat_map(|dir| crates.join(dir).read_dir().unwrap());
    let mut files: Vec<_> = files.map(|dir| dir.unwrap().path().join("case.toml")).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

#[test]
fn a_malformed_case_file_is_refused_or_describes_a_case() {
    malformed_input::texts(cases(), |text| {
        let Ok(case) = Case::parse("toy", text) else { return };
        let counted = case.masked().counted();
        assert!(case.load.users > 0 && case.load.connections > 0 && !counted.requests.is_empty());
        for variant in &case.variants {
            case.server(variant);
            case.source(variant);
        }
        case.page();
    });
}
