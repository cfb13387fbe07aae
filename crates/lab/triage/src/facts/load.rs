//! Facts of the load: throughput over users, latency, and what a request costs.

use std::collections::BTreeMap;

use lab_protocol::Outcome;
use lab_stats::wilson;
use lab_system::escaped;

use super::Facts;
use crate::{
    figure::{Figure, Word},
    measure::{DELAYED, Files, Level, Measured, WATCHED, cores, delayed},
};

/// How many answers each user needs before a cost per answer is meaningful.
const ENOUGH: u64 = 10;

impl Facts {
    pub(super) fn load(&mut self, measured: &Measured) {
        let (Some(alone), Some(last)) = (measured.levels.first(), measured.levels.last()) else {
            return;
        };
        let throughput = |level: &&Level| level.outcome.throughput();
        let peak = measured.levels.iter().max_by(|a, b| throughput(a).total_cmp(&throughput(b)));
        let peak = peak.unwrap_or(last);
        self.throughput(measured.requests, [alone, peak, last]);
        self.cpu(measured, [alone, peak, last]);
        self.answers(&measured.levels);
        self.connections(measured);
        self.delays(measured);
    }

    fn throughput(&mut self, requests: usize, [alone, peak, last]: [&Level; 3]) {
        let per_s = [alone, peak, last].map(|level| level.outcome.throughput());
        let [one, most, end] = per_s;
        // A visit counts as one in an outcome.
        let requests = requests.max(1) as f64;
        self.put(Figure::Users, last.users as f64);
        self.put(Figure::PeakRps, most * requests);
        self.put(Figure::PeakUsers, peak.users as f64);
        self.put(Figure::AfterPeakShare, end / most);
        self.put(Figure::LostShare, 1.0 - end / most);
        self.put(Figure::TurnMs, 1e3 / most / requests);
        // Little's law: the requests inside the server, if each takes as long at the peak as alone.
        let alone_s = alone.users as f64 / one;
        self.put(Figure::AloneMs, 1e3 * alone_s / requests);
        self.put(Figure::AtOnce, most * alone_s);
        self.put(Figure::AtOnceShare, most * alone_s / last.users as f64);
        let limited = peak.outcome.limited_by_generator().is_some();
        self.put(Figure::GeneratorLimited, f64::from(limited));
        if !limited {
            // With this many users, the rest wait for their turn.
            self.put(Figure::QueueShare, (1.0 - most * alone_s / WATCHED as f64).max(0.0));
        }
        if let Some(cores) = cores(&alone.outcome) {
            let waits = (1.0 - cores).max(0.0);
            self.put(Figure::WaitShare, waits);
            self.put(Figure::WaitMs, 1e3 * alone_s / requests * waits);
            self.put(Figure::WaitingAtOnce, most * alone_s * waits);
        }
    }

    fn cpu(&mut self, measured: &Measured, [_, peak, last]: [&Level; 3]) {
        let most =
            measured.levels.iter().filter_map(|level| cores(&level.outcome)).reduce(f64::max);
        if let Some(most) = most {
            // Without the threads' states, the CPU time that it got is the only estimate of what it wanted.
            self.wants(most, measured);
            self.put(Figure::LackedCores, 0.0);
        }
        // With few answers, those in flight at both ends distort the cost.
        let cost = |Level { users, outcome, .. }: &Level| {
            outcome.cpu_us_per_request().filter(|_| outcome.ok_in_time >= ENOUGH * *users as u64)
        };
        if let (Some(peak), Some(last)) = (cost(peak), cost(last)) {
            self.put(Figure::CpuGrowth, last / peak);
        }
        if let Some(others) = last.others {
            self.put(Figure::OthersShare, others);
        }
        if let Some(us) = measured.at(WATCHED).and_then(Outcome::cpu_us_per_request) {
            self.put(Figure::CpuMs, us / 1e3 / measured.requests.max(1) as f64);
        }
        self.warm();
    }

    fn warm(&mut self) {
        let Some(at_once) = self.get(Figure::AtOnce) else { return };
        let figures = [Figure::CpuMs, Figure::TurnMs, Figure::WaitingAtOnce];
        let [Some(cpu), Some(turn), Some(waiting)] = figures.map(|figure| self.get(figure)) else {
            return self.put(Figure::WarmAtOnce, at_once);
        };
        self.put(Figure::WarmAtOnce, at_once.min(waiting + cpu / turn));
    }

    /// Answers that are wrong, or that never come.
    fn answers(&mut self, levels: &[Level]) {
        let faults = |outcome: &Outcome| {
            (outcome.wrong + outcome.failed) as f64
                / (outcome.ok + outcome.wrong + outcome.failed).max(1) as f64
        };
        let worst = levels.iter().max_by(|a, b| faults(&a.outcome).total_cmp(&faults(&b.outcome)));
        if let Some(Level { users, outcome, .. }) = worst {
            self.put(Figure::FaultShare, faults(outcome));
            self.put(Figure::FaultUsers, *users as f64);
            let fault = outcome.first_fault.clone().unwrap_or_else(|| "no answer".to_owned());
            self.words.insert(Word::Fault, fault);
        }
        let lost = levels.iter().map(|level| (level.lost as f64, level.users as f64));
        self.put(Figure::LostRequests, lost.clone().map(|(lost, _)| lost).sum());
        // One user can lose one request.
        let most = lost.map(|(lost, users)| lost / users).fold(0.0, f64::max);
        self.put(Figure::LostUserShare, most);
    }

