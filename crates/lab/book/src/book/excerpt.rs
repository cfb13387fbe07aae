//! Excerpts of source files.

use anyhow::Context as _;

/// What may precede the kind of an item.
const QUALIFIERS: [&str; 6] = ["pub", "async", "const", "default", "extern", "unsafe"];

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

/// An item with its attributes and documentation, without its indent.
fn item(text: &str, wanted: &str) -> anyhow::Result<String> {
    let (kind, name) = wanted.split_once(' ').unwrap_or((wanted, ""));
    let lines: Vec<_> = text.lines().collect();
    let head = lines.iter().position(|line| declares(line, kind, name));
    let head = head.with_context(|| format!("it has no `{wanted}`"))?;
    let indent = indent(lines[head]);
    let start = start(&lines, head);
    let end = end(&lines, head, indent).with_context(|| format!("`{wanted}` has no end"))?;
    let excerpt = lines[start..=end].iter().map(|line| line.get(indent..).unwrap_or(""));
    Ok(excerpt.collect::<Vec<_>>().join("\n"))
}

/// Whether a line is the first of an item, as in `pub(crate) async fn name(`.
fn declares(line: &str, kind: &str, name: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        let word = word.split('(').next().unwrap_or(word);
        QUALIFIERS.contains(&word) || word.starts_with('"')
    });
    let rest = (words.next() == Some(kind)).then(|| words.next()).flatten();
    let rest = rest.and_then(|word| word.strip_prefix(name));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The first line of the attributes and comments directly above `head`.
fn start(lines: &[&str], head: usize) -> usize {
    let is_other = |line: &&str| {
        line.trim().is_empty()
            || indent(line) < indent(lines[head])
            || line.ends_with([';', '{', '}'])
            || line.starts_with("//!")
    };
    lines[..head].iter().rposition(is_other).map_or(0, |other| other + 1)
}

/// The last line: the brace with the indent of `head`, or the semicolon of what has no body.
fn end(lines: &[&str], head: usize, indent_of_head: usize) -> Option<usize> {
    let ends = |(at, line): &(usize, &&str)| {
        let is_outer = *at == head || indent(line) == indent_of_head;
        let closes = *at > head && line.trim_start().starts_with('}');
        let is_whole = *at == head && line.ends_with('}') || line.ends_with(';');
        is_outer && (closes || is_whole)
    };
    lines.iter().enumerate().skip(head).find(ends).map(|(at, _)| at)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//! What it is.\n//! More of it.\n\nuse a::b;\n\n/// Reads.\n\
        #[expect(\n    clippy::x,\n    reason = \"r\"\n)]\npub(crate) async fn read(\n    a: u8,\n) -> u8 {\n    \
        if a > 1 {\n        2\n    } else {\n        3\n    }\n}\n\nfn reader() {}\n\n\
        struct Unit;\n\nimpl Unit {\n    // Why.\n    const fn get<T>(&self) -> u8 {\n        1\n    }\n}\n";

    #[test]
    fn a_function_comes_with_its_attributes_and_comments() {
        let read = item(SOURCE, "fn read").unwrap();
        assert!(read.starts_with("/// Reads.\n#[expect(\n"), "{read}");
        assert!(read.ends_with("    } else {\n        3\n    }\n}"), "{read}");
    }

    #[test]
    fn a_method_loses_its_indent() {
        assert_eq!(
            item(SOURCE, "fn get").unwrap(),
            "// Why.\nconst fn get<T>(&self) -> u8 {\n    1\n}"
        );
    }

    #[test]
    fn an_item_may_be_one_line() {
        assert_eq!(item(SOURCE, "fn reader").unwrap(), "fn reader() {}");
        assert_eq!(item(SOURCE, "struct Unit").unwrap(), "struct Unit;");
        assert_eq!(item(SOURCE, "fn write").unwrap_err().to_string(), "it has no `fn write`");
    }
}
