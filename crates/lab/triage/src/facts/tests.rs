mod memory;

use std::time::Duration;

use lab_observation::{Observation, Profiler, Recording, State, Thread, ThreadStates, Window};
use lab_profile::OpenedFile;
use lab_protocol::Outcome;

use super::*;
use crate::measure::{Files, Level, MemoryHistory, Outbound, WATCHED};

/// A second of answers that took as many milliseconds, each as often as that.
fn outcome(modes: &[(u64, u64)]) -> Outcome {
    let mut outcome = Outcome { measured: Duration::from_secs(1), ..Outcome::default() };
    for (ms, answers) in modes {
        (0..*answers).for_each(|_| outcome.latency.record(Duration::from_millis(*ms)));
        outcome.ok_in_time += answers;
        outcome.ok += answers;
    }
    outcome
}

/// A server with these levels, which was not watched.
fn measured(outcomes: Vec<(usize, Outcome)>) -> Measured {
    let mut levels = Vec::new();
    for (users, outcome) in outcomes {
        levels.push(Level::new(users, outcome, None, &levels));
    }
    let profiler = Profiler { name: "", label: "", kernel: Kernel::Frames };
    let observation = Observation {
        name: String::new(),
        recording: None,
        measured: Duration::from_secs(1),
        answered: 0,
        requests: Vec::new(),
        routes: Vec::new(),
        cpu: None,
        spans: None,
        threads: None,
        slowest: None,
    };
    Measured {
        cores: 2,
        allowed_cores: None,
        requests: 1,
        levels,
        quick_ack: Vec::new(),
        arrivals: None,
        routes: Vec::new(),
        objective: None,
        memory: MemoryHistory::default(),
        threads: None,
        outbound: Outbound::default(),
        refused_connections: None,
        counts: None,
        files: Files::default(),
        profiler,
        observation,
        notes: Vec::new(),
    }
}

fn facts(measured: &Measured) -> Facts {
    Facts::of(measured, &Groups::default())
}

#[test]
fn figures_are_of_a_request_and_not_of_a_visit() {
    let counts = [("syscalls:sys_enter_openat", 4.0), ("raw_syscalls:sys_enter", 120.0)];
    let visits = Measured {
        requests: 4,
        counts: Some(counts.into()),
        outbound: Outbound {
            connections: None,
            round_trips_per_s: Some(3200.0),
            held_back: Some(1.5),
        },
        ..measured(vec![(1, outcome(&[(10, 100)])), (16, outcome(&[(20, 800)]))])
    };
    let facts = facts(&visits);
    for (figure, value) in [
        (Figure::OpensPerRequest, 1.0),
        (Figure::SystemCallsPerRequest, 30.0),
        (Figure::RoundTripsPerRequest, 1.0),
        (Figure::HeldBack, 1.5),
        (Figure::HeldBackOverAtOnce, 1.5 / 8.0),
        (Figure::PeakRps, 3200.0),
        (Figure::AloneMs, 2.5),
        (Figure::AtOnce, 8.0),
    ] {
        assert_eq!(facts.get(figure), Some(value), "{figure:?}");
    }
}

#[test]
fn the_interval_decides_how_many_delays_a_quick_client_removes() {
    type Modes = [(u64, u64)];
    let of_turns = |turns: &[[&Modes; 2]]| {
        let experiment = Measured {
            quick_ack: turns.iter().map(|turn| turn.map(outcome)).collect(),
            ..measured(vec![(WATCHED, outcome(&[(1, 600), (44, 400)]))])
        };
        facts(&experiment).get(Figure::QuickAckRemovesLeastShare).unwrap()
    };
    let removed = |quick: &Modes, again: &Modes| of_turns(&[[quick, again]]);
    // 68 % of the delays are gone, and other delays of this length are not.
    let least = removed(&[(1, 872), (44, 128)], &[(1, 590), (44, 410)]);
    assert!((0.5..0.68).contains(&least), "{least}");
    // The control shows that they come and go.
    assert!(removed(&[(1, 872), (44, 128)], &[(1, 880), (44, 120)]) < 0.0);
    // Programs that took the cores in all runs but one do not come and go with the client.
    let (calm, busy) = ([(1, 999), (44, 1)], [(1, 600), (44, 400)]);
    assert!(of_turns(&[[&calm, &busy], [&calm, &busy]]) > 0.9);
    assert!(of_turns(&[[&calm, &busy], [&busy, &busy]]) < 0.0);
    // So few answers say nothing.
    assert!(removed(&[(1, 7), (44, 2)], &[(1, 6), (44, 4)]) < 0.2);
    assert_eq!(removed(&[(44, 9)], &[(1, 9)]), -1.0);
}

