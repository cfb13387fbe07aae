//! A visit: one user's load of all the requests that belong together, as a browser loads a page.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use futures_util::future::{join_all, try_join_all};
use lab_protocol::{Accepted, LoadPlan, Outcome, Request, Target};
use tokio::time::sleep;

use super::{
    Connection, Dial, Fault, Fetched, Net, WireRequest,
    connection::LONGEST_BODY,
    fetch::{PATIENCE, within},
    request_times::{RequestTimes, timed},
    user_memory::{RequestTemplate, UserMemory},
};

/// How many connections are opened before the server gets time to accept them. A full backlog (128
/// in many servers) drops connections silently, and TCP retries each only after a second.
const OPENED_AT_ONCE: usize = 64;
const TIME_TO_ACCEPT: Duration = Duration::from_millis(2);

/// A user with their own connections.
pub struct Visitor<D: Dial = Net> {
    connections: Vec<Connection<D>>,
    requests: Rc<[WireRequest]>,
    /// The number of visits so far, of all users, if each visit is only one of the requests.
    turn: Option<Rc<Cell<usize>>>,
    /// What the user remembers, if the requests aren't the same for every user and visit.
    memory: Option<UserMemory>,
    /// How long each request of a visit takes, of all users; `None` if nobody measures it.
    times: Option<Rc<RequestTimes>>,
}

impl Visitor {
    /// A user with one connection, who sends one request after the other and waits half a minute for
    /// each answer.
    ///
    /// # Errors
    ///
    /// If a request is invalid, or if the server cannot be reached in time.
    pub async fn open(target: impl Into<Target>, requests: &[Request]) -> anyhow::Result<Self> {
        Self::open_within(target, requests, PATIENCE).await
    }

    /// [`Self::open`], with another patience.
    ///
    /// # Errors
    ///
    /// If a request is invalid, or if the server cannot be reached within `patience`.
    pub async fn open_within(
        target: impl Into<Target>,
        requests: &[Request],
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let target = target.into();
        let visitor = Self::over(Net::to(&target)?, &target, requests, patience).await;
        visitor.with_context(|| format!("cannot connect to {}", target.host))
    }
}

/// The requests as they are sent, or else their templates.
struct Prepared {
    requests: Rc<[WireRequest]>,
    templates: Option<Rc<[RequestTemplate]>>,
}

impl Prepared {
    fn new(target: &Target, requests: &[Request]) -> anyhow::Result<Self> {
        let templates = RequestTemplate::all(target, requests)?;
        let fixed = if templates.is_some() { &[] } else { requests };
        let wire = fixed.iter().map(|request| WireRequest::new(request, target.clone()));
        Ok(Self { requests: wire.collect::<anyhow::Result<_>>()?, templates })
    }
}

impl<D: Dial + Clone> Visitor<D> {
    /// Opens all connections of all users, and lets each send what it sends only once.
    pub(super) async fn open_all(
        plan: &LoadPlan,
        dial: D,
        users: usize,
        connections: usize,
        times: Option<Rc<RequestTimes>>,
    ) -> anyhow::Result<Vec<Self>> {
        let Prepared { requests, templates } = Prepared::new(&plan.target, &plan.requests)?;
        let turn = plan.options.in_turn.then(Rc::default);
        let wanted = users * connections;
        let mut opened = Vec::with_capacity(wanted);
        while opened.len() < wanted {
            let number = opened.len() + 1;
            let connection =
                within(Some(PATIENCE), Connection::to(&plan.target, dial.clone(), &opened)).await;
            opened.push(connection.with_context(|| format!("connection {number} of {wanted}"))?);
            if number.is_multiple_of(OPENED_AT_ONCE) {
                sleep(TIME_TO_ACCEPT).await;
            }
        }
        let mut opened = opened.into_iter();
        let user = |nth| Self {
            connections: opened.by_ref().take(connections).collect(),
            requests: requests.clone(),
            turn: turn.clone(),
            memory: templates.clone().map(|templates| UserMemory::new(templates, plan.seed, nth)),
            times: times.clone(),
        };
        let mut visitors: Vec<_> = (0..users).map(user).collect();
        // As many at once as are accepted at once: a login may take a while.
        for some in visitors.chunks_mut(OPENED_AT_ONCE) {
            try_join_all(some.iter_mut().map(Self::begin)).await?;
        }
        Ok(visitors)
    }
}

