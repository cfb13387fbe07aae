//! A case whose variants accept their connections themselves, with `axum::serve`.

use std::{io, process::ExitCode};

use axum::{Router, body::Body};
use case_probe::net::TcpListener;
use clap::Args;
use hyper::Request;
use tower::service_fn;

use crate::{
    About, Limits, Run, Variant,
    erased::Erased,
    parsed,
    serve::{Stop, answer},
};

/// [`main`](crate::main()) for a variant that accepts connections itself: `serve` does it until the [`Stop`] completes.
pub fn main_with_own_serve<O, S, F>(
    about: About,
    service: impl FnOnce(O) -> anyhow::Result<S>,
    serve: impl FnOnce(TcpListener, Router, Stop) -> F + 'static,
) -> ExitCode
where
    O: Args,
    S: Variant<Body>,
    F: Future<Output = io::Result<()>> + 'static,
{
    let (flags, options) = parsed(about);
    let start = || {
        let service = Erased::new(service(options)?);
        let run: Run = Box::new(|listener, limits, stop| {
            Box::pin(run(listener, service, limits, stop, serve))
        });
        Ok(run)
    };
    crate::run(about, &flags, None, Box::new(start))
}

/// Lets `serve` accept connections, with the limits of the other cases but for that of a head.
async fn run<F: Future<Output = io::Result<()>>>(
    listener: tokio::net::TcpListener,
    service: Erased<Body>,
    limits: Limits,
    stop: Stop,
    serve: impl FnOnce(TcpListener, Router, Stop) -> F,
) -> io::Result<()> {
    case_probe::start();
    let (stopping, mut stopped) = tokio::sync::watch::channel(());
    let stop: Stop = Box::pin(async move {
        stop.await;
        drop(stopping);
    });
    let app = Router::new().fallback_service(service_fn(move |request: Request<Body>| {
        answer(service.clone(), request, limits.request)
    }));
    let served = serve(case_probe::net::listener(listener), app, stop);
    // The sender is dropped when the server has to stop.
    let drained = async {
        let _ = stopped.changed().await;
        tokio::time::sleep(limits.drain).await;
    };
    tokio::select! {
        served = served => served,
        () = drained => Ok(()),
    }
}
