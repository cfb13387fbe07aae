//! `lab practice try --watch`: the loop of an exercise. What is known from outside, then a check at each save, and a key
//! for everything else.

use std::{process::ExitCode, slice, time::SystemTime};

use anyhow::ensure;
use console::{Term, style, user_attended};
use lab_cases::{Case, MINE, Workspace};
use lab_practice::{Entry, Outside, Servers, in_language, is_untouched, look, next_after};
use lab_report::{Table, paragraph, significant, thousands, time_ms, translate};
use lab_system::out;
use tokio::{task::spawn_blocking, time::sleep};

use super::{
    check, hint,
    keys::{KeyMode, Keys, POLL, QUIT},
    list, predict, start,
};
use crate::cmd::{Places, complain, interrupted, interruptible};

/// Begins with this case, and goes on with others until the reader quits.
pub fn run(places: &Places, workspace: &Workspace, first: Case) -> anyhow::Result<ExitCode> {
    let done = interruptible(async {
        let (mut keys, mut next) = (Keys::open()?, Some(first));
        while let Some(case) = next {
            next = Sitting::begin(places, workspace, &case).await?.run(&mut keys).await?;
        }
        Ok(())
    })?;
    let code = match done {
        Some(()) => ExitCode::SUCCESS,
        None => interrupted(&translate!("your file is as you left it")),
    };
    list::print_guesses(workspace)?;
    Ok(code)
}

/// A reader in front of one case.
struct Sitting<'a> {
    places: &'a Places,
    workspace: &'a Workspace,
    case: &'a Case,
    outside: Outside,
}

impl<'a> Sitting<'a> {
    /// Copies the source, if it isn't there, and looks at the slow server.
    async fn begin(
        places: &'a Places,
        workspace: &'a Workspace,
        case: &'a Case,
    ) -> anyhow::Result<Self> {
        ensure!(
            case.check.is_some(),
            translate!("{case} has no check: `just contest` judges it", case = case.shown)
        );
        if !case.source(MINE).exists() {
            start::begin(workspace, case)?;
        }
        let build = Servers::build_slow(workspace, case);
        let servers = places.build_unless_given(Servers::built(workspace), build).await?;
        let outside = look(&servers, case).await?;
        Ok(Self { places, workspace, case, outside })
    }

    /// Returns the case to go on with, if there is one.
    async fn run(&self, keys: &mut Keys) -> anyhow::Result<Option<Case>> {
        self.show()?;
        let (workspace, case) = (self.workspace.clone(), self.case.clone());
        // A signal ends the wait for an answer.
        spawn_blocking(move || predict::ask_below_question(&workspace, &case)).await??;
        let mode = KeyMode::begin()?;
        // There is nothing to judge in a copy.
        let mut seen = self.saved().filter(|_| is_untouched(self.case).unwrap_or(false));
        self.show_keys();
        loop {
            let mut work = None;
            if self.saved().is_some_and(|saved| Some(saved) != seen) {
                // An editor may write in several steps.
                sleep(POLL).await;
                seen = self.saved();
                work = Some(true);
            } else {
                match keys.next(&mode) {
                    Some('h') => {
                        hint::run(self.workspace, self.case)?;
                        self.show_keys();
                    }
                    Some('s') => work = Some(false),
                    Some('n') => return self.next(),
                    Some(QUIT) => return Ok(None),
                    Some(_) | None => sleep(POLL).await,
                }
            }
            if let Some(is_fast) = work {
                tokio::select! {
                    biased;
                    () = keys.quit(&mode) => return Ok(None),
                    checked = self.check(is_fast) => {
                        checked.unwrap_or_else(|error| complain(&error));
                    }
                }
                self.show_keys();
            }
        }
    }

    /// When the reader's file was saved last; `None` while an editor replaces it.
    fn saved(&self) -> Option<SystemTime> {
        self.case.source(MINE).metadata().and_then(|file| file.modified()).ok()
    }

    async fn check(&self, is_fast: bool) -> anyhow::Result<()> {
        self.show()?;
        let options = check::Options { fast: is_fast, ..check::Options::default() };
        let cases = slice::from_ref(self.case);
        check::announce(cases, &options);
        let build = Servers::build(self.workspace, cases, !is_fast);
        let servers = self.places.build_unless_given(Servers::built(self.workspace), build).await?;
        let (report, entry) = check::judge(self.workspace, &servers, self.case, &options).await?;
        check::print(self.case, &report, &entry);
        let hint = translate!("h, for a hint");
        out!("{}", paragraph(&check::next(self.case, &report, is_fast, ["s", &hint])));
        Ok(())
    }

    /// The case after this one, or where to go when it was the last.
    fn next(&self) -> anyhow::Result<Option<Case>> {
        let next = next_after(self.workspace, self.case)?;
        if next.is_none() {
            out!(
                "{}",
                paragraph(&translate!(
                    "this was the last one; the exam is the shop: just try shop"
                ))
            );
        }
        Ok(next)
    }

    /// An empty screen with what is known.
    fn show(&self) -> anyhow::Result<()> {
        if user_attended() {
            Term::stdout().clear_screen()?;
        }
        let case = in_language(self.workspace, self.case)?;
        out!("{}\n{}\n", style(&case.shown).bold().cyan(), paragraph(&case.question));
        out!("{}\n", levels(&self.outside).text());
        if !self.outside.counts.is_empty() {
            out!("{}", paragraph(&costs(&self.outside)));
        }
        let hints = case.check.as_ref().map_or(&[][..], |check| &check.hints);
        for hint in hints.iter().take(Entry::of(self.workspace, &case)?.hints) {
            out!("{}", paragraph(&translate!("hint: {hint}", hint)));
        }
        out!("  {}{}", translate!("Edit            "), lab_report::path(&case.source(MINE)));
        Ok(())
    }

    fn show_keys(&self) {
        out!(
            "\n  {}",
            translate!("save: check · h: a hint · s: the speed · n: the next one · q: quit")
        );
    }
}

/// How the throughput grows with the users. By Little's law, a visit takes as long as the users wait together for one.
fn levels(outside: &Outside) -> Table {
    let row = |(users, outcome): &(usize, lab_protocol::Outcome)| {
        let per_s = outcome.throughput();
        let cores =
            outcome.server_cpu.map(|cpu| cpu.as_secs_f64() / outcome.measured.as_secs_f64());
        vec![
            users.to_string(),
            significant(per_s),
            if per_s > 0.0 { time_ms(*users as f64 / per_s * 1e3) } else { "–".to_owned() },
            cores.map_or("–".to_owned(), |cores| format!("{cores:.2}")),
        ]
    };
    let columns = [
        translate!("users, no pause"),
        translate!("visits per second"),
        translate!("a visit takes"),
        translate!("busy cores"),
    ];
    Table::new("", columns, outside.levels.iter().map(row))
}

/// The counts of a visit, in a sentence.
fn costs(outside: &Outside) -> String {
    let count = |(name, count): (&String, &f64)| {
        let words = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
        format!("{} {words}", thousands(count.round()))
    };
    let counts: Vec<_> = outside.counts.iter().map(count).collect();
    translate!("A visit costs {counts}.", counts = lab_report::listed(&counts))
}
