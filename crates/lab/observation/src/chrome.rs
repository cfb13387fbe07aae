//! The spans of a service that uses `tracing`, from the file that the layer `tracing-chrome` writes.
//!
//! In its style `Async`, each span is two events, and their `id` is that of the outermost span, which
//! is the request. A server that is killed leaves a file without an end, so each line is read alone.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom},
    path::Path,
    time::SystemTime,
};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::{Spans, spans::Span};

/// How much of the end of a file is read: a million events. At most half of them are of the random arrivals, which come
/// after the recording.
const END: u64 = 128 << 20;

#[derive(Deserialize)]
struct Event {
    /// The kind of event: `b` and `e` for the ends of a span, `B` and `E` for the ends of one poll of it.
    ph: String,
    #[serde(default)]
    name: String,
    id: Option<u64>,
    /// The time of the event in microseconds.
    #[serde(default)]
    ts: f64,
}

impl Spans {
    /// Reads the last requests in a file that a server has written since `start`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is older than `start`, or has no complete request.
    pub fn from_chrome(path: &Path, start: SystemTime) -> anyhow::Result<Self> {
        let shown = path.display();
        let mut file = File::open(path).with_context(|| {
            format!("cannot read the spans in {shown}, relative to the server's directory")
        })?;
        let meta = file.metadata()?;
        let is_new = meta.modified().is_ok_and(|at| at >= start);
        ensure!(is_new, "{shown} is older than the server that should write its spans there");
        file.seek(SeekFrom::Start(meta.len().saturating_sub(END)))?;
        parse(BufReader::new(file.take(END))).with_context(|| format!("cannot use {shown}"))
    }
}

fn parse(mut events: impl BufRead) -> anyhow::Result<Spans> {
    // The spans of each outermost one that is open, itself first.
    let mut open: BTreeMap<u64, Vec<Span>> = BTreeMap::new();
    let mut requests: Vec<Vec<Span>> = Vec::new();
    let (mut count, mut polls, mut now_us) = (0, 0, 0);
    let mut line = Vec::new();
    while events.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        let event = serde_json::from_str(text.trim_matches(['[', ']', ',', '\n', '\r', ' ']));
        // The first and the last line may be cut.
        if let Ok(Event { ph, name, id, ts }) = event {
            let us = ts as u64;
            now_us = now_us.max(us);
            match (&*ph, id) {
                ("b", Some(request)) => {
                    let spans = open.entry(request).or_default();
                    count += 1;
                    let parent = spans.first().map(|root| root.id);
                    spans.push(Span { id: count, parent, name, start_us: us, end_us: None });
                }
                ("e", Some(request)) => {
                    let is_it = |span: &Span| span.end_us.is_none() && span.name == name;
                    let spans = open.get_mut(&request);
                    match spans.and_then(|spans| Some((spans.iter().rposition(is_it)?, spans))) {
                        Some((ended, spans)) => {
                            spans[ended].end_us = Some(us);
                            if ended == 0 {
                                requests.extend(open.remove(&request));
                            }
                        }
                        // It began before the part of the file that is read.
                        None => drop(open.remove(&request)),
                    }
                }
                ("B", _) => polls += 1,
                _ => {}
            }
        }
        line.clear();
    }
    ensure!(
        count > 0 || polls == 0,
        "it has polls, which show no waits; build the layer with `.trace_style(TraceStyle::Async)`"
    );
    ensure!(count > 0, "it has no spans of the layer tracing-chrome");
    requests.extend(open.into_values());
    of_requests(requests, now_us)
}

/// Keeps the outermost spans of one name, in which the most time was spent: the others are tasks in
/// the background, or parts of a request that began before the file.
fn of_requests(mut requests: Vec<Vec<Span>>, now_us: u64) -> anyhow::Result<Spans> {
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for root in requests.iter().filter_map(|spans| spans.first()) {
        let lasted = root.end_us.map_or(0, |end| end.saturating_sub(root.start_us));
        *times.entry(&root.name).or_default() += lasted;
    }
    let request = times.iter().max_by_key(|(_, us)| **us).map_or("", |(name, _)| *name).to_owned();
    requests.retain(|spans| spans[0].name == request);
    ensure!(
        requests.iter().any(|spans| spans.len() > 1),
        "no span is part of a span `{request}`, so nothing shows what a request waits for; give each \
         wait a span: `lock().instrument(info_span!(\"lock\")).await`"
    );
    let spans = requests.into_iter().flatten().collect();
    Ok(Spans { spans, now_us, ..Spans::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#""ts":3.0},
{"id":1,"name":"lock","ph":"e","ts":4.0},
{"id":1,"name":"query","ph":"b","ts":4.5},
{"id":1,"name":"query","ph":"e","ts":5.0},
{"id":1,"name":"get","ph":"e","ts":5.5},
{"args":{"name":"worker"},"name":"thread_name","ph":"M","pid":1,"tid":0},
{"id":2,"name":"get","ph":"b","ts":10.1,"tid":0},
{"id":2,"name":"lock","ph":"b","ts":11.0},
{"id":2,"name":"lock","ph":"e","ts":14.0},
{"id":3,"name":"tick","ph":"b","ts":14.5},
{"id":3,"name":"tick","ph":"e","ts":14.6},
{"id":2,"name":"lock","ph":"b","ts":15.0},
{"name":"done","ph":"i","s":"t","ts":16.0},
{"id":2,"name":"lock","ph":"e","ts":17.0},
{"id":2,"name":"get","ph":"e","ts":20.0},
{"id":2,"name":"get","ph":"b","ts":21.0},
{"i"#;

    #[test]
    fn spans_of_a_request_are_found_in_a_file_that_is_cut_at_both_ends() {
        let spans = parse(FILE.as_bytes()).unwrap();
        let requests = spans.requests(&BTreeMap::new());
        // Of the first request only its end is there.
        let ends: Vec<_> =
            requests.iter().map(|request| (request.start_us, request.end_us)).collect();
        assert_eq!(ends, [(10, Some(20)), (21, None)], "{spans:?}");
        let parts: Vec<_> =
            requests[0].parts.iter().map(|part| (part.start_us, part.end_us)).collect();
        assert_eq!(parts, [(11, 14), (15, 17)]);
        assert_eq!(spans.now_us, 21);
    }

    #[test]
    fn a_file_that_shows_no_waits_is_reported() {
        let error = |file: &str| parse(file.as_bytes()).unwrap_err().to_string();
        assert!(
            error("[\n{\"ph\":\"B\",\"name\":\"get\",\"ts\":1.0},\n").contains("TraceStyle::Async")
        );
        assert!(error("hello").contains("no spans"));
        let flat = "{\"ph\":\"b\",\"id\":1,\"name\":\"get\",\"ts\":1.0},\n";
        assert!(error(flat).contains("no span is part of a span `get`"));
    }

    #[test]
    fn a_file_of_an_earlier_server_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let later = SystemTime::now() + std::time::Duration::from_secs(9);
        let error = Spans::from_chrome(file.path(), later).unwrap_err().to_string();
        assert!(error.contains("older than the server"), "{error}");
    }
}
