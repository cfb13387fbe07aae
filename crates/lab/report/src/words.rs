//! Numbers and paragraphs for readers.

use std::{path::Path, time::Duration};

use console::style;
use lab_stats::Speedup;
use textwrap::{
    WordSeparator,
    core::{Word, display_width},
};

/// Formats `5405.3` as `5,405`.
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a number of things: `1 pair`, `6 pairs`.
pub fn plural(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{} {one}s", thousands(count as f64)),
    }
}

/// A list in words: `a, b and c`.
pub fn join(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The longest name in a table, in characters: a longer one would widen every row.
const LONGEST_NAME: usize = 72;

/// A name for a table, without its middle if it is long: names of benchmarks often differ at their ends.
pub fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= LONGEST_NAME {
        return name.to_owned();
    }
    let half = LONGEST_NAME / 2;
    name.chars().take(half).chain(['…']).chain(name.chars().skip(count - half + 1)).collect()
}

/// Formats with three significant digits: `0.0172`, `19.6`, `276`, `5,405`, and `1.00e300`, which nobody reads as
/// digits.
pub fn significant(value: f64) -> String {
    match value {
        v if v > 0.0 && v < 1e-9 || v >= 1e15 => format!("{v:.2e}"),
        v if v > 0.0 && v < 0.0995 => format!("{v:.*}", (2.0 - v.log10().floor()) as usize),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => thousands(v),
    }
}

/// Formats milliseconds in µs, ms or s.
pub fn time_ms(ms: f64) -> String {
    match ms {
        ms if ms < 0.0009995 => format!("{} ns", significant(ms * 1e6)),
        ms if ms < 0.9995 => format!("{} µs", significant(ms * 1e3)),
        ms if ms < 999.5 => format!("{} ms", significant(ms)),
        ms => format!("{} s", significant(ms / 1e3)),
    }
}

/// A share of 0.873 as `87 %`; a smaller one with more digits, and 0 as `none`.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "none".to_owned(),
        percent if percent.abs() < 0.095 => format!("{percent:.2} %"),
        percent if percent.abs() < 9.95 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// `276×`.
pub fn factor(value: f64) -> String {
    format!("{}×", significant(value))
}

/// `276× (275–278)`, and `58.0× worse (57.1–59.2)` for a loss that [`turned`] turns round.
pub fn speedup(speedup: &Speedup) -> String {
    let (found, worse) = match turned(speedup) {
        Some(loss) => (loss, " worse"),
        None => (*speedup, ""),
    };
    let Speedup { estimate, low, high, .. } = found;
    format!("{}{worse} ({}–{})", factor(estimate), significant(low), significant(high))
}

/// A factor below this is a loss that a person says the other way round: 58 times worse, and not 0.0172 times as good.
const LOSS: f64 = 0.5;

/// A factor alone, turned round like [`speedup`].
pub fn gain_or_loss(value: f64) -> String {
    if value < LOSS { format!("{} worse", factor(1.0 / value)) } else { factor(value) }
}

/// An interval alone, turned round like [`speedup`] by its middle.
pub fn interval(low: f64, high: f64) -> String {
    if (low * high).sqrt() < LOSS {
        format!("{}–{} worse", significant(1.0 / high), factor(1.0 / low))
    } else {
        format!("{}–{}", significant(low), significant(high))
    }
}

/// A large loss as a factor above 1, with its interval; `None` for a gain and for a small loss.
pub fn turned(speedup: &Speedup) -> Option<Speedup> {
    let [estimate, low, high] =
        [speedup.estimate, speedup.high, speedup.low].map(|factor| 1.0 / factor);
    (speedup.estimate < LOSS).then_some(Speedup { estimate, low, high, ..*speedup })
}

/// A speedup as `276× (275–278)`, or the text for a missing one.
pub fn speedup_or(missing: &str, found: Option<Speedup>) -> String {
    found.map_or(missing.to_owned(), |found| speedup(&found))
}

/// Formats 1.02 as `±2.0 %`, 1.0002 as `±0.02 %`, where one decimal would show nothing, and 3.486 as `±249 %`.
pub fn plus_minus(factor: f64) -> String {
    match (factor - 1.0) * 100.0 {
        percent if percent < 0.095 => format!("±{percent:.2} %"),
        percent if percent >= 99.95 => format!("±{percent:.0} %"),
        percent => format!("±{percent:.1} %"),
    }
}

