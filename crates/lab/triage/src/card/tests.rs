use super::*;

fn card(functions: &[Function], cores: f64) -> Card {
    let mut facts = Facts::default();
    facts.put(Figure::WantedCores, cores);
    Card {
        server: "shop".to_owned(),
        objective: None,
        costliest_route: None,
        routes: Vec::new(),
        limit: TriageLimit::Cpu,
        limited_by: String::new(),
        suspects: Vec::new(),
        unchecked: Vec::new(),
        requests_per_visit: 1,
        levels: Vec::new(),
        tail: None,
        memory: None,
        functions: functions.to_vec(),
        facts,
        notes: Vec::new(),
    }
}

fn function(name: &str, share: f64, in_handler: bool) -> Function {
    Function { name: name.to_owned(), share, in_handler }
}

#[test]
fn the_peak_is_next_to_the_users_that_gave_it() {
    let shape = |figures: &[(Figure, f64)]| {
        let mut card = card(&[], 1.0);
        figures.iter().for_each(|(figure, value)| card.facts.put(*figure, *value));
        card.shape()
    };
    let (peak, users) = ((Figure::PeakRps, 5_400.0), (Figure::Users, 64.0));
    assert_eq!(
        shape(&[peak, users, (Figure::PeakUsers, 16.0)]),
        "Throughput is highest with 16 users, where it is 5,400 req/s, and lower with 64."
    );
    assert_eq!(
        shape(&[peak, users, (Figure::PeakUsers, 64.0)]),
        "Throughput still grows at 64 users, where it is 5,400 req/s."
    );
    assert_eq!(
        shape(&[peak, users, (Figure::PeakUsers, 16.0), (Figure::AtOnce, 2.0)]),
        "Throughput stops growing at about 2 users; its peak is 5,400 req/s."
    );
}

#[test]
fn a_card_looks_like_this() {
    console::set_colors_enabled(false);
    let mut card =
        card(&[function("shop::price", 0.92, true), function("writev", 0.04, false)], 1.9);
    for (figure, value) in [
        (Figure::CpuMs, 0.35),
        (Figure::PeakRps, 5_400.0),
        (Figure::Users, 64.0),
        (Figure::AtOnce, 2.0),
        (Figure::StarvedShare, 0.4),
        (Figure::OpenRate, 2_700.0),
        (Figure::OpenP50Ms, 0.41),
        (Figure::OpenP99Ms, 56.1),
        (Figure::MemoryBeforeMib, 12.0),
        (Figure::MemoryAfterMib, 4_180.0),
    ] {
        card.facts.put(figure, value);
    }
    card.limited_by = card.limit.sentence(&card.facts);
    card.levels = [(1, None), (64, Some(9.0))]
        .map(|(users, exact_below_ms)| LevelRow {
            users,
            throughput_rps: 2_700.0,
            p50_ms: Some(0.36),
            p99_ms: Some(12.0),
            exact_below_ms,
            cpu_us_per_request: Some(350.0),
            cpu_share: Some(0.5),
        })
        .into();
    card.suspects = vec![Suspect {
        id: "clone".to_owned(),
        title: "The handler clones".to_owned(),
        explains: Some(0.6),
        accounts_for: Some("60 % of the CPU time".to_owned()),
        evidence: "60 % of the CPU time is in the allocator.".to_owned(),
        refute: "The allocations belong to the framework.".to_owned(),
        fix: "Borrow.".to_owned(),
        chapter: "cases/busy-server.md".to_owned(),
        instead_of: Vec::new(),
    }];
    card.notes = vec![
        NoteKind::NotCounted { why: "`perf` is missing".to_owned() }.into(),
        NoteKind::Starved { share: 0.4 }.into(),
        NoteKind::NotChecked { suspects: vec!["Threads wait for a lock".to_owned()] }.into(),
    ];
    insta::assert_snapshot!(card.text(80));
    insta::assert_snapshot!(card.screen());
}

#[test]
fn what_the_user_asked_is_answered_first() {
    console::set_colors_enabled(false);
    let found = lab_stats::RateInterval {
        low: Some(1180.0),
        high: Some(1310.0),
        runs: [4, 4],
        is_limited: false,
    };
    let shortfall = Some(lab_report::Shortfall::Latency);
    let search = lab_report::ObjectiveSearch {
        objective: "p99 < 50 ms".parse().unwrap(),
        peak_per_s: 1400.0,
        runs: vec![lab_report::RateRun {
            rate_per_s: 1310.0,
            latency_ms: Some(61.0),
            cores: None,
            shortfall,
        }],
        connections: 64,
        found,
    };
    let limited = Limited { limit: "the CPU is busy", suspect: None, requests_per_visit: 2 };
    let route = |route: &str, cpu: f64| RouteRow {
        route: route.to_owned(),
        throughput_rps: 900.0,
        p50_ms: Some(3.0),
        p99_ms: None,
        cpu_us_per_request: Some(1e4 * cpu),
        cpu_share: Some(cpu),
        time: None,
        functions: Vec::new(),
        faults: 0,
    };
    let routes = vec![route("GET /", 0.2), route("GET /report", 0.8)];
    let mut card = Card {
        objective: Some(ObjectiveAnswer::of(&search, limited)),
        costliest_route: routes::headline(&routes, 2),
        routes,
        requests_per_visit: 2,
        ..card(&[], 1.9)
    };
    for (figure, value) in [(Figure::PeakRps, 2_800.0), (Figure::Users, 64.0)] {
        card.facts.put(figure, value);
    }
    insta::assert_snapshot!(card.screen());
    assert!(card.text(80).lines().all(|line| line.chars().count() <= 80));
    let json = serde_json::to_value(&card).unwrap();
    assert_eq!(json["objective"]["low_per_s"], 1180.0);
    assert_eq!(json["routes"][1]["cpu_share"], 0.8);
}

#[test]
fn a_card_without_a_suspect_names_the_widest_function_of_a_busy_handler() {
    let headline = |functions: &[Function], cores| card(functions, cores).headline();
    let wide = [function("shop::price", 0.92, true), function("writev", 0.04, false)];
    let named = "Nothing unusual; the largest function is shop::price, 92 % of the CPU time";
    assert_eq!(headline(&wide, 1.9), named);
    for (functions, cores) in [
        (&wide[..], 0.1),
        (&[function("shop::price", 0.05, true)], 1.9),
        (&[function("writev", 0.6, false)], 1.9),
        (&[function(JIT, 0.9, true)], 1.9),
        (&[], 1.9),
    ] {
        assert_eq!(headline(functions, cores), "Nothing unusual");
    }
}
