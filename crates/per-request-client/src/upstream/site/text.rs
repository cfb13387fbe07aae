//! Content that a browser shows: a page, styles, scripts and pictures, filled up to their weight
//! with more of the same, and to the last byte with a comment.

use super::Numbers;

const WORDS: [&str; 16] = [
    "proxy",
    "request",
    "answer",
    "client",
    "server",
    "socket",
    "header",
    "stream",
    "ticket",
    "store",
    "handshake",
    "pool",
    "browser",
    "connection",
    "latency",
    "page",
];

/// Adds parts to `head` until the next would not fit, then a comment, then `tail`.
fn fill(
    head: String,
    mut part: impl FnMut() -> String,
    comment: (&str, &str),
    tail: &str,
    weight: usize,
) -> Vec<u8> {
    let room = weight - tail.len() - comment.0.len() - comment.1.len();
    let mut content = head;
    loop {
        let next = part();
        if content.len() + next.len() > room {
            break;
        }
        content.push_str(&next);
    }
    let padding = ".".repeat(room - content.len());
    [&content, comment.0, &padding, comment.1, tail].concat().into_bytes()
}

/// A page that refers to each of `others` as its kind is referred to.
pub(super) fn html(others: &[&str], seed: u64, weight: usize) -> Vec<u8> {
    let mut head = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                    <title>The upstream</title>\n"
        .to_owned();
    let mut pictures = String::new();
    for path in others {
        match path.rsplit_once('.') {
            Some((_, "css")) => head += &format!("<link rel=\"stylesheet\" href=\"{path}\">\n"),
            Some((_, "js")) => head += &format!("<script defer src=\"{path}\"></script>\n"),
            Some((_, "svg")) => pictures += &format!("<img alt=\"\" src=\"{path}\">\n"),
            _ => {
                head += &format!(
                    "<link rel=\"preload\" as=\"font\" type=\"font/woff2\" crossorigin \
                     href=\"{path}\">\n"
                );
            }
        }
    }
    head += &format!("</head>\n<body>\n<h1>The upstream</h1>\n{pictures}");
    let mut numbers = Numbers(seed);
    let paragraph = move || {
        let words: Vec<_> = (0..40).map(|_| WORDS[numbers.below(16) as usize]).collect();
        format!("<p>{}.</p>\n", words.join(" "))
    };
    fill(head, paragraph, ("<!--", "-->\n"), "</body>\n</html>\n", weight)
}

pub(super) fn css(seed: u64, weight: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let head = "body { font-family: sans-serif; margin: 2em auto; max-width: 60em; }\n\
                img { height: 8em; margin: 0.5em; }\n";
    let rule = move || {
        let color = numbers.below(1 << 24);
        let word = WORDS[numbers.below(16) as usize];
        format!(".{word}-{} {{ color: #{color:06x}; }}\n", numbers.below(1000))
    };
    fill(head.to_owned(), rule, ("/*", "*/\n"), "", weight)
}

pub(super) fn js(seed: u64, weight: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let function = move || {
        let (word, number) = (WORDS[numbers.below(16) as usize], numbers.below(1_000_000));
        format!("  {word}{number}: (value) => value * {number},\n")
    };
    fill("({\n".to_owned(), function, ("/*", "*/\n"), "});\n", weight)
}

pub(super) fn svg(seed: u64, weight: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let head = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\">\n";
    let circle = move || {
        let (x, y, radius) = (numbers.below(640), numbers.below(400), 4 + numbers.below(36));
        let color = numbers.below(1 << 24);
        format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"#{color:06x}\"/>\n")
    };
    fill(head.to_owned(), circle, ("<!--", "-->\n"), "</svg>\n", weight)
}
