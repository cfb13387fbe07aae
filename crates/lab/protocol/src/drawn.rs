//! What a request draws for each visit, and what a user keeps of an answer.

use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, bail, ensure};
use lab_stats::SplitMix64;
use serde::{Deserialize, Serialize};

/// What a slot in a path, a header or a body of a request is filled with.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestSlot {
    /// `{id}`: a number of 16 digits that no other request has, not even in an earlier run.
    Id,
    /// `{FROM..TO}`: a random number, both ends included.
    Range([u64; 2]),
    /// `{a|b|c}`: one of these words.
    Choice(Vec<String>),
    /// `{line of FILE}`: a line of a file.
    Line(Vec<String>),
    /// `{NAME}`: what the user kept of an earlier answer under this name.
    Kept(String),
}

/// The beginning of a slot for the line of a file.
const LINE_OF: &str = "line of ";

impl RequestSlot {
    /// The slot of the text between two braces, if it is one; `keeps` says whether an answer is kept under a name.
    ///
    /// # Errors
    ///
    /// If a file of lines can't be read, or has none.
    pub fn parse(inner: &str, keeps: impl Fn(&str) -> bool) -> anyhow::Result<Option<Self>> {
        if let Some(file) = inner.strip_prefix(LINE_OF) {
            let text = std::fs::read_to_string(file.trim())
                .with_context(|| format!("cannot read {}", file.trim()))?;
            let lines: Vec<_> =
                text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            ensure!(!lines.is_empty(), "{} has no lines", file.trim());
            return Ok(Some(Self::Line(lines)));
        }
        if inner == "id" {
            return Ok(Some(Self::Id));
        }
        if keeps(inner) {
            return Ok(Some(Self::Kept(inner.to_owned())));
        }
        Ok(Self::choice(inner))
    }

    /// The slot, if it is a range or a choice.
    pub fn choice(inner: &str) -> Option<Self> {
        if inner.contains(char::is_whitespace) {
            return None;
        }
        if let Some((from, to)) = inner.split_once("..") {
            return Some(Self::Range([from.parse().ok()?, to.parse().ok()?]));
        }
        let words: Vec<_> = inner.split('|').map(str::to_owned).collect();
        (words.len() > 1).then_some(Self::Choice(words))
    }

    /// A value; `None` for one that isn't kept.
    pub fn draw(&self, random: &mut SplitMix64, kept: &BTreeMap<String, String>) -> Option<String> {
        Some(match self {
            Self::Id => next_id().to_string(),
            Self::Range([from, to]) => {
                let count = (1 + to.saturating_sub(*from)) as f64;
                (from + (random.uniform() * count) as u64).to_string()
            }
            Self::Choice(words) | Self::Line(words) => {
                words[(random.uniform() * words.len() as f64) as usize].clone()
            }
            Self::Kept(name) => kept.get(name)?.clone(),
        })
    }
}

/// A number that no other request has: it begins with the microseconds of the clock, and nobody sends a million a second
/// for long. It has 16 digits, which JavaScript keeps.
fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_micros() as u64);
    let next = |last: u64| now.max(last + 1);
    LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)))
        .map_or(now, next)
}

/// Where in an answer a value is that the user keeps.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Keep {
    /// `header NAME`, with its name in small letters.
    Header(String),
    /// `cookie NAME`.
    Cookie(String),
    /// `json PATH`: the names and positions on the way to a field of the body, with dots between.
    Json(String),
}

impl TryFrom<String> for Keep {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        Ok(match text.trim().split_once(' ') {
            Some(("header", name)) => Self::Header(name.trim().to_lowercase()),
            Some(("cookie", name)) => Self::Cookie(name.trim().to_owned()),
            Some(("json", path)) => Self::Json(path.trim().to_owned()),
            _ => bail!(
                "`{text}` is nothing to keep: write `cookie NAME`, `header NAME`, or `json PATH` such as `json user.id`"
            ),
        })
    }
}

impl From<Keep> for String {
    fn from(keep: Keep) -> Self {
        keep.to_string()
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header {name}"),
            Self::Cookie(name) => write!(f, "cookie {name}"),
            Self::Json(path) => write!(f, "json {path}"),
        }
    }
}

impl Keep {
    /// The value in an answer with these headers, whose names are in small letters.
    pub fn find<'a>(
        &self,
        headers: impl Iterator<Item = (&'a str, &'a str)>,
        body: &[u8],
    ) -> Option<String> {
        match self {
            Self::Header(name) => {
                headers.into_iter().find(|(key, _)| key == name).map(|(_, value)| value.to_owned())
            }
            Self::Cookie(name) => {
                let cookies = headers.filter(|(key, _)| *key == "set-cookie");
                let pairs = cookies.filter_map(|(_, value)| {
                    let pair = value.split(';').next()?;
                    let (key, value) = pair.split_once('=')?;
                    (key.trim() == name).then(|| value.trim().to_owned())
                });
                // A server may set one twice; browsers take the last one.
                pairs.last()
            }
            Self::Json(path) => {
                let body: serde_json::Value = serde_json::from_slice(body).ok()?;
                let field = body.pointer(&format!("/{}", path.replace('.', "/")))?;
                match field {
                    serde_json::Value::String(text) => Some(text.clone()),
                    serde_json::Value::Number(number) => Some(number.to_string()),
                    serde_json::Value::Bool(value) => Some(value.to_string()),
                    _ => None,
                }
            }
        }
    }
}

