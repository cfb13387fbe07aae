//! Every way in which recording fails, with a `perf` and servers that fail on request.

#![expect(clippy::disallowed_macros, reason = "a test says why it is skipped")]

use lab_protocol::NoteKind;
use std::{cell::RefCell, os::unix::fs::symlink, path::Path, process::Stdio, time::Duration};

use anyhow::anyhow;
use fake_machine::FakeMachine;
use lab_observation::{Profiler, Recording, Unwinder};
use lab_system::{System, process};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::{
    Failure, Fetching, Process, Profilers, SamplingMethod,
    in_process::InProcess,
    none,
    perf::{USER_ONLY, WITH_KERNEL},
};

/// Any length will do: the fake `perf` does not sample.
const WINDOW: Duration = Duration::from_millis(20);

/// A machine whose `perf` behaves like this. The script is linked, not written: a file that another
/// thread's child still holds open for writing cannot be executed.
fn machine(mode: &str) -> FakeMachine {
    let fake = FakeMachine::healthy();
    fake.remove("bin/perf");
    fake.write("bin/perf.mode", mode);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_perf.sh");
    symlink(script, fake.path("bin/perf")).unwrap();
    fake
}

fn look(fake: &FakeMachine) -> Profilers {
    let (root, path) = (fake.root().to_owned(), fake.path("bin").into());
    Profilers::look(System { root, path, cores: Some(4), debug_build: false }, false)
}

/// All obstacles, the one to the best profiler first.
fn obstacles(fake: &FakeMachine) -> String {
    let profilers = look(fake);
    let obstacles = profilers.unusable().iter().map(|(_, obstacle)| obstacle.to_string());
    obstacles.collect::<Vec<_>>().join("\n")
}

/// A process, which does nothing.
struct StubServer {
    child: Child,
    dir: TempDir,
}

impl StubServer {
    fn start() -> Self {
        Self::of(Command::new("sleep").arg("600"))
    }

    fn of(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).kill_on_drop(true).spawn().unwrap();
        Self { child, dir: tempfile::tempdir().unwrap() }
    }

    fn recorded(&self) -> Process<'_> {
        let pid = self.child.id().unwrap();
        Process { pid, sampler: None, dir: self.dir.path(), name: "slow", window: WINDOW }
    }
}

impl Profilers {
    /// Samples and reads at once.
    async fn record(&self, profiler: Profiler, process: Process<'_>) -> Result<Recording, Failure> {
        Ok(self.sample(profiler, process).await?.await?.unwrap())
    }
}

async fn record(mode: &str, profile: &dyn SamplingMethod) -> Result<Recording, Failure> {
    let (fake, server) = (machine(mode), StubServer::start());
    look(&fake).record(profile.profiler(), server.recorded()).await
}

async fn with_kernel(mode: &str) -> Result<Recording, Failure> {
    record(mode, &WITH_KERNEL).await
}

#[track_caller]
fn obstacle(recording: Result<Recording, Failure>) -> String {
    match recording {
        Err(Failure::Profiler(obstacle)) => obstacle.to_string(),
        other => panic!("{other:?}"),
    }
}

fn usable(profilers: &Profilers) -> Vec<&str> {
    profilers.usable().iter().map(|it| it.name).collect()
}

/// How `perf` behaves, the kernel's setting, and parts of the obstacles.
const OBSTACLES: [(&str, &str, &[&str]); 6] = [
    (
        "no-kernel",
        "2",
        &[
            "is 2, which keeps `perf` out of the kernel; fix: sudo sysctl kernel.perf_event_paranoid=1",
        ],
    ),
    (
        "denied",
        "1",
        &[
            "(EPERM) though perf_event_paranoid is 1",
            "start the container with `--cap-add=PERFMON`",
        ],
    ),
    ("denied", "4", &["is 4, which lets only root use `perf`; fix: sudo sysctl"]),
    ("other-kernel", "1", &["another kernel:", "linux-tools-$(uname -r)"]),
    ("no-events", "1", &["this kernel, or the sandbox on top of it, has no perf events"]),
    ("counts-nothing", "1", &["`perf` counts nothing: <not supported>"]),
];

