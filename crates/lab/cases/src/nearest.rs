//! Did you mean: the error for an unknown name.

/// How similar a name has to be to be suggested, from 0 to 1.
const SIMILAR: f64 = 0.7;
/// How many names are listed.
const LISTED: usize = 24;

/// The error for an unknown name: suggests the nearest known one, or lists all.
pub fn unknown<'a>(
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> anyhow::Error {
    unknown_with_secrets(kind, name, known, &[])
}

/// [`unknown`], with names that are suggested to someone who nearly typed them, and not listed.
pub fn unknown_with_secrets<'a>(
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    secrets: &[&'a str],
) -> anyhow::Error {
    let mut known: Vec<_> = known.into_iter().collect();
    let similarity = |other: &&str| strsim::jaro_winkler(other, name);
    let all = known.iter().chain(secrets).copied();
    let nearest = all.max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    if let Some(nearest) = nearest.filter(|nearest| similarity(nearest) > SIMILAR) {
        return anyhow::anyhow!("no {kind} is named `{name}`; did you mean `{nearest}`?");
    }
    let more = if known.len() > LISTED { ", …" } else { "" };
    known.truncate(LISTED);
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    anyhow::anyhow!("no {kind} is named `{name}` (known: {known}{more})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_if_any_is_near() {
        assert_eq!(
            unknown("case", "lock-scop", ["hot-clone", "lock-scope"]).to_string(),
            "no case is named `lock-scop`; did you mean `lock-scope`?"
        );
        assert!(!unknown("case", "zzz", ["hot-clone"]).to_string().contains("did you mean"));
        let of_the_course =
            |name| unknown_with_secrets("case", name, ["busy-server"], &["hot-clone"]).to_string();
        assert!(of_the_course("hot-clon").contains("did you mean `hot-clone`?"));
        assert!(!of_the_course("busy").contains("hot-clone"));
    }
}
