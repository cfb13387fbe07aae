//! All cases of a record: how many times better fixed is than slow, by both claims.

use maud::{Markup, html};

use super::{Chart, axis, marks, sides};
use crate::{
    bench::{CaseRecord, Record},
    display::{NONE, speedup},
    picture::{FIGURE_WIDTH, LogScale, bar, figure_text_width, fit, px, round},
    stats::{Speedup, Verdict},
};

/// Where a case begins below the one before.
const PITCH: f64 = 90.0;
/// Where the first one begins.
const TOP: f64 = 56.0;
/// Where the axes begin, beside the names of the claims.
const LEFT: f64 = 58.0;

/// The factors of all cases with their intervals, on one logarithmic axis; behind each what this
/// machine makes of no difference at all.
pub fn speedups(record: &Record) -> Chart {
    let right = FIGURE_WIDTH - 14.0 - widest(record);
    let factors =
        record.cases.iter().flat_map(claims).flat_map(|claim| [claim.found, claim.control]);
    let ends = factors.flatten().flat_map(|it| [it.low, it.high, it.estimate]);
    let scale = LogScale::covering(ends.chain([1.0]), LEFT, right);
    let bottom = TOP + record.cases.len() as f64 * PITCH;
    let ticks = scale.ticks().into_iter().map(|it| (scale.at(it), format!("{}×", round(it))));
    let body = html! {
        text class="head" x="0" y="16" { (title(record)) }
        text class="muted" x="0" y="38" { "Grey: slow against itself, which is the noise" }
        (axis::below(ticks, "times better, on a logarithmic scale", (LEFT, right), (TOP, bottom)))
        line class="axis" x1=(px(scale.at(1.0))) x2=(px(scale.at(1.0))) y1=(px(TOP)) y2=(px(bottom)) {}
        @for (index, case) in record.cases.iter().enumerate() {
            (draw(case, &scale, TOP + index as f64 * PITCH))
        }
    };
    Chart::new(bottom + axis::BELOW, &title(record), alt(record), body)
}

/// A factor that is claimed, and the same of the baseline against itself.
struct Claim {
    name: &'static str,
    found: Option<Speedup>,
    control: Option<Speedup>,
}

fn claims(case: &CaseRecord) -> [Claim; 2] {
    let (found, control) = (case.speedup, case.control.speedup);
    [
        Claim { name: "req/s", found: found.throughput, control: control.throughput },
        Claim { name: "CPU", found: found.cpu_per_request, control: control.cpu_per_request },
    ]
}

fn draw(case: &CaseRecord, scale: &LogScale, top: f64) -> Markup {
    let name = fit(&case.case, FIGURE_WIDTH - 290.0);
    html! {
        // The name lies on the lines of the axis.
        text class="head halo" x="0" y=(px(top + 22.0)) { (name) }
        @if case.verdict != Verdict::Faster {
            text class="small muted halo" x=(FIGURE_WIDTH) y=(px(top + 22.0)) text-anchor="end" {
                (verdict(case.verdict))
            }
        }
        @for (index, claim) in claims(case).iter().enumerate() {
            @let y = top + 42.0 + index as f64 * 27.0;
            text class="small muted" x="0" y=(px(y + 5.0)) { (claim.name) }
            @if let Some(control) = claim.control {
                (bar("band", scale.at(control.low), scale.at(control.high), y - 9.0, 18.0))
            }
            @if let Some(it) = claim.found {
                (marks::across("", scale.at(it.low), scale.at(it.estimate), scale.at(it.high), y))
            }
            text class="value" x=(FIGURE_WIDTH) y=(px(y + 5.0)) text-anchor="end" { (told(claim.found)) }
        }
    }
}

fn told(found: Option<Speedup>) -> String {
    found.map_or(NONE.to_owned(), |found| speedup(&found))
}

/// A verdict without its advice, for which a chart has no room.
fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifferenceShown => "no difference shown",
        Verdict::TooNoisy => "too noisy for a verdict",
    }
}

/// The room for the longest of the factors in words.
fn widest(record: &Record) -> f64 {
    let claims = record.cases.iter().flat_map(claims);
    claims.map(|claim| figure_text_width(&told(claim.found))).fold(0.0, f64::max)
}

fn title(record: &Record) -> String {
    let names = record.cases.iter().find_map(sides);
    let (baseline, candidate) =
        names.map_or(("slow", "fixed"), |(one, other)| (&one.variant[..], &other.variant[..]));
    fit(&format!("How many times better {candidate} is than {baseline}"), FIGURE_WIDTH)
}

fn alt(record: &Record) -> String {
    let cases = record.cases.iter().map(|case| {
        let [throughput, cpu] = claims(case).map(|claim| told(claim.found));
        let doubt = match case.verdict {
            Verdict::Faster => String::new(),
            other => format!(" ({})", verdict(other)),
        };
        format!("{} {throughput} by requests per second and {cpu} by CPU time{doubt}", case.case)
    });
    format!("{}: {}.", title(record), cases.collect::<Vec<_>>().join("; "))
}
