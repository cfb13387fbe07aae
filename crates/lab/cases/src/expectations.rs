//! The lint expectations of a source file, which name the fault.

/// A source file without its lint expectations.
pub fn without_expectations(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = line.trim_start();
        if !start.starts_with("#[expect(") && !start.starts_with("#![expect(") {
            kept.push_str(line);
            continue;
        }
        let mut last = line;
        while !last.trim_end().ends_with(")]") {
            let Some(next) = lines.next() else { break };
            last = next;
        }
        // An empty line separates an inner attribute from what follows.
        if start.starts_with("#!") {
            lines.next_if(|next| next.trim().is_empty());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lint_expectations_are_left_out_however_long_they_are() {
        let outer = "/// Reads.\n#[expect(\n    clippy::x,\n    reason = \"r\"\n)]\n#[inline]\nfn read() {}\n";
        let inner = "//! A.\n\n#![expect(clippy::x, reason = \"r\")]\n\nuse a::b;\n";
        assert_eq!(without_expectations(outer), "/// Reads.\n#[inline]\nfn read() {}\n");
        assert_eq!(without_expectations(inner), "//! A.\n\nuse a::b;\n");
    }
}
