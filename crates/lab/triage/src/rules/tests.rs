use super::*;

fn facts(figures: &BTreeMap<Figure, f64>) -> Facts {
    Facts { figures: figures.clone(), ..Facts::default() }
}

fn ids(facts: &Facts) -> Vec<String> {
    let (suspects, _) = Rules::read().unwrap().judge(facts);
    suspects.into_iter().map(|suspect| suspect.id).collect()
}

#[test]
fn each_rule_names_its_example_and_nothing_names_its_near_miss() {
    for rule in Rules::read().unwrap().rules {
        assert_eq!(ids(&facts(&rule.example)), [rule.id.as_str()], "its example");
        assert_eq!(ids(&facts(&rule.near_miss)), [""; 0], "the near miss of {}", rule.id);
    }
}

/// Figures of servers with two faults, measured.
#[test]
fn two_faults_are_two_suspects_and_a_consequence_comes_last() {
    use Figure::*;
    let waits = [
        (WaitMs, 2.1),
        (QueueShare, 0.9),
        (BusiestThreadShare, 0.6),
        (LackedCores, 0.1),
        (BusyCores, 1.2),
        (AllocatorAloneCpuShare, 0.6),
    ];
    let lock = [
        (AtOnce, 1.56),
        (WaitingAtOnce, 0.93),
        (WaitShare, 0.6),
        (WantedCores, 0.67),
        (IdleCoreShare, 0.59),
    ];
    let few = [
        (AtOnce, 1.98),
        (WaitingAtOnce, 0.96),
        (WaitShare, 0.48),
        (WantedCores, 1.24),
        (IdleCoreShare, 0.36),
    ];
    let files = [
        (WarmGcCpuShare, 0.4),
        (GcCpuShare, 0.4),
        (BusyCores, 1.5),
        (OpensPerRequest, 10.0),
        (OpenCpuShare, 0.16),
    ];
    let regex = [(RegexCpuShare, 0.5), (AllocatorAloneCpuShare, 0.38), (BusyCores, 2.0)];
    for (figures, suspects) in [
        ([&waits[..], &lock].concat(), ["lock", "allocation"]),
        ([&waits[..], &few].concat(), ["limit", "allocation"]),
        (files.to_vec(), ["opens", "gc"]),
        (regex.to_vec(), ["regex", "allocation"]),
    ] {
        assert_eq!(ids(&facts(&figures.into_iter().collect())), suspects);
    }
}

/// Figures of servers in Node, Python and Go on two cores, measured; the Go program's garbage, and how often looks find
/// the file, are assumed.
#[test]
fn what_an_author_can_change_comes_before_how_the_runtime_serves_any_work() {
    use Figure::*;
    let queue = [(QueueShare, 0.92), (IdleCoreShare, 0.4), (BusyCores, 1.0)];
    let one_thread = [(BusiestThreadShare, 0.99), (WantedCores, 1.06), (CpuMs, 2.5)];
    let turns = [
        (GilCpuShare, 0.07),
        (WarmAtOnce, 1.1),
        (UsedCores, 1.0),
        (UnusedCoreShare, 0.44),
        (Contenders, 3.4),
        (OtherThreads, 2.2),
        (WaitShare, 0.04),
        (WaitMs, 0.1),
    ];
    let go = [(SchedulerCpuShare, 0.96), (Contenders, 1.03)];
    let falls = [
        (AfterPeakShare, 0.63),
        (PeakUsers, 4.0),
        (LostShare, 0.37),
        (CpuGrowth, 1.7),
        (OthersShare, 0.0),
    ];
    let stalls = [(Stalls, 12.0), (StallShare, 0.08), (OpenLagMs, 2.1)];
    let file = [(OpensPerRequest, 1.0), (SameFileLooks, 90.0), (OpenCpuShare, 0.002)];
    let compile = [(CompileCpuShare, 0.22)];
    let gc = [(WarmGcCpuShare, 0.26), (GcCpuShare, 0.26)];
    for (figures, suspects) in [
        (&[&queue[..], &one_thread, &file], ["same-file", "event-loop"]),
        (&[&queue, &turns, &stalls], ["stalls", "interpreter-lock"]),
        (&[&queue, &turns, &compile], ["compile", "interpreter-lock"]),
        (&[&queue, &[&one_thread[..], &go].concat(), &gc], ["gc", "one-processor"]),
        (&[&queue, &falls, &gc], ["gc", "contention"]),
    ] {
        assert_eq!(ids(&facts(&figures.concat().into_iter().collect())), suspects);
    }
}

