use super::{
    super::{connections, example, mechanism, timeline, waits::Waits},
    *,
};
use crate::picture::probe::elements;

fn lock_scope() -> Page {
    let (slow, fixed) = (example::slow_spans(), example::fixed_spans());
    let side = |variant, spans| timeline::Side { variant, spans };
    let timeline = |canvas| timeline::draw(side("slow", &slow), side("fixed", &fixed), canvas);
    Page {
        case: "lock-scope".to_owned(),
        title: "A lock guard held across an await".to_owned(),
        question:
            "Why do 3,000 users get no more than 20 answers a second from a server that is idle?"
                .to_owned(),
        notices: vec![
            "fewer than 200 samples: the server is almost idle, which is the finding".to_owned(),
        ],
        sections: vec![
            Section {
                heading: "Requests over time".to_owned(),
                lead:
                    "Follow the blue: in slow each wait for the other server begins when the one \
                       before it has ended. In fixed they all wait at once."
                        .to_owned(),
                pictures: vec![Picture::inline(
                    "timeline.svg",
                    "Twelve consecutive requests of slow, and twelve of fixed.",
                    timeline,
                )],
                tables: vec![Waits::of(&slow).table("slow"), Waits::of(&fixed).table("fixed")],
            },
            Section {
                heading: "CPU time".to_owned(),
                lead: "The server used 93 ms of 10,000 ms.".to_owned(),
                pictures: vec![Picture::File {
                    name: "slow.svg".to_owned(),
                    caption: "CPU time of a request in slow <b>".to_owned(),
                    height: 420,
                }],
                tables: vec![Table {
                    caption: "slow: the functions with the most CPU time".to_owned(),
                    head: ["function", "self", "with callees", "share"].map(str::to_owned).to_vec(),
                    rows: functions(),
                }],
            },
        ],
        facts: [
            ("profiler", "perf, with kernel frames"),
            ("machine", "2 cores, x86-64"),
            ("samples", "47"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        commands: vec!["just flame lock-scope".to_owned()],
        files: vec!["meta.json".to_owned()],
    }
}

fn per_request_client() -> Page {
    let (slow, fixed) = example::connections();
    let (slow_counts, fixed_counts) = example::counts();
    let series = |variant, samples| connections::Series { variant, samples };
    let counted = |variant, counts| mechanism::Counted { variant, counts };
    let counts = |canvas| {
        mechanism::draw(
            counted("slow", &slow_counts),
            counted("fixed", &fixed_counts),
            "per page of 19 requests",
            canvas,
        )
    };
    let over_time =
        |canvas| connections::draw(series("slow", &slow), series("fixed", &fixed), canvas);
    Page {
        case: "per-request-client".to_owned(),
        title: "An HTTPS client built for every request".to_owned(),
        question:
            "Why does every file of a page take milliseconds to arrive from a server next door?"
                .to_owned(),
        sections: vec![
            Section {
                heading: "What a page costs".to_owned(),
                lead: "Slow opens a connection for every file; fixed has opened all that it needs."
                    .to_owned(),
                pictures: vec![Picture::inline("mechanism.svg", "Counts of a page.", counts)],
                tables: Vec::new(),
            },
            Section {
                heading: "Connections over time".to_owned(),
                lead: "Slow climbs as long as it is asked; fixed opened six and stays there."
                    .to_owned(),
                pictures: vec![Picture::inline(
                    "connections.svg",
                    "Connections since the load began.",
                    over_time,
                )],
                tables: Vec::new(),
            },
        ],
        facts: vec![("profiler".to_owned(), "perf, with kernel frames".to_owned())],
        commands: vec!["just flame per-request-client".to_owned()],
        ..Page::default()
    }
}

fn functions() -> Vec<Vec<String>> {
    let names = [
        "tokio runtime",
        "kernel",
        "<warp::filter::boxed::BoxingFilter as warp::filter::FilterBase>::filter",
        "lock_scope::read",
        "hyper::proto::h1::dispatch::Dispatcher::poll_read",
        "http",
        "alloc::collections::btree::map::BTreeMap::get",
        "core::fmt::write",
    ];
    let row = |(index, name): (usize, &str)| {
        let (own, all) = (12.0 / (index + 1) as f64, 30.0 / (index + 1) as f64);
        vec![name.to_owned(), format!("{own:.1} µs"), format!("{all:.1} µs"), format!("{own:.0} %")]
    };
    names.into_iter().enumerate().map(row).collect()
}

#[test]
fn a_page_needs_nothing_but_the_files_beside_it() {
    for page in [lock_scope(), per_request_client()] {
        let html = page.html().replace(r#"xmlns="http://www.w3.org/2000/svg""#, "");
        assert!(!html.contains("http:") && !html.contains("https:"), "{html}");
        assert!(!html.contains("<script") && !html.contains("url(") && !html.contains("@import"));
    }
}

#[test]
fn names_are_escaped_everywhere() {
    let html = lock_scope().html();
    assert!(html.contains("in slow &lt;b&gt;") && !html.contains("<b>"));
    assert!(html.contains("&lt;warp::filter"));
}

#[test]
fn every_picture_has_a_caption_and_a_link_and_ours_come_in_two_widths() {
    let html = lock_scope().html();
    assert_eq!(html.matches("<figcaption>").count(), 2);
    assert!(html.contains(r#"<a class="alone" href="timeline.svg">"#));
    assert!(html.contains(r#"<a class="alone" href="slow.svg">"#));
    assert!(html.contains(r#"<object type="image/svg+xml" data="slow.svg""#));
    assert_eq!(html.matches(r#"<svg xmlns"#).count(), 2);
}

#[test]
fn a_picture_of_ours_is_a_file_that_stands_alone() {
    let page = lock_scope();
    let (name, svg) = page.sections[0].pictures[0].own_file().unwrap();
    assert_eq!(name, "timeline.svg");
    let names: Vec<_> = elements(svg).iter().take(4).map(|element| element.name.clone()).collect();
    assert_eq!(names, ["svg", "title", "desc", "style"]);
    assert!(svg.contains("prefers-color-scheme: dark"));
    assert_eq!(page.sections[1].pictures[0].own_file(), None);
}

#[test]
fn the_index_leads_to_every_page() {
    let html = index(&[lock_scope(), per_request_client()]);
    assert!(html.contains(r#"href="lock-scope/index.html""#));
    assert!(html.contains(r#"href="per-request-client/index.html""#));
}

/// Writes the pages to the directory that LAB_EXAMPLES names, to be looked at.
#[test]
#[ignore = "for the eyes: LAB_EXAMPLES=DIR cargo test -p lab --lib -- --ignored example_pages"]
fn example_pages() {
    let dir = std::env::var("LAB_EXAMPLES").expect("LAB_EXAMPLES names a directory");
    let dir = std::path::Path::new(&dir);
    let pages = [lock_scope(), per_request_client()];
    let write =
        |path: String, text: &str| crate::files::write_whole(&dir.join(path), text).unwrap();
    for page in &pages {
        write(format!("{}/index.html", page.case), &page.html());
        let pictures = page.sections.iter().flat_map(|section| &section.pictures);
        for (name, svg) in pictures.filter_map(Picture::own_file) {
            write(format!("{}/{name}", page.case), svg);
        }
    }
    write("index.html".to_owned(), &index(&pages));
}
