//! Outside a measurement, nothing is awaited for ever.

use tokio::{io::DuplexStream, task::LocalSet};

use super::{
    ask, closed_loop,
    memory::{Memory, serve},
    plan,
};
use crate::{Alarm, Dial, Visitor, run_over};

#[tokio::test(start_paused = true)]
async fn a_single_request_is_not_awaited_for_ever() {
    let silent = Memory::new(|stream| {
        tokio::task::spawn_local(serve(stream, async || std::future::pending().await));
    });
    let target = ([127, 0, 0, 1], 80).into();
    LocalSet::new()
        .run_until(async {
            let mut visitor = Visitor::over(silent, target, &[ask()]).await.unwrap();
            let visit = visitor.visit().await.map_err(Into::into);
            let in_steps = visitor.visit_in_steps(async || Ok(())).await;
            let answers = visitor.answers().await.map(drop);
            for result in [visit, in_steps, answers] {
                assert_eq!(format!("{:#}", result.unwrap_err()), "GET /: no answer within 30 s");
            }
        })
        .await;
}

/// A server that cannot be reached, such as one with a full backlog.
#[derive(Clone)]
struct Nowhere;

impl Dial for Nowhere {
    type Stream = DuplexStream;

    async fn dial(&self) -> std::io::Result<DuplexStream> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_not_awaited_for_ever() {
    let error = run_over(&plan(closed_loop(2)), Nowhere, Alarm::Ticks).await.unwrap_err();
    assert_eq!(format!("{error:#}"), "connection 1 of 2: no answer within 30 s");
}