/// A path relative to the current directory, if it is below that.
pub fn path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).display().to_string()
}

/// A paragraph of at most 80 columns, indented by two.
pub fn paragraph(text: &str) -> String {
    column(2, "  ", text)
}

/// Text of at most 80 columns next to a label, which is `indent` columns wide and may be coloured.
pub fn column(indent: usize, label: &str, text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = textwrap::wrap(&text, whole_words(80_usize.saturating_sub(indent).max(20)));
    format!("{label}{}", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// A name, and next to it what it is about, in at most 80 columns.
pub fn heading(name: &str, about: &str) -> String {
    let label = format!("{}  ", style(name).bold().cyan());
    column(console::measure_text_width(&label), &label, about)
}

/// A message of at most 80 columns. Lines that are indented stay as they are: they are quotations.
pub fn message(text: &str) -> String {
    let wrapped = |line: &str| {
        if line.starts_with(' ') { line.to_owned() } else { textwrap::fill(line, whole_words(80)) }
    };
    text.lines().map(wrapped).collect::<Vec<_>>().join("\n")
}

/// Paragraphs of at most 80 columns, from lines that may be broken elsewhere.
pub fn prose(text: &str) -> String {
    text.trim()
        .split("\n\n")
        .map(|paragraph| column(0, "", paragraph))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Lines of this width, which break no name such as `idle-server`, and no number from its unit.
fn whole_words<'a>(width: usize) -> textwrap::Options<'a> {
    let options =
        textwrap::Options::new(width).word_splitter(textwrap::WordSplitter::NoHyphenation);
    options.word_separator(WordSeparator::Custom(words))
}

/// What may follow a number and a space, and stays on the number's line.
const UNITS: [&str; 12] =
    ["%", "ns", "µs", "ms", "s", "min", "h", "bytes", "kB", "MB", "GB", "MiB"];

/// Whether `rest` is what a number's unit begins: `% of the time`, or `ms, of which`.
fn begins_with_unit(rest: &str) -> bool {
    let word = rest.split_whitespace().next().unwrap_or_default();
    UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')', '`']))
}

/// The pieces of a line that aren't broken: words, numbers with their units, and each Chinese character with the
/// punctuation that belongs to it. Chinese has no spaces. The rules of Unicode need nineteen more crates, and break paths at their slashes.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    const CLOSING: &str = "，。；：、！？）》」』”’…—·,.;:!?)]}%";
    const OPENING: &str = "（《「『“‘([{";
    let is_wide = |character: char| display_width(character.encode_utf8(&mut [0; 4])) == 2;
    let is_unit = move |at: usize| {
        let number = line[..at].trim_end();
        number.ends_with(|last: char| last.is_ascii_digit()) && begins_with_unit(&line[at..])
    };
    let is_break = move |at: usize, (before, after): (char, char)| {
        let is_chinese = is_wide(before) || is_wide(after);
        after != ' '
            && (before == ' ' && !is_unit(at)
                || is_chinese && !CLOSING.contains(after) && !OPENING.contains(before))
    };
    let pairs = line.char_indices().zip(line.chars().skip(1));
    let end = |at: usize, before: char| at + before.len_utf8();
    let breaks =
        pairs.filter(move |((at, before), after)| is_break(end(*at, *before), (*before, *after)));
    let ends = breaks.map(move |((at, before), _)| end(at, before)).chain([line.len()]);
    let pieces = ends.scan(0, |start, end| Some(std::mem::replace(start, end)..end));
    Box::new(pieces.filter(|range| !range.is_empty()).map(|range| Word::from(&line[range])))
}

/// A planned time, in seconds or, from two minutes on, in minutes: `25 s`, `2.5 min`.
pub fn planned(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 115.0 => format!("{:.0} s", (seconds / 5.0).ceil().max(1.0) * 5.0),
        seconds => format!("{} min", (seconds / 30.0).ceil() / 2.0),
    }
}

/// The text for a missing figure.
pub const NONE: &str = "n/a";

