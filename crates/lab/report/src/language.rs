//! The language of `lab practice` and `lab explain`. The sentences are English in the code, and
//! `sentences.zh.toml` translates them into Chinese, as gettext does. A sentence without a translation stays English.

use std::{
    collections::BTreeMap,
    env,
    fmt::Display,
    sync::{LazyLock, OnceLock},
};

use lab_protocol::Template;

use crate::{NONE, join};

/// The languages that a reader can choose.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum TextLanguage {
    #[value(name = "en")]
    English,
    #[value(name = "zh")]
    Chinese,
}

static SPOKEN: OnceLock<TextLanguage> = OnceLock::new();

/// The Chinese sentences, by the English ones.
static SENTENCES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    toml::from_str(include_str!("sentences.zh.toml")).expect("a test reads sentences.zh.toml")
});

impl TextLanguage {
    /// The language of the first of these variables that is set, in the order of `setlocale`.
    pub fn of_environment() -> Self {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"].map(env::var_os);
        let locale = variables.into_iter().flatten().find(|locale| !locale.is_empty());
        let is_chinese = locale.is_some_and(|locale| locale.as_encoded_bytes().starts_with(b"zh"));
        if is_chinese { Self::Chinese } else { Self::English }
    }

    /// Speaks this language from now on. Only the first call has an effect, so no text is half of each.
    pub fn speak(self) {
        let _ = SPOKEN.set(self);
    }

    /// Whether texts are Chinese. They are English until [`Self::speak`] has chosen, also in tests.
    pub fn is_chinese() -> bool {
        SPOKEN.get() == Some(&Self::Chinese)
    }
}

/// Formats a sentence for the reader: English, or its translation with the same names in braces.
///
/// A name stands for the variable of that name, unless `name = value` follows. Values come formatted, because the
/// order of words changes and a format in the translation would have to be checked, too.
#[macro_export]
macro_rules! translate {
    (@ $name:ident) => { $name };
    (@ $name:ident = $value:expr) => { $value };
    ($english:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        match $crate::chinese($english) {
            Some(chinese) => $crate::filled(
                chinese,
                &[$((stringify!($name), &$crate::translate!(@ $name $(= $value)?) as &dyn std::fmt::Display)),*],
            ),
            None => format!($english $(, $name = $crate::translate!(@ $name $(= $value)?))*),
        }
    };
}

/// The Chinese for a sentence, if the reader chose Chinese and the sentence is translated.
pub fn chinese(english: &str) -> Option<&'static str> {
    SENTENCES.get(english).filter(|_| TextLanguage::is_chinese()).map(String::as_str)
}

/// A sentence without names in the reader's language.
pub fn translated(english: &str) -> &str {
    chinese(english).unwrap_or(english)
}

/// A list in words, in the reader's language; [`join`] has it in English for tables and notes.
pub fn listed(words: &[String]) -> String {
    if TextLanguage::is_chinese() { words.join("、") } else { join(words) }
}

/// A translation with its values.
pub fn filled(chinese: &str, values: &[(&str, &dyn Display)]) -> String {
    let named = Template::parse_all(chinese, |name| Ok(name.to_owned()));
    let value = |name: &String| values.iter().find(|(other, _)| other == name);
    named.map_or(chinese.to_owned(), |template| {
        template.filled(|name| value(name).map_or(NONE.to_owned(), |(_, value)| value.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_translation_may_change_the_order_of_the_values() {
        let [one, two] = ["a", "b"];
        assert_eq!(translate!("{one} before {last}", one, last = two), "a before b");
        let values: [(&str, &dyn Display); 2] = [("one", &one), ("last", &2)];
        assert_eq!(filled("{last} 在 {one} 之后", &values), "2 在 a 之后");
        assert!(!SENTENCES.is_empty());
    }
}