#[test]
fn a_perf_that_does_not_work_is_an_obstacle_with_its_fix() {
    for (mode, paranoid, words) in OBSTACLES {
        let fake = machine(mode);
        fake.write("proc/sys/kernel/perf_event_paranoid", paranoid);
        let said = obstacles(&fake);
        assert!(words.iter().all(|word| said.contains(word)), "{mode}: {said}");
        // Only the kernel's frames are out of reach in one of them.
        let usable = look(&fake).usable().contains(&USER_ONLY.profiler());
        assert_eq!(usable, mode == "no-kernel", "{mode}");
    }
}

#[test]
fn a_missing_profiler_is_reported_once_with_how_to_install_it() {
    let fake = FakeMachine::healthy();
    fake.remove("bin/perf");
    assert_eq!(usable(&look(&fake)), ["none"]);
    let perf = format!("`perf` is missing; fix: {}", lab_system::doctor::INSTALL_PERF);
    assert_eq!(obstacles(&fake), perf);
    // Where there is no `perf` to install, as on macOS.
    fake.remove("proc");
    assert_eq!((usable(&look(&fake)), obstacles(&fake)), (vec!["none"], String::new()));
}

#[tokio::test]
async fn a_recording_has_its_stacks_and_its_file() {
    let recording = with_kernel("ok").await.unwrap();
    assert_eq!(recording.stacks.to_string(), "clone3;server::work 300\n");
    assert_eq!((recording.samples, recording.rooted_share), (300, Some(1.0)));
    assert_eq!(recording.sampled_cpu, Duration::from_nanos(300 * 2_004_008));
    assert!(recording.system_cpu.is_some() && recording.window >= WINDOW);
}

#[tokio::test]
async fn perf_copies_stacks_unless_it_is_told_to_follow_frame_pointers() {
    for (chosen, used) in
        [(None, Unwinder::Dwarf), (Some(Unwinder::FramePointers), Unwinder::FramePointers)]
    {
        let (fake, server) = (machine("ok"), StubServer::start());
        let profilers = Profilers { unwinder: chosen, ..look(&fake) };
        let recording = profilers.record(WITH_KERNEL.profiler(), server.recorded()).await;
        assert_eq!(recording.unwrap().unwinder, Some(used));
    }
}

#[tokio::test]
async fn a_recording_says_what_is_wrong_with_it() {
    for (mode, note) in [
        ("few", "AlmostIdle"),
        ("cut", "CutStacks { share: 0.8"),
        // 100 of 400: the larger of the two counts.
        ("lost", "LostSamples { share: 0.25"),
    ] {
        let notes = format!("{:?}", with_kernel(mode).await.unwrap().notes);
        assert!(notes.contains(note), "{mode}: {notes}");
    }
    let recording = record("confined", &USER_ONLY).await.unwrap();
    assert!(recording.notes.contains(&NoteKind::KernelMissing));
}

#[tokio::test]
async fn a_perf_without_room_records_without_it() {
    assert_eq!(with_kernel("little-memory").await.unwrap().samples, 300);
}

#[tokio::test]
async fn a_perf_that_fails_while_it_records_says_why() {
    for (mode, words) in [
        ("confined", "fix: "),
        ("denied-at-attach", "--cap-add=PERFMON"),
        ("no-memory", "fix: sudo sysctl kernel.perf_event_mlock_kb="),
        ("dies-at-once", "`perf` exited at once: perf: Segmentation fault"),
        ("dies-in-between", "perf: Bus error"),
        ("unreadable", "`perf script` failed: incompatible file"),
        ("nonsense", "not a line of a sample"),
    ] {
        let said = obstacle(with_kernel(mode).await);
        assert!(said.contains(words), "{mode}: {said}");
    }
}

