//! What is wrong with a page, and where: told so that an editor can jump there.

use std::fmt;

/// Something that somebody has to mend, or that `lab docs` will.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Problem {
    /// The page's path below the workspace.
    pub page: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what mends it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.page, self.line, self.what)
    }
}

/// The line, from 1, in which the byte at `offset` stands.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// The error for a name that nothing has: with the nearest one that something has, and the others.
pub fn unknown<'a>(
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> anyhow::Error {
    let mut known: Vec<_> = known.into_iter().collect();
    let similarity = |other: &&str| strsim::jaro_winkler(other, name);
    let nearest = known.iter().copied().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let guess = match nearest.filter(|nearest| similarity(nearest) > SIMILAR) {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => String::new(),
    };
    let more = if known.len() > LISTED { ", …" } else { "" };
    known.truncate(LISTED);
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    anyhow::anyhow!("no {kind} is named `{name}`{guess} (there are: {known}{more})")
}

/// How like an unknown name another has to be to be suggested, from 0 to 1.
const SIMILAR: f64 = 0.7;
/// How many names are listed.
const LISTED: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_and_the_others() {
        let error = unknown("case", "lock-scop", ["hot-clone", "lock-scope"]).to_string();
        assert_eq!(
            error,
            "no case is named `lock-scop`; did you mean `lock-scope`? \
             (there are: hot-clone, lock-scope)"
        );
        assert!(!unknown("case", "zzz", ["hot-clone"]).to_string().contains("did you mean"));
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!((line_of("a\nb", 0), line_of("a\nb", 2)), (1, 2));
    }
}
