//! The words of results: a sentence for each code, and what it means. `codes.md` has them.
//!
//! A sentence is a clause without a full stop, unless it has several. Its slots, such as `{share:%}`, take the
//! figures of the result.

use std::sync::LazyLock;

use anyhow::Context as _;
use lab_protocol::{Metric, Note, Reason, Template};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::{
    CaseRecord, NONE, Record, TextLanguage, gain_or_loss, interval, join, notes, percent, plural,
    plus_minus, significant, thousands, time_ms,
};

const CODES: &str = include_str!("codes.md");
/// The Chinese explanations, without sentences.
const CHINESE: &str = include_str!("codes.zh.md");
/// The code of a sentence of somebody else.
const SOMEBODYS: &str = "note";

/// The codes that say that the machine disturbed the runs.
pub const NOISE: [&str; 8] = [
    "generator-late",
    "generator-limited",
    "generator-waited",
    "late-arrivals",
    "neighbours",
    "standstill",
    "steal",
    "throttled",
];

/// A code, its sentence with slots, its meaning in a line, and paragraphs on its cause and on what to do.
pub struct Explanation {
    pub code: &'static str,
    sentence: Sentence,
    pub meaning: &'static str,
    pub more: &'static str,
}

/// All codes, in their order.
pub static EXPLANATIONS: LazyLock<Vec<Explanation>> = LazyLock::new(|| {
    let all = CODES.split("## ").skip(1).map(explanation);
    all.collect::<anyhow::Result<_>>().expect("a test reads codes.md")
});

static IN_CHINESE: LazyLock<Vec<Explanation>> = LazyLock::new(|| {
    let all = CHINESE.split("## ").skip(1).map(explanation);
    all.collect::<anyhow::Result<_>>().expect("a test reads codes.zh.md")
});

impl Explanation {
    /// The explanation in the reader's language, or in English if it is not translated.
    pub fn in_language(&'static self) -> &'static Self {
        let mut chinese = IN_CHINESE.iter().filter(|_| TextLanguage::is_chinese());
        chinese.find(|explanation| explanation.code == self.code).unwrap_or(self)
    }
}

fn explanation(section: &'static str) -> anyhow::Result<Explanation> {
    let (heading, text) = section.split_once("\n\n").context("a code without a text")?;
    // A comment below a code says what it translates.
    let code = heading.lines().next().unwrap_or_default();
    let read = || {
        let (quoted, text) =
            if text.starts_with('>') { text.split_once("\n\n")? } else { ("", text) };
        let (meaning, more) = text.split_once("\n\n")?;
        Some((quoted.trim_start_matches("> ").replace("\n> ", " "), meaning, more.trim()))
    };
    let (sentence, meaning, more) = read().with_context(|| format!("{code} lacks a paragraph"))?;
    let sentence = Template::parse_all(&sentence, slot).with_context(|| code.to_owned())?;
    Ok(Explanation { code, sentence, meaning, more })
}

/// All explanations as Markdown, a heading each, without the sentences that a reader has seen already and without what
/// a Chinese one translates.
pub fn explained(language: TextLanguage) -> String {
    let text = match language {
        TextLanguage::English => CODES,
        TextLanguage::Chinese => CHINESE,
    };
    let named =
        Template::parse_all(text.trim(), slot).expect("a test reads codes.md and codes.zh.md");
    let text = named.filled(|(name, _)| format!("*{}*", name.replace('_', " ")));
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("<!--")).collect();
    let text = lines.join("\n");
    let explanations: Vec<_> =
        text.split("\n\n").filter(|paragraph| !paragraph.starts_with('>')).collect();
    explanations.join("\n\n")
}

/// The code of a result; `None` for a sentence of somebody else.
pub fn code(of: &impl Serialize) -> Option<String> {
    Some(serde_json::to_value(of).ok()?.get("code")?.as_str()?.to_owned())
}

/// `note[steal]: the host took …`, as compilers show theirs.
pub fn noted(note: &Note) -> String {
    let code = code(note).map_or(String::new(), |code| format!("[{code}]"));
    format!("note{code}: {}", sentence(note))
}

/// A result in words.
pub fn sentence(of: &impl Serialize) -> String {
    serde_json::to_value(of).map_or(NONE.to_owned(), |value| text(&value))
}

/// Why a case has its verdict.
pub fn reason(case: &CaseRecord) -> String {
    let sentence = sentence(&case.reason);
    match &case.reason {
        Reason::Rule(_) if case.speedup.is_bound(case.metric) => {
            let although = match case.metric {
                Metric::Latency(_) if case.speedup.latency_at_least => {
                    "all lag of the generator counts against it"
                }
                _ => "the generator limited the faster side",
            };
            format!("{}: {sentence}, although {although}", case.metric.name())
        }
        _ => format!("{}: {sentence}", case.metric.name()),
    }
}

