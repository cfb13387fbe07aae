//! Learns the right answers from the baseline, and compares every other side with them.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use lab_load::{Fetched, WEBSOCKET, parts_of_all};
use lab_protocol::{Answer, BesidesCode, Expected, Note, NoteKind, Request};
use lab_system::without_secrets;

use crate::{
    Compare, RequestOptions, Subject, decoded, loaded_program::LoadedProgram,
    requests::LONGEST_ANSWER,
};

/// The answers that send a browser to another path. Of the others from 300 to 399, 304 says that what the
/// client has is still right, and 300 and 305 lead nowhere.
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];
/// What to do about a request that somebody has to log in for, and about one that works only once.
const LOG_IN: &str = "\n  if it needs a login: a file of --requests logs in and keeps a cookie or a token for the next request";
const ONCE_EACH: &str = "\n  if it needs a value of its own: `{id}` in the path, a header or the body is new in each request";
/// Longer than the second in which a date does not change.
const A_WHILE: Duration = Duration::from_millis(1_100);

/// Learns the expected answers from the baseline, which is the first subject, and compares every
/// other subject's answers with them before anything is measured: a server with other answers is not
/// a faster version of the baseline.
///
/// Returns what is not checked under load, and how long a visit to the slowest server takes that meets no other.
///
/// # Errors
///
/// If a server cannot be started or doesn't answer, if the baseline answers with an error, or if another answer
/// differs.
pub async fn learn_answers(
    subjects: &mut [Subject],
    options: &RequestOptions,
) -> anyhow::Result<(Vec<Note>, Duration)> {
    let (baseline, others) = subjects.split_first_mut().context("there is a baseline")?;
    let (answers, mut notes, mut slowest) = BaselineAnswers::learn(baseline, options).await?;
    for other in others {
        let (found, takes) = answers.check(other, options, true).await?;
        notes.extend(found);
        slowest = slowest.max(takes);
    }
    Ok((notes, slowest))
}

/// The right answers, for subjects that come one after the other.
#[derive(Debug)]
pub struct BaselineAnswers {
    learned: Vec<Learned>,
    program: Option<LoadedProgram>,
    /// The requests, with what is expected.
    requests: Vec<Request>,
}

impl BaselineAnswers {
    /// Learns them. Returns what is not checked under load, too, and how long a visit takes.
    ///
    /// # Errors
    ///
    /// If the baseline cannot be started, or if it doesn't answer, or with an error.
    pub async fn learn(
        baseline: &mut Subject,
        options: &RequestOptions,
    ) -> anyhow::Result<(Self, Vec<Note>, Duration)> {
        let (learned, program, notes, takes) = learn(baseline, options).await?;
        baseline.may_compile = may_compile(program.as_ref());
        let requests = baseline.requests.clone();
        Ok((Self { learned, program, requests }, notes, takes))
    }

    /// Compares the answers of another subject with them, which it has to give under load from now on. Returns what
    /// differs and is no fault, and how long a visit takes. `is_shown`: a line says which process listens where.
    ///
    /// # Errors
    ///
    /// If it cannot be started or doesn't answer, or if an answer differs.
    pub async fn check(
        &self,
        subject: &mut Subject,
        options: &RequestOptions,
        is_shown: bool,
    ) -> anyhow::Result<(Vec<Note>, Duration)> {
        for (request, learned) in subject.requests.iter_mut().zip(&self.requests) {
            request.expected = learned.expected.clone();
        }
        let (notes, program, takes) = check(subject, &self.learned, options, is_shown).await?;
        subject.may_compile = may_compile(program.as_ref());
        // Of revisions, more is known.
        if let (None, Some(one), Some(other)) = (&subject.besides, &self.program, program) {
            let differences = one.differences(&other);
            subject.besides = Some(BesidesCode { is_all: false, differences });
        }
        Ok((notes, takes))
    }
}

fn may_compile(program: Option<&LoadedProgram>) -> bool {
    program.is_none_or(LoadedProgram::is_interpreter)
}

/// The answers of the baseline to a request: twice from one server, and once from another.
type Learned = [Fetched; 3];

/// Returns the answers, the program, what is not checked, and how long a visit takes.
async fn learn(
    baseline: &mut Subject,
    options: &RequestOptions,
) -> anyhow::Result<(Vec<Learned>, Option<LoadedProgram>, Vec<Note>, Duration)> {
    let &RequestOptions { compare, .. } = options;
    // Twice from one server and once from another: an answer may depend on time or on chance.
    let asked = options.answers(&baseline.launch, &baseline.requests, A_WHILE, true).await?;
    baseline.speaks(asked.http2);
    let Subject { name, launch, requests, .. } = baseline;
    let once_more = options.answers(launch, requests, Duration::ZERO, false).await?;
    // A pause of the machine makes one visit long.
    let takes = asked.takes.min(once_more.takes);
    let ([first, again], [fresh, _]) = (asked.rounds, once_more.rounds);
    let (mut learned, mut notes) = (Vec::new(), complained(name, asked.complaints));
    for (request, ((first, again), fresh)) in
        requests.iter_mut().zip(first.into_iter().zip(again).zip(fresh))
    {
        ensure_is_success(name, request, &first, compare)?;
        let answers = [first, again, fresh];
        ensure_is_repeatable(name, request, &answers)?;
        let (answer, kind) = expectation(request, &answers, compare);
        request.expected = Expected::new(answers[0].status, answer);
        notes.extend(kind.map(|kind| Note::of(name, kind)));
        learned.push(answers);
    }
    Ok((learned, asked.program, notes, takes))
}