/// Figures of a server that compiles a regular expression for each request, measured, and one assumed share
/// of others.
#[test]
fn contention_needs_cpu_time_that_no_other_fault_explains() {
    use Figure::*;
    let falls = [(AfterPeakShare, 0.28), (PeakUsers, 8.0), (OthersShare, 0.02)];
    let (costs, same) = ([(CpuGrowth, 2.2)], [(CpuGrowth, 1.0)]);
    let work = [(RegexCpuShare, 0.5), (BusyCores, 2.0)];
    for (figures, suspects) in [
        ([&falls[..], &costs].concat(), &["contention"][..]),
        ([&falls[..], &same].concat(), &[]),
        ([&falls[..], &costs, &work].concat(), &["regex"]),
    ] {
        assert_eq!(ids(&facts(&figures.into_iter().collect())), suspects);
    }
}

#[test]
fn rules_refer_to_rules_and_chapters_that_exist() {
    let rules = Rules::read().unwrap();
    let chapters = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src");
    for rule in &rules.rules {
        let is_known = |id: &String| rules.rules.iter().any(|it| it.id == *id);
        assert!(rule.instead_of.iter().all(is_known), "{}", rule.id);
        for book in [chapters, &chapters.replace("docs/src", "docs/zh-CN/src")] {
            assert!(std::path::Path::new(book).join(&rule.chapter).is_file(), "{}", rule.id);
        }
    }
}

#[test]
fn a_name_that_no_figure_has_is_an_error_with_its_line() {
    let right = include_str!("../rules.toml");
    for (from, to, error) in [
        ("fault_share >= 0.005", "fault_shar >= 0.005", "no figure is called `fault_shar`"),
        ("{fault_share} of", "{fault_shar} of", "no figure is called `fault_shar`"),
        ("\"fault_share\"", "\"fault_shar\"", "unknown variant `fault_shar`"),
        ("{ fault_share = 0.0 }", "{ fault_shar = 0.0 }", "unknown variant `fault_shar`"),
        ("\nclose = ", "\nclosed = ", "no figure is called `closed_cpu_share`"),
    ] {
        let wrong = right.replacen(from, to, 1);
        let changed = right.lines().zip(wrong.lines()).position(|(a, b)| a != b).unwrap();
        let said = toml::from_str::<RulesFile>(&wrong).err().unwrap().to_string();
        assert!(said.contains(&format!("line {}", changed + 1)), "{said}");
        assert!(said.contains(error), "{said}");
    }
}

#[test]
fn what_a_rule_explains_is_a_share() {
    for rule in Rules::read().unwrap().rules {
        assert!(matches!(rule.explains.unit(), FigureUnit::Share(_)), "{}", rule.id);
    }
}

#[test]
fn a_rule_without_its_figures_is_reported_and_one_that_cannot_hold_is_not() {
    let (suspects, unchecked) = Rules::read().unwrap().judge(&Facts::default());
    assert!(suspects.is_empty() && unchecked.iter().any(|title| title.contains("disk")));
    let known = facts(&[(Figure::FlushesPerRequest, 0.0)].into());
    let (_, unchecked) = Rules::read().unwrap().judge(&known);
    assert!(!unchecked.iter().any(|title| title.contains("disk")));
}

#[test]
fn evidence_shows_figures_in_their_units() {
    let facts = facts(&[(Figure::TurnMs, 51.3), (Figure::WaitShare, 0.943)].into());
    let text = "{turn_ms}, {wait_share} of {fault}.".to_owned();
    let template = RuleText::try_from(text).unwrap();
    assert_eq!(template.filled(&facts), "51.3 ms, 94 % of n/a.");
}