/// The text for what one side does not have.
pub const NONE_OF_IT: &str = "none";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!(significant(2.714), "2.71");
        assert_eq!(significant(19.58), "19.6");
        assert_eq!(significant(275.7), "276");
        assert_eq!(significant(5405.3), "5,405");
        assert_eq!(thousands(1_234_567.0), "1,234,567");
        assert_eq!(
            [0.0, 0.0172, 0.00099, 0.0994, 0.0999].map(significant),
            ["0.00", "0.0172", "0.000990", "0.0994", "0.10"]
        );
        // No input makes a row of hundreds of digits.
        for exponent in -300..300 {
            assert!(significant(9.999 * 10_f64.powi(exponent)).len() <= 19, "{exponent}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_ends() {
        assert_eq!(shortened("größe/µs"), "größe/µs");
        let name = format!("group/{}/1024", "ä".repeat(150));
        let short = shortened(&name);
        assert_eq!(short.chars().count(), LONGEST_NAME);
        assert!(short.starts_with("group/") && short.ends_with("/1024"), "{short}");
    }

    #[test]
    fn a_large_loss_is_turned_round_with_its_interval() {
        let of = |estimate: f64| {
            let found = Speedup::of_pairs([estimate * 0.98, estimate, estimate * 1.02]).unwrap();
            speedup(&found)
        };
        assert_eq!(of(58.0), "58.0× (56.8–59.2)");
        assert_eq!(of(1.0 / 58.0), "58.0× worse (56.9–59.2)");
        assert_eq!(of(0.93), "0.93× (0.91–0.95)");
        assert_eq!(gain_or_loss(1.0 / 58.0), "58.0× worse");
        assert_eq!(interval(1.0 / 59.2, 1.0 / 56.9), "56.9–59.2× worse");
        assert_eq!([interval(0.9, 1.1), gain_or_loss(0.93)], ["0.90–1.10", "0.93×"]);
        // Neither form shows a loss as nothing.
        for exponent in -12..12 {
            let shown = of(2.5 * 10_f64.powi(exponent));
            assert!(!shown.contains("0.00"), "{shown}");
        }
    }

    #[test]
    fn noise_has_no_more_digits_than_a_few_pairs_can_show() {
        let shown = [1.0002, 1.02, 1.26, 3.486].map(plus_minus);
        assert_eq!(shown, ["±0.02 %", "±2.0 %", "±26.0 %", "±249 %"]);
    }

    #[test]
    fn text_stays_within_80_columns() {
        let long = "many words ".repeat(20);
        assert!(column(24, "label", &long).lines().skip(1).all(|line| line.len() <= 80));
        assert!(
            column(24, "", &long).lines().skip(1).all(|line| line.starts_with(&" ".repeat(24)))
        );
        let chinese = "守卫什么时候被丢弃？（把 `那一行`，与 a-b/c 比一比）。".repeat(5);
        for width in 20..40 {
            for line in column(width, "", &chinese).lines().skip(1).map(str::trim_start) {
                assert!(!line.starts_with(['，', '。', '）', '？']), "{line}");
                assert!(!line.ends_with('（') && display_width(line) <= 80 - width);
            }
        }
        let whole = column(2, "", &chinese).replace("\n  ", "");
        assert_eq!(whole.matches("a-b/c").count(), 5, "{whole}");
    }

    #[test]
    fn a_quoted_line_stays_whole() {
        let long = "many words ".repeat(20);
        let quoted = format!("  | {long}");
        let text = message(&format!("{long}\n{quoted}"));
        assert!(text.ends_with(&quoted));
        assert_eq!(text.lines().filter(|line| line.len() > 80).count(), 1);
    }

    #[test]
    fn a_number_stays_with_its_unit_at_every_width() {
        for unit in UNITS {
            let text = format!("fsync 21 {unit}, futex (3.5 {unit}) and 7 {unit} of the rest. ");
            let text = text.repeat(4);
            for width in 20..80 {
                for line in textwrap::wrap(&text, whole_words(width)) {
                    assert!(!begins_with_unit(&line), "{width} columns: {line}");
                }
            }
        }
        // Another word that follows a number may begin a line.
        assert_eq!(textwrap::wrap("the 21 servers", whole_words(7)), ["the 21", "servers"]);
    }

    #[test]
    fn planned_times_are_round() {
        let shown = [0, 18, 80, 130, 300].map(|seconds| planned(Duration::from_secs(seconds)));
        assert_eq!(shown, ["5 s", "20 s", "80 s", "2.5 min", "5 min"]);
    }

    #[test]
    fn times_have_a_suitable_unit() {
        assert_eq!(time_ms(0.0381), "38.1 µs");
        assert_eq!(time_ms(51.6), "51.6 ms");
        assert_eq!(time_ms(2150.0), "2.15 s");
        assert_eq!(time_ms(999.9), "1.00 s");
    }
}
