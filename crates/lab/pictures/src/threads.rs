//! A row for each thread: when it ran, when it waited for a core, and when it was blocked.
//!
//! The states have shapes as well as colours, so that they differ in greyscale, too.

use crate::svg::{FIGURE_WIDTH, Scale, figure, figure_text_width, fit, px, time_axis};
use lab_observation::{State, Thread, ThreadStates, shares};
use lab_report::Table;
use maud::{Markup, html};

use super::bars::{BAR, BarMark, LINE, legend};

/// How many threads have a row of their own.
const ROWS: usize = 12;
/// How many looks are drawn: a longer time would have bars that are too narrow to see.
const LOOKS: usize = 100;
/// A smaller share has no words.
const LEAST: f64 = 0.005;
/// A row has a line of text above its bar.
const PITCH: f64 = LINE + BAR + 5.0;

/// Running, ready, blocked, and waiting for work or a lock.
fn marks() -> [BarMark; 4] {
    [
        ("held", BAR, "runs"),
        ("dot", 5.0, "ready: waits for a core"),
        ("downstream", BAR, "blocked"),
        ("wait", 4.0, "waits for work or a lock"),
    ]
    .map(|(class, height, label)| BarMark { label: label.to_owned(), class, height })
}

/// Draws about a second of the threads that waited for work least.
pub fn draw(server: &str, seen: &ThreadStates) -> Markup {
    let rows = &seen.threads[..seen.threads.len().min(ROWS)];
    let first = seen.looks.saturating_sub(LOOKS) / 2;
    let looks = seen.looks.min(LOOKS);
    let look_ms = seen.window.as_secs_f64() * 1e3 / seen.looks.max(1) as f64;
    let scale = Scale { max: looks as f64 * look_ms, start: 20.0, end: FIGURE_WIDTH - 36.0 };
    let marks = marks();
    let (legend, end) = legend(marks.iter());
    let top = end + 8.0;
    let bottom = top + rows.len() as f64 * PITCH;
    let desc = rows.iter().map(|it| format!("{}: {}", it.name, largest_shares(&shares(&[it]))));
    let desc = desc.collect::<Vec<_>>().join(". ");
    let body = html! {
        (legend)
        (time_axis(&scale, top, bottom, 5))
        @for (index, thread) in rows.iter().enumerate() {
            (row(thread, first..first + looks, &marks, &scale, look_ms, top + index as f64 * PITCH))
        }
    };
    figure(bottom + 30.0, &format!("The threads of {server}"), &desc, body)
}

/// The states of all threads as a table, by their names.
pub fn table(server: &str, seen: &ThreadStates) -> Table {
    let row = |(name, threads): (&str, Vec<&Thread>)| {
        let name = match threads.len() {
            1 => name.to_owned(),
            many => format!("{many} × {name}"),
        };
        let (active, blocked): (Vec<_>, Vec<_>) = shares(&threads)
            .into_iter()
            .partition(|(state, _)| !matches!(state, State::Blocked(_) | State::Stopped));
        let share = |wanted| {
            let found = active.iter().find(|(state, _)| *state == wanted);
            format!("{:.0} %", found.map_or(0.0, |(_, share)| share * 100.0))
        };
        vec![name, share(State::Running), share(State::Ready), largest_shares(&blocked)]
    };
    let looks = format!("{} looks in {:.1} s", seen.looks, seen.window.as_secs_f64());
    let left_out = match seen.left_out {
        0 => String::new(),
        more => format!("; {more} more threads were not looked at"),
    };
    let caption = format!("{server}: what its threads did, {looks}{left_out}");
    let head = ["threads", "running", "waits for a core", "blocked in"];
    Table::new(caption, head, seen.kinds().into_iter().map(row))
}

/// Which of the marks a state has.
fn mark_of(state: &State) -> Option<usize> {
    match state {
        State::Running => Some(0),
        State::Ready => Some(1),
        State::Blocked(_) if state.waits_for_work() => Some(3),
        State::Blocked(_) | State::Stopped => Some(2),
        State::Absent => None,
    }
}

fn row(
    thread: &Thread,
    looks: std::ops::Range<usize>,
    marks: &[BarMark],
    scale: &Scale,
    look_ms: f64,
    y: f64,
) -> Markup {
    let states = thread.states.get(looks).unwrap_or_default();
    let mut at = 0;
    // States that look the same become one bar.
    let bars = states.chunk_by(|a, b| mark_of(a) == mark_of(b)).map(|run| {
        let from = at;
        at += run.len();
        (mark_of(&run[0]), scale.at(from as f64 * look_ms), scale.at(at as f64 * look_ms))
    });
    let bars: Vec<_> = bars.collect();
    let shares = shares(&[thread]);
    let words = largest_shares(&shares[..shares.len().min(3)]);
    let words = fit(&words, FIGURE_WIDTH - figure_text_width(&thread.name) - 9.0);
    html! {
        text class="head halo" x="0" y=(px(y + 15.0)) { (thread.name) }
        text class="halo" x=(FIGURE_WIDTH) y=(px(y + 15.0)) text-anchor="end" { (words) }
        @for (mark, from, to) in bars {
            @if let Some(mark) = mark { (marks[mark].bar(from, to, y + LINE)) }
        }
    }
}

/// `74 % fsync, 20 % futex`
fn largest_shares(shares: &[(State, f64)]) -> String {
    let visible = shares.iter().filter(|(_, share)| *share >= LEAST);
    let words = visible.map(|(state, share)| {
        let state = match state {
            State::Running => "running",
            State::Ready => "ready",
            State::Blocked(call) => call,
            State::Stopped => "stopped",
            State::Absent => "absent",
        };
        format!("{:.0} % {state}", share * 100.0)
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{super::example::thread, *};

    #[test]
    fn each_thread_has_a_row_and_each_kind_a_line_of_the_table() {
        let threads = vec![
            thread("a-worker-with-a", &"ddfr".repeat(50)),
            thread("late", &("-".repeat(100) + &"s".repeat(100))),
            thread("idle-1", &"f".repeat(200)),
            thread("idle-2", &"f".repeat(200)),
        ];
        let window = std::time::Duration::from_secs(2);
        let seen = ThreadStates { window, looks: 200, threads, ..ThreadStates::default() };
        let svg = draw("<server>", &seen).into_string();
        let count = |class| svg.matches(&format!("<rect class=\"{class}\"")).count();
        // A hundred looks are 25 rounds, and one bar of each class is in the legend.
        assert_eq!((count("held"), count("downstream"), count("wait")), (26, 26, 28));
        assert_eq!(count("dot"), 2);
        assert!(svg.contains("50 % fsync, 25 % running, 25 % futex"), "{svg}");
        let table = table("server", &seen);
        assert_eq!(table.rows[0], ["a-worker-with-a", "25 %", "0 %", "50 % fsync, 25 % futex"]);
        assert_eq!(table.rows[2], ["2 × idle", "0 %", "0 %", "100 % futex"]);
    }
}
