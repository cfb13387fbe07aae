//! The tables of a comparison. Terminal, report, comment and book only render them.
//!
//! The first word of a head names the layer: a *claim* has an interval, an *illustration* does not, and
//! an *exact* figure does not need one.

use crate::{CaseRecord, Latencies, OpenLoopRecord, VariantRecord};
use lab_protocol::{Metric, Percentile, Spacing, Speedups};
use lab_stats::{Speedup, Verdict};

pub use crate::pair_table::pair;

use crate::{
    NONE, Table, count_table, percent, plural, plus_minus, request_table, significant, speedup,
    speedup_or, thousands, time_ms, turned,
};

/// The tables of one case; a table without rows is left out.
pub fn tables(case: &CaseRecord) -> Vec<Table> {
    // A benchmark has no requests.
    let claims = (case.metric != Metric::Time).then(|| claims(case));
    claims.into_iter().chain(details(case)).filter(|table| !table.rows.is_empty()).collect()
}

/// The tables with the details that the screen leaves out.
pub fn details(case: &CaseRecord) -> impl Iterator<Item = Table> {
    let of_server = [request_table::all, request_table::alone, latencies, open_loop, exact]
        .map(|table| table(case));
    let of_server = of_server.into_iter().filter(|_| case.metric != Metric::Time);
    [metrics(case)].into_iter().chain(of_server).filter(|table| !table.rows.is_empty())
}

/// Every case in a row: candidate against baseline, in the metric that decides and in CPU time.
pub fn summary<'a>(cases: impl IntoIterator<Item = &'a CaseRecord> + Clone) -> Table {
    let row = |case: &CaseRecord| {
        let [cpu, cpu_noise] = cpu_cells(case);
        vec![
            case.case.to_string(),
            format!("{}: {}", case.short(case.metric), factor_of(&case.speedup, case.metric)),
            noise_of(case, case.metric),
            cpu,
            cpu_noise,
            case.verdict.to_string(),
        ]
    };
    let Some(first) = cases.clone().into_iter().next() else { return Table::default() };
    let [baseline, candidate] = first.names();
    let claim = format!("claim: {candidate} against {baseline}");
    let caption = format!(
        "The noise next to a factor is what two equal servers could differ by there.{}",
        interval(cases.clone())
    );
    // The factors come first: a phone shows no more.
    let head = [&claim, "by what decides", "noise", "by CPU/req", "noise", "verdict"];
    Table::new(caption, head, cases.into_iter().map(row))
}

/// Throughput and CPU per request of every variant; of more than two, each with its factor. Of two,
/// [`metrics`] has the factors.
pub fn claims(case: &CaseRecord) -> Table {
    let over = format!("over {}", case.names()[0]);
    let with_factors = case.variants.len() > 2;
    let columns = |all: [String; 5]| {
        let is_factor = |at: usize| at == 2 || at == 4;
        let all = all.into_iter().enumerate();
        all.filter(|(at, _)| with_factors || !is_factor(*at))
            .map(|(_, cell)| cell)
            .collect::<Vec<_>>()
    };
    let [idles, _] = cpu_cells(case);
    let row = |variant: &VariantRecord| {
        let cpu = variant.speedup.map(|over| match case.idle_baseline() {
            Some(_) => idles.clone(),
            None => speedup_or(NONE, over.cpu_per_request),
        });
        columns([
            variant.variant.clone(),
            significant(variant.throughput_rps),
            variant
                .speedup
                .filter(|over| over.throughput.is_some())
                .map_or(String::new(), |over| factor_of(&over, Metric::Throughput)),
            variant.cpu_us_per_request.map_or(NONE.into(), |us| time_ms(us / 1e3)),
            cpu.unwrap_or_default(),
        ])
    };
    // A case that the open loop decides has one run of each variant here.
    let is_claim = case.runs.iter().all(|run| run.variant != case.names()[1] || run.pair.is_some());
    let (layer, runs) = if is_claim {
        ("claim", format!("Claims: {}", plural(case.pairs, "pair")))
    } else {
        ("illustration", "Illustration, without intervals: one pair".to_owned())
    };
    let caption = format!(
        "{runs} of runs of {} s each, after {} s of warm-up; {}.{}",
        case.measurement_s,
        case.warm_up_s,
        case.load,
        interval([case])
    );
    let [rps, cpu] = [Metric::Throughput, Metric::Cpu].map(|metric| case.short(metric));
    let head = [layer, &rps, &over, &cpu, &over].map(str::to_owned);
    Table::new(caption, columns(head), case.variants.iter().map(row))
}

