//! People enter and leave rooms, and anyone can ask who is in one.

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
    let visit = service.visit().await;
    let nicknames = visit.nicknames(&room)?;
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
