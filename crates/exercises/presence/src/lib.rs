//! A service that knows who is in which room, and shows each room's people.
//!
//! All variants share this file. Read [`slow`]: `just try presence` copies it to `mine.rs`, which is yours.

#[path = "../../solutions/presence.rs"]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use case_server::InProcess;

/// The service's own flags.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// Milliseconds that the directory takes to look people up, in place of another service
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub directory_ms: u64,
}

/// The nicknames in each room.
pub type Rooms = BTreeMap<String, BTreeSet<String>>;

/// The rooms that every variant starts with.
fn first_rooms() -> Rooms {
    [("lobby", &["ada", "grace", "linus"][..]), ("kitchen", &["barbara"]), ("attic", &[])]
        .map(|(room, people)| (room.to_owned(), people.iter().map(|&it| it.to_owned()).collect()))
        .into()
}

/// A person, as the directory has them.
#[derive(Clone, Debug)]
pub struct Person {
    pub name: String,
    pub desk: u32,
}

/// The company's directory, which is another service.
#[derive(Clone, Copy, Debug)]
pub struct Directory {
    wait: Duration,
}

impl Directory {
    fn new(options: Options) -> Self {
        Self { wait: Duration::from_millis(options.directory_ms) }
    }

    /// Looks people up, all in one question. Simulates a call to another service with a sleep.
    async fn people(self, nicknames: &[String]) -> Vec<Person> {
        let _recorded = case_probe::span("directory wait");
        case_probe::work("questions");
        tokio::time::sleep(self.wait).await;
        nicknames.iter().map(|nickname| person(nickname)).collect()
    }
}

/// Makes a person of a nickname, always the same one.
fn person(nickname: &str) -> Person {
    let mut letters = nickname.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    let name = first.unwrap_or_default() + letters.as_str();
    let desk = nickname.bytes().fold(7, |desk, byte| (desk * 31 + u32::from(byte)) % 9_973);
    Person { name, desk }
}

/// A room as text: a line for each person.
fn page(room: &str, people: &[Person]) -> String {
    let lines = people.iter().map(|Person { name, desk }| format!("{name}, desk {desk}\n"));
    format!("{room}: {} here\n{}", people.len(), lines.collect::<String>())
}

/// Both variants by name, for tests that use no socket.
pub fn variants(options: Options) -> [(&'static str, InProcess); 2] {
    [
        ("slow", InProcess::new(slow::routes(options))),
        ("fixed", InProcess::new(fixed::routes(options))),
    ]
}
