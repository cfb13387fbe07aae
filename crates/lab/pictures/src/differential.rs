//! Both variants in one graph: the slow one's widths, coloured by what the fix changed.
//!
//! The colour is the change of a frame with everything it called. The standard differential graph colours
//! a frame by its own time alone: red, if it does itself what it called before, even if both together
//! cost less. A change that the samples may show by chance has no colour: see [`Sampling`].

use lab_observation::{Folded, Node, Sampling, Unit};
use lab_report::thousands;

use super::frames::{self, Colour, Drawing, Frame, Header};

const LESS: Colour = Colour(105, 160, 255);
const SAME: Colour = Colour(248, 248, 248);
const MORE: Colour = Colour(255, 125, 110);

/// Draws `slow`, in nanoseconds per request, coloured by the change to `fixed`.
pub fn draw(
    title: String,
    notes: Vec<String>,
    slow: &Folded,
    fixed: &Folded,
    sampling: &Sampling,
) -> Drawing {
    let (slow, fixed) = (Node::of(slow), Node::of(fixed));
    let mut lines = notes;
    lines.push("Width: with the fault. Colour: a function with everything it called.".to_owned());
    lines.push(format!(
        "± is two standard errors of sampling; two runs differ by more. Among {} frames, a colour \
         takes {:.1} standard errors.",
        thousands(sampling.frames as f64),
        sampling.limit()
    ));
    let legend = vec![
        (LESS, "blue: the fix removed it"),
        (SAME, "white: no change beyond the error"),
        (MORE, "red: the fix added to it"),
    ];
    let (all_slow, all_fixed) = (slow.inclusive, fixed.inclusive);
    // The system counts the whole; only shares are sampled.
    let all = change(all_slow, all_fixed, None);
    let whole = Frame {
        label: format!("{all} in all: {}", both(all_slow, all_fixed)),
        details: "100 %".to_owned(),
        colour: Some(colour(all_slow, all_fixed)),
    };
    let header = Header { title, lines, legend };
    frames::draw(&header, &slow, whole, None, |path, node| {
        let fixed = fixed.at(path).map_or(0, |node| node.inclusive);
        let name = path.last().copied().unwrap_or_default();
        let error = sampling.error(node.inclusive, fixed);
        let differs = sampling.differs(node.inclusive, fixed);
        Frame {
            label: format!("{name} {}", change(node.inclusive, fixed, Some(error))),
            details: both(node.inclusive, fixed),
            colour: Some(if differs { colour(node.inclusive, fixed) } else { SAME }),
        }
    })
}

/// The colour of a change: the stronger the larger, up to all of it.
fn colour(slow: u64, fixed: u64) -> Colour {
    let change = (fixed as f64 / slow.max(1) as f64 - 1.0).clamp(-1.0, 1.0);
    let full = match change {
        0.0 => SAME,
        ..0.0 => LESS,
        _ => MORE,
    };
    // The smallest change is a visible one.
    let strength = 0.1 + 0.9 * change.abs();
    let mix =
        |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * strength) as u8;
    Colour(mix(SAME.0, full.0), mix(SAME.1, full.1), mix(SAME.2, full.2))
}

fn both(slow: u64, fixed: u64) -> String {
    let unit = Unit::Nanoseconds;
    format!(
        "{}, with the fix {}",
        lab_report::per_request(unit, slow),
        lab_report::weight(unit, fixed)
    )
}

/// `−88.0 % ± 3.1 %`, or a factor from 2 on: `×2.5 ± 0.2`. Without an error, the change alone.
fn change(slow: u64, fixed: u64, error: Option<f64>) -> String {
    let times = fixed as f64 / slow.max(1) as f64;
    if times >= 2.0 {
        let error = error.map_or(String::new(), |error| format!(" ± {error:.1}"));
        return format!("×{times:.1}{error}");
    }
    // No error is known to be 0.
    let error = error.map(|error| format!(" ± {:.1} %", (error * 100.0).max(0.1)));
    let percent = format!("{:+.1} %", (times - 1.0) * 100.0).replace('-', "−");
    percent + &error.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(slow: &str, fixed: &str, samples: u64) -> String {
        let (title, slow, fixed) = ("double-parse", slow.parse().unwrap(), fixed.parse().unwrap());
        let sampling = Sampling::of(&slow, &fixed, [samples; 2]);
        draw(title.to_owned(), Vec::new(), &slow, &fixed, &sampling).svg
    }

    /// The colour of the frame with this tooltip.
    #[track_caller]
    fn drawn_colour(svg: &str, tooltip: &str) -> String {
        let frame = svg.split(&format!("<title>{tooltip}</title>")).nth(1);
        let frame = frame.unwrap_or_else(|| panic!("{tooltip} is not in {svg}"));
        let fill = frame.split("fill=\"").nth(1).unwrap();
        fill.split('"').next().unwrap().to_owned()
    }

    #[test]
    fn a_frame_is_coloured_by_everything_it_called() {
        let slow = "parse;body;clone 9000000\nparse 1000000\n";
        let svg = drawn(slow, "parse 1200000\n", 1000);
        let parse = "parse −88.0 % ± 0.1 % (10.0 ms per request, with the fix 1.20 ms)";
        let all_of_it = colour(10_000_000, 1_200_000).to_string();
        assert_eq!(drawn_colour(&svg, parse), all_of_it);
        let clone = "clone −100.0 % ± 0.1 % (9.00 ms per request, with the fix 0 ns)";
        assert_eq!(drawn_colour(&svg, clone), LESS.to_string());
    }

    #[test]
    fn only_what_exceeds_the_sampling_error_is_coloured() {
        let (slow, fixed) = ("a 500000\nb 500000\n", "a 485000\nb 500000\n");
        let many = drawn(slow, fixed, 1_000_000);
        let fine = "a −3.0 % ± 0.3 % (500 µs per request, with the fix 485 µs)";
        assert_eq!(drawn_colour(&many, fine), colour(500_000, 485_000).to_string());
        // A change of 15 % is nothing in 200 samples.
        let few = drawn("a 500000\nb 500000\n", "a 425000\nb 500000\n", 200);
        let rough = "a −15.0 % ± 17.7 % (500 µs per request, with the fix 425 µs)";
        assert_eq!(drawn_colour(&few, rough), SAME.to_string());
        assert!(few.contains("takes 2.7 standard errors"));
    }

    #[test]
    fn a_larger_change_is_stronger() {
        assert_eq!(colour(100, 0), LESS);
        assert_eq!(colour(100, 100), SAME);
        assert_ne!(colour(1000, 999), SAME);
        assert_eq!(colour(100, 300), MORE);
        let half = colour(100, 50);
        assert!(LESS.0 < half.0 && half.0 < SAME.0, "{half}");
    }

    #[test]
    fn changes_are_percentages_or_factors() {
        assert_eq!(change(100, 12, None), "−88.0 %");
        assert_eq!(change(1000, 1031, Some(0.008)), "+3.1 % ± 0.8 %");
        assert_eq!(change(1000, 1000, Some(0.0)), "+0.0 % ± 0.1 %");
        assert_eq!(change(100, 250, Some(0.24)), "×2.5 ± 0.2");
    }
}
