//! The lowest boxes of two profiles as stacked bars on one scale: what the fix removes, what becomes cheaper, and what
//! stays.

use lab_observation::Folded;
use lab_report::{factor, time_ms};
use maud::{Markup, html};

use super::Chart;
use crate::svg::{FIGURE_WIDTH, bar, fit, px, round};

/// A box that takes less of both sides is one of the rest.
const LEAST_SHARE: f64 = 0.02;
/// The name of the frames of the kernel, above whatever called it.
const KERNEL: &str = "kernel";
const BAR: f64 = 24.0;
/// The strip at the bottom of a bar, as long as the kernel's part of a box.
const STRIP: f64 = 6.0;
/// The shortest strip that is drawn: a shorter one is all edge.
const LEAST_STRIP: f64 = 4.0;
/// The top of the first bar, the distance to the next, and the distance of the table's lines.
const TOP: f64 = 52.0;
const PITCH: f64 = 62.0;
const LINE: f64 = 24.0;
/// Where the columns of the table end.
const COLUMNS: [f64; 3] = [320.0, 424.0, FIGURE_WIDTH];
/// How boxes that stay look; those that go are as dark as `slow`.
const STAY: [&str; 3] = ["fixed", "request", "wait"];

/// A box of both sides: the nanoseconds of a request, and those of them in the kernel.
#[derive(Clone, Debug, Default)]
struct BoxRow {
    name: String,
    ns: [f64; 2],
    kernel: [f64; 2],
}

impl BoxRow {
    fn of(name: &str, sides: [&Folded; 2]) -> Self {
        let sum = |is_counted: fn(&[String]) -> bool| {
            sides.map(|side| {
                let own = side.iter().filter(|(stack, _)| stack[0] == name && is_counted(stack));
                own.map(|(_, spent)| spent).sum::<u64>() as f64
            })
        };
        let kernel = sum(|stack| stack.iter().any(|frame| frame == KERNEL));
        Self { name: name.to_owned(), ns: sum(|_| true), kernel }
    }

    fn add(&mut self, other: &Self) {
        for side in 0..2 {
            self.ns[side] += other.ns[side];
            self.kernel[side] += other.kernel[side];
        }
    }
}

/// The CPU time of a request in both sides, `slow` first, by the functions at the bottom of the stacks.
pub fn boxes(case: &str, sides: [&Folded; 2]) -> Chart {
    let (rows, all) = rows(sides);
    let full = FIGURE_WIDTH / all.ns[0].max(all.ns[1]).max(1.0);
    let enlarged = FIGURE_WIDTH / all.ns[1].max(1.0);
    let sliver = px(all.ns[1] * full);
    let [slow, fixed, large] = [0.0, 1.0, 2.0].map(|nth| TOP + nth * PITCH + 22.0);
    let table = TOP + 3.0 * PITCH + 8.0;
    let title = fit(&format!("CPU time of a request: {case}"), FIGURE_WIDTH);
    let zoom =
        format!("M0 {}L0 {}M{sliver} {}L{FIGURE_WIDTH} {}", fixed + BAR, large, fixed + BAR, large);
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        text class="small muted" x="0" y="38" { "One scale; the strip below: in the kernel" }
        (name("slow", &time(all.ns[0]), slow))
        (stacked(&rows, 0, full, slow))
        (name("fixed", &time(all.ns[1]), fixed))
        (stacked(&rows, 1, full, fixed))
        path class="leader" d=(zoom) {}
        text class="small muted halo" x=(FIGURE_WIDTH / 2.0) y=(px(large - 10.0)) text-anchor="middle" {
            "the same, " (round((enlarged / full).round())) " times as wide"
        }
        (stacked(&rows, 1, enlarged, large))
        (line(table, &["", "slow", "fixed", "factor"].map(str::to_owned), "muted"))
        @for (nth, row) in rows.iter().enumerate() {
            @let y = table + (nth + 1) as f64 * LINE;
            (bar(class(&rows, nth), 0.0, 16.0, y - 13.0, 14.0))
            (line(y, &cells(&row.name, row.ns), ""))
        }
        @let end = table + (rows.len() + 1) as f64 * LINE;
        line class="axis" x1="0" x2=(FIGURE_WIDTH) y1=(px(end - 17.0)) y2=(px(end - 17.0)) {}
        (line(end, &cells("all", all.ns), ""))
        (bar("dot", 0.0, 16.0, end + LINE - 9.0, STRIP))
        (line(end + LINE, &cells("in the kernel", all.kernel), ""))
    };
    let height = TOP + 3.0 * PITCH + 8.0 + (rows.len() + 2) as f64 * LINE + 10.0;
    Chart::new(height, &title, alt(case, &rows, &all), body)
}

