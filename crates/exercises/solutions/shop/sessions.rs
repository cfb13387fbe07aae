//! Who is logged in, and what is in the baskets. A restart must not empty them, so they are in a file.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Context as _;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header::COOKIE, request::Parts},
};
use serde::{Deserialize, Serialize};

use super::{Failure, Shop};

/// A product and how many of it.
pub type Entry = (u32, u32);

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Session {
    pub customer: u32,
    pub basket: Vec<Entry>,
}

pub struct Sessions {
    by_token: Arc<RwLock<HashMap<String, Session>>>,
    has_changed: Arc<AtomicBool>,
}

/// How much a crash may lose.
const SAVED_EVERY: Duration = Duration::from_millis(500);

impl Sessions {
    pub fn open(file: PathBuf) -> anyhow::Result<Self> {
        let json = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let by_token = Arc::new(RwLock::new(serde_json::from_slice(&json)?));
        let sessions = Self { by_token, has_changed: Arc::default() };
        sessions.save_now_and_then(file);
        Ok(sessions)
    }

    fn save_now_and_then(&self, file: PathBuf) {
        let (by_token, has_changed) = (self.by_token.clone(), self.has_changed.clone());
        thread::spawn(move || {
            // The shop has the other one.
            while Arc::strong_count(&has_changed) > 1 {
                thread::sleep(SAVED_EVERY);
                if has_changed.swap(false, Ordering::Relaxed) {
                    let sessions = by_token.read().unwrap_or_else(PoisonError::into_inner).clone();
                    if let Err(error) = save(&sessions, &file) {
                        eprintln!("the sessions are not saved: {error:#}");
                    }
                }
            }
        });
    }

    pub fn get(&self, token: &str) -> Option<Session> {
        self.by_token.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    /// Begins a session or changes it.
    pub fn put(&self, token: &str, session: Session) -> anyhow::Result<()> {
        self.by_token
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(token.to_owned(), session);
        self.has_changed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The file is replaced as a whole: a crash leaves the old one or the new one.
fn save(sessions: &HashMap<String, Session>, file: &Path) -> anyhow::Result<()> {
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, serde_json::to_vec(sessions)?)?;
    Ok(fs::rename(&unfinished, file)?)
}

/// The visitor, who has a session.
pub struct Visitor {
    pub token: String,
    pub session: Session,
}

impl FromRequestParts<Arc<Shop>> for Visitor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shop: &Arc<Shop>) -> Result<Self, Failure> {
        let cookies = parts.headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or("");
        let token = cookies.split("; ").find_map(|cookie| cookie.strip_prefix("session="));
        let session = token.and_then(|token| Some((token, shop.sessions.get(token)?)));
        let (token, session) =
            session.ok_or(Failure::Refused(StatusCode::UNAUTHORIZED, "please log in"))?;
        Ok(Self { token: token.to_owned(), session })
    }
}

/// Nobody can guess it.
pub fn new_token() -> anyhow::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).context("no random numbers")?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