/// The values in a request and its answer, by what the [`AnswerPart`]s call them: `id`, the name of what is kept, or a
/// number for what was drawn.
pub type DrawnValues = BTreeMap<String, String>;

/// A part of a right answer that has drawn values in it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerPart {
    Text(String),
    Value(String),
}

/// The parts of an answer in which these values are: each that stands there alone, and not within a longer word or number.
pub fn parts_of(body: &str, values: &DrawnValues) -> Vec<AnswerPart> {
    let mut values: Vec<_> = values.iter().filter(|(_, value)| !value.is_empty()).collect();
    values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut rest = body;
    while let Some(next) = rest.chars().next() {
        let is_begin = !text.ends_with(char::is_alphanumeric);
        let found = values.iter().find(|(_, value)| {
            is_begin
                && rest
                    .strip_prefix(value.as_str())
                    .is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        });
        match found {
            Some((name, value)) => {
                if !text.is_empty() {
                    parts.push(AnswerPart::Text(std::mem::take(&mut text)));
                }
                parts.push(AnswerPart::Value((*name).clone()));
                rest = &rest[value.len()..];
            }
            None => {
                text.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    if !text.is_empty() {
        parts.push(AnswerPart::Text(text));
    }
    parts
}

/// The text of parts with other values; `None` if it lacks one of them.
pub fn joined(parts: &[AnswerPart], values: &DrawnValues) -> Option<String> {
    let mut body = String::new();
    for part in parts {
        body += match part {
            AnswerPart::Text(text) => text,
            AnswerPart::Value(name) => values.get(name)?,
        };
    }
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_what_stands_between_its_braces() {
        let parse = |inner: &str| RequestSlot::parse(inner, |name| name == "token").unwrap();
        assert_eq!(parse("id"), Some(RequestSlot::Id));
        assert_eq!(parse("1..9"), Some(RequestSlot::Range([1, 9])));
        assert_eq!(parse("a|b"), Some(RequestSlot::Choice(vec!["a".into(), "b".into()])));
        assert_eq!(parse("token"), Some(RequestSlot::Kept("token".into())));
        for other in ["", "tokn", "1..", "..", "a b|c", "\"user\":1", " id "] {
            assert_eq!(parse(other), None, "{other}");
        }
        let missing = RequestSlot::parse("line of no/such.txt", |_| false).unwrap_err();
        assert_eq!(missing.to_string(), "cannot read no/such.txt");
    }

    #[test]
    fn ids_are_all_different_and_have_16_digits() {
        let ids: Vec<_> = (0..1000).map(|_| next_id()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ids.iter().all(|id| id.to_string().len() == 16));
    }

    #[test]
    fn draws_come_from_their_range_and_follow_their_seed() {
        let drawn = |seed| {
            let mut random = SplitMix64(seed);
            let mut draw = || RequestSlot::Range([3, 5]).draw(&mut random, &BTreeMap::new());
            (0..50).map(|_| draw().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        for value in ["3", "4", "5"] {
            assert!(drawn(1).iter().any(|drawn| drawn == value));
        }
        assert_eq!(RequestSlot::Kept("x".into()).draw(&mut SplitMix64(1), &BTreeMap::new()), None);
    }

    #[test]
    fn a_value_is_kept_from_a_header_a_cookie_or_a_field() {
        let headers = [
            ("set-cookie", "theme=dark; Path=/"),
            ("set-cookie", "sid=old"),
            ("set-cookie", "sid=a1; HttpOnly"),
            ("location", "/orders/7"),
        ];
        let body = br#"{"user":{"id":7,"tags":["x","y"],"on":true,"none":null}}"#;
        let find = |what: &str| {
            let keep = Keep::try_from(what.to_owned()).unwrap();
            assert_eq!(keep.to_string(), what);
            keep.find(headers.into_iter(), body)
        };
        for (what, value) in [
            ("cookie sid", Some("a1")),
            ("cookie other", None),
            ("header location", Some("/orders/7")),
            ("json user.id", Some("7")),
            ("json user.tags.1", Some("y")),
            ("json user.on", Some("true")),
            ("json user.none", None),
            ("json user", None),
        ] {
            assert_eq!(find(what).as_deref(), value, "{what}");
        }
        assert!(Keep::try_from("sid".to_owned()).unwrap_err().to_string().contains("json user.id"));
    }

    #[test]
    fn an_answer_with_other_values_is_the_same_answer() {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        let values: DrawnValues = of(&[("0", "7"), ("token", "a1")]);
        let parts = parts_of(r#"{"id":7,"total":70,"by":"a1","é":7}"#, &values);
        let other = of(&[("0", "812"), ("token", "zz")]);
        let expected = r#"{"id":812,"total":70,"by":"zz","é":812}"#;
        assert_eq!(joined(&parts, &other).as_deref(), Some(expected));
        assert_eq!(joined(&parts, &of(&[("0", "1")])), None);
        assert_eq!(parts_of("", &values), []);
        assert_eq!(parts_of("a17", &values), [AnswerPart::Text("a17".into())]);
    }
}
