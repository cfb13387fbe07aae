//! The fix: a request gives the rooms back before it asks the directory.
//!
//! `Visit` owns the guard of the mutex, so the rooms are locked for as long as a `Visit` lives. In `slow`
//! it lives until the end of `who_is_in`, and the answer of the directory is in between: 20 ms in which
//! no other request gets at the rooms, not even for another room. So the service answers 50 requests per
//! second, however many cores it has.
//!
//! Here the visit is a temporary value of one statement. It ends at the semicolon, and the nicknames are
//! copies. A room may change while the directory answers; the answer shows the room as it was when the
//! request came, as before. An `RwLock` in place of the mutex would let readers pass each other, but
//! everybody who enters or leaves would still wait for the directory.
//!
//! Neither the compiler nor clippy sees this: the guard is a field of a type of our own, and the wait is
//! in a function of another module. Look for types that own a guard, and keep their values short-lived.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, put},
};
use case_probe::sync::{Mutex, MutexGuard};

use crate::{Directory, Options, Rooms, first_rooms, page};

/// The longest nickname, in bytes.
const LONGEST: usize = 40;

#[derive(Clone)]
struct Service {
    rooms: Arc<Mutex<Rooms>>,
    directory: Directory,
}

/// The service's routes.
pub fn routes(options: Options) -> Router {
    let rooms = Arc::new(Mutex::new(first_rooms()));
    Router::new()
        .route("/rooms", get(overview))
        .route("/rooms/{room}", get(who_is_in))
        .route("/rooms/{room}/{nickname}", put(enter).delete(leave))
        .with_state(Service { rooms, directory: Directory::new(options) })
}

impl Service {
    async fn visit(&self) -> Visit<'_> {
        Visit { rooms: self.rooms.lock().await }
    }
}

/// What one request sees of the rooms.
struct Visit<'a> {
    rooms: MutexGuard<'a, Rooms>,
}

impl Visit<'_> {
    fn nicknames(&self, room: &str) -> Result<Vec<String>, StatusCode> {
        let people = self.rooms.get(room).ok_or(StatusCode::NOT_FOUND)?;
        Ok(people.iter().cloned().collect())
    }

    /// A person is in one room at a time.
    fn enter(&mut self, room: &str, nickname: &str) -> StatusCode {
        if !self.rooms.contains_key(room) {
            return StatusCode::NOT_FOUND;
        }
        for (name, people) in self.rooms.iter_mut() {
            if name == room {
                people.insert(nickname.to_owned());
            } else {
                people.remove(nickname);
            }
        }
        StatusCode::NO_CONTENT
    }

    fn leave(&mut self, room: &str, nickname: &str) -> StatusCode {
        match self.rooms.get_mut(room).is_some_and(|people| people.remove(nickname)) {
            true => StatusCode::NO_CONTENT,
            false => StatusCode::NOT_FOUND,
        }
    }
}

async fn overview(State(service): State<Service>) -> String {
    let visit = service.visit().await;
    visit.rooms.iter().map(|(room, people)| format!("{room}: {}\n", people.len())).collect()
}

async fn who_is_in(
    State(service): State<Service>,
    Path(room): Path<String>,
) -> Result<String, StatusCode> {
    let nicknames = service.visit().await.nicknames(&room)?;
    let people = service.directory.people(&nicknames).await;
    Ok(page(&room, &people))
}

async fn enter(
    State(service): State<Service>,
    Path((room, nickname)): Path<(String, String)>,
) -> StatusCode {
    if nickname.len() > LONGEST {
        return StatusCode::BAD_REQUEST;
    }
    service.visit().await.enter(&room, &nickname)
}

async fn leave(
    State(service): State<Service>,
    Path((room, nickname)): Path<(String, String)>,
) -> StatusCode {
    service.visit().await.leave(&room, &nickname)
}
