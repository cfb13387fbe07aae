//! A fix that changes an answer is no fix: all variants are asked the same odd things, over real
//! sockets, in front of one upstream.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod processes;
mod questions;
mod stalling;

use std::time::Duration;

use per_request_client::upstream::{Background, site};
use processes::{Answer, Process, VARIANTS};
use questions::{Question, questions};
use stalling::stalling;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Every variant in front of `upstream`. They trust those that `trusted` vouches for, as long as
/// the directory lives: slow reads the file in it again and again.
fn variants(
    upstream: &str,
    trusted: &Background,
    args: &[&str],
) -> (TempDir, [(&'static str, Process); 4]) {
    let scratch = tempfile::tempdir().unwrap();
    let authorities = scratch.path().join("authorities.pem");
    std::fs::write(&authorities, trusted.authority()).unwrap();
    let args = [&["--upstream", upstream], args].concat();
    let start = |binary| Process::start(binary, &args, &authorities).unwrap();
    (scratch, VARIANTS.map(|(variant, binary)| (variant, start(binary))))
}

#[tokio::test]
async fn every_resource_arrives_byte_for_byte() {
    let upstream = Background::start().unwrap();
    let (_authorities, variants) = variants(upstream.url(), &upstream, &[]);
    for (variant, proxy) in variants {
        for resource in site::resources() {
            let expected = Answer {
                status: 200,
                headers: vec![
                    format!("content-length: {}", resource.body.len()),
                    format!("content-type: {}", resource.content_type),
                ],
                body: resource.body,
            };
            assert_eq!(proxy.get(resource.path).await, expected, "{variant}: {}", resource.path);
        }
    }
}

#[tokio::test]
async fn all_variants_answer_alike_and_as_expected() {
    let upstream = Background::start().unwrap();
    let mut interviews = Vec::new();
    let (_authorities, variants) = variants(upstream.url(), &upstream, &[]);
    for (variant, proxy) in variants {
        let mut interview = Vec::new();
        for Question { name, status, request } in questions() {
            let answer = proxy.ask(request).await;
            assert_eq!(answer.status, status, "{variant}, {name}: {}", answer.text());
            interview.push((name, answer));
        }
        interviews.push(interview);
    }
    for interview in &interviews[1..] {
        assert_eq!(interview, &interviews[0]);
    }
    let answer = |asked| &interviews[0].iter().find(|(name, _)| *name == asked).unwrap().1;

    assert_eq!(answer("unknown path").text(), "no such resource\n", "the upstream says so");
    assert!(answer("head").has("content-length: 14000"));
    assert_eq!(answer("head").text(), "");
    assert!(answer("a query").text().starts_with("GET /echo?a=1&b=%20/../&c=%ff HTTP/1.1\n"));
    assert!(answer("small body").text().ends_with("\n\nhello"));
    assert!(answer("chunked body").text().ends_with("\n\nhello"));
    assert!(answer("HTTP/1.0").text().starts_with("GET /echo HTTP/1.1\n"));

    let host = upstream.url().replace("https://", "host: ");
    let hop_by_hop = format!(
        "GET /echo HTTP/1.1\ncookie: a=1\ncookie: b=2\n{host}\n\
         via: 1.1 per-request-client\nx-public: 1\n\n"
    );
    assert_eq!(answer("hop-by-hop headers").text(), hop_by_hop);
    // The upstream's own ones stay behind as well.
    assert_eq!(
        answer("hop-by-hop headers").headers,
        [
            format!("content-length: {}", hop_by_hop.len()),
            "content-type: text/plain; charset=utf-8".to_owned()
        ]
    );
}

/// Asks every variant for the page, and expects a status and a line of text.
async fn all_fail_with(variants: [(&str, Process); 4], status: u16, text: &str) {
    for (variant, proxy) in variants {
        // Twice: a failure must not take the proxy down.
        for _ in 0..2 {
            let answer = proxy.get("/").await;
            assert_eq!((answer.status, answer.text()), (status, text), "{variant}");
        }
    }
}

#[tokio::test]
async fn an_upstream_that_is_down_is_a_bad_gateway() {
    let anyone = Background::start().unwrap();
    // Nothing listens on port 1, and no ordinary process may.
    let (_authorities, variants) = variants("https://127.0.0.1:1", &anyone, &[]);
    all_fail_with(variants, 502, "the upstream cannot be reached\n").await;
}

#[tokio::test]
async fn an_upstream_that_nobody_vouches_for_is_a_bad_gateway() {
    let (trusted, untrusted) = (Background::start().unwrap(), Background::start().unwrap());
    let (_authorities, variants) = variants(untrusted.url(), &trusted, &[]);
    all_fail_with(variants, 502, "the upstream cannot be reached\n").await;
    assert_eq!(untrusted.counted().full_handshakes, 0);
}

#[tokio::test]
async fn an_upstream_that_does_not_answer_is_a_gateway_timeout() {
    let anyone = Background::start().unwrap();
    // The kernel accepts connections for it, and nobody ever reads from them.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let (_authorities, variants) = variants(&url, &anyone, &["--upstream-timeout-ms", "100"]);
    all_fail_with(variants, 504, "the upstream took too long\n").await;
}

/// The status is out by then, so that all that is left is to break off.
#[tokio::test]
async fn an_upstream_that_stalls_in_mid_answer_breaks_the_answer_off() {
    let upstream = Background::start().unwrap();
    let url = stalling(upstream.url()).await;
    let (_authorities, variants) = variants(&url, &upstream, &["--upstream-timeout-ms", "1000"]);
    let mut visitors = Vec::new();
    for (variant, proxy) in &variants {
        let mut visitor = TcpStream::connect(&proxy.addr).await.unwrap();
        let request = b"GET /js/vendor.js HTTP/1.1\r\nhost: proxy.example\r\n\r\n";
        visitor.write_all(request).await.unwrap();
        visitors.push((variant, visitor));
    }
    for (variant, mut visitor) in visitors {
        let mut answer = Vec::new();
        let ended = timeout(Duration::from_secs(60), visitor.read_to_end(&mut answer)).await;
        ended.unwrap_or_else(|_| panic!("{variant} waits for ever")).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{variant}");
        assert!(answer.len() < 86_000, "{variant}: {} bytes", answer.len());
    }
}

/// Where the authorities are loaded decides who hears of it when they cannot be: slow's visitors,
/// or whoever starts one of the others.
#[tokio::test]
async fn without_authorities_slow_fails_its_visitors_and_the_others_do_not_start() {
    for (variant, binary) in VARIANTS {
        let args = ["--upstream", "https://127.0.0.1:1"];
        match Process::start(binary, &args, "/no/such/file") {
            Ok(slow) => {
                assert_eq!(variant, "slow");
                let answer = slow.get("/").await;
                assert_eq!((answer.status, answer.text()), (500, "the proxy cannot set up TLS\n"));
            }
            Err(stderr) => {
                assert_ne!(variant, "slow");
                assert!(stderr.contains("no native root CA certificates found"), "{stderr}");
            }
        }
    }
}

#[test]
fn an_unusable_upstream_is_refused_with_the_command_that_starts_one() {
    let anyone = "/no/such/file";
    for upstream in [
        "",
        "http://127.0.0.1:1",
        "127.0.0.1:1",
        "https://127.0.0.1:1/path",
        "https://127.0.0.1:1?query",
        "https://127.0.0.1:1#fragment",
        "https://user@127.0.0.1:1",
        "https://",
        "not a url",
    ] {
        for (variant, binary) in VARIANTS {
            let stderr = Process::start(binary, &["--upstream", upstream], anyone).err().unwrap();
            let remedy = "cargo run --release --bin per-request-client-upstream";
            assert!(stderr.contains(remedy), "{variant}, `{upstream}`: {stderr}");
        }
    }
    let stderr = Process::start(VARIANTS[0].1, &[], anyone).err().unwrap();
    assert!(stderr.starts_with("error: the proxy needs an upstream; start one with"), "{stderr}");
}
