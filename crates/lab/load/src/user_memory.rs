//! Requests that are made anew for each visit, and what a user remembers from one to the next.

use std::{collections::BTreeMap, rc::Rc};

use anyhow::{Context as _, ensure};
use lab_protocol::{Accepted, Answer, DrawnValues, Keep, Request, RequestSlot, Target, Template};
use lab_stats::SplitMix64;
use lab_system::without_secrets;

use super::{
    Connection, Dial, Fault, Fetched,
    connection::LONGEST_BODY,
    http::{WireRequest, body_of},
    request_times::{RequestTimes, timed},
};

/// A request whose slots are filled for each visit.
#[derive(Debug)]
pub struct RequestTemplate {
    request: Request,
    target: Target,
    path: Template<RequestSlot>,
    headers: Vec<Template<RequestSlot>>,
    body: TemplateBody,
}

#[derive(Debug)]
enum TemplateBody {
    Fixed(Vec<u8>),
    WithSlots(Template<RequestSlot>),
}

impl RequestTemplate {
    /// The templates of all requests; `None` if each is the same for every user and visit.
    ///
    /// # Errors
    ///
    /// If the file of a body or of lines can't be read, or if a slot stands for what no earlier answer leaves.
    pub fn all(target: &Target, requests: &[Request]) -> anyhow::Result<Option<Rc<[Self]>>> {
        if requests.iter().all(Request::is_fixed) {
            return Ok(None);
        }
        let keeps = |name: &str| requests.iter().any(|request| request.keep.contains_key(name));
        let templates = requests.iter().map(|request| Self::new(target, request, &keeps));
        templates.collect::<anyhow::Result<_>>().map(Some)
    }

    fn new(
        target: &Target,
        request: &Request,
        keeps: &dyn Fn(&str) -> bool,
    ) -> anyhow::Result<Self> {
        let parse = |text: &str| {
            let slot = |inner: &str| {
                if request.has_slots { RequestSlot::parse(inner, keeps) } else { Ok(None) }
            };
            Template::parse(text, slot).with_context(|| name_of(request))
        };
        let bytes = body_of(request)?;
        let body = match std::str::from_utf8(&bytes) {
            Ok(text) if request.has_slots => TemplateBody::WithSlots(parse(text)?),
            _ => TemplateBody::Fixed(bytes),
        };
        let path = parse(&request.path)?;
        let headers = request.headers.iter().map(|(_, value)| parse(value));
        let headers = headers.collect::<anyhow::Result<_>>()?;
        Ok(Self { request: request.clone(), target: target.clone(), path, headers, body })
    }

    /// The request of one visit, and what it drew.
    fn fill(&self, user: &mut UserMemory) -> anyhow::Result<(WireRequest, DrawnValues)> {
        let mut values = DrawnValues::new();
        // The number of a request stands for the same thing wherever it is in the request.
        let mut id = None;
        let mut missing = None;
        let mut value = |slot: &RequestSlot| {
            let drawn = match slot {
                RequestSlot::Id => id.get_or_insert_with(|| user.draw(slot)).clone(),
                _ => user.draw(slot),
            };
            let drawn = drawn.unwrap_or_else(|| {
                missing = Some(slot.clone());
                String::new()
            });
            let name = match slot {
                RequestSlot::Kept(name) => name.clone(),
                RequestSlot::Id => "id".to_owned(),
                _ => values.len().to_string(),
            };
            values.insert(name, drawn.clone());
            drawn
        };
        let path = self.path.filled(&mut value);
        let headers = self.request.headers.iter().zip(&self.headers);
        let headers = headers.map(|((name, _), text)| (name.clone(), text.filled(&mut value)));
        let headers = headers.collect();
        let body = match &self.body {
            TemplateBody::Fixed(bytes) => bytes.clone(),
            TemplateBody::WithSlots(text) => text.filled(&mut value).into_bytes(),
        };
        if let Some(RequestSlot::Kept(name)) = missing {
            anyhow::bail!("no answer before it had a `{name}` to keep");
        }
        let request = Request { path, headers, ..self.request.clone() };
        let mut wire = WireRequest::with_body(&request, &body, self.target.clone())?;
        // Messages are the same for all visits.
        wire.name = name_of(&self.request);
        Ok((wire, values))
    }

    /// Whether an answer can only be judged when it is there as a whole.
    fn needs_answer(&self) -> bool {
        !self.request.keep.is_empty()
    }
}

fn name_of(request: &Request) -> String {
    format!("{} {}", request.method, without_secrets(&request.path))
}

/// What one user remembers.
#[derive(Debug)]
pub struct UserMemory {
    templates: Rc<[RequestTemplate]>,
    kept: BTreeMap<String, String>,
    random: SplitMix64,
    /// The answers to what is sent only once; empty before that.
    once: Vec<Fetched>,
}

impl UserMemory {
    /// The memory of the `nth` user.
    pub fn new(templates: Rc<[RequestTemplate]>, seed: u64, nth: usize) -> Self {
        let random = SplitMix64(SplitMix64(seed).seed_of(nth % 1000) ^ nth as u64);
        Self { templates, kept: BTreeMap::new(), random, once: Vec::new() }
    }

    fn draw(&mut self, slot: &RequestSlot) -> Option<String> {
        slot.draw(&mut self.random, &self.kept)
    }

    /// Sends what each user sends only once, unless that was done.
    ///
    /// # Errors
    ///
    /// If an answer is missing or an error, or has nothing to keep.
    pub async fn begin<D: Dial>(&mut self, connection: &mut Connection<D>) -> anyhow::Result<()> {
        let templates = self.templates.clone();
        let all = templates.iter().filter(|template| template.request.once);
        for template in all.skip(self.once.len()) {
            let answer = self.fetch(template, connection, LONGEST_BODY).await?;
            let status = answer.status;
            ensure!(status < 400, "{}: status {status}", name_of(&template.request));
            self.once.push(answer);
        }
        Ok(())
    }

