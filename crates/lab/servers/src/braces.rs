//! Slots in braces, such as `{port}` in a command or `{1..9}` in a request.

/// Replaces each slot by what `slot` returns for the text between its braces. Braces for which it returns nothing stay,
/// and so do those around others: in `{"user":"{name}"}`, only `{name}` is a slot.
///
/// # Errors
///
/// Those of `slot`.
pub fn fill<E>(
    text: &str,
    mut slot: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<String, E> {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, inner)) = rest.split_once('{') {
        filled.push_str(before);
        let end = inner.find(['{', '}']).filter(|end| inner[*end..].starts_with('}'));
        let value = match end {
            Some(end) => slot(&inner[..end])?.map(|value| (value, end)),
            None => None,
        };
        rest = match value {
            Some((value, end)) => {
                filled.push_str(&value);
                &inner[end + 1..]
            }
            None => {
                filled.push('{');
                inner
            }
        };
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn known_slots_are_filled_once_and_all_other_braces_stay() {
        for (text, expected) in [
            ("", ""),
            ("none", "none"),
            ("{port}", "80"),
            ("a{port}b{port}{", "a80b80{"),
            ("{{port}}", "{80}"),
            (r#"{"at":"{port}"}"#, r#"{"at":"80"}"#),
            ("{user} {port", "{user} {port"),
            ("} {nested}", "} {port}"),
            ("{} é{port}é", "{} é80é"),
        ] {
            let filled = fill(text, |name| {
                Ok::<_, Infallible>(match name {
                    "port" => Some("80".to_owned()),
                    "nested" => Some("{port}".to_owned()),
                    _ => None,
                })
            });
            assert_eq!(filled, Ok(expected.to_owned()), "{text}");
        }
        assert_eq!(fill("{a}", |name| Err(name.to_owned())), Err("a".to_owned()));
    }
}
