//! Outside a measurement, nothing is awaited for ever.

use tokio::{io::DuplexStream, task::LocalSet};

use super::{
    ask, closed_loop,
    memory::{Memory, serve},
    plan,
};
use crate::{Alarm, Connection, Dial, Visitor, run_over};

/// Accepts connections and answers nothing.
fn silent() -> Memory<impl Fn(DuplexStream)> {
    Memory::new(|stream| {
        tokio::task::spawn_local(serve(stream, async || std::future::pending().await));
    })
}

#[tokio::test(start_paused = true)]
async fn a_single_request_is_not_awaited_for_ever() {
    LocalSet::new()
        .run_until(async {
            let target = ([127, 0, 0, 1], 80).into();
            let open = async || Visitor::over(silent(), target, &[ask()]).await.unwrap();
            let fault = open().await.visit().await.unwrap_err();
            assert_eq!(fault.to_string(), "GET /: no answer within 30 s");
            let error = open().await.visit_in_steps(async || Ok(())).await.unwrap_err();
            assert_eq!(error.to_string(), "GET /: no answer within 30 s");
            let error = open().await.answers().await.unwrap_err();
            assert_eq!(format!("{error:#}"), "GET /: no answer within 30 s");
        })
        .await;
}

/// A server that cannot be reached, such as one with a full backlog.
#[derive(Clone, Debug)]
struct Nowhere;

impl Dial for Nowhere {
    type Stream = DuplexStream;

    async fn dial(&self) -> std::io::Result<DuplexStream> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_not_awaited_for_ever() {
    let error = Connection::over_soon(Nowhere).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer within 30 s");
    let plan = plan(closed_loop(2));
    let error = run_over(&plan, Nowhere, Alarm::Ticks).await.unwrap_err();
    assert_eq!(format!("{error:#}"), "connection 1 of 2: no answer within 30 s");
    let error = Visitor::over(Nowhere, plan.target, &[ask()]).await.err().unwrap();
    assert_eq!(error.to_string(), "no answer within 30 s");
}