/// The answer to expect under load, after these, and what isn't checked then.
fn expectation(
    request: &Request,
    answers: &Learned,
    compare: Compare,
) -> (Answer, Option<NoteKind>) {
    let body = &answers[0].body;
    let title = title(request);
    let is_constant = answers.iter().all(|answer| answer.body == *body);
    let (from, to) = about(answers.each_ref().map(|answer| answer.body.len() as u64), compare);
    let is_body = compare == Compare::Body;
    if request.once {
        // It isn't sent under load.
        return (Answer::Any, None);
    }
    if compare == Compare::Status || is_body && draws_content(&answers[0]) {
        return (Answer::Any, Some(NoteKind::OnlyStatus { request: title }));
    }
    if is_body && is_constant {
        let digest = Answer::Digest { bytes: body.len() as u64, crc32: crc32fast::hash(body) };
        return (digest, None);
    }
    // What a request with an id of its own, or with something kept, gets is the same but for these.
    if is_body && let Some(parts) = parts_of_all(&answers.each_ref()) {
        return (parts, None);
    }
    let kind = match compare {
        Compare::Length => NoteKind::OnlyLength { request: title, from, to },
        _ => NoteKind::AnswersVary { request: title, from, to },
    };
    (Answer::Length { from, to }, Some(kind))
}

