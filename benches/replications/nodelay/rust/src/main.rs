//! Small servers on Rust's frameworks, each as its documentation has it: `nodelay-servers FRAMEWORK FILE`.
//!
//! `GET /ready` answers with a text in memory, and `GET /file` with the file of the same content.

use std::{convert::Infallible, env, path::PathBuf};

use axum::{
    Router,
    body::{Body, Bytes},
    http::header::CONTENT_LENGTH,
    response::IntoResponse,
    routing::get,
};
use futures_util::TryStreamExt as _;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::BoxBody};
use hyper::{Request, Response, body::Frame, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use tokio::{fs::File, net::TcpListener};
use tokio_util::io::ReaderStream;
use warp::Filter as _;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let framework = arguments.next().ok_or("no framework")?;
    let file = PathBuf::from(arguments.next().ok_or("no file")?);
    let ready = Bytes::from(std::fs::read(&file)?);
    if framework == "actix-web" {
        return actix(ready, file);
    }
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        match &*framework {
            "axum" => with_axum(listener, ready, file).await,
            "hyper-util" => with_hyper(listener, ready, file).await,
            "warp" => with_warp(listener, ready, file).await,
            other => Err(format!("no framework `{other}`").into()),
        }
    })
}

async fn with_axum(listener: TcpListener, ready: Bytes, file: PathBuf) -> Result<(), Failure> {
    let routes = Router::new().route("/ready", get(async || ready)).route(
        "/file",
        get(async || {
            let file = File::open(file).await.expect("the file is there");
            let length = file.metadata().await.expect("it has a length").len().to_string();
            ([(CONTENT_LENGTH, length)], Body::from_stream(ReaderStream::new(file))).into_response()
        }),
    );
    Ok(axum::serve(listener, routes).await?)
}

async fn with_hyper(listener: TcpListener, ready: Bytes, file: PathBuf) -> Result<(), Failure> {
    loop {
        let (stream, _) = listener.accept().await?;
        let (ready, file) = (ready.clone(), file.clone());
        let service = service_fn(move |request| answer(request, ready.clone(), file.clone()));
        tokio::spawn(async {
            let builder = Builder::new(TokioExecutor::new());
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    request: Request<hyper::body::Incoming>,
    ready: Bytes,
    file: PathBuf,
) -> Result<Response<BoxBody<Bytes, std::io::Error>>, Infallible> {
    if request.uri().path() == "/ready" {
        return Ok(Response::new(Full::new(ready).map_err(|never| match never {}).boxed()));
    }
    let file = File::open(file).await.expect("the file is there");
    let length = file.metadata().await.expect("it has a length").len();
    let content = ReaderStream::new(file).map_ok(Frame::data);
    let mut response = Response::new(StreamBody::new(content).boxed());
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    Ok(response)
}

async fn with_warp(listener: TcpListener, ready: Bytes, file: PathBuf) -> Result<(), Failure> {
    let ready = warp::path("ready").map(move || Response::new(warp::hyper::body::Bytes::clone(&ready)));
    let file = warp::path("file").and(warp::fs::file(file));
    warp::serve(ready.or(file)).incoming(listener).run().await;
    Ok(())
}

fn actix(ready: Bytes, file: PathBuf) -> Result<(), Failure> {
    use actix_web::{App, HttpServer, web};
    let serve = async move {
        let app = move || {
            let (ready, file) = (ready.clone(), file.clone());
            let ready = web::get().to(move || std::future::ready(ready.clone()));
            let file = web::get().to(move || std::future::ready(actix_files::NamedFile::open(&file)));
            App::new().route("/ready", ready).route("/file", file)
        };
        let server = HttpServer::new(app).bind(("127.0.0.1", 0))?;
        println!("listening on http://{}", server.addrs()[0]);
        server.run().await
    };
    Ok(actix_web::rt::System::new().block_on(serve)?)
}
