//! Did you mean: the error for an unknown name.

/// How similar a name has to be to be suggested, from 0 to 1.
const SIMILAR: f64 = 0.7;
/// How many names are listed.
const LISTED: usize = 24;

/// The error for an unknown name: suggests the nearest known one and lists the others.
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
    anyhow::anyhow!("no {kind} is named `{name}`{guess} (known: {known}{more})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_if_any_is_near() {
        assert_eq!(
            unknown("case", "lock-scop", ["hot-clone", "lock-scope"]).to_string(),
            "no case is named `lock-scop`; did you mean `lock-scope`? (known: hot-clone, lock-scope)"
        );
        assert!(!unknown("case", "zzz", ["hot-clone"]).to_string().contains("did you mean"));
    }
}
