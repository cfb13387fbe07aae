//! Finds a panic in what a Rust server prints: it ends one request and not the process.

/// Where the last panic was, and its message: `src/lib.rs:7:5: no such order`.
pub fn last(printed: &str) -> Option<String> {
    let (_, panic) = printed.rsplit_once(" panicked at ")?;
    let mut lines = panic.lines().map(str::trim);
    let place = lines.next()?;
    let is_message = |line: &&str| !line.starts_with("note: ") && !line.starts_with("stack back");
    let message: Vec<_> = lines.take_while(is_message).filter(|line| !line.is_empty()).collect();
    Some(format!("{place} {}", message.join(" ")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_last_panic_is_found_with_its_place_and_whole_message() {
        let printed = "listening on http://127.0.0.1:1\n\n\
            thread 'tokio-rt-worker' (17) panicked at src/mine.rs:3:5:\nfirst\n\
            note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\
            thread 'tokio-rt-worker' (18) panicked at src/mine.rs:7:9:\n\
            assertion `left == right` failed\n  left: 1\n right: 2\nnote: run with";
        let panic = "src/mine.rs:7:9: assertion `left == right` failed left: 1 right: 2";
        assert_eq!(super::last(printed).unwrap(), panic);
        assert_eq!(super::last("listening on http://127.0.0.1:1\n"), None);
    }
}
