//! Every way in which recording fails, with a `perf` and servers that fail on request.

use std::{
    os::unix::fs::symlink,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use hyper::Uri;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::{Failure, Ladder, Subject};
use crate::{
    doctor::fake::Fake,
    flame::{Recording, Rung},
    process,
};

/// Long enough for nothing: the stand-in does not sample.
const WINDOW: Duration = Duration::from_millis(20);

/// A machine whose `perf` behaves like this. The script is linked, not written: a file that another
/// thread's child still holds open for writing cannot be executed.
fn machine(mode: &str) -> Fake {
    let fake = Fake::healthy();
    fake.remove("bin/perf");
    fake.write("bin/perf.mode", mode);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/flame/record/fake_perf.sh");
    symlink(script, fake.system.root.join("bin/perf")).unwrap();
    fake
}

fn look(fake: &Fake) -> Ladder {
    Ladder::look(fake.system.clone(), false)
}

/// What is in the way of the first rung that is skipped.
fn obstacle(fake: &Fake) -> String {
    look(fake).skipped().first().unwrap().obstacle.to_string()
}

/// A process that waits for its end.
struct Server {
    child: Child,
    dir: TempDir,
}

impl Server {
    fn start() -> Self {
        let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        Self { child, dir: tempfile::tempdir().unwrap() }
    }

    fn subject(&self) -> Subject<'_> {
        Subject { pid: self.child.id(), url: None, dir: self.dir.path(), name: "slow" }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn record(mode: &str, rung: Rung) -> Result<Recording, Failure> {
    let (fake, server) = (machine(mode), Server::start());
    let ladder = look(&fake);
    assert!(ladder.rungs().contains(&rung), "{:?}", ladder.skipped());
    ladder.record(rung, &server.subject(), WINDOW).await
}

async fn with_kernel(mode: &str) -> Result<Recording, Failure> {
    record(mode, Rung::PerfWithKernel).await
}

/// The obstacle that sends a recording a rung down.
async fn step_down(mode: &str) -> String {
    match with_kernel(mode).await {
        Err(Failure::StepDown(obstacle)) => obstacle.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn notices(mode: &str) -> String {
    with_kernel(mode).await.unwrap().notices.join("\n")
}

#[test]
fn the_ladder_of_a_healthy_machine_has_no_gap() {
    let ladder = Ladder::look(machine("ok").system.clone(), true);
    use Rung::{CountersOnly, InProcess, PerfUserOnly, PerfWithKernel};
    assert_eq!(ladder.rungs(), [PerfWithKernel, PerfUserOnly, InProcess, CountersOnly]);
    assert!(ladder.skipped().is_empty());
}

#[test]
fn a_missing_perf_leaves_the_lower_rungs_and_says_how_to_install_it() {
    let fake = Fake::healthy();
    fake.remove("bin/perf");
    let ladder = Ladder::look(fake.system.clone(), true);
    assert_eq!(ladder.rungs(), [Rung::InProcess, Rung::CountersOnly]);
    assert_eq!(ladder.skipped().len(), 1, "what stops two rungs is told once");
    let said = ladder.skipped()[0].obstacle.to_string();
    assert_eq!(said, "`perf` is missing; mend: sudo apt-get install linux-perf");
}

#[test]
fn a_paranoid_kernel_leaves_the_programs_own_frames() {
    let fake = machine("no-kernel");
    fake.write("proc/sys/kernel/perf_event_paranoid", "2");
    let ladder = look(&fake);
    assert_eq!(ladder.rungs(), [Rung::PerfUserOnly, Rung::CountersOnly]);
    assert_eq!(
        ladder.skipped()[0].obstacle.to_string(),
        "kernel.perf_event_paranoid is 2, which keeps `perf` out of the kernel; mend: sudo sysctl \
         kernel.perf_event_paranoid=1"
    );
}

#[test]
fn a_more_paranoid_kernel_leaves_no_perf() {
    let fake = machine("denied");
    fake.write("proc/sys/kernel/perf_event_paranoid", "4");
    let ladder = look(&fake);
    assert_eq!(ladder.rungs(), [Rung::CountersOnly]);
    let last = ladder.skipped().last().unwrap().obstacle.to_string();
    assert!(last.contains("is 4, which lets only root use `perf`; mend: sudo sysctl"), "{last}");
}

#[test]
fn a_container_that_forbids_perf_is_told_from_a_paranoid_kernel() {
    let said = obstacle(&machine("denied"));
    assert!(said.contains("(EPERM) though perf_event_paranoid is 1"), "{said}");
    assert!(said.contains("mend: start the container with `--cap-add=PERFMON`"), "{said}");
    // Both at once: either mends it.
    let fake = machine("denied");
    fake.write(".dockerenv", "");
    fake.write("proc/sys/kernel/perf_event_paranoid", "2");
    let said = obstacle(&fake);
    assert!(said.contains("--cap-add=PERFMON`, or on its host `sudo sysctl"), "{said}");
}

#[test]
fn a_perf_of_another_kernel_or_without_events_is_skipped() {
    let said = obstacle(&machine("other-kernel"));
    assert!(
        said.contains("another kernel's") && said.contains("linux-tools-$(uname -r)"),
        "{said}"
    );
    let said = obstacle(&machine("no-events"));
    assert_eq!(said, "this kernel, or the sandbox on top of it, has no perf events");
    let said = obstacle(&machine("counts-nothing"));
    assert!(said.starts_with("`perf` counts nothing: <not supported>"), "{said}");
}

#[test]
fn on_macos_samply_comes_first_and_xctrace_next() {
    let fake = Fake::healthy();
    fake.remove("proc");
    let ladder = look(&fake);
    assert_eq!(ladder.rungs(), [Rung::CountersOnly]);
    let said: Vec<_> = ladder.skipped().iter().map(|it| it.obstacle.to_string()).collect();
    assert!(said[0].contains("cargo install --locked samply@0.13.1 && samply setup"), "{said:?}");
    assert!(said[1].contains("xcode-select --install"), "{said:?}");
    fake.program("samply", ":");
    fake.program("xctrace", ":");
    assert_eq!(look(&fake).rungs(), [Rung::Samply, Rung::Xctrace, Rung::CountersOnly]);
}

#[tokio::test]
async fn a_recording_has_its_stacks_and_its_file() {
    let (fake, server) = (machine("ok"), Server::start());
    let recording =
        look(&fake).record(Rung::PerfWithKernel, &server.subject(), WINDOW).await.unwrap();
    assert_eq!(recording.stacks.to_string(), "clone3;server::work 300\n");
    assert_eq!((recording.samples, recording.rooted_share), (300, Some(1.0)));
    assert_eq!(recording.sampled_cpu, Duration::from_nanos(300 * 2_004_008));
    assert!(recording.system_cpu.is_some() && recording.window >= WINDOW);
    assert_eq!(recording.file.unwrap(), server.dir.path().join("slow.perf.data"));
}

#[tokio::test]
async fn without_hardware_counters_the_timer_samples_and_it_says_so() {
    assert!(with_kernel("ok").await.unwrap().by_timer);
    assert!(!with_kernel("counters").await.unwrap().by_timer);
}

#[tokio::test]
async fn few_samples_are_the_finding() {
    let said = notices("few").await;
    assert!(said.contains("almost idle") && said.contains("(20 samples)"), "{said}");
}

#[tokio::test]
async fn cut_stacks_are_told() {
    let recording = with_kernel("cut").await.unwrap();
    assert_eq!(recording.rooted_share, Some(0.2));
    let said = recording.notices.join("\n");
    assert!(said.contains("80 % of the stacks were cut"), "{said}");
}

#[tokio::test]
async fn lost_samples_are_told() {
    let recording = with_kernel("lost").await.unwrap();
    assert_eq!(recording.lost_share, 0.25, "100 of 400: the larger of the two accounts");
    let said = recording.notices.join("\n");
    assert!(said.contains("25 % of the samples were lost"), "{said}");
}

#[tokio::test]
async fn the_user_only_rung_says_what_it_does_not_see() {
    let recording = record("confined", Rung::PerfUserOnly).await.unwrap();
    assert!(recording.notices.join("\n").contains("user frames only"));
}

#[tokio::test]
async fn a_perf_that_keeps_out_of_the_kernel_by_itself_steps_down() {
    let said = step_down("confined").await;
    assert!(said.contains("mend: "), "{said}");
}

#[tokio::test]
async fn what_forbids_only_the_attaching_steps_down() {
    assert!(step_down("denied-at-attach").await.contains("--cap-add=PERFMON"));
    let said = step_down("no-memory").await;
    assert!(said.contains("mend: sudo sysctl kernel.perf_event_mlock_kb="), "{said}");
    assert!(step_down("too-old").await.contains("older than 5.10"));
}

#[tokio::test]
async fn a_perf_without_compression_or_room_records_without_it() {
    assert_eq!(with_kernel("no-zstd").await.unwrap().samples, 300);
    assert_eq!(with_kernel("little-memory").await.unwrap().samples, 300);
}

#[tokio::test]
async fn a_perf_that_dies_steps_down_with_its_last_words() {
    let said = step_down("dies-at-once").await;
    assert!(said.starts_with("`perf` ended at once: perf: Segmentation fault"), "{said}");
    let said = step_down("dies-in-between").await;
    assert!(said.contains("perf: Bus error"), "{said}");
}

#[tokio::test]
async fn what_perf_cannot_read_again_steps_down() {
    assert!(step_down("unreadable").await.contains("`perf script` failed: incompatible file"));
    assert!(step_down("nonsense").await.contains("not a line of a sample"));
}

#[tokio::test]
async fn a_perf_that_hangs_steps_down_and_leaves_no_process() {
    for (mode, words) in [
        ("hang-at-attach", "`perf` hung"),
        ("hang-at-end", "`perf` hung"),
        ("hang-at-script", "`perf script` did not end"),
    ] {
        let (fake, server) = (machine(mode), Server::start());
        let ladder = look(&fake).impatient(Duration::from_millis(500));
        let failure = ladder.record(Rung::PerfWithKernel, &server.subject(), WINDOW).await;
        match failure {
            Err(Failure::StepDown(obstacle)) => {
                assert!(obstacle.reason.starts_with(words), "{mode}: {obstacle}");
            }
            other => panic!("{mode}: {other:?}"),
        }
        // Only the stand-in for the server was started by this test and may be left of it.
        let perf = fake.system.root.join("bin/perf").display().to_string();
        let mut looks = 0;
        while running(&perf) {
            looks += 1;
            assert!(looks < 1000, "{mode}: a perf stays behind");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Whether a process was started with this in its command line.
fn running(program: &str) -> bool {
    let pids = process::pids(std::process::id());
    pids.iter().any(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(program)
    })
}

#[tokio::test]
async fn a_server_that_dies_while_it_is_sampled_is_the_users_concern() {
    match with_kernel("server-dies").await {
        Err(Failure::Fatal(error)) => {
            assert!(error.to_string().contains("died while it was sampled"), "{error:#}");
        }
        other => panic!("{other:?}"),
    }
}

/// Serves one connection: reads the request's head, and answers with this unless it is empty.
async fn sampler(answer: &'static str) -> Uri {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 1024];
        let length = stream.read(&mut head).await.unwrap();
        let head = String::from_utf8_lossy(&head[..length]).into_owned();
        assert!(head.starts_with("GET /.lab/cpu?ms=20&hz=99 "), "{head}");
        if answer.is_empty() {
            std::future::pending::<()>().await;
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    url.parse().unwrap()
}

async fn in_process(answer: &'static str) -> Result<Recording, Failure> {
    let (fake, server, url) = (Fake::healthy(), Server::start(), sampler(answer).await);
    let ladder = Ladder::look(fake.system.clone(), true).impatient(Duration::from_millis(300));
    let subject = Subject { url: Some(&url), ..server.subject() };
    ladder.record(Rung::InProcess, &subject, WINDOW).await
}

#[tokio::test]
async fn the_sampler_in_the_server_answers_with_stacks() {
    let answer =
        "HTTP/1.1 200 OK\r\ncontent-length: 36\r\n\r\nstart_thread;work 300\nwork;inner 100\n";
    let recording = in_process(answer).await.unwrap();
    assert_eq!((recording.samples, recording.rooted_share), (400, Some(0.75)));
    assert!(recording.notices[0].contains("25 % of the stacks were cut"), "{recording:?}");
}

#[tokio::test]
async fn a_sampler_that_hangs_breaks_off_or_is_not_there_steps_down() {
    for (answer, words) in [
        ("", "hung or broke off: no answer within"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf", "hung or broke off"),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "has no sampler"),
        ("HTTP/1.1 500 Oops\r\ncontent-length: 4\r\n\r\nbusy", "answered 500: busy"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nnonsense", "answered nonsense"),
    ] {
        match in_process(answer).await {
            Err(Failure::StepDown(obstacle)) => {
                assert!(obstacle.reason.contains(words), "{obstacle}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn the_last_rung_records_nothing() {
    let server = Server::start();
    let ladder = look(&Fake::healthy());
    let failure = ladder.record(Rung::CountersOnly, &server.subject(), WINDOW).await;
    assert!(matches!(failure, Err(Failure::StepDown(_))));
}

/// Adds up until its standard input closes, in a function of its own thread.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_real_perf_sees_a_busy_process_whole() {
    let system = crate::doctor::System::this(crate::doctor::Needs::default());
    let ladder = Ladder::look(system, false);
    let Some(&rung) = ladder.rungs().iter().find(|rung| **rung <= Rung::PerfUserOnly) else {
        eprintln!("skipped, as perf is not permitted here: {:?}", ladder.skipped());
        return;
    };
    let mut server = Server::start();
    let _ = server.child.kill();
    let _ = server.child.wait();
    let busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    server.child = busy;
    let recording = ladder.record(rung, &server.subject(), Duration::from_millis(1500)).await;
    let recording = match recording {
        Ok(recording) => recording,
        Err(Failure::StepDown(obstacle)) => {
            eprintln!("skipped: {obstacle}");
            return;
        }
        Err(Failure::Fatal(error)) => panic!("{error:#}"),
    };
    // However busy the machine is, both accounts are of the same time. A few samples may fall on
    // either side of its ends.
    let agreement = recording.cpu_agreement().unwrap();
    assert!(recording.samples > 0 && (0.5..1.5).contains(&agreement), "{recording:?}");
    assert!(recording.lost_share < 0.5 && recording.stacks.total() == recording.samples);
}