/// The reason and the notes for programs: code, figures and sentence of each.
///
/// # Errors
///
/// If a figure cannot be written as JSON.
pub fn for_programs(case: &CaseRecord) -> serde_json::Result<[Value; 2]> {
    let reason = with_sentence(serde_json::to_value(&case.reason)?, reason(case));
    Ok([reason, notes_for_programs(&notes(case), serde_json::value::Serializer)?])
}

/// Notes for programs, for serde: code, figures and sentence of each.
///
/// # Errors
///
/// The errors of the serializer.
pub fn notes_for_programs<S: Serializer>(notes: &[Note], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.iter().map(|note| with_sentence(json!(note), sentence(note))))
}

fn with_sentence(result: Value, sentence: String) -> Value {
    match result {
        Value::Object(mut told) => {
            told.insert("sentence".to_owned(), sentence.into());
            told.into()
        }
        _ => json!({ "code": SOMEBODYS, "sentence": sentence }),
    }
}

/// The record as a file has it: every code next to its sentence.
///
/// # Errors
///
/// If a figure cannot be written as JSON.
pub fn to_json(record: &Record) -> serde_json::Result<Value> {
    let mut document = serde_json::to_value(record)?;
    let shown = document["cases"].as_array_mut().into_iter().flatten();
    for (case, shown) in record.cases.iter().zip(shown) {
        [shown["reason"], shown["notes"]] = for_programs(case)?;
    }
    Ok(document)
}

fn text(result: &Value) -> String {
    match result {
        Value::String(sentence) => sentence.clone(),
        Value::Array(names) => join(&names.iter().map(text).collect::<Vec<_>>()),
        Value::Object(figures) => {
            let of = |name: &str| figures.get(name).map(text);
            let code = of("code").unwrap_or_default();
            let sentence = EXPLANATIONS
                .iter()
                .find(|explanation| explanation.code == code)
                .map(|explanation| &explanation.sentence);
            let sentence = sentence
                .map_or(code, |sentence| sentence.filled(|(_, figures)| or_none(figures(result))));
            of("variant").map_or(String::new(), |variant| variant + ": ") + &sentence
        }
        Value::Number(number) => number.to_string(),
        _ => NONE.to_owned(),
    }
}

/// A function that returns the text of a slot for a result.
type Figures = Box<dyn Fn(&Value) -> Option<String> + Send + Sync>;

/// What a slot without a value shows.
fn or_none(value: Option<String>) -> String {
    value.unwrap_or_else(|| NONE.to_owned())
}

/// A sentence of [`CODES`], and what its slots show.
type Sentence = Template<(String, Figures)>;

/// `NAME`, or `NAME:UNIT`: the figure of that name in a result, in its unit.
fn slot(inner: &str) -> anyhow::Result<(String, Figures)> {
    let (name, unit) = inner.split_once(':').unwrap_or((inner, ""));
    let of = |show: fn(&Value) -> Option<String>| -> Figures {
        let name = name.to_owned();
        Box::new(move |result| show(&result[&name]))
    };
    let number = |show: fn(f64) -> String| -> Figures {
        let name = name.to_owned();
        Box::new(move |result| result[&name].as_f64().map(show))
    };
    let figures = match unit {
        "" => of(|value| Some(text(value))),
        "words" => of(|value| Some(value.as_str()?.replace('_', " "))),
        "metric" => of(|value| Some(Metric::try_from(value.as_str()?.to_owned()).ok()?.name())),
        "range" => of(|value| {
            let [low, high] = [0_usize, 1].map(|at| value[at].as_f64().map(signed));
            Some(format!("{} to {}", low?, high?))
        }),
        "interval" => Box::new(|result: &Value| {
            Some(interval(result["low"].as_f64()?, result["high"].as_f64()?))
        }),
        "%" => number(percent),
        "×" => number(gain_or_loss),
        "ms" => number(time_ms),
        "s" => number(|value| time_ms(1e3 * value)),
        "mib" => number(|value| format!("{} MiB", significant(value))),
        "n" => number(thousands),
        "±" => number(plus_minus),
        "over" => number(|value| percent(value - 1.0)),
        // Rounded down, because 94.9 % is not 95 %.
        "level" => number(|value| format!("{:.1} %", (1e3 * value).floor() / 10.0)),
        _ => {
            let one =
                unit.strip_prefix("n ").with_context(|| format!("no unit is called `{unit}`"))?;
            let (name, one) = (name.to_owned(), one.to_owned());
            Box::new(move |result: &Value| Some(plural(result[&name].as_f64()? as usize, &one)))
        }
    };
    Ok((name.to_owned(), figures))
}

/// Formats 0.95 as `-5.0 %`.
fn signed(factor: f64) -> String {
    format!("{:+.1} %", 100.0 * (factor - 1.0))
}

#[cfg(test)]
mod tests;