/// The boxes, widest first, the rest of them, and the sum of all.
fn rows(sides: [&Folded; 2]) -> (Vec<BoxRow>, BoxRow) {
    let bottoms = sides.into_iter().flat_map(Folded::iter).map(|(stack, _)| stack[0].as_str());
    let bottoms: std::collections::BTreeSet<_> = bottoms.collect();
    let boxes: Vec<_> = bottoms.into_iter().map(|name| BoxRow::of(name, sides)).collect();
    let mut all = BoxRow::default();
    boxes.iter().for_each(|row| all.add(row));
    let is_wide = |row: &BoxRow| (0..2).any(|side| row.ns[side] >= LEAST_SHARE * all.ns[side]);
    let (mut wide, narrow): (Vec<_>, Vec<_>) = boxes.into_iter().partition(is_wide);
    wide.sort_by(|one, other| other.ns[0].total_cmp(&one.ns[0]));
    if !narrow.is_empty() {
        let mut rest = BoxRow { name: "the rest".to_owned(), ..BoxRow::default() };
        narrow.iter().for_each(|row| rest.add(row));
        wide.push(rest);
    }
    (wide, all)
}

/// The look of a box: whether it goes, or else its place among those that stay.
fn class(rows: &[BoxRow], nth: usize) -> &'static str {
    if rows[nth].ns[1] == 0.0 {
        return "slow";
    }
    let before = rows[..nth].iter().filter(|row| row.ns[1] > 0.0).count();
    STAY.get(before).copied().unwrap_or("cut")
}

fn stacked(rows: &[BoxRow], side: usize, scale: f64, y: f64) -> Markup {
    let mut start = 0.0;
    let mut parts = Vec::new();
    for (nth, row) in rows.iter().enumerate() {
        let end = start + row.ns[side] * scale;
        let kernel = row.kernel[side] * scale;
        parts.push(html! {
            (bar(class(rows, nth), start, end, y, BAR))
            @if kernel >= LEAST_STRIP { (bar("dot", start, start + kernel, y + BAR - STRIP, STRIP)) }
        });
        start = end;
    }
    html! { @for part in parts { (part) } }
}

fn name(side: &str, time: &str, y: f64) -> Markup {
    html! {
        text class="value" x="0" y=(px(y - 6.0)) { tspan class="name-of" { (side) } tspan { " " (time) } }
    }
}

/// A line of the table: a name, and three cells that end below each other.
fn line(y: f64, cells: &[String; 4], class: &str) -> Markup {
    let room = COLUMNS[0] - 120.0;
    html! {
        text class=(class) x="26" y=(px(y)) { (fit(&cells[0], room)) }
        @for (cell, x) in cells[1..].iter().zip(COLUMNS) {
            text class=(class) x=(x) y=(px(y)) text-anchor="end" { (cell) }
        }
    }
}

fn cells(name: &str, [slow, fixed]: [f64; 2]) -> [String; 4] {
    let over = if fixed > 0.0 { factor(slow / fixed) } else { "gone".to_owned() };
    let left = if fixed > 0.0 { time(fixed) } else { "0".to_owned() };
    [name.to_owned(), time(slow), left, over]
}

fn time(ns: f64) -> String {
    time_ms(ns / 1e6)
}

fn alt(case: &str, rows: &[BoxRow], all: &BoxRow) -> String {
    let one = |row: &BoxRow| {
        let [_, slow, fixed, _] = cells(&row.name, row.ns);
        format!("{} {slow} → {fixed}", row.name)
    };
    let rows = rows.iter().map(one).collect::<Vec<_>>().join("; ");
    let [_, slow, fixed, _] = cells("", all.ns);
    format!("CPU time of a request of {case}, slow {slow} and fixed {fixed}, by box: {rows}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: &str =
        "connect;read;kernel 4000000\nconnect 500000\nhttp 400000\nhttp;kernel 80000\nodd 20000\n";
    const FIXED: &str = "http 60000\nhttp;kernel 36000\nodd 1000\n";

    fn drawn() -> Chart {
        let [slow, fixed] = [SLOW, FIXED].map(|it| it.parse::<Folded>().unwrap());
        boxes("<toy>", [&slow, &fixed])
    }

    #[test]
    fn a_box_that_goes_one_that_becomes_cheaper_and_the_rest_have_their_times() {
        let chart = drawn();
        let expected = "slow 5.00 ms and fixed 97.0 µs, by box: connect 4.50 ms → 0; http 480 µs → 96.0 µs; the \
                        rest 20.0 µs → 1.00 µs.";
        assert!(chart.alt.ends_with(expected), "{}", chart.alt);
        let kernel = ["in the kernel", "4.08 ms", "36.0 µs", "113×"];
        assert!(kernel.iter().all(|it| chart.svg.contains(&format!(">{it}<"))), "{}", chart.svg);
        let faults = ["NaN", "inf", "<toy>"];
        assert!(!faults.iter().any(|it| chart.svg.contains(it)), "{}", chart.svg);
    }

    #[test]
    fn both_bars_have_one_scale() {
        let svg = drawn().svg;
        let width = |part: &str| -> f64 {
            part.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let of = |class: &str| -> Vec<f64> {
            svg.split(&format!("class=\"{class}\"")).skip(1).map(width).collect()
        };
        // The first boxes of `http` are those of `slow` and `fixed`; the next one is enlarged.
        let http = of("fixed");
        assert!((http[0] / http[1] - 480.0 / 96.0).abs() < 0.1, "{http:?}");
        assert!(http[2] > 40.0 * http[1], "{http:?}");
        assert_eq!(px(of("slow")[0]), px(0.9 * FIGURE_WIDTH));
    }
}