#[test]
fn a_request_that_waits_in_turn_does_so_next_to_others_that_compute() {
    let alone = Outcome { server_cpu: Some(Duration::from_millis(400)), ..outcome(&[(10, 100)]) };
    let facts = facts(&measured(vec![(1, alone), (WATCHED, outcome(&[(100, 160)]))]));
    for (figure, value) in [
        (Figure::AtOnce, 1.6),
        (Figure::WaitMs, 6.0),
        (Figure::WaitingAtOnce, 0.96),
        (Figure::ExchangeShare, 0.6),
    ] {
        assert!((facts.get(figure).unwrap() - value).abs() < 1e-9, "{figure:?}");
    }
}

#[test]
fn work_behind_a_delayed_acknowledgement_counts_with_a_client_that_acknowledges_at_once() {
    let used = |ms| Some(Duration::from_millis(ms));
    let usual = || Outcome { server_cpu: used(100), ..outcome(&[(44, 300)]) };
    let quick = Outcome { server_cpu: used(900), ..outcome(&[(5, 3000)]) };
    let experiment = Measured {
        quick_ack: vec![[quick, usual()]],
        ..measured(vec![(1, outcome(&[(44, 20)])), (WATCHED, usual())])
    };
    let facts = facts(&experiment);
    let cores = [Figure::WantedCores, Figure::BusyCores].map(|figure| facts.get(figure));
    assert_eq!(cores, [Some(0.1), Some(0.9)]);
}

#[test]
fn requests_without_an_answer_count_by_the_users_who_wait() {
    let lost = |users: usize| {
        let hung = Outcome { lost: 8, ..outcome(&[(1, 1000)]) };
        let facts = facts(&measured(vec![(1, outcome(&[(1, 900)])), (users, hung)]));
        [Figure::LostRequests, Figure::LostUserShare].map(|figure| facts.get(figure))
    };
    assert_eq!(lost(16), [Some(8.0), Some(0.5)]);
    // The level is too short for so many.
    assert_eq!(lost(100_000), [Some(0.0), Some(0.0)]);
}

/// The facts of these stacks, with the groups of the rules.
fn profiled(stacks: &str, kernel: Kernel) -> Facts {
    let second = Duration::from_secs(1);
    let profiler = Profiler { name: "", label: "", kernel };
    let window = Window { length: second, system_cpu: None };
    let recording = Recording::new(profiler, stacks.parse().unwrap(), window);
    let mut measured = measured(vec![(1, outcome(&[(1, 900)]))]);
    measured.observation.recording = Some(recording);
    Facts::of(&measured, &crate::Rules::read().unwrap().groups)
}

#[test]
fn a_group_has_the_time_of_its_own_functions_and_none_without_their_frames() {
    let stacks = "main;open;__x64_sys_openat_[k] 60\nmain;write;vfs_write_[k] 140\n";
    let share = |kernel| profiled(stacks, kernel).get(Figure::OpenCpuShare);
    assert_eq!(share(Kernel::Frames), Some(0.3));
    assert_eq!(share(Kernel::Missing), None);
}

