//! Who is logged in, and what is in the baskets. A restart must not empty them, so they are in a file.

use std::{
    collections::HashMap,
    fs,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
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
    by_token: RwLock<HashMap<String, Session>>,
    file: PathBuf,
}

impl Sessions {
    pub fn open(file: PathBuf) -> anyhow::Result<Self> {
        let json = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(Self { by_token: RwLock::new(serde_json::from_slice(&json)?), file })
    }

    pub fn get(&self, token: &str) -> Option<Session> {
        self.by_token.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    /// Begins a session or changes it.
    pub fn put(&self, token: &str, session: Session) -> anyhow::Result<()> {
        let mut by_token = self.by_token.write().unwrap_or_else(PoisonError::into_inner);
        by_token.insert(token.to_owned(), session);
        // The file is replaced as a whole: a crash leaves the old one or the new one.
        let unfinished = self.file.with_extension("unfinished");
        fs::write(&unfinished, serde_json::to_vec(&*by_token)?)?;
        fs::rename(&unfinished, &self.file)?;
        Ok(())
    }
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