/// Whether the request of an answer drew a number, a word or a line, which another answer may belong to.
fn draws_content(answer: &Fetched) -> bool {
    answer.values.keys().any(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// How an answer differs from the baseline's to the same draw; `None` too if the baseline's isn't always the same.
fn mismatch_of_draw(answer: &Fetched, of_baseline: &Learned) -> Option<String> {
    let [first, _, fresh] = of_baseline;
    // Both servers began with the same draws.
    let expected = Expected::new(first.status, parts_of_all(&[first, fresh])?);
    expected.with(&answer.values).mismatch(answer.status, &answer.body)
}

/// Fails if the answer is a redirect or an error, which nobody wants to measure unless the status is all that is
/// compared.
fn ensure_is_success(
    name: &str,
    request: &Request,
    answer: &Fetched,
    compare: Compare,
) -> anyhow::Result<()> {
    let Fetched { status, body, .. } = answer;
    if REDIRECTS.contains(status) && compare != Compare::Status {
        let location = answer.header("location").unwrap_or_default();
        bail!(
            "the {name} answers {} with a redirect ({status}) to `{}`: ask for that path, or send \
             what it wants with --header; --compare status measures the redirect itself",
            title(request),
            without_secrets(&location).escape_debug()
        );
    }
    let is_success = (200..400).contains(status);
    ensure!(
        is_success || !answer.wants_websocket(),
        "what the {name} has at {} is {WEBSOCKET}",
        without_secrets(&request.path)
    );
    let next = match status {
        401 | 403 => LOG_IN,
        409 => ONCE_EACH,
        _ => "",
    };
    ensure!(
        is_success,
        "the {name} answers {} with status {status}{}{next}",
        title(request),
        start(body)
    );
    Ok(())
}

/// Fails if the same request has another status the next time: then hardly an answer under load would be right.
fn ensure_is_repeatable(name: &str, request: &Request, answers: &Learned) -> anyhow::Result<()> {
    let [first, ..] = answers;
    let Some(other) = answers.iter().find(|answer| answer.status != first.status) else {
        return Ok(());
    };
    let next = if other.status == 409 { ONCE_EACH } else { "" };
    bail!(
        "the {name} answers {} with status {} at first, and then with {}{}{next}",
        title(request),
        first.status,
        other.status,
        start(&other.body)
    )
}

/// The start of a body, as the end of an error message.
fn start(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body).chars().take(80).collect();
    if text.is_empty() { text } else { format!(": {}", text.escape_debug()) }
}

/// The lengths to accept, from three that were seen: a number in a body gains digits, and a list may
/// be far longer than those three.
fn about(mut lengths: [u64; 3], compare: Compare) -> (u64, u64) {
    lengths.sort_unstable();
    match lengths {
        [least, _, most] if least < most => (least / 2, most * 2 + 8),
        [length, ..] if compare == Compare::Length => (length, length),
        [length, ..] => (length * 3 / 4, length * 5 / 4 + 8),
    }
}

/// Fails if a subject answers its requests differently from the baseline. Returns what differs and is no fault, the
/// program, and how long a visit takes.
async fn check(
    subject: &mut Subject,
    learned: &[Learned],
    options: &RequestOptions,
    is_shown: bool,
) -> anyhow::Result<(Vec<Note>, Option<LoadedProgram>, Duration)> {
    let (launch, requests) = (&subject.launch, &subject.requests);
    let asked = options.answers(launch, requests, Duration::ZERO, is_shown).await?;
    subject.speaks(asked.http2);
    let Subject { name, requests, .. } = subject;
    let (takes, [found, again]) = (asked.takes, asked.rounds);
    let mut notes = complained(name, asked.complaints);
    for ((request, answers), of_baseline) in
        requests.iter_mut().zip(found.iter().zip(&again)).zip(learned)
    {
        let (answer, baseline) = (answers.0, &of_baseline[0]);
        let own = request.expected.with(&answer.values);
        let mut mismatch = own.mismatch(answer.status, &answer.body);
        if mismatch.is_none() && options.compare == Compare::Body && draws_content(answer) {
            mismatch = mismatch_of_draw(answer, of_baseline);
        }
        let is_encoded = [answer, baseline].into_iter().any(decoded::is_encoded);
        // Equal bytes with another encoding are another page.
        let is_apart = options.compare != Compare::Status
            && decoded::codings(answer) != decoded::codings(baseline);
        // Bodies that are equal without their encoding are the same answer.
        if (mismatch.is_some() || is_apart)
            && is_encoded
            && answer.status == request.expected.status
        {
            mismatch = mismatch_decoded(answer, of_baseline, options)?;
            if mismatch.is_none() {
                mismatch = mismatch_decoded(answers.1, of_baseline, options)?;
            }
            if mismatch.is_none() {
                // Under load, answers are not decoded, so they are compared with this server's own bytes.
                let bodies = [&answer.body, &answers.1.body];
                request.expected.answer = expected(bodies, options.compare);
                let (bytes, baseline_bytes) =
                    (answer.body.len() as u64, baseline.body.len() as u64);
                let kind =
                    NoteKind::EncodedApart { request: title(request), bytes, baseline_bytes };
                notes.push(Note::of(name, kind));
            }
        }
        let mismatch = mismatch.or_else(|| other_type(answer, baseline, options.compare));
        if let Some(mismatch) = mismatch {
            let request = title(request);
            bail!(
                "the {name} and the baseline answer {request} differently: {mismatch}\n  if that is no fault, \
                 `--compare length` or `--compare status` checks less"
            );
        }
    }
    Ok((notes, asked.program, takes))
}

/// How the content type of an answer differs from the baseline's.
fn other_type(answer: &Fetched, baseline: &Fetched, compare: Compare) -> Option<String> {
    let [one, other] = [answer, baseline]
        .map(|answer| compared_type(answer.header("content-type").as_deref(), compare));
    (one != other).then(|| format!("content-type {one} instead of {other}"))
}

/// The expected answer under load of a server whose encoding differs from the baseline's.
fn expected(bodies: [&Vec<u8>; 2], compare: Compare) -> Answer {
    let [body, again] = bodies;
    if compare == Compare::Body && body == again {
        return Answer::Digest { bytes: body.len() as u64, crc32: crc32fast::hash(body) };
    }
    let [one, other] = bodies.map(|body| body.len() as u64);
    let (from, to) = about([one, other, other], compare);
    Answer::Length { from, to }
}

/// The part of a content type that has to be the same on both sides. Parameters, such as a version, may differ
/// if the bodies may.
fn compared_type(of: Option<&str>, compare: Compare) -> String {
    let whole = of.unwrap_or("none");
    let part = match compare {
        Compare::Status => "",
        Compare::Length => whole.split(';').next().unwrap_or(whole).trim(),
        Compare::Body => whole,
    };
    part.escape_debug().to_string()
}

fn title(request: &Request) -> String {
    format!("{} {}", request.method, without_secrets(&request.path))
}

/// How the decoded body of an answer differs from those of the baseline.
fn mismatch_decoded(
    answer: &Fetched,
    of_baseline: &Learned,
    options: &RequestOptions,
) -> anyhow::Result<Option<String>> {
    let decoded = |answer: &Fetched| decoded::decoded(answer, LONGEST_ANSWER);
    let body = decoded(answer)?;
    let [first, again, fresh] = of_baseline;
    let bodies = [decoded(first)?, decoded(again)?, decoded(fresh)?];
    let length = body.len() as u64;
    if options.compare == Compare::Body && bodies.iter().all(|body| *body == bodies[0]) {
        let wanted = bodies[0].len();
        let words = if length == wanted as u64 {
            format!("another body of {length} bytes, decoded")
        } else {
            format!("{length} bytes instead of {wanted}, decoded")
        };
        return Ok((body != bodies[0]).then_some(words));
    }
    let (from, to) = about(bodies.map(|body| body.len() as u64), options.compare);
    let is_right = (from..=to).contains(&length);
    Ok((!is_right).then(|| format!("{length} bytes instead of {from} to {to}, decoded")))
}

/// Notes about lines that a server printed at its start, because they may say that it lacks something.
fn complained(name: &str, complaints: Vec<String>) -> Vec<Note> {
    complaints.into_iter().map(|line| Note::of(name, NoteKind::Complained { line })).collect()
}
