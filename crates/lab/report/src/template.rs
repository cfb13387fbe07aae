//! Text with slots in braces, such as `{share:%}`. What a slot asks for is read once, so a mistake in one is an error
//! when the text is read, and not when a result needs it.

use anyhow::Context as _;

use crate::NONE;

/// Text and slots in turn; `S` says what goes into a slot.
#[derive(Debug)]
pub struct Template<S> {
    first: String,
    /// A slot, and the text behind it.
    rest: Vec<(S, String)>,
}

impl<S> Template<S> {
    /// # Errors
    ///
    /// If a brace isn't closed, or for what `slot` refuses.
    pub fn parse(text: &str, slot: impl Fn(&str) -> anyhow::Result<S>) -> anyhow::Result<Self> {
        let mut pieces = text.split('{');
        let first = pieces.next().unwrap_or_default().to_owned();
        let rest = pieces.map(|piece| {
            let (inner, text) =
                piece.split_once('}').with_context(|| format!("`{{{piece}` has no `}}`"))?;
            Ok((slot(inner)?, text.to_owned()))
        });
        Ok(Self { first, rest: rest.collect::<anyhow::Result<_>>()? })
    }

    /// The text with a value in each slot; one without a value shows as `n/a`.
    pub fn filled(&self, value: impl Fn(&S) -> Option<String>) -> String {
        self.rest.iter().fold(self.first.clone(), |filled, (slot, text)| {
            filled + value(slot).as_deref().unwrap_or(NONE) + text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_once_and_filled_often() {
        let number = |slot: &str| Ok(slot.parse::<u8>()?);
        let template = Template::parse("{1} and {2}.", number).unwrap();
        assert_eq!(template.filled(|slot| Some((slot * 2).to_string())), "2 and 4.");
        assert_eq!(template.filled(|slot| (*slot == 1).then(|| "one".to_owned())), "one and n/a.");
        assert_eq!(Template::parse("no slot", number).unwrap().filled(|_| None), "no slot");
        for (text, error) in [("{1", "`{1` has no `}`"), ("{one}", "invalid digit found in string")]
        {
            assert_eq!(Template::parse(text, number).unwrap_err().to_string(), error);
        }
    }
}
