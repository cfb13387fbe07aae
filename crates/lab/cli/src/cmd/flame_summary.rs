//! The answer of `lab flame`: one line for each server. Tables and pictures have the rest.

use lab_observation::{
    Folded, KeptStack, Observation, Observations, State, Topic, Unit, shares, top,
};
use lab_pictures::{Waits, requests_on_screen};
use lab_protocol::{Exhibit, RequestTime};
use lab_report::{column, paragraph, per_request, percent, significant, slowest, time_ms};

/// How many waits, functions or states are named.
const NAMED: usize = 2;
/// How many stacks that keep memory are named.
const LARGEST: usize = 3;
/// How many requests of a server are shown.
const REQUESTS: usize = 4;
/// A smaller share is no answer.
const LEAST: f64 = 0.05;
/// A server that uses less than this share of one core is almost idle.
const IDLE: f64 = 0.1;

/// A paragraph for each server: a line for each exhibit, in their order.
pub fn lines(topic: &Topic, all: &Observations) -> Vec<String> {
    let width = topic.servers.iter().map(|name| name.len()).max().unwrap_or(0) + 4;
    let line = |(at, server): (usize, &Observation)| {
        let mut parts: Vec<String> = Vec::new();
        for exhibit in &topic.exhibits {
            let part = match exhibit {
                Exhibit::Timeline | Exhibit::Waits => waits(server),
                Exhibit::Threads => threads(server),
                Exhibit::Cpu | Exhibit::Differential => cpu(topic, all, at),
                Exhibit::Allocations => allocations(topic, all, at),
            };
            parts.extend(part.filter(|part| !parts.contains(part)));
        }
        let tail = server.slowest.as_ref().and_then(slowest);
        parts.extend(tail.map(|why| format!("tail: {why}")));
        // The chapters say what the requests of a case are.
        let has_rows = topic.instrumented || !server.request_rows().is_empty();
        parts.extend(requests(server).filter(|_| !has_rows));
        parts.extend(kept(all, at));
        let label = |at| if at == 0 { server.name.as_str() } else { "" };
        let line = |(at, part): (usize, &String)| {
            column(width, &format!("  {:<1$}", label(at), width - 2), part)
        };
        parts.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    all.servers.iter().enumerate().map(line).collect()
}

/// A row for each request of a visit that was loaded alone, and what to know of them.
pub fn requests_alone(all: &Observations) -> Vec<String> {
    let (mut shown, mut about) = (Vec::new(), None);
    for server in &all.servers {
        let Some((mut table, text)) = requests_on_screen(server, REQUESTS) else { continue };
        table.lead = (all.servers.len() > 1).then(|| server.name.clone());
        shown.push(format!("\n{}", table.text()));
        about = Some(paragraph(&text));
    }
    shown.extend(about);
    shown
}

/// `waits: lock wait 99.2 % (6.57 s of 6.62 s)`
fn waits(server: &Observation) -> Option<String> {
    let waits = Waits::of(server.spans.as_ref()?);
    let total = waits.stacks.total();
    let mut parts: Vec<_> = waits.stacks.iter().collect();
    parts.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let least = if waits.is_cut_off() { "at least " } else { "" };
    let shown = |ns: u64| time_ms(ns as f64 / 1e6);
    let part = |(stack, ns): (&[String], u64)| {
        let name = match stack {
            [_, parts @ ..] if !parts.is_empty() => parts.join(" → "),
            _ => "the rest".to_owned(),
        };
        let share = 100.0 * ns as f64 / total as f64;
        format!("{name} {share:.1} % ({} of {least}{})", shown(ns), shown(total))
    };
    let large = parts.into_iter().filter(|(_, ns)| *ns as f64 >= LEAST * total as f64);
    named("waits", large.take(NAMED).map(part))
}

/// `CPU: 3.41 ms per request, of which malloc 30 %`, or that there was little of it.
fn cpu(topic: &Topic, all: &Observations, at: usize) -> Option<String> {
    let server = &all.servers[at];
    if server.cpu?.as_secs_f64() < IDLE * server.measured.as_secs_f64() {
        return Some("CPU: almost idle".to_owned());
    }
    let functions = all.cpu(&topic.view).and_then(|stacks| most(stacks.get(at)?));
    let cost = time_ms(server.cpu_per_request()?.as_secs_f64() * 1e3);
    Some(format!("CPU: {cost} per request{}", functions.unwrap_or_default()))
}

/// `time of a visit: GET /report 71 % (p50 12.0 ms, p99 14.1 ms), GET / 20 %`, if it has several requests.
fn requests(server: &Observation) -> Option<String> {
    let whole: f64 = server.requests.iter().map(RequestTime::total_ms).sum();
    let mut requests: Vec<_> = server.requests.iter().collect();
    requests.sort_by(|one, other| other.total_ms().total_cmp(&one.total_ms()));
    let shown = |request: &&RequestTime| {
        let percentile = |name, ms: Option<f64>| Some(format!("{name} {}", time_ms(ms?)));
        let percentiles = [("p50", request.p50_ms), ("p99", request.p99_ms)];
        let percentiles: Vec<_> =
            percentiles.into_iter().filter_map(|(name, ms)| percentile(name, ms)).collect();
        let share = percent(request.total_ms() / whole);
        format!("{} {share} ({})", request.request, percentiles.join(", "))
    };
    let large = requests.iter().filter(|request| request.total_ms() >= LEAST * whole);
    named("time of a visit", large.take(NAMED).map(shown))
}

/// `allocates 2.10 MB per request, of which String::clone 80 %`
fn allocations(topic: &Topic, all: &Observations, at: usize) -> Option<String> {
    let stacks = topic.view.of(&all.heaps.get(at)?.stacks);
    let bytes = per_request(Unit::Bytes, stacks.total());
    Some(format!("allocates {bytes}{}", most(&stacks).unwrap_or_default()))
}

/// `keeps 1.02 kB per request; recording that took 3.1 times the CPU time`, and a line for each large stack.
fn kept(all: &Observations, at: usize) -> Vec<String> {
    let Some(heap) = all.kept.get(at) else { return Vec::new() };
    let bytes = heap.stacks.total() / heap.requests.max(1);
    let cost = heap.slowdown.map_or(String::new(), |factor| {
        format!("; recording that took {} times the CPU time per request", significant(factor))
    });
    if bytes == 0 {
        return vec![format!(
            "keeps less than a byte per request in memory of malloc{cost}. An allocator that is linked in, such as \
             jemalloc, isn't seen: use its own profile"
        )];
    }
    let stack = |stack: KeptStack| {
        let bytes = per_request(Unit::Bytes, stack.bytes_per_request);
        format!("{bytes} ({}): {}", percent(stack.share), stack.name)
    };
    let largest = heap.largest(LARGEST).into_iter();
    let largest = largest.filter(|stack| stack.share >= LEAST).map(stack);
    let all = format!("keeps {}{cost}", per_request(Unit::Bytes, bytes));
    [all].into_iter().chain(largest).collect()
}

/// What the threads did that wait for work least.
fn threads(server: &Observation) -> Option<String> {
    let kinds = server.threads.as_ref()?.kinds();
    let (name, threads) = kinds.first()?;
    let said = |(state, share): (State, f64)| {
        let share = percent(share);
        match state {
            State::Running => format!("{share} running"),
            State::Ready => format!("{share} waiting for a core"),
            State::Blocked(call) => format!("{share} blocked in {call}"),
            State::Stopped => format!("{share} stopped"),
            State::Absent => String::new(),
        }
    };
    let states = shares(threads).into_iter();
    let states = states.filter(|(state, share)| !state.waits_for_work() && *share >= LEAST);
    let many = if threads.len() > 1 { format!("{} × ", threads.len()) } else { String::new() };
    named(&format!("{many}{name}"), states.take(NAMED).map(said))
}

/// The functions that take most themselves, as shares of the whole.
fn most(stacks: &Folded) -> Option<String> {
    let total = stacks.total().max(1) as f64;
    let largest = top(stacks, NAMED).into_iter().map(|row| (row.name, row.own as f64 / total));
    let large = largest.filter(|(_, share)| *share >= LEAST);
    let large: Vec<_> = large.map(|(name, share)| format!("{name} {}", percent(share))).collect();
    (!large.is_empty()).then(|| format!(", of which {}", large.join(", ")))
}

fn named(name: &str, parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join(", ")))
}
