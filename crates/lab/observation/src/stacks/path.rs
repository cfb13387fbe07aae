//! The path of a Rust function: crate, modules, and the item in them.

use std::fmt;

/// Crates that need no mention in front of a type: everybody knows `String`.
const STANDARD: [&str; 4] = ["alloc", "core", "std", "__rustc"];

/// Where a function is, without generics, traits and closures.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Path {
    /// `core`, `bson`; empty for a type without a crate, such as `u64`.
    pub krate: String,
    /// Everything between the crate and the item.
    pub modules: Vec<String>,
    /// `[String, clone]`, or `[parse]` for a function that belongs to no type.
    pub item: Vec<String>,
    /// Whether the function is the `poll` of a `Future`.
    pub is_poll: bool,
}

impl Path {
    /// Parses a function's demangled path.
    pub fn of_function(path: &str) -> Self {
        let mut segments = Vec::new();
        let mut of_type = None;
        for segment in split(path, "::") {
            if let Some(implemented) = segment.strip_prefix("<impl ") {
                // `<impl TryFrom<RawBson> for Bson>`: the type is the point.
                let of = implemented.strip_suffix('>').unwrap_or(implemented);
                of_type = Some(Self::of_type(split(of, " for ").last().unwrap_or(&of)));
                segments.clear();
            } else if let Some(of) = segment.strip_prefix('<') {
                // At the start this is the type of a method, later a list of generics.
                if segments.is_empty() && of_type.is_none() {
                    of_type = Some(Self::of_self(of.strip_suffix('>').unwrap_or(of)));
                }
            } else if let Some(name) = bare(segment) {
                segments.push(name);
            }
        }
        let is_poll = path.ends_with("::Future>::poll") || path.ends_with("::Future::poll");
        let mut path = match of_type {
            Some(mut of) => {
                of.item.extend(segments);
                of
            }
            None => Self::of_segments(segments),
        };
        path.is_poll = is_poll;
        path
    }

    /// Parses the demangled path of a type.
    pub fn of_type(name: &str) -> Self {
        let name = ["&", "*const ", "*mut ", "mut ", "dyn "]
            .iter()
            .fold(name.trim(), |name, prefix| name.strip_prefix(prefix).unwrap_or(name));
        if name.starts_with(['[', '(']) {
            let kind = if name.starts_with('[') { "slice" } else { "tuple" };
            return Self { item: vec![kind.to_owned()], ..Self::default() };
        }
        Self::of_function(name)
    }

    /// Whether the function belongs to the standard library or to no crate.
    pub fn is_standard(&self) -> bool {
        self.krate.is_empty() || STANDARD.contains(&self.krate.as_str())
    }

    pub fn is_method(&self) -> bool {
        self.item.len() > 1
    }

    /// `T as Trait`: the type, unless it is only a generic parameter.
    fn of_self(inner: &str) -> Self {
        let parts = split(inner, " as ");
        let of = Self::of_type(parts.first().unwrap_or(&inner));
        let is_parameter = of.krate.is_empty()
            && of.item.iter().all(|name| name.len() <= 2 || name == "slice" || name == "tuple");
        match parts.get(1) {
            Some(implemented) if is_parameter => Self::of_type(implemented),
            _ => of,
        }
    }

    /// The first segment is the crate, and the item starts at the first type.
    fn of_segments(mut segments: Vec<String>) -> Self {
        if segments.len() < 2 {
            return Self { item: segments, ..Self::default() };
        }
        let is_type = |name: &String| name.starts_with(char::is_uppercase);
        let first_type = segments.iter().position(is_type);
        let item = segments.split_off(first_type.unwrap_or(segments.len() - 1));
        let modules = if segments.is_empty() { Vec::new() } else { segments.split_off(1) };
        Self { krate: segments.pop().unwrap_or_default(), modules, item, is_poll: false }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_standard() {
            write!(f, "{}::", self.krate)?;
            // `pem::read` is clearer than `read`; a type's name is clear by itself.
            if let ([function], Some(module)) = (self.item.as_slice(), self.modules.last())
                && !function.starts_with(char::is_uppercase)
            {
                write!(f, "{module}::")?;
            }
        }
        f.write_str(&self.item.join("::"))
    }
}

/// A segment without its generics; `None` for closures and for names that macros invent.
fn bare(segment: &str) -> Option<String> {
    let name = segment.split(['<', '{']).next().unwrap_or_default().trim();
    let invented = matches!(name, "" | "_") || name.starts_with("__") && name.ends_with("Visitor");
    (!invented).then(|| name.to_owned())
}

/// Splits `text` at the separators outside of brackets.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut start, mut depth, mut before) = (Vec::new(), 0, 0_usize, ' ');
    for (at, character) in text.char_indices() {
        if depth == 0 && at >= start && text[at..].starts_with(separator) {
            parts.push(&text[start..at]);
            start = at + separator.len();
        }
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            // An arrow, as in `fn() -> u64`, closes nothing.
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = character;
    }
    parts.push(&text[start.min(text.len())..]);
    parts
}
