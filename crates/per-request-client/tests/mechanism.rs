//! The exact number of connections and handshakes in 10 page loads, counted by the site.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod trusting;

use std::time::Duration;

use case_server::InProcess;
use tls_site::{
    Background, Counted,
    site::{self, Resource},
};
use tokio::task::JoinSet;
use trusting::{proxies, trusting};

const PAGE_LOADS: usize = 10;

fn variants(upstream: &Background) -> [(&'static str, InProcess); 4] {
    proxies(upstream.url()).map(|(variant, proxy)| (variant, InProcess::new(proxy)))
}

async fn load(proxy: &InProcess, resource: &Resource) {
    let answer = proxy.get(resource.path).await;
    assert_eq!(answer, (200, resource.body.clone()), "{}", resource.path);
    // After the end of an answer, a task returns the connection to the pool. An earlier request would
    // open another connection, so give that task time to run.
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// One resource after the other.
async fn load_in_turn(proxy: &InProcess, site: &[Resource]) {
    for resource in site {
        load(proxy, resource).await;
    }
}

/// Six at a time, as a browser does.
async fn load_in_parallel(proxy: &InProcess, resources: &[Resource]) {
    let mut lanes = JoinSet::new();
    for lane in 0..6 {
        let (proxy, resources) = (proxy.clone(), resources.to_vec());
        lanes.spawn(async move {
            for resource in resources.iter().skip(lane).step_by(6) {
                load(&proxy, resource).await;
            }
        });
    }
    lanes.join_all().await;
}

/// What the site counted since `before`.
fn since(before: Counted, upstream: &Background) -> Counted {
    let now = upstream.counted();
    Counted {
        tcp_connections: now.tcp_connections - before.tcp_connections,
        full_handshakes: now.full_handshakes - before.full_handshakes,
        resumed_handshakes: now.resumed_handshakes - before.resumed_handshakes,
        requests: now.requests - before.requests,
    }
}

#[test]
fn in_turn_slow_connects_for_every_request_and_fixed_once() {
    trusting(async |upstream| {
        let site = site::resources();
        for (variant, proxy) in variants(upstream) {
            let before = upstream.counted();
            for _ in 0..PAGE_LOADS {
                load_in_turn(&proxy, &site).await;
            }
            let (tcp_connections, full_handshakes, resumed_handshakes) = match variant {
                // The connector owns the tickets for resumption, and slow drops it.
                "slow" => (190, 190, 0),
                // The shared connector keeps them.
                "shared-connector" | "no-reuse" => (190, 1, 189),
                _ => (1, 1, 0),
            };
            let expected =
                Counted { tcp_connections, full_handshakes, resumed_handshakes, requests: 190 };
            assert_eq!(since(before, upstream), expected, "{variant}");
        }
    });
}

#[test]
fn in_parallel_all_others_still_connect_for_every_request() {
    trusting(async |upstream| {
        let site = site::resources();
        for (variant, proxy) in variants(upstream).into_iter().take(3) {
            let before = upstream.counted();
            for _ in 0..PAGE_LOADS {
                load(&proxy, &site[0]).await;
                load_in_parallel(&proxy, &site[1..]).await;
            }
            let counted = since(before, upstream);
            assert_eq!((counted.tcp_connections, counted.requests), (190, 190), "{variant}");
            assert_eq!(counted.full_handshakes + counted.resumed_handshakes, 190, "{variant}");
            if variant == "slow" {
                assert_eq!(counted.resumed_handshakes, 0);
            } else {
                // A ticket serves one handshake, and every handshake brings two. The first page's two
                // are too few for six connections at once. Later there are always enough.
                assert!(counted.full_handshakes <= 5, "{variant}: {counted:?}");
            }
        }
    });
}

/// A request that finds no idle connection starts to open one, and takes the first that is ready: the
/// new one, or one that another request returns. Even then, the new one is completed and kept. So the
/// first load of a page may open more than 6 connections. Two numbers are exact: 6 requests at once
/// need 6 connections, and with 6 open connections no request opens another.
#[test]
fn in_parallel_fixed_connects_once_for_each_of_6_at_a_time() {
    trusting(async |upstream| {
        let site = site::resources();
        let [.., (_, fixed)] = variants(upstream);
        load(&fixed, &site[0]).await;
        assert_eq!(upstream.counted().tcp_connections, 1);

        // One request takes the page's connection. The other five find none.
        load_in_parallel(&fixed, &site[1..7]).await;
        // All requests may be answered before the last connection is complete.
        while upstream.counted().full_handshakes + upstream.counted().resumed_handshakes < 6 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(upstream.counted().tcp_connections, 6);

        // The last connection needs time to get into the pool.
        tokio::time::sleep(Duration::from_millis(1)).await;
        load_in_parallel(&fixed, &site[7..]).await;
        for _ in 1..PAGE_LOADS {
            load(&fixed, &site[0]).await;
            load_in_parallel(&fixed, &site[1..]).await;
        }
        let counted = upstream.counted();
        assert_eq!((counted.tcp_connections, counted.requests), (6, 190));
    });
}
