use super::{super::example, *};
use crate::picture::probe::{assert_nothing_overflows, elements};

fn drawn(slow: &[Sample], fixed: &[Sample], canvas: Canvas) -> String {
    let series = |variant, samples| Series { variant, samples };
    draw(series("slow", slow), series("fixed", fixed), canvas).into_string()
}

#[test]
fn slow_climbs_and_fixed_stays_flat_on_the_same_axes() {
    let (slow, fixed) = example::connections();
    for canvas in [Canvas::Wide, Canvas::Narrow] {
        let svg = drawn(&slow, &fixed, canvas);
        assert_nothing_overflows(&svg, canvas);
        assert!(svg.contains("slow: 11,400 connections, 1,140 per second"));
        assert!(svg.contains("a TLS handshake each"));
        assert!(svg.contains("fixed: 6 connections, and no more"));
    }
    let svg = drawn(&slow, &fixed, Canvas::Wide);
    let ends: Vec<(f64, f64)> = elements(&svg)
        .iter()
        .filter(|element| element.name == "polyline")
        .map(|line| {
            let (x, y) =
                line.attributes["points"].rsplit(' ').next().unwrap().split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        })
        .collect();
    assert_eq!(ends[0].0, ends[1].0, "the same time lies at the same place");
    assert!(ends[0].1 + 200.0 < ends[1].1, "{ends:?}");
}

#[test]
fn handshakes_have_a_line_of_their_own_where_they_are_not_as_many() {
    let sample = |second, connections, handshakes| Sample {
        at: Duration::from_secs(second),
        connections,
        handshakes,
    };
    let svg = drawn(&[sample(0, 0, 0), sample(10, 1000, 400)], &[], Canvas::Wide);
    assert!(svg.contains("slow: 400 handshakes, 40.0 per second"), "{svg}");
    assert_eq!(svg.matches("<polyline").count(), 2);
}

#[test]
fn without_samples_there_are_only_axes() {
    let svg = drawn(&[], &[], Canvas::Narrow);
    assert_nothing_overflows(&svg, Canvas::Narrow);
    assert_eq!(svg.matches("<polyline").count(), 0);
}

#[test]
fn names_of_lines_that_end_together_do_not_lie_on_each_other() {
    let line =
        |value| Line { class: String::new(), label: String::new(), points: vec![(0.0, value)] };
    let count = Scale { max: 100.0, start: 300.0, end: 0.0 };
    let places = label_places(&[line(50.0), line(51.0), line(0.0)], &count);
    assert!((places[0] - places[1]).abs() >= 18.0, "{places:?}");
    assert!(places[2] > places[0]);
}
