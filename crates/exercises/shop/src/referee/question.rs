//! Requests, and the answers that are right.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use axum::{body::Bytes, http::Request};
use case_server::InProcess;
use serde::Serialize;
use serde_json::json;

use crate::data;

/// A request, as a load plan has it.
#[derive(Serialize)]
pub struct Ask {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body_file: Option<PathBuf>,
    expected: serde_json::Value,
}

/// A request before anybody knows its answer.
#[derive(Clone)]
pub struct Question {
    pub method: &'static str,
    pub path: String,
    pub customer: Option<u32>,
    pub json: Option<String>,
}

/// The longest answer that a course has as text.
const LONGEST_TEXT: usize = 200;
/// What a product's page says about its stock, before and after the number.
const IN_STOCK: (&str, &str) = ("<p>In stock: ", "</p>");
const NO_NUMBER: &str = "ask us";

impl Question {
    pub fn get(path: String) -> Self {
        Self { method: "GET", path, customer: None, json: None }
    }

    pub fn with_json(method: &'static str, path: &str, json: serde_json::Value) -> Self {
        Self { method, path: path.to_owned(), customer: None, json: Some(json.to_string()) }
    }

    pub fn of(self, customer: u32) -> Self {
        Self { customer: Some(customer), ..self }
    }

    pub fn headers(&self, seed: u32) -> Vec<(&'static str, String)> {
        let cookie =
            self.customer.map(|it| ("cookie", format!("session={}", data::token_of(it, seed))));
        let json = self.json.as_ref().map(|_| ("content-type", "application/json".to_owned()));
        cookie.into_iter().chain(json).collect()
    }

    pub async fn ask(&self, shop: &InProcess, seed: u32) -> anyhow::Result<(u16, Bytes)> {
        let mut request = Request::builder().method(self.method).uri(&self.path);
        for (name, value) in self.headers(seed) {
            request = request.header(name, value);
        }
        Ok(shop.ask(request.body(self.json.clone().unwrap_or_default())?).await)
    }

    pub fn with_answer(
        &self,
        (status, body): (u16, Bytes),
        seed: u32,
        bodies: &Path,
    ) -> anyhow::Result<Ask> {
        let body_file = self.json.as_ref().map(|json| {
            let file = bodies.join(format!("{:08x}.json", crc32fast::hash(json.as_bytes())));
            fs::write(&file, json).with_context(|| format!("cannot write {}", file.display()))?;
            anyhow::Ok(file)
        });
        let mut expected = json!({ "status": status, "answer": answer(&body) });
        if let Some(other) = without_stock(&body) {
            expected["or"] = answer(other.as_bytes());
        }
        let (method, path, headers) = (self.method, self.path.clone(), self.headers(seed));
        Ok(Ask { method, path, headers, body_file: body_file.transpose()?, expected })
    }
}

/// Makes a visit.
pub async fn ask_all(
    shop: &InProcess,
    questions: &[Question],
    seed: u32,
) -> anyhow::Result<Vec<(u16, Bytes)>> {
    let mut answers = Vec::new();
    for question in questions {
        let mut answer = question.ask(shop, seed).await?;
        // On a busy machine, the stock service may be late for one of a thousand visits at once.
        while without_stock(&answer.1).is_some_and(|page| page == answer.1) {
            answer = question.ask(shop, seed).await?;
        }
        answers.push(answer);
    }
    Ok(answers)
}

pub fn answer(body: &[u8]) -> serde_json::Value {
    match str::from_utf8(body) {
        Ok(text) if text.len() <= LONGEST_TEXT => json!({ "text": text }),
        _ => json!({ "digest": { "bytes": body.len(), "crc32": crc32fast::hash(body) } }),
    }
}

/// A product's page as it is while the stock service doesn't answer.
pub fn without_stock(page: &[u8]) -> Option<String> {
    let (before, rest) = str::from_utf8(page).ok()?.split_once(IN_STOCK.0)?;
    let (_, after) = rest.split_once(IN_STOCK.1)?;
    Some([before, IN_STOCK.0, NO_NUMBER, IN_STOCK.1, after].concat())
}