#[test]
fn what_the_kernel_allocates_for_itself_is_not_the_server_s_allocator() {
    let facts = profiled(
        "main;statx;__x64_sys_statx_[k];__kmalloc_noprof_[k] 120\nmain;malloc;asm_exc_page_fault_[k] 80\n",
        Kernel::Frames,
    );
    let shares = [Figure::KernelCpuShare, Figure::AllocatorCpuShare];
    assert_eq!(shares.map(|figure| facts.get(figure)), [Some(1.0), Some(0.4)]);
}

#[test]
fn the_most_frequent_system_call_is_named_unless_threads_wait_with_it() {
    let counts = [
        ("raw_syscalls:sys_enter", 2000.0),
        ("page-faults", 900.0),
        ("syscalls:sys_enter_futex", 800.0),
        ("syscalls:sys_enter_read", 8.0),
        ("syscalls:sys_enter_statx", 602.0),
    ];
    let visits = Measured { requests: 2, counts: Some(counts.into()), ..measured(Vec::new()) };
    let facts = facts(&visits);
    assert_eq!(facts.get(Figure::MostCallsPerRequest), Some(301.0));
    assert_eq!(facts.words[&Word::MostCall], "statx");
}

#[test]
fn the_file_that_is_opened_again_has_its_name_without_control_characters() {
    let opens = [("syscalls:sys_enter_openat", 1.0)];
    let again = |files: &[(&str, u64)]| {
        let file = |(path, looks): &(&str, u64)| OpenedFile {
            path: path.into(),
            bytes: 246,
            looks: *looks,
        };
        let files = Files { opened: files.iter().map(file).collect(), grown: None };
        facts(&Measured { counts: Some(opens.into()), files, ..measured(Vec::new()) })
    };
    let template = again(&[("/srv/a\u{1b}[2J.ejs", 48), ("/srv/late", 1)]);
    assert_eq!(template.get(Figure::SameFileLooks), Some(48.0));
    assert_eq!(template.words[&Word::SameFile], "/srv/a.ejs");
    assert_eq!(again(&[]).get(Figure::SameFileLooks), Some(0.0));
}

#[test]
fn a_file_that_grows_has_its_growth_per_request_and_per_write() {
    let counts = [("syscalls:sys_enter_write", 40.0)];
    let files = Files { opened: Vec::new(), grown: Some(("/srv/a.log".into(), 2048.0)) };
    let visits =
        Measured { requests: 2, counts: Some(counts.into()), files, ..measured(Vec::new()) };
    let facts = facts(&visits);
    assert_eq!(facts.get(Figure::FileGrowthKib), Some(1.0));
    assert_eq!(facts.get(Figure::FileBytesPerWrite), Some(51.2));
    assert_eq!(facts.words[&Word::GrownFile], "/srv/a.log");
}

/// Samples of a server in Node that had just started.
#[test]
fn garbage_is_a_share_of_what_remains_once_the_runtime_has_compiled() {
    let mut young = measured(Vec::new());
    let worker = "start_thread;node::(anonymous namespace)::PlatformWorkerThread(void*)";
    let stacks = format!(
        "node::Start;handler 112\n{worker};v8::internal::ScavengerCollector::JobTask::Run 34\n\
         {worker};v8::internal::OptimizingCompileDispatcher::CompileTask::RunInternal 54\n"
    );
    let window = Window { length: Duration::from_secs(1), system_cpu: None };
    let recording = Recording::new(young.profiler, stacks.parse().unwrap(), window);
    young.observation.recording = Some(recording);
    let facts = Facts::of(&young, &crate::Rules::read().unwrap().groups);
    assert_eq!(facts.get(Figure::GcCpuShare), Some(0.17));
    let warm = facts.get(Figure::WarmGcCpuShare).unwrap();
    assert!((warm - 17.0 / 73.0).abs() < 1e-9, "{warm}");
}

