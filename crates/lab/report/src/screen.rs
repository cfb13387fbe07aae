//! A comparison in a dozen lines: the answer, one table, and what to know. A terminal shows it, and a page and a comment
//! begin with it; the rest is in [`comparison`](super::comparison).

use std::fmt::Write as _;

use console::{Color, style};
use lab_model::{Metric, Note, Percentile, Reason};
use lab_stats::{Speedup, Verdict};

use crate::{
    CaseRecord, EXPLANATIONS, Table, VariantRecord, code, column, factor, notes, paragraph, plural,
    plus_minus, sentence, significant,
    tables::{claims, cpu_cells, factor_of, figures_of, how_measured, is_of_open_loop},
    thousands, turned,
};

/// How many notes are shown.
const NOTES: usize = 3;
/// How many counts of a visit.
const COUNTS: usize = 3;
/// Answers that were wrong or missing come first, in a sentence.
const FAULTS: [&str; 6] = [
    "wrong-answers",
    "drops-requests",
    "lost-requests",
    "wrong-arrivals",
    "lost-arrivals",
    "no-answers",
];
/// What only -v shows of a comparison: no figure on the screen is wrong without it.
const BEHIND: &str = "not-counted";
/// And then what can explain the figures.
const FIRST: [&str; 8] = [
    "generator-limited",
    "below-promise",
    "contradiction",
    "tails-apart",
    "throttled",
    "standstill",
    "steal",
    "neighbours",
];

/// `label` is the name of the case, or empty. `more` says how to see the rest.
pub fn screen(label: &str, case: &CaseRecord, more: &str) -> String {
    let mut text = format!("{}\n\n{}\n\n", answer(label, case), in_colour(case, &table(case)));
    let _ = writeln!(text, "{}", paragraph(&noise(case)));
    text + &closing_of_comparison(notes(case), more)
}

/// The end of a screen: the first notes, and how to see the rest.
pub fn closing(notes: Vec<Note>, more: &str) -> String {
    ended(first_of(in_lines(notes), None), more)
}

/// The end of the screen of a comparison.
pub(crate) fn closing_of_comparison(notes: Vec<Note>, more: &str) -> String {
    ended(first_of(in_lines(notes), Some(BEHIND)), more)
}

fn ended((notes, rest): (Vec<NoteLine>, usize), more: &str) -> String {
    let mut text = String::new();
    for NoteLine { code, text: said } in &notes {
        let code = code.as_ref().map_or("note".to_owned(), |code| format!("note[{code}]"));
        let _ = writeln!(text, "{}", paragraph(&format!("{}: {said}", style(code).yellow())));
    }
    let rest =
        if rest > 0 { format!("and {}: ", plural(rest, "more note")) } else { "more: ".to_owned() };
    let _ = writeln!(text, "{}", paragraph(&format!("{rest}{more}")));
    text
}

/// The verdict in a line; where nothing is decided, why in another one.
pub fn answer(label: &str, case: &CaseRecord) -> String {
    let label = if label.is_empty() { String::new() } else { format!("{}  ", style(label).bold()) };
    let indent = 2 + console::measure_text_width(&label);
    let [before, verdict, after] = verdict(case);
    let verdict = coloured(case.verdict, &verdict);
    let line = column(indent, &format!("  {label}"), &format!("{before}{verdict}{after}"));
    match why(case) {
        Some(why) => format!("{line}\n{}", paragraph(&why)),
        None => line,
    }
}

/// Why nothing is decided; `None` if something is.
pub fn why(case: &CaseRecord) -> Option<String> {
    (case.verdict.direction() == 0).then(|| sentence(&case.reason))
}

/// `fixed is faster: 7.26× the throughput (6.92–7.68)`: the verdict, and what is before and after it.
pub fn verdict(case: &CaseRecord) -> [String; 3] {
    let [_, candidate] = case.names();
    let metric = case.metric;
    let candidate = format!("{candidate} is ");
    let other = other(case).map_or(String::new(), |other| format!("; {other}"));
    let [before, after] = match (case.verdict, case.speedup.of(metric)) {
        (Verdict::Undecided, _) => [String::new(), format!(" in {}{other}", metric.name())],
        (Verdict::Equivalent, _) => [candidate, format!(" in {}{other}", metric.name())],
        (_, Some(found)) => {
            let bound = if case.speedup.is_bound(metric) { "at least " } else { "" };
            [candidate, format!(": {}", amount(metric, found, bound))]
        }
        (_, None) => [candidate, String::new()],
    };
    [before, case.verdict.to_string(), after]
}

/// From this factor on, a metric that doesn't decide is worth the first line.
const CLEAR: f64 = 2.0;