    fn connections(&mut self, measured: &Measured) {
        let requests = measured.requests.max(1) as f64;
        let sum = |of: fn(&Outcome) -> u64| {
            measured.levels.iter().map(|level| of(&level.outcome) as f64).sum::<f64>()
        };
        let all = sum(|outcome| outcome.ok + outcome.wrong + outcome.failed).max(1.0);
        self.put(
            Figure::ReopenedPerRequest,
            sum(|outcome| outcome.reopened - outcome.surplus.min(outcome.reopened))
                / all
                / requests,
        );
        if let Some(refused) = measured.refused_connections {
            let refused = refused as f64;
            let users = measured.levels.iter().map(|level| level.users as f64).sum::<f64>();
            self.put(Figure::RefusedConnections, refused);
            self.put(
                Figure::RefusedShare,
                refused / (refused + users + sum(|outcome| outcome.reopened)),
            );
        }
        let at_watched = measured.at(WATCHED).map_or(0.0, Outcome::throughput);
        if let Some(per_s) = measured.outbound.round_trips_per_s.filter(|_| at_watched > 0.0) {
            self.put(Figure::RoundTripsPerRequest, per_s / at_watched / requests);
        }
        if let Some(held_back) = measured.outbound.held_back {
            self.put(Figure::HeldBack, held_back);
        }
    }

    /// Answers that waited for a delayed acknowledgement.
    fn delays(&mut self, measured: &Measured) {
        let turns = &measured.quick_ack;
        let Some(outcome) = measured.at(WATCHED).filter(|_| !turns.is_empty()) else {
            self.put(Figure::DelayedShare, 0.0);
            return;
        };
        let share = |outcome| {
            let (delayed, all) = delayed(outcome);
            delayed as f64 / all.max(1) as f64
        };
        let interval = |outcome| {
            let (delayed, all) = delayed(outcome);
            wilson(delayed, all)
        };
        let [quick, again] = [0, 1].map(|client| turns.iter().map(move |turn| &turn[client]));
        let fewest = again.clone().map(share).fold(f64::INFINITY, f64::min);
        self.put(Figure::DelayedShare, share(outcome));
        self.put(Figure::DelayedAgainShare, fewest);
        self.put(Figure::DelayedQuickShare, quick.clone().map(share).fold(0.0, f64::max));
        // The worst case that the intervals allow: few delays with the usual client, by the run that has
        // fewest, and many with the other, by the run that has most.
        let few = again.map(|outcome| interval(outcome)[0]).fold(interval(outcome)[0], f64::min);
        let many = quick.map(|outcome| interval(outcome)[1]).fold(0.0, f64::max);
        let removed = 1.0 - many / few;
        self.put(Figure::QuickAckRemovesLeastShare, removed.max(-1.0));
        // As a share of the time that all answers took together.
        let of = |is: &dyn Fn(f64) -> bool| -> f64 {
            let them = outcome.latency.buckets().filter(|(ms, _)| is(*ms));
            them.map(|(ms, count)| ms * count as f64).sum()
        };
        self.put(Figure::DelayedTimeShare, of(&|ms| DELAYED.contains(&ms)) / of(&|_| true));
    }

    pub(super) fn counts(&mut self, counts: &BTreeMap<&'static str, f64>, requests: usize) {
        for (figure, events) in [
            (Figure::SystemCallsPerRequest, &["raw_syscalls:sys_enter"][..]),
            (Figure::ConnectsPerRequest, &["syscalls:sys_enter_connect"]),
            (Figure::WritesPerRequest, &["syscalls:sys_enter_write"]),
            (Figure::OpensPerRequest, &["syscalls:sys_enter_openat", "syscalls:sys_enter_open"]),
            (
                Figure::FlushesPerRequest,
                &["syscalls:sys_enter_fsync", "syscalls:sys_enter_fdatasync"],
            ),
            (Figure::FutexCallsPerRequest, &["syscalls:sys_enter_futex"]),
            (Figure::StartsPerRequest, &["syscalls:sys_enter_clone", "syscalls:sys_enter_clone3"]),
            (Figure::PageFaultsPerRequest, &["page-faults"]),
        ] {
            let counted = events.iter().filter_map(|event| counts.get(event));
            self.put(figure, counted.sum::<f64>() / requests.max(1) as f64);
        }
        let calls = counts.iter().filter_map(|(event, counted)| {
            let call = event.strip_prefix("syscalls:sys_enter_")?;
            // By which threads wait for each other.
            (call != "futex").then_some((call, *counted))
        });
        if let Some((call, counted)) = calls.max_by(|a, b| a.1.total_cmp(&b.1)) {
            self.put(Figure::MostCallsPerRequest, counted / requests.max(1) as f64);
            self.words.insert(Word::MostCall, call.to_owned());
        }
    }

    pub(super) fn files(&mut self, files: &Files, requests: usize) {
        let opened = files.opened.first();
        self.put(Figure::SameFileLooks, opened.map_or(0.0, |file| file.looks as f64));
        let grown = files.grown.as_ref();
        let bytes = grown.map_or(0.0, |(_, bytes)| bytes / requests.max(1) as f64);
        self.put(Figure::FileGrowthKib, bytes / 1024.0);
        let writes = self.get(Figure::WritesPerRequest).filter(|writes| *writes > 0.0);
        self.put(Figure::FileBytesPerWrite, writes.map_or(0.0, |writes| bytes / writes));
        for (word, path) in [
            (Word::SameFile, opened.map(|file| &file.path)),
            (Word::GrownFile, grown.map(|(path, _)| path)),
        ] {
            let path = path.map(|path| escaped(&path.display().to_string()));
            self.words.extend(path.map(|path| (word, path)));
        }
    }
}