#[tokio::test]
async fn a_perf_that_hangs_is_killed() {
    for (mode, words) in [
        ("hang-at-attach", "`perf` hung"),
        ("hang-at-end", "`perf` hung"),
        ("hang-at-script", "`perf script` did not finish"),
    ] {
        let (fake, server) = (machine(mode), StubServer::start());
        let profilers = Profilers { patience: Duration::from_millis(500), ..look(&fake) };
        let recording = profilers.record(WITH_KERNEL.profiler(), server.recorded()).await;
        let said = obstacle(recording);
        assert!(said.starts_with(words), "{mode}: {said}");
        let perf = fake.path("bin/perf").display().to_string();
        let mut looks = 0;
        while is_running(&perf) {
            looks += 1;
            assert!(looks < 1000, "{mode}: a perf is left");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Whether a child of this process has this in its command line.
fn is_running(program: &str) -> bool {
    let pids = process::pids(std::process::id());
    pids.iter().any(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(program)
    })
}

#[tokio::test]
async fn a_server_that_dies_is_not_the_profilers_fault() {
    match with_kernel("server-dies").await {
        Err(Failure::Fatal(error)) => {
            assert!(error.to_string().contains("died while it was sampled"), "{error:#}");
        }
        other => panic!("{other:?}"),
    }
}

/// The status and the body, or how the connection broke off; `None` never comes.
type Reply = Option<Result<(u16, &'static str), &'static str>>;

/// Gives one answer after the other to requests, which have to be for these paths.
fn sampler(answers: &[Reply]) -> impl Fn(String) -> Fetching {
    let paths = ["/.lab/cpu?ms=20&hz=99", "/.lab/cpu/stacks"];
    let answers = RefCell::new(paths.into_iter().zip(answers));
    move |path| {
        let (expected, answer) = answers.borrow_mut().next().unwrap();
        assert_eq!(path, expected);
        let answer = *answer;
        Box::pin(async move {
            match answer {
                Some(Ok((status, body))) => Ok((status, body.into())),
                Some(Err(error)) => Err(anyhow!(error)),
                None => std::future::pending().await,
            }
        })
    }
}

async fn in_process(answers: &[Reply]) -> Result<Recording, Failure> {
    let (fake, server, sampler) = (FakeMachine::healthy(), StubServer::start(), sampler(answers));
    let profilers = Profilers { watchdog: Duration::from_millis(300), ..look(&fake) };
    let process = Process { sampler: Some(&sampler), ..server.recorded() };
    profilers.record(InProcess.profiler(), process).await
}

const SAMPLED: Reply = Some(Ok((200, "400\n")));

#[tokio::test]
async fn the_in_process_sampler_answers_with_stacks() {
    let stacks = Some(Ok((200, "start_thread;work 300\nwork;inner 100\n")));
    let recording = in_process(&[SAMPLED, stacks]).await.unwrap();
    assert_eq!((recording.samples, recording.rooted_share), (400, Some(0.75)));
    assert!(matches!(recording.notes[0], NoteKind::CutStacks { share: 0.25, .. }), "{recording:?}");
}

#[tokio::test]
async fn a_sampler_that_hangs_breaks_off_or_is_missing_is_an_obstacle() {
    for (answers, words) in [
        (&[None][..], "hung or broke off: no answer within"),
        (&[Some(Err("closed"))], "hung or broke off: closed"),
        (&[Some(Ok((404, "")))], "has no in-process sampler"),
        (&[Some(Ok((500, "busy")))], "answered 500: busy"),
        (&[SAMPLED, None], "hung or broke off: no answer within"),
        (&[SAMPLED, Some(Ok((200, "nonsense")))], "answered nonsense"),
    ] {
        let said = obstacle(in_process(answers).await);
        assert!(said.contains(words), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_real_perf_sees_a_busy_process_whole() {
    let system = lab_system::System::this();
    let profilers = Profilers::look(system, false);
    let profiler = profilers.usable()[0];
    if profiler == none::None.profiler() {
        eprintln!("skipped: {:?}", profilers.unusable());
        return;
    }
    let server = StubServer::of(Command::new("sh").args(["-c", "while :; do :; done"]));
    let process = Process { window: Duration::from_millis(1500), ..server.recorded() };
    let recording = match profilers.record(profiler, process).await {
        Err(Failure::Profiler(obstacle)) => {
            eprintln!("skipped: {obstacle}");
            return;
        }
        recording => recording.unwrap(),
    };
    // Both counts are of the same time, however busy the machine is. A few samples may fall on either
    // side of the window's ends.
    let agreement = recording.cpu_agreement().unwrap();
    assert!(recording.samples > 0 && (0.5..1.5).contains(&agreement), "{recording:?}");
    assert!(recording.lost_share < 0.5 && recording.stacks.total() == recording.samples);
}