/// Where the metric that decides shows no difference, the one that differs most, if it is clearly better or worse: a
/// server that leaks is not just undecided. Nothing is said of runs with faults, or of a rate that something else limits.
fn other(case: &CaseRecord) -> Option<String> {
    if case.has_faults() {
        return None;
    }
    let is_limited = matches!(
        case.reason,
        Reason::GeneratorDecides { .. }
            | Reason::SideThrottled { .. }
            | Reason::StandstillDecides { .. }
            | Reason::EmptyRuns { .. }
    );
    let is_shown = |metric: &Metric| {
        let is_clear = matches!(case.judged_by(*metric).0, Verdict::Faster | Verdict::Slower);
        let is_idling = *metric == Metric::Cpu && case.idle_baseline().is_some();
        *metric != case.metric && is_clear && !is_idling && !(is_limited && metric.is_of_rate())
    };
    let found = Metric::all().filter(is_shown);
    let found = found.filter_map(|metric| Some((metric, case.speedup.of(metric)?)));
    let (metric, most) =
        found.max_by(|(_, one), (_, other)| one.distance().total_cmp(&other.distance()))?;
    let bound = if case.speedup.is_bound(metric) { "at least " } else { "" };
    (most.distance() >= CLEAR).then(|| {
        let [_, candidate] = case.names();
        match metric {
            Metric::Throughput => format!("{candidate} has {}", amount(metric, most, bound)),
            _ => format!("{} of {candidate} is {}", metric.name(), of_cost(most, bound)),
        }
    })
}

/// A verdict's colour. The word is always there, too.
pub fn coloured(verdict: Verdict, text: &str) -> String {
    let text = style(text).bold();
    match verdict {
        Verdict::Faster | Verdict::SlightlyFaster => text.green(),
        Verdict::Slower | Verdict::SlightlySlower => text.red(),
        Verdict::Undecided => text.yellow(),
        Verdict::Equivalent => text,
    }
    .to_string()
}

/// How much more or less, with the interval: `3.10× the throughput (2.84–3.41)`, `58.0× lower throughput (57.1–59.2)`.
fn amount(metric: Metric, found: &Speedup, bound: &str) -> String {
    let &Speedup { estimate, low, high, .. } = found;
    let name = metric.name();
    let interval = |low: f64, high: f64| format!("({}–{})", significant(low), significant(high));
    if let (Metric::Throughput, Some(loss)) = (metric, turned(found)) {
        let Speedup { estimate, low, high, .. } = loss;
        return format!("{bound}{} lower {name} {}", factor(estimate), interval(low, high));
    }
    match metric {
        Metric::Throughput => {
            format!("{bound}{} the {name} {}", factor(estimate), interval(low, high))
        }
        _ => format!("{name} {}", of_cost(found, bound)),
    }
}

/// How much less or more of a cost: above 1 is less of it.
fn of_cost(found: &Speedup, bound: &str) -> String {
    let &Speedup { estimate, low, high, .. } = found;
    let (estimate, low, high, word) = if estimate >= 1.0 {
        (estimate, low, high, "lower")
    } else {
        (1.0 / estimate, 1.0 / high, 1.0 / low, "as high")
    };
    format!("{bound}{} {word} ({}–{})", factor(estimate), significant(low), significant(high))
}

/// Every figure once: a row a metric. Of more than two servers, a row a server.
pub fn table(case: &CaseRecord) -> Table {
    let Some((one, other)) = case.sides() else { return Table::default() };
    let loops = if is_of_open_loop(case) { " Latencies are those of random arrivals." } else { "" };
    let caption = format!("{}.{loops}", noise(case));
    if case.variants.len() > 2 {
        return Table { caption, ..claims(case) };
    }
    let over = |metric: Metric| match metric {
        Metric::Cpu if case.idle_baseline().is_some() => {
            let [idles, _] = cpu_cells(case);
            idles
        }
        _ if case.speedup.of(metric).is_none() => String::new(),
        _ => factor_of(&case.speedup, metric),
    };
    let decides = |metric: Metric| if metric == case.metric { "decides" } else { "" };
    let row = |name: String, figures: [String; 2], over: String, decides: &str| {
        let [one, other] = figures;
        vec![name, one, other, over, decides.to_owned()]
    };
    let mut rows = Vec::new();
    let shown =
        |at: &Percentile| ["p50", "p99"].contains(&at.key()) || Metric::Latency(*at) == case.metric;
    let latencies = Percentile::all().filter(shown).map(Metric::Latency);
    let metrics = [Metric::Throughput, Metric::Cpu].into_iter().chain(latencies);
    let of_server = metrics.chain([Metric::PeakMemory]);
    let metrics: Vec<_> =
        if case.metric == Metric::Time { vec![Metric::Time] } else { of_server.collect() };
    for metric in metrics {
        let figures = figures_of(case, metric);
        if figures.iter().any(|it| it != crate::NONE) {
            rows.push(row(case.short(metric), figures, over(metric), decides(metric)));
        }
    }
    let count_of = |it: &VariantRecord, name: &str| {
        let exact = it.exact.get(name).map(|count| thousands(*count));
        let range = || it.ranges.get(name).map(|ends| ends.map(significant).join("–"));
        exact.or_else(range)
    };
    let names = one.exact.keys().chain(one.ranges.keys()).filter(|name| *name != "bytes");
    let counts =
        names.filter_map(|name| Some((name, [count_of(one, name)?, count_of(other, name)?])));
    for (name, figures) in counts.take(COUNTS) {
        rows.push(row(name.replace('_', " "), figures, String::new(), ""));
    }
    // Without a decision, no row decides anything.
    if case.speedup.of(case.metric).is_none() {
        rows.iter_mut().for_each(|row| row[4].clear());
    }
    Table::new(caption, ["", &one.variant, &other.variant, "factor", ""], rows)
}