/// The factor of each metric that was measured, next to the control of that same metric, and what it
/// shows. The verdict is about one of them.
pub fn metrics(case: &CaseRecord) -> Table {
    let [baseline, candidate] = case.names();
    let measured = |metric: &Metric| case.speedup.of(*metric).is_some();
    let row = |metric: Metric| -> Vec<String> {
        let shows = match case.judged_by(metric).0 {
            Verdict::Faster => "better".to_owned(),
            Verdict::Slower => "worse".to_owned(),
            Verdict::SlightlyFaster => "slightly better".to_owned(),
            Verdict::SlightlySlower => "slightly worse".to_owned(),
            verdict => verdict.to_string(),
        };
        let decides = if metric == case.metric { " (decides)" } else { "" };
        let name = format!("{}{decides}", metric.name());
        if metric == Metric::Cpu && case.idle_baseline().is_some() {
            let [idles, noise] = cpu_cells(case);
            return vec![name, idles, noise, String::new()];
        }
        let noise = noise_of(case, metric);
        vec![name, factor_of(&case.speedup, metric), noise, shows]
    };
    let caption = format!(
        "Noise: what two equal servers could differ by here, in {} of runs. It is what {baseline} is off by against itself \
         (A/A, {}), plus the margin of error of the factor. A difference within the noise, or smaller than {}, does not \
         count.{} Above 1×, {candidate} is better, unless it says worse.",
        plural(case.pairs, "pair"),
        plural(case.control.pairs, "pair"),
        percent(case.minimum_effect),
        interval([case])
    );
    let head = [&*format!("claim: {candidate}"), &format!("over {baseline}"), "noise", "shows"];
    Table::new(caption, head, Metric::all().filter(measured).map(row))
}

/// Whether the latencies that have factors are those of random arrivals.
pub fn is_of_open_loop(case: &CaseRecord) -> bool {
    matches!(case.metric, Metric::Latency(_)) && !case.open_runs.is_empty()
}

/// The metric of baseline and candidate; a latency is of the loop that has its factor.
pub fn figures_of(case: &CaseRecord, metric: Metric) -> [String; 2] {
    let figure = |variant| figure_of(case, variant, metric);
    case.sides().map_or_else(Default::default, |(one, other)| [one, other].map(figure))
}

/// The metric of a variant, as [`value_of`] has it.
pub fn figure_of(case: &CaseRecord, variant: &VariantRecord, metric: Metric) -> String {
    if let Metric::Latency(at) = metric {
        return latencies_of(case, variant)
            .map_or(NONE.to_owned(), |latencies| percentile(&latencies, at));
    }
    let Some(value) = value_of(case, variant, metric) else { return NONE.to_owned() };
    match metric {
        Metric::Throughput | Metric::PeakMemory => significant(value),
        Metric::Cpu | Metric::Time | Metric::Latency(_) => time_ms(value),
    }
}

/// The metric of a variant over all its runs, as every table, chart and page shows it: right answers per second, CPU
/// time per answer and time of an iteration (all in ms) of the median run; a percentile of the requests of all runs
/// together, in ms; the peak memory of the run with the highest, in MiB.
pub fn value_of(case: &CaseRecord, variant: &VariantRecord, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Throughput => Some(variant.throughput_rps),
        Metric::Cpu => Some(variant.cpu_us_per_request? / 1e3),
        Metric::PeakMemory => variant.peak_rss_mib,
        Metric::Time => Some(variant.time_ns? / 1e6),
        Metric::Latency(at) => latencies_of(case, variant)?.by.get(at).copied(),
    }
}

/// The latencies of the loop that ran in pairs, which have factors.
fn latencies_of(case: &CaseRecord, variant: &VariantRecord) -> Option<Latencies> {
    if is_of_open_loop(case) {
        return variant.open_loop.as_ref().map(OpenLoopRecord::latencies);
    }
    Some(variant.latency_ms)
}

