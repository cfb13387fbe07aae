//! How long each request of a visit takes, of all users together. While they come mixed, only their times are apart.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use lab_protocol::{Latency, Request, RequestTime};
use lab_system::without_secrets;
use tokio::time::Instant;

/// The times of the requests of a visit, in their order.
#[derive(Debug)]
pub struct RequestTimes {
    /// Only what begins in the measurement counts.
    is_measuring: Cell<bool>,
    names: Vec<String>,
    latencies: RefCell<Vec<Latency>>,
}

impl RequestTimes {
    /// `None` if a visit has only one request: its latency is that of the visit.
    pub fn of(requests: &[Request]) -> Option<Rc<Self>> {
        let names = request_names(&Request::of_visit(requests));
        let latencies = RefCell::new(vec![Latency::default(); names.len()]);
        let times = Self { is_measuring: Cell::new(false), names, latencies };
        (times.names.len() > 1).then(|| Rc::new(times))
    }

    pub fn measure(&self, is_measuring: bool) {
        self.is_measuring.set(is_measuring);
    }

    pub fn found(&self) -> Vec<RequestTime> {
        let latencies = self.latencies.borrow();
        let all = self.names.iter().zip(latencies.iter());
        all.map(|(name, latency)| RequestTime::of(name, latency)).collect()
    }
}

/// Waits for the answer to the `nth` request of a visit, and records how long it took, if it was the right one.
pub async fn timed<T, E>(
    times: Option<&RequestTimes>,
    nth: usize,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let Some(times) = times.filter(|times| times.is_measuring.get()) else { return answer.await };
    let since = Instant::now();
    let answer = answer.await;
    if answer.is_ok() {
        times.latencies.borrow_mut()[nth].record(since.elapsed());
    }
    answer
}

/// The method and the path of each request, without the values of parameters. Of several that look the same, each also
/// has its place in the visit.
pub fn request_names(requests: &[Request]) -> Vec<String> {
    let name = |request: &Request| format!("{} {}", request.method, without_secrets(&request.path));
    let names: Vec<_> = requests.iter().map(name).collect();
    let is_unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let shown = |(nth, name): (usize, &String)| {
        if is_unique(name) { name.clone() } else { format!("{}: {name}", nth + 1) }
    };
    names.iter().enumerate().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lab_protocol::Answer;
    use tokio::time::sleep;

    use super::*;

    fn get(path: &str) -> Request {
        Request::get(path, Answer::Any)
    }

    #[test]
    fn requests_that_differ_only_in_their_parameters_have_a_number() {
        let names = request_names(&["/", "/feed?most=2", "/feed?most=900"].map(get));
        assert_eq!(names, ["GET /", "2: GET /feed?most=…", "3: GET /feed?most=…"]);
    }

    #[tokio::test(start_paused = true)]
    async fn right_answers_within_the_measurement_are_timed_and_a_login_is_not() {
        let login = Request { once: true, ..get("/login") };
        let times = RequestTimes::of(&[login.clone(), get("/a"), get("/b")]).unwrap();
        let ask = async |ms, result: Result<(), ()>| {
            let answer = async {
                sleep(Duration::from_millis(ms)).await;
                result
            };
            let _ = timed(Some(&times), 1, answer).await;
        };
        ask(900, Ok(())).await;
        times.measure(true);
        for _ in 0..20 {
            ask(30, Ok(())).await;
        }
        ask(500, Err(())).await;
        times.measure(false);
        ask(900, Ok(())).await;
        let found = times.found();
        assert_eq!((&*found[0].request, found[0].answers), ("GET /a", 0));
        assert_eq!((&*found[1].request, found[1].answers), ("GET /b", 20));
        assert!((found[1].p50_ms.unwrap() - 30.0).abs() < 0.1, "{found:?}");
        assert!(RequestTimes::of(&[login, get("/a")]).is_none());
    }
}