/// The text of a table, each factor green if it shows that the candidate is better, and red if worse.
fn in_colour(case: &CaseRecord, table: &Table) -> String {
    let mut lines: Vec<_> = table.text().lines().map(str::to_owned).collect();
    for metric in Metric::all() {
        let (factor, verdict) = (factor_of(&case.speedup, metric), case.judged_by(metric).0);
        let colour = match verdict {
            Verdict::Faster | Verdict::SlightlyFaster => Color::Green,
            Verdict::Slower | Verdict::SlightlySlower => Color::Red,
            Verdict::Equivalent | Verdict::Undecided => continue,
        };
        let name = format!("  {} ", case.short(metric));
        if let Some(line) = lines.iter_mut().find(|line| line.starts_with(&name)) {
            *line = line.replacen(&factor, &style(&factor).fg(colour).to_string(), 1);
        }
    }
    lines.join("\n")
}

/// `noise ±2.4 %: two equal servers could differ by that; 4 users, without a pause; 6 pairs of runs; 96.8 % intervals`
pub fn noise(case: &CaseRecord) -> String {
    let noise = case.noise(case.metric).map_or("noise unknown".to_owned(), |noise| {
        format!("noise {}: two equal servers could differ by that", plus_minus(noise))
    });
    format!("{noise}; {}", in_pairs(case))
}

/// How it was measured, and how sure its intervals are.
pub fn in_pairs(case: &CaseRecord) -> String {
    let confidence = case.speedup.of(case.metric).map_or(String::new(), |found| {
        // Rounded down: 94.99 % is not 95 %.
        format!("; {:.1} % intervals", (found.confidence * 1000.0).floor() / 10.0)
    });
    format!("{}{confidence}", how_measured(case))
}

/// A note in a line. Without a code, it is a sentence of somebody else.
pub struct NoteLine {
    pub code: Option<String>,
    pub text: String,
}

/// The notes that matter most, and how many more there are.
pub fn first_notes(case: &CaseRecord) -> (Vec<NoteLine>, usize) {
    first_of(in_lines(notes(case)), Some(BEHIND))
}

fn first_of(mut notes: Vec<NoteLine>, behind: Option<&str>) -> (Vec<NoteLine>, usize) {
    let all = notes.len();
    notes.retain(|note| behind.is_none() || note.code.as_deref() != behind);
    notes.truncate(NOTES);
    let rest = all - notes.len();
    (notes, rest)
}

/// A line for each code, with the servers that it is about.
fn in_lines(notes: Vec<Note>) -> Vec<NoteLine> {
    let rank = |code: &str| FIRST.iter().position(|it| *it == code).unwrap_or(FIRST.len());
    let mut codes: Vec<(String, Vec<String>)> = Vec::new();
    let (mut faults, mut others) = (Vec::new(), Vec::new());
    for note in notes {
        let text = sentence(&note);
        let Some(code) = code(&note) else {
            others.push(NoteLine { code: None, text });
            continue;
        };
        // What was answered says more than that something was.
        if FAULTS.contains(&&*code) {
            // Each candidate's record has what there is to say of the baseline.
            if faults.iter().any(|it: &NoteLine| it.text == text) {
                continue;
            }
            faults.push(NoteLine { code: Some(code), text });
            continue;
        }
        let variant = match note {
            Note::Known { variant, .. } => variant,
            Note::Sentence(_) => None,
        };
        match codes.iter_mut().find(|(known, _)| *known == code) {
            Some((_, variants)) => {
                variants.extend(variant.filter(|it| !variants.contains(it)));
            }
            None => codes.push((code, variant.into_iter().collect())),
        }
    }
    codes.sort_by_key(|(code, _)| rank(code));
    let line = |(code, variants): (String, Vec<String>)| {
        let meaning = EXPLANATIONS.iter().find(|it| it.code == code).map_or("", |it| it.meaning);
        let of = if variants.is_empty() {
            String::new()
        } else {
            format!("{}: ", crate::join(&variants))
        };
        NoteLine { code: Some(code), text: format!("{of}{}", meaning.replace('`', "")) }
    };
    faults.into_iter().chain(codes.into_iter().map(line)).chain(others).collect()
}