    /// Makes a visit: all requests that are sent more than once, in order, or the `nth` of them.
    ///
    /// # Errors
    ///
    /// If an answer is missing or not the expected one.
    pub async fn visit<D: Dial>(
        &mut self,
        connection: &mut Connection<D>,
        nth: Option<usize>,
        times: Option<&RequestTimes>,
    ) -> Result<(), Fault> {
        let begun = self.begin(connection).await;
        begun.map_err(|error| Fault::Failure(format!("{error:#}")))?;
        let templates = self.templates.clone();
        let visit = templates.iter().filter(|template| !template.request.once);
        let visit: Vec<_> = visit.enumerate().collect();
        let chosen = match nth {
            Some(nth) => &visit[nth % visit.len()..][..1],
            None => &visit[..],
        };
        for (nth, template) in chosen {
            timed(times, *nth, self.ask(template, connection)).await?;
        }
        Ok(())
    }

    async fn ask<D: Dial>(
        &mut self,
        template: &RequestTemplate,
        connection: &mut Connection<D>,
    ) -> Result<Accepted, Fault> {
        let name = || name_of(&template.request);
        let failed = |error| Fault::Failure(format!("{}: {error:#}", name()));
        let (mut wire, mut values) = template.fill(self).map_err(failed)?;
        let expected = &template.request.expected;
        if !template.needs_answer() {
            wire.expected = expected.with(&values);
            return connection.ask_which(&wire).await;
        }
        let answer = connection.fetch(&wire, LONGEST_BODY).await;
        let answer = answer.map_err(|error| Fault::Failure(format!("{error:#}")))?;
        let differs = |how: String| Fault::Mismatch(format!("{}: {how}", name()));
        if answer.status == expected.status {
            self.keep(template, &answer, &mut values)
                .map_err(|keep| differs(format!("the answer has no {keep} to keep")))?;
        }
        match expected.with(&values).mismatch(answer.status, &answer.body) {
            Some(mismatch) => Err(differs(mismatch)),
            None => Ok(Accepted::Answer),
        }
    }

    /// The answer, unchecked, with what its request drew and what is kept of it.
    async fn fetch<D: Dial>(
        &mut self,
        template: &RequestTemplate,
        connection: &mut Connection<D>,
        longest: u64,
    ) -> anyhow::Result<Fetched> {
        let name = || name_of(&template.request);
        let (wire, mut values) = template.fill(self).with_context(name)?;
        let mut answer = connection.fetch(&wire, longest).await?;
        // Of an error, the status says more than what it lacks.
        if answer.status < 400 {
            let kept = self.keep(template, &answer, &mut values);
            kept.map_err(|keep| {
                let body = String::from_utf8_lossy(&answer.body);
                let start: String = body.chars().take(80).collect();
                anyhow::anyhow!("the answer has no {keep} to keep: {}", start.escape_debug())
            })
            .with_context(name)?;
        }
        answer.values = values;
        Ok(answer)
    }

    /// Keeps what the request wants of its answer. Returns what is not there.
    fn keep(
        &mut self,
        template: &RequestTemplate,
        answer: &Fetched,
        values: &mut DrawnValues,
    ) -> Result<(), Keep> {
        for (name, keep) in &template.request.keep {
            let value = answer.find(keep).ok_or_else(|| keep.clone())?;
            values.insert(name.clone(), value.clone());
            self.kept.insert(name.clone(), value);
        }
        Ok(())
    }

    /// Every answer of a visit, unchecked. Of what is sent only once, it is the one from then.
    ///
    /// # Errors
    ///
    /// If no complete answer comes in time, if it has nothing to keep, or if it is too long.
    pub async fn answers<D: Dial>(
        &mut self,
        connection: &mut Connection<D>,
        longest: u64,
    ) -> anyhow::Result<Vec<Fetched>> {
        let templates = self.templates.clone();
        let (mut answers, mut nth) = (Vec::new(), 0);
        for template in templates.iter() {
            if !template.request.once {
                answers.push(self.fetch(template, connection, longest).await?);
                continue;
            }
            if self.once.len() == nth {
                let answer = self.fetch(template, connection, longest).await?;
                self.once.push(answer);
            }
            answers.push(self.once[nth].clone());
            nth += 1;
        }
        Ok(answers)
    }

    /// Sends a visit one request after the other, and waits for `idle` after each answer.
    ///
    /// # Errors
    ///
    /// If an answer is missing or wrong, or if `idle` fails.
    pub async fn visit_in_steps<D: Dial>(
        &mut self,
        connection: &mut Connection<D>,
        idle: impl AsyncFn() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.begin(connection).await?;
        let templates = self.templates.clone();
        for template in templates.iter().filter(|template| !template.request.once) {
            self.ask(template, connection).await?;
            idle().await?;
        }
        Ok(())
    }
}

/// What is checked of the answers to a request with slots: their parts, if those of two visits are the same but for the
/// values. Each answer has its own.
pub fn parts_of_all(answers: &[&Fetched]) -> Option<Answer> {
    let first = answers.first()?;
    let parts = lab_protocol::parts_of(std::str::from_utf8(&first.body).ok()?, &first.values);
    let is_same = |answer: &&Fetched| {
        lab_protocol::joined(&parts, &answer.values)
            .is_some_and(|text| text.as_bytes() == answer.body)
    };
    answers.iter().all(is_same).then_some(Answer::Parts(parts))
}