/// Every request in exactly one column, and how busy the generator was.
pub fn requests(case: &CaseRecord) -> Table {
    let row = |variant: &VariantRecord| {
        let its = &variant.requests;
        let counts = [its.sent, its.ok, its.wrong, its.failed, its.unfinished, its.lost];
        let counts = counts.map(|count| thousands(count as f64));
        let shares = [variant.generator_cpu, variant.generator_waited];
        let shares = shares.map(|share| share.map_or(NONE.to_owned(), percent));
        [variant.variant.clone()].into_iter().chain(counts).chain(shares).collect()
    };
    let caption = "Requests of the closed loop. Lost requests are those unfinished ones that the load \
                   does not explain. The generator has one thread: where it worked or waited for a \
                   core for 90 % of a run, it limits the result.";
    let ends = ["sent", "right", "wrong", "failed", "unfinished", "lost"];
    let head = ["requests"].into_iter().chain(ends);
    let head = head.chain(["generator's CPU", "its wait for a core"]);
    Table::new(caption, head, case.variants.iter().map(row))
}

/// The lowest confidence of the intervals that decide: `95.2 %`. Rounded down: 94.99 % is not 95 %.
pub fn confidence<'a>(cases: impl IntoIterator<Item = &'a CaseRecord>) -> Option<String> {
    let shown = |case: &CaseRecord| case.speedup.of(case.metric).copied();
    let intervals = cases.into_iter().filter_map(shown);
    let lowest = intervals.map(|speedup| speedup.confidence).reduce(f64::min)?;
    Some(format!("{:.1} %", (lowest * 1000.0).floor() / 10.0))
}

/// A sentence on what the brackets show, after a space; empty if there are no brackets.
pub fn interval<'a>(cases: impl IntoIterator<Item = &'a CaseRecord>) -> String {
    let confidence = confidence(cases).map(|confidence| {
        format!(" The brackets show a {confidence} interval, from pairs of runs.")
    });
    confidence.unwrap_or_default()
}

/// The noise of a metric, by which two equal servers could differ: `±2.4 %`.
pub fn noise_of(case: &CaseRecord, metric: Metric) -> String {
    case.noise(metric).map_or(NONE.to_owned(), plus_minus)
}

pub fn memory(variant: &VariantRecord) -> String {
    variant.peak_rss_mib.map_or(NONE.to_owned(), significant)
}

/// Latency, memory and errors in the closed loop.
fn latencies(case: &CaseRecord) -> Table {
    let row = |variant: &VariantRecord| {
        let last = [memory(variant), thousands(variant.requests.errors() as f64)];
        (variant.variant.clone(), variant.latency_ms, last)
    };
    let caption = "Illustration, without intervals: latency in the closed loop, and memory.";
    let rows = case.variants.iter().map(row).collect();
    with_percentiles(caption.to_owned(), "illustration", rows, ["peak MiB", "errors"])
}

/// Latency and errors in the open loop; no rows if there was none.
fn open_loop(case: &CaseRecord) -> Table {
    let row = |variant: &VariantRecord| {
        let open = variant.open_loop.as_ref()?;
        let last = [open.queued, open.requests.errors()].map(|count| thousands(count as f64));
        let met = [case.arrived_per_s(&variant.variant), case.background_per_s(&variant.variant)]
            .map(rate);
        let [queued, errors] = last;
        let [arrived, others] = met;
        Some((variant.variant.clone(), open.latencies(), [queued, errors, arrived, others]))
    };
    let open_loop = case.variants.iter().find_map(|variant| variant.open_loop.as_ref());
    let rate = open_loop.map(arrivals).unwrap_or_default();
    let caption = format!(
        "Illustration: open loop, {rate}; latency counts from the moment an arrival was due."
    );
    let rows = case.variants.iter().filter_map(row).collect();
    let ends = ["queued", "errors", "arrivals/s", "others/s"];
    let mut table = with_percentiles(caption, "open loop", rows, ends);
    if case.variants.iter().all(|variant| case.background_per_s(&variant.variant).is_none()) {
        table = table.columns(&(0..table.head.len() - 1).collect::<Vec<_>>());
    }
    Table { lead: Some(format!("illustration, open loop: {rate}")), ..table }
}

