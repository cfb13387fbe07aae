//! Text with slots in braces: `{port}` in a command, `{1..9}` in a request, `{share:%}` in a message. What a slot asks for
//! is read once, so a mistake in one is an error when the text is read, and not when a result needs it.

use std::convert::Infallible;

use anyhow::ensure;

/// Text and slots in turn; `S` says what goes into a slot.
#[derive(Clone, Debug)]
pub struct Template<S> {
    first: String,
    /// A slot, and the text behind it.
    rest: Vec<(S, String)>,
}

impl<S> Template<S> {
    /// Braces for which `slot` returns nothing stay, and so do those around others: in `{"user":"{name}"}`, only `{name}`
    /// is a slot.
    ///
    /// # Errors
    ///
    /// Those of `slot`.
    pub fn parse<E>(
        text: &str,
        mut slot: impl FnMut(&str) -> Result<Option<S>, E>,
    ) -> Result<Self, E> {
        let (mut first, mut rest) = (String::new(), Vec::<(S, String)>::new());
        let mut unread = text;
        loop {
            let last = rest.last_mut().map_or(&mut first, |(_, text)| text);
            let Some((before, inner)) = unread.split_once('{') else {
                last.push_str(unread);
                return Ok(Self { first, rest });
            };
            last.push_str(before);
            let end = inner.find(['{', '}']).filter(|end| inner[*end..].starts_with('}'));
            let found = match end {
                Some(end) => slot(&inner[..end])?.map(|slot| (slot, &inner[end + 1..])),
                None => None,
            };
            unread = match found {
                Some((slot, after)) => {
                    rest.push((slot, String::new()));
                    after
                }
                None => {
                    last.push('{');
                    inner
                }
            };
        }
    }

    /// A text in which all braces are around slots.
    ///
    /// # Errors
    ///
    /// If a brace isn't closed, or for what `slot` refuses.
    pub fn parse_all(text: &str, slot: impl Fn(&str) -> anyhow::Result<S>) -> anyhow::Result<Self> {
        let template = Self::parse(text, |inner| slot(inner).map(Some))?;
        for text in template.texts() {
            ensure!(!text.contains('{'), "`{text}` has no `}}`");
        }
        Ok(template)
    }

    /// The slots, in the order of the text.
    pub fn slots(&self) -> impl Iterator<Item = &S> {
        self.rest.iter().map(|(slot, _)| slot)
    }

    /// What is around the slots.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.first).chain(self.rest.iter().map(|(_, text)| &**text))
    }

    /// The text with a value in each slot.
    pub fn filled<V: AsRef<str>>(&self, mut value: impl FnMut(&S) -> V) -> String {
        self.rest
            .iter()
            .fold(self.first.clone(), |filled, (slot, text)| filled + value(slot).as_ref() + text)
    }
}

/// Replaces each slot by what `slot` returns for the text between its braces; those for which it returns nothing stay.
pub fn fill(text: &str, mut slot: impl FnMut(&str) -> Option<String>) -> String {
    let Ok(template) = Template::parse(text, |inner| Ok::<_, Infallible>(slot(inner)));
    template.filled(String::clone)
}

#[cfg(test)]
mod tests {
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
            let filled = fill(text, |name| match name {
                "port" => Some("80".to_owned()),
                "nested" => Some("{port}".to_owned()),
                _ => None,
            });
            assert_eq!(filled, expected, "{text}");
        }
        let refused = Template::<()>::parse("{a}", |name| Err(name.to_owned()));
        assert_eq!(refused.unwrap_err(), "a");
    }

    #[test]
    fn a_text_of_slots_alone_refuses_every_other_brace() {
        let number = |slot: &str| Ok(slot.parse::<u8>()?);
        let template = Template::parse_all("{1} and {2}.", number).unwrap();
        assert_eq!(template.filled(|slot| (slot * 2).to_string()), "2 and 4.");
        assert_eq!(template.slots().collect::<Vec<_>>(), [&1, &2]);
        for (text, error) in [("{1", "`{1` has no `}`"), ("{one}", "invalid digit found in string")]
        {
            assert_eq!(Template::parse_all(text, number).unwrap_err().to_string(), error);
        }
    }
}
