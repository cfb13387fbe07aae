//! A file of requests: TOML tables, or what a browser recorded.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use lab_protocol::{Answer, Keep, Request, RequestSlot, Template, fill};
use lab_system::read_file;
use serde::Deserialize;
use toml::Spanned;

use crate::har::{RecordedRequest, recorded};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestFile {
    request: Vec<Spanned<FileEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    path: String,
    #[serde(default = "get")]
    method: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
    body_file: Option<PathBuf>,
    /// What the user keeps of the answer: a name, and where it is.
    #[serde(default)]
    keep: BTreeMap<String, Keep>,
    /// Whether each user sends it only once, before its first visit.
    #[serde(default)]
    once: bool,
}

fn get() -> String {
    "GET".to_owned()
}

/// The requests in a file. Bodies that are given as text are written into `dir`.
///
/// # Errors
///
/// If the file can't be read, or if a slot stands for what no request keeps.
pub(crate) fn read(path: &Path, dir: &Path) -> anyhow::Result<Vec<Request>> {
    let text = read_file(path)?;
    let is_har = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("har"));
    if is_har {
        let recorded = recorded(&text).with_context(|| path.display().to_string())?;
        return recorded
            .into_iter()
            .enumerate()
            .map(|(nth, one)| of_browser(one, dir, nth))
            .collect();
    }
    let file: RequestFile = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let kept = file.request.iter().flat_map(|entry| entry.get_ref().keep.keys().cloned()).collect();
    let mut requests = Vec::new();
    for entry in file.request {
        let line = 1 + text[..entry.span().start].matches('\n').count();
        let request = of_entry(entry.into_inner(), dir, requests.len(), &kept);
        requests.push(request.with_context(|| format!("{}:{line}", path.display()))?);
    }
    Ok(requests)
}

/// A request that a browser recorded, which is sent as it is.
fn of_browser(recorded: RecordedRequest, dir: &Path, nth: usize) -> anyhow::Result<Request> {
    let RecordedRequest { method, path, headers, body } = recorded;
    let body = body.map(|text| written(&text, dir, nth)).transpose()?;
    Ok(Request { method, headers, body, ..Request::get(&path, Answer::Any) })
}

fn of_entry(
    entry: FileEntry,
    dir: &Path,
    nth: usize,
    kept: &BTreeSet<String>,
) -> anyhow::Result<Request> {
    let FileEntry { path, method, headers, body: text, body_file, keep, once } = entry;
    ensure!(
        !keep.contains_key("id"),
        "`{{id}}` is a new number: keep the value under another name"
    );
    let is_kept = |name: &str| kept.contains(name);
    // A file is sent as it is, unless there is a slot before it.
    let has_slots = {
        let mut texts = headers.values().chain([&path]).chain(&text);
        texts.any(|text| has_slots(text, &is_kept))
    };
    let body = match (text, body_file) {
        (Some(text), None) => Some(written(&text, dir, nth)?),
        (None, file) => file,
        _ => bail!("a request has both `body` and `body_file`"),
    };
    let headers = headers.into_iter().collect();
    let get = Request::get(&path, Answer::Any);
    let request = Request { method, headers, body, has_slots, keep, once, ..get };
    ensure_known(&request, kept)?;
    Ok(request)
}

/// Fails if a word in braces is no slot: it would be sent as it is.
fn ensure_known(request: &Request, kept: &BTreeSet<String>) -> anyhow::Result<()> {
    let is_name = |inner: &str| inner.chars().all(|it| it.is_alphanumeric() || it == '_');
    let named = |inner: &str| Ok::<_, Infallible>(is_name(inner).then(|| inner.to_owned()));
    let Ok(rest) = Template::parse(&path_without_slots(request, kept), named);
    let Some(name) = rest.slots().next() else { return Ok(()) };
    bail!(
        "{} {}: no request keeps a value as `{name}`; a slot is {{id}}, {{1..99}}, {{a|b}}, {{line of FILE}} or the \
         name of what is kept",
        request.method,
        request.path
    )
}

/// Writes the body of the `nth` request into a file.
fn written(text: &str, dir: &Path, nth: usize) -> anyhow::Result<PathBuf> {
    let file = dir.join(format!("body-{nth}"));
    fs::write(&file, text).context("cannot write a body")?;
    Ok(file)
}

/// The names of all values that are kept of an answer.
pub(crate) fn names_of_kept(requests: &[Request]) -> BTreeSet<String> {
    requests.iter().flat_map(|request| request.keep.keys().cloned()).collect()
}

/// Whether a text has slots.
pub(crate) fn has_slots(text: &str, is_kept: &dyn Fn(&str) -> bool) -> bool {
    let template = Template::parse(text, |inner| RequestSlot::parse(inner, is_kept));
    // The generator says which file of lines can't be read.
    template.map_or(true, |template| template.slots().next().is_some())
}

/// The path with a word in each of its slots. `kept`: the names of all values that are kept.
pub(crate) fn path_without_slots(request: &Request, kept: &BTreeSet<String>) -> String {
    if !request.has_slots {
        return request.path.clone();
    }
    fill(&request.path, |inner| {
        let slot = RequestSlot::parse(inner, |name| kept.contains(name));
        slot.map_or(true, |slot| slot.is_some()).then(|| "0".to_owned())
    })
}