#[test]
fn threads_that_collect_garbage_are_no_others() {
    let others = |stacks: &str| {
        let level =
            Outcome { server_cpu: Some(Duration::from_millis(1400)), ..outcome(&[(20, 800)]) };
        let mut watched = measured(vec![(WATCHED, level)]);
        watched.levels[0].others = Some(0.0);
        watched.threads = Some([looks(&[]), looks(&[&[""], &["", "futex"]])]);
        let (window, profiler) =
            (Window { length: Duration::from_secs(1), system_cpu: None }, watched.profiler);
        watched.observation.recording =
            Some(Recording::new(profiler, stacks.parse().unwrap(), window));
        Facts::of(&watched, &crate::Rules::read().unwrap().groups).get(Figure::OtherThreads)
    };
    assert_eq!(others("node::Start;handler 200\n"), Some(0.5));
    let helper =
        "start_thread;node::(anonymous namespace)::PlatformWorkerThread(void*);v8::Scavenger";
    assert_eq!(others(&format!("node::Start;handler 140\n{helper} 60\n")), Some(0.0));
}

#[test]
fn what_a_regular_expression_allocates_is_not_counted_as_a_clone() {
    let facts = profiled(
        "main;shop::quote;malloc 60\nmain;regex_lite::string::RegexBuilder::build;malloc 100\n\
         main;shop::quote 40\n",
        Kernel::Frames,
    );
    let shares = [Figure::AllocatorCpuShare, Figure::AllocatorAloneCpuShare];
    assert_eq!(shares.map(|figure| facts.get(figure)), [Some(0.8), Some(0.3)]);
}