/// The cost of one page load; a row a count.
fn exact(case: &CaseRecord) -> Table {
    let counts: Vec<_> =
        case.variants.iter().map(|variant| (&*variant.variant, &variant.exact)).collect();
    let caption = "Exact: counted once by lab count; the same in every run.";
    Table { caption: caption.to_owned(), ..count_table("exact, per visit", &counts) }
}

/// Rows with the percentiles that at least one of them has between the name and the last columns.
fn with_percentiles<const N: usize>(
    caption: String,
    first: &str,
    rows: Vec<(String, Latencies, [String; N])>,
    last: [&'static str; N],
) -> Table {
    let is_known =
        |at: &Percentile| rows.iter().any(|(_, latencies, _)| latencies.by.get(*at).is_some());
    let percentiles: Vec<_> = Percentile::all().filter(is_known).collect();
    let head = percentiles.iter().map(|at| at.name()).chain(last);
    let head: Vec<_> = [first].into_iter().chain(head).collect();
    let row = |(name, latency, last): (String, Latencies, [String; N])| {
        let shown = percentiles.iter().map(|at| percentile(&latency, *at));
        [name].into_iter().chain(shown).chain(last).collect()
    };
    Table::new(caption, head, rows.into_iter().map(row))
}

/// How a case was measured, in a clause: under its table in the terminal, on its page, and in a comment.
pub fn how_measured(case: &CaseRecord) -> String {
    let layouts =
        case.layouts.map_or(String::new(), |layouts| format!(", in {layouts} layouts in turn"));
    let pairs = plural(case.pairs, "pair");
    format!("{}; {pairs} of runs, {} s each{layouts}", case.load, case.measurement_s)
}

/// `9.68 random arrivals per second`, as they were planned: each variant's row says how many came.
fn arrivals(open_loop: &OpenLoopRecord) -> String {
    let spacing = match open_loop.spacing {
        Spacing::Random { .. } => "random",
        Spacing::Even => "evenly spaced",
    };
    format!("{} {spacing} arrivals per second", significant(open_loop.rate_per_s))
}

/// A rate per second as it was measured.
pub fn rate(found: Option<f64>) -> String {
    found.map_or(NONE.to_owned(), significant)
}

/// A factor in words, such as `≥ 7.20× (6.10–8.05)` for a bound, and `≥ 58.0× worse (57.1–59.2)`.
pub fn factor_of(speedups: &Speedups, metric: Metric) -> String {
    let Some(found) = speedups.of(metric) else { return NONE.to_owned() };
    let bound = if speedups.is_bound(metric) { sign_of_bound(found) } else { "" };
    format!("{bound}{}", speedup(found))
}

/// The sign before a factor that is a bound: of a gain or a loss as it is written.
pub fn sign_of_bound(found: &Speedup) -> &'static str {
    if found.estimate > 1.0 || turned(found).is_some() { "≥ " } else { "≤ " }
}

/// The factor of CPU time per request and its noise; for an idle baseline, that it idles.
pub fn cpu_cells(case: &CaseRecord) -> [String; 2] {
    match (case.idle_baseline(), case.variants.first()) {
        (Some(_), Some(baseline)) => [format!("{} idles", baseline.variant), String::new()],
        _ => [speedup_or(NONE, case.speedup.cpu_per_request), noise_of(case, Metric::Cpu)],
    }
}

/// A percentile of these, with `≥` if it is a lower bound, and `≤` if it is an upper one.
pub fn percentile(latencies: &Latencies, at: Percentile) -> String {
    let Some(&ms) = latencies.by.get(at) else { return NONE.to_owned() };
    let is_least = latencies.exact_below.is_some_and(|age| ms >= age);
    match (is_least, latencies.at_most) {
        (false, false) => time_ms(ms),
        (true, false) => format!("≥{}", time_ms(ms)),
        (false, true) => format!("≤{}", time_ms(ms)),
        (true, true) => NONE.to_owned(),
    }
}
