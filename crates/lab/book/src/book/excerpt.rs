//! Excerpts of source files.

use anyhow::Context as _;

/// The item that `wanted` names, as in `fn read` or `struct Counter`; without it, the whole file.
pub fn excerpt(text: &str, wanted: Option<&str>) -> anyhow::Result<String> {
    match wanted {
        None => Ok(text.trim_end().to_owned()),
        Some(wanted) => item(text, wanted),
    }
}

pub fn fenced(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```", text.trim_end_matches('\n'))
}

/// How a fence names a file's language. Excerpts of Rust are no tests of their own.
pub fn language(file: &str) -> &'static str {
    match file.rsplit('.').next() {
        Some("rs") => "rust,ignore",
        Some("toml") => "toml",
        _ => "text",
    }
}

/// A source file without the `//!` lines at its start.
pub fn without_module_doc(text: &str) -> &str {
    let mut rest = text;
    while rest.starts_with("//!") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest.trim_start_matches('\n')
}

/// An item with its attributes and documentation, without its indent: from the line that has `fn name`, up
/// to what ends another item, and down to the brace or semicolon that ends this one.
fn item(text: &str, wanted: &str) -> anyhow::Result<String> {
    let lines: Vec<_> = text.lines().collect();
    let declares = |line: &&str| {
        let is_name = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let found = line.split_once(wanted).filter(|(before, _)| !before.contains("//"));
        found.is_some_and(|(before, rest)| {
            (before.is_empty() || before.ends_with(' ')) && !is_name(rest)
        })
    };
    let head = lines.iter().position(declares).with_context(|| format!("it has no `{wanted}`"))?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let depth = indent(lines[head]);
    let is_other = |line: &&str| line.trim().is_empty() || line.ends_with([';', '{', '}']);
    let start = lines[..head].iter().rposition(is_other).map_or(0, |other| other + 1);
    let ends = |line: &&str| indent(line) == depth && line.ends_with(['}', ';']);
    let end = lines[head..].iter().position(ends);
    let end = head + end.with_context(|| format!("`{wanted}` has no end"))?;
    let excerpt = lines[start..=end].iter().map(|line| line.get(depth..).unwrap_or(""));
    Ok(excerpt.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//! What it is.\n//! More of it.\n\nuse a::b;\n\n/// Reads.\n\
        #[expect(\n    clippy::x,\n    reason = \"r\"\n)]\npub(crate) async fn read(\n    a: u8,\n) -> u8 {\n    \
        if a > 1 {\n        2\n    } else {\n        3\n    }\n}\n\nfn reader() {}\n\n\
        struct Unit;\n\nimpl Unit {\n    // Why.\n    const fn get<T>(&self) -> u8 {\n        1\n    }\n}\n";

    #[test]
    fn an_item_comes_with_its_comments_and_without_its_indent() {
        let read = item(SOURCE, "fn read").unwrap();
        assert!(read.starts_with("/// Reads.\n#[expect(\n"), "{read}");
        assert!(read.ends_with("    } else {\n        3\n    }\n}"), "{read}");
        let get = "// Why.\nconst fn get<T>(&self) -> u8 {\n    1\n}";
        for (name, whole) in
            [("fn get", get), ("fn reader", "fn reader() {}"), ("struct Unit", "struct Unit;")]
        {
            assert_eq!(item(SOURCE, name).unwrap(), whole);
        }
        assert_eq!(item(SOURCE, "fn write").unwrap_err().to_string(), "it has no `fn write`");
    }
}