/// Ten looks at threads, each in these system calls by turns.
fn looks(threads: &[&[&'static str]]) -> ThreadStates {
    let state = |call: &&'static str| match *call {
        "" => State::Running,
        call => State::Blocked(call.into()),
    };
    let thread = |calls: &&[&'static str]| Thread {
        name: String::new(),
        states: calls.iter().map(state).cycle().take(10).collect(),
    };
    let threads = threads.iter().map(thread).collect();
    ThreadStates { window: Duration::from_secs(1), looks: 10, threads, ..ThreadStates::default() }
}

#[test]
fn an_event_loop_is_deaf_while_nobody_waits_for_events_or_runs() {
    let deaf = |idle: &[&[&'static str]], busy: &[&[&'static str]]| {
        let watched = Measured {
            threads: Some([looks(idle), looks(busy)]),
            ..measured(vec![(1, outcome(&[(10, 100)])), (WATCHED, outcome(&[(20, 800)]))])
        };
        facts(&watched)
    };
    // A pool of threads waits for work in the same call, with and without load.
    let asleep = deaf(&[&["epoll_wait"], &["futex"]], &[&["clock_nanosleep"], &["futex"]]);
    assert_eq!(asleep.get(Figure::DeafShare), Some(1.0));
    assert_eq!(asleep.words[&Word::LoopCall], "clock_nanosleep");
    let locked = deaf(&[&["epoll_wait"], &["futex"]], &[&["futex", ""], &["futex"]]);
    assert_eq!(locked.get(Figure::DeafShare), Some(0.5));
    assert_eq!(locked.words[&Word::LoopCall], "futex");
    // Node has a second loop, for delayed tasks of its own.
    let one = deaf(&[&["epoll_wait"], &["epoll_wait"]], &[&["futex"], &["epoll_wait"]]);
    assert_eq!(one.get(Figure::DeafShare), Some(1.0));
    // Another worker took over, the CPU works, or there never was an event loop.
    for (idle, busy) in [
        ([["epoll_wait"], ["futex"]], [["clock_nanosleep"], ["epoll_wait"]]),
        ([["epoll_wait"], ["futex"]], [[""], ["futex"]]),
        ([["accept"], ["poll"]], [["read"], ["recvfrom"]]),
    ] {
        let healthy = deaf(&[&idle[0], &idle[1]], &[&busy[0], &busy[1]]);
        assert_eq!(healthy.get(Figure::DeafShare), Some(0.0), "{busy:?}");
        let attended = busy.contains(&["epoll_wait"]);
        assert_eq!(healthy.get(Figure::UnattendedShare), Some(f64::from(!attended)), "{busy:?}");
    }
}

#[test]
fn threads_take_turns_if_one_runs_while_another_that_works_waits_for_a_lock() {
    let turns = |busy: &[&[&'static str]]| {
        let watched = Measured {
            threads: Some([looks(&[]), looks(busy)]),
            ..measured(vec![(WATCHED, outcome(&[(20, 800)]))])
        };
        facts(&watched).get(Figure::TurnsShare)
    };
    assert_eq!(turns(&[&["", "futex"], &["futex", ""]]), Some(1.0));
    // One thread does everything, another never runs, or both work at once.
    for other in [&[&[""][..]][..], &[&[""], &["futex"]], &[&[""], &[""]]] {
        assert_eq!(turns(other), Some(0.0), "{other:?}");
    }
}

#[test]
fn cores_are_unused_if_neither_the_server_nor_others_used_them() {
    let level = || Outcome { server_cpu: Some(Duration::from_secs(1)), ..outcome(&[(20, 800)]) };
    let unused = |others| {
        let mut watched = measured(vec![(WATCHED, level())]);
        watched.levels[0].others = others;
        facts(&watched).get(Figure::UnusedCoreShare)
    };
    assert_eq!(
        [unused(Some(0.0)), unused(Some(0.25)), unused(None)],
        [Some(0.5), Some(0.25), None]
    );
    let mut pinned = measured(vec![(WATCHED, level())]);
    (pinned.levels[0].others, pinned.allowed_cores) = (Some(0.0), Some(1));
    assert_eq!(facts(&pinned).get(Figure::UnusedCoreShare), Some(0.0));
}

/// A JVM interprets the requests of the first user, and compiles what runs often.
#[test]
fn a_runtime_that_was_slow_at_first_does_not_work_on_more_requests_at_once() {
    let level = |cpu_ms, answers, ms| Outcome {
        server_cpu: Some(Duration::from_millis(cpu_ms)),
        ..outcome(&[(ms, answers)])
    };
    let warm = |alone_cpu_ms| {
        let levels = vec![(1, level(alone_cpu_ms, 250, 4)), (WATCHED, level(1000, 1000, 16))];
        facts(&measured(levels)).get(Figure::WarmAtOnce).unwrap()
    };
    // A request alone takes 3.6 ms of CPU time and waits for 0.4 ms; under load it takes 1 ms.
    assert!((warm(900) - 1.4).abs() < 1e-9);
    // The rest is waiting, warm or not.
    assert!((warm(250) - 4.0).abs() < 1e-9);
}

#[test]
fn threads_contend_if_they_want_to_run_or_call_futex() {
    let contenders = |busy: &[&[&'static str]], calls: Option<f64>| {
        let watched = Measured {
            threads: Some([looks(&[]), looks(busy)]),
            counts: calls.map(|calls| [("syscalls:sys_enter_futex", calls)].into()),
            ..measured(vec![(WATCHED, outcome(&[(20, 800)]))])
        };
        facts(&watched).get(Figure::Contenders)
    };
    let turns: [&[&str]; 2] = [&["", "futex"], &["futex", ""]];
    assert_eq!(contenders(&turns, Some(2.0)), Some(2.0));
    assert_eq!(contenders(&turns, None), Some(2.0));
    // Go with `GOMAXPROCS=1` parks the threads that it may not run.
    assert_eq!(contenders(&turns, Some(0.006)), Some(1.0));
    // They spin, or an asynchronous lock moves work between them.
    assert_eq!(contenders(&[&["", ""], &["", ""]], Some(0.01)), Some(2.0));
}

#[test]
fn cpu_time_of_threads_that_nobody_saw_counts() {
    let level = Outcome { server_cpu: Some(Duration::from_millis(900)), ..outcome(&[(20, 800)]) };
    let threads = Some([looks(&[&["poll"]]), looks(&[&["poll"]])]);
    let watched = Measured { threads, ..measured(vec![(WATCHED, level)]) };
    assert_eq!(facts(&watched).get(Figure::WantedCores), Some(0.9));
}
