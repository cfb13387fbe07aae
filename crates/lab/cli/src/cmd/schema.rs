//! `lab schema`: the form of a record, as JSON Schema.

use std::process::ExitCode;

use crate::bench::Record;

/// The schema of [`Record`], as it is committed in `docs/record.schema.json`.
pub fn text() -> String {
    let schema = schemars::schema_for!(Record);
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}

/// Prints the schema.
pub fn run() -> anyhow::Result<ExitCode> {
    out!("{}", text().trim_end());
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_published_schema_is_the_one_that_records_have() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/record.schema.json");
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            published == super::text(),
            "docs/record.schema.json is not what `lab schema` prints: write it again, and give the \
             record another version if an older one could no longer be read"
        );
    }
}