impl<D: Dial> Visitor<D> {
    pub(super) async fn over(
        dial: D,
        target: &Target,
        requests: &[Request],
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let Prepared { requests, templates } = Prepared::new(target, requests)?;
        let connections = vec![Connection::patient(target, dial, patience).await?];
        let memory = templates.map(|templates| UserMemory::new(templates, 0, 0));
        Ok(Self { connections, requests, turn: None, memory, times: None })
    }

    /// Sends what a user sends only once.
    async fn begin(&mut self) -> anyhow::Result<()> {
        match &mut self.memory {
            Some(memory) => memory.begin(&mut self.connections[0]).await,
            None => Ok(()),
        }
    }

    /// Sends the first request alone, then the others over all connections; or the next one in turn. Fails
    /// with the first fault of any answer.
    ///
    /// # Errors
    ///
    /// If an answer is missing, incomplete, or not the expected one.
    pub async fn visit(&mut self) -> Result<(), Fault> {
        let nth = self.turn.as_ref().map(|turn| turn.replace(turn.get() + 1));
        let times = self.times.as_deref();
        if let Some(memory) = &mut self.memory {
            return memory.visit(&mut self.connections[0], nth, times).await;
        }
        let Some((first, others)) = self.requests.split_first() else { return Ok(()) };
        if let Some(nth) = nth.map(|nth| nth % self.requests.len()) {
            return timed(times, nth, self.connections[0].ask(&self.requests[nth])).await;
        }
        timed(times, 0, self.connections[0].ask(first)).await?;
        if others.is_empty() {
            return Ok(());
        }
        let queue = RefCell::new((1..).zip(others));
        let next = || queue.borrow_mut().next();
        let workers = self.connections.iter_mut().map(async |connection| {
            while let Some((nth, request)) = next() {
                timed(times, nth, connection.ask(request)).await?;
            }
            Ok(())
        });
        join_all(workers).await.into_iter().collect()
    }

    /// Sends one request after the other over the first connection, up to the first fault. Says whether
    /// any answer was the second right one.
    pub(super) async fn visit_in_order(
        &mut self,
        requests: &[WireRequest],
    ) -> Result<Accepted, Fault> {
        let mut accepted = Accepted::Answer;
        for request in requests {
            accepted = accepted.max(self.connections[0].ask_which(request).await?);
        }
        Ok(accepted)
    }

    /// Sends one request after the other over the first connection, and waits for `idle` after each
    /// answer. Exact counts need this, so a closed connection is an error.
    ///
    /// # Errors
    ///
    /// If an answer is missing or wrong, if `idle` fails, or if the server closes the connection.
    pub async fn visit_in_steps(
        &mut self,
        idle: impl AsyncFn() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let connection = &mut self.connections[0];
        if let Some(memory) = &mut self.memory {
            memory.visit_in_steps(connection, &idle).await?;
        }
        for request in self.requests.iter() {
            connection.ask(request).await?;
            idle().await?;
        }
        ensure!(connection.closed == 0, "the server closed the connection during the visit");
        Ok(())
    }

    /// Adds how often the server has closed a connection since this was last called.
    pub(super) fn count_closed(&mut self, counts: &mut Outcome) {
        for connection in &mut self.connections {
            counts.reopened += std::mem::take(&mut connection.closed);
            counts.surplus += std::mem::take(&mut connection.surplus);
            counts.resent += std::mem::take(&mut connection.resent);
        }
    }

    /// Every answer, unchecked.
    ///
    /// # Errors
    ///
    /// If no complete answer comes in time, or if a body is longer than [`LONGEST_BODY`].
    pub async fn answers(&mut self) -> anyhow::Result<Vec<Fetched>> {
        self.answers_up_to(LONGEST_BODY).await
    }

    /// Every answer, unchecked.
    ///
    /// # Errors
    ///
    /// If no complete answer comes in time, or if a body is longer than `longest` bytes.
    pub async fn answers_up_to(&mut self, longest: u64) -> anyhow::Result<Vec<Fetched>> {
        if let Some(memory) = &mut self.memory {
            return memory.answers(&mut self.connections[0], longest).await;
        }
        let mut answers = Vec::new();
        for request in self.requests.iter() {
            answers.push(self.connections[0].fetch(request, longest).await?);
        }
        Ok(answers)
    }
}
