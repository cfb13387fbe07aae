//! Users who log in, keep what they are told, and send requests of their own.

use std::{cell::RefCell, rc::Rc};

use lab_protocol::{Answer, AnswerPart, Expected, Keep, LoadPlan, Outcome, Request};
use tokio::io::AsyncWriteExt as _;

use super::{
    closed_loop,
    memory::{Memory, read_head},
    outcome, plan,
};

/// The login of each user, which is answered with a new token.
fn login() -> Request {
    let keep = [("token".to_owned(), Keep::Json("token".to_owned()))].into();
    Request { keep, once: true, ..Request::get("/login", Answer::Any) }
}

fn of(path: &str, parts: &[&str]) -> Request {
    // What isn't a name is text.
    let part = |part: &&str| match *part {
        "id" | "token" => AnswerPart::Value((*part).to_owned()),
        text => AnswerPart::Text(text.to_owned()),
    };
    let expected = Expected::new(200, Answer::Parts(parts.iter().map(part).collect()));
    Request { expected, has_slots: true, ..Request::get(path, Answer::Any) }
}

/// A server that writes down the paths that it is asked for, and answers each as `answer` says.
fn server(answer: fn(&str, usize) -> String) -> (Memory, Rc<RefCell<Vec<String>>>) {
    let paths = Rc::new(RefCell::new(Vec::new()));
    let seen = paths.clone();
    let server = Memory::new(move |mut stream| {
        let seen = seen.clone();
        tokio::task::spawn_local(async move {
            while let Some(head) = read_head(&mut stream).await {
                let path = head.split(' ').nth(1).unwrap().to_owned();
                let count = seen.borrow().len();
                let body = answer(&path, count);
                seen.borrow_mut().push(path);
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
                    break;
                }
            }
        });
    });
    (server, paths)
}

async fn load(requests: Vec<Request>, server: Memory) -> Outcome {
    outcome(&LoadPlan { requests, ..plan(closed_loop(3)) }, server).await
}

#[tokio::test(start_paused = true)]
async fn each_user_logs_in_once_and_sends_what_it_was_told() {
    let (server, paths) = server(|path, count| match path {
        "/login" => format!(r#"{{"token":"t{count}"}}"#),
        _ => path.replace("/of/", "hello "),
    });
    let outcome = load(vec![login(), of("/of/{token}", &["hello ", "token"])], server).await;
    assert_eq!((outcome.wrong, outcome.failed), (0, 0), "{:?}", outcome.first_fault);
    let paths = paths.borrow();
    let logins = paths.iter().filter(|path| *path == "/login").count();
    assert_eq!(logins, 3);
    for token in ["/of/t0", "/of/t1", "/of/t2"] {
        assert!(paths.iter().filter(|path| *path == token).count() > 100, "{token}");
    }
    // Only visits are counted.
    assert!(outcome.ok as usize <= paths.len() - logins);
}

#[tokio::test(start_paused = true)]
async fn an_id_is_new_in_each_request_and_belongs_into_its_answer() {
    let (right, paths) = server(|path, _| path.replace("/orders/", "order "));
    let orders = || vec![of("/orders/{id}", &["order ", "id"])];
    let outcome = load(orders(), right).await;
    assert_eq!((outcome.wrong, outcome.failed), (0, 0), "{:?}", outcome.first_fault);
    let mut ids = paths.borrow().clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), paths.borrow().len());

    let (wrong, _) = server(|_, _| "order 1".to_owned());
    let outcome = load(orders(), wrong).await;
    assert_eq!(outcome.ok, 0);
    let fault = outcome.first_fault.unwrap();
    assert!(fault.starts_with("GET /orders/{id}: `order 1` instead of `order "), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn what_an_answer_lacks_is_named() {
    let (server, _) = server(|_, _| "{}".to_owned());
    let requests = vec![login(), of("/of/{token}", &["hello ", "token"])];
    let plan = LoadPlan { requests, ..plan(closed_loop(1)) };
    let error = crate::run_over(&plan, server, || crate::Alarm::Ticks).await.unwrap_err();
    assert_eq!(format!("{error:#}"), "GET /login: the answer has no json token to keep: {}");
}

#[tokio::test(start_paused = true)]
async fn draws_follow_the_seed_of_the_plan() {
    let drawn = async |seed| {
        let (server, paths) = server(|_, _| String::new());
        let request = Request { has_slots: true, ..Request::get("/{1..1000000}", Answer::Any) };
        outcome(&LoadPlan { seed, requests: vec![request], ..plan(closed_loop(1)) }, server).await;
        paths.take()
    };
    let first = drawn(1).await;
    assert_eq!(first, drawn(1).await);
    assert_ne!(first, drawn(2).await);
}
