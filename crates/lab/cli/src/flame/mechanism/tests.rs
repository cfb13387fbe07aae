use super::{super::example, *};
use crate::picture::probe::{assert_nothing_overflows, elements};

fn drawn(slow: &BTreeMap<String, f64>, fixed: &BTreeMap<String, f64>, canvas: Canvas) -> String {
    let counted = |variant, counts| Counted { variant, counts };
    draw(counted("slow", slow), counted("fixed", fixed), "per page of 19 requests", canvas)
        .into_string()
}

fn counts<const N: usize>(counts: [(&str, f64); N]) -> BTreeMap<String, f64> {
    counts.map(|(name, count)| (name.to_owned(), count)).into()
}

#[test]
fn every_count_is_written_beside_its_bar() {
    let (slow, fixed) = example::counts();
    for canvas in [Canvas::Wide, Canvas::Narrow] {
        let svg = drawn(&slow, &fixed, canvas);
        assert_nothing_overflows(&svg, canvas);
        let elements = elements(&svg);
        let of =
            |class: &'static str| elements.iter().filter(move |element| element.class() == class);
        let values: Vec<_> = of("value").map(|value| value.text.as_str()).collect();
        assert_eq!(values, ["10,421", "412", "19", "0.10", "0", "0", "19", "0.10"]);
        assert_eq!(of("slow").count(), 3, "nothing has no bar");
        assert_eq!(of("fixed").count(), 3);
        let labels: Vec<_> = of("label").map(|label| label.text.as_str()).collect();
        assert_eq!(
            labels,
            ["system calls", "full handshakes", "resumed handshakes", "tcp connections"]
        );
    }
}

#[test]
fn bars_of_a_pair_share_a_scale_and_those_of_two_pairs_do_not() {
    let svg = drawn(
        &counts([("a", 10.0), ("b", 4000.0)]),
        &counts([("a", 5.0), ("b", 1000.0)]),
        Canvas::Wide,
    );
    let widths: Vec<_> = elements(&svg)
        .iter()
        .filter(|element| element.name == "rect")
        .map(|element| element.number("width"))
        .collect();
    assert_eq!(widths[0], widths[2]);
    assert_eq!(widths[1] * 2.0, widths[0]);
    assert_eq!(widths[3] * 4.0, widths[2]);
}

#[test]
fn what_was_not_counted_is_not_drawn_as_nothing() {
    let svg = drawn(&counts([("a<b", 10.0)]), &counts([]), Canvas::Wide);
    assert!(svg.contains(">n/a<") && svg.contains("a&lt;b"), "{svg}");
    assert!(!svg.contains("fewer"));
}

#[test]
fn long_names_of_variants_have_their_room() {
    let (slow, fixed) = example::counts();
    let counted = |variant, counts| Counted { variant, counts };
    for canvas in [Canvas::Wide, Canvas::Narrow] {
        let (one, other) = (counted("shared-connector", &slow), counted("candidate", &fixed));
        assert_nothing_overflows(&draw(one, other, "per page", canvas).into_string(), canvas);
    }
}
