//! How many connections and handshakes 10 page loads cost, counted by the upstream: exact, on any
//! machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod trusting;

use std::time::Duration;

use case_server::InProcess;
use per_request_client::{
    Upstream, fixed, slow,
    steps::{no_reuse, shared_connector},
    upstream::{
        Background, Counted,
        site::{self, Resource},
    },
};
use tokio::task::JoinSet;
use trusting::trusting;

const PAGE_LOADS: usize = 10;

fn variants(upstream: &Background) -> [(&'static str, InProcess); 4] {
    let upstream = || Upstream::new(upstream.url(), Duration::from_secs(10)).unwrap();
    [
        ("slow", InProcess::new(slow::routes(upstream()).unwrap())),
        ("shared-connector", InProcess::new(shared_connector::routes(upstream()).unwrap())),
        ("no-reuse", InProcess::new(no_reuse::routes(upstream()).unwrap())),
        ("fixed", InProcess::new(fixed::routes(upstream()).unwrap())),
    ]
}

async fn load(proxy: &InProcess, resource: &Resource) {
    let answer = proxy.get(resource.path).await;
    assert_eq!(answer, (200, resource.body.clone()), "{}", resource.path);
    // A connection returns to the pool in a task of its own, after the answer has ended. A request
    // that is sent before it has run finds no connection and opens another. A person is slower
    // than that; a test that wants exact numbers waits for a moment, in which that task runs.
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// One resource after the other.
async fn load_in_turn(proxy: &InProcess, site: &[Resource]) {
    for resource in site {
        load(proxy, resource).await;
    }
}

/// As a browser does: all of `resources` over 6 connections.
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

/// What the upstream counted in the meantime.
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
    trusting("in_turn_slow_connects_for_every_request_and_fixed_once", async |upstream| {
        let site = site::resources();
        for (variant, proxy) in variants(upstream) {
            let before = upstream.counted();
            for _ in 0..PAGE_LOADS {
                load_in_turn(&proxy, &site).await;
            }
            let (tcp_connections, full_handshakes, resumed_handshakes) = match variant {
                // Tickets for a short handshake go away with the connector that they were given to.
                "slow" => (190, 190, 0),
                // The connector keeps them: that the handshakes are short is its doing.
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
    trusting("in_parallel_all_others_still_connect_for_every_request", async |upstream| {
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
                // A ticket is good for one handshake, and every handshake earns two. The first
                // page's two are not enough for six connections at once; after that there are
                // always enough.
                assert!(counted.full_handshakes <= 5, "{variant}: {counted:?}");
            }
        }
    });
}

/// A request that finds no idle connection begins to open one, and takes whichever comes first:
/// that, or one that another request gives back. In the second case the new connection is still
/// completed, and kept. So a page that nobody has loaded yet may open more than 6 connections,
/// 6 to 12 as a rule and never more than one a request. What is exact is the state before that and
/// after it: 6 requests at once need 6 connections, and where 6 are open, nobody has to wait.
#[test]
fn in_parallel_fixed_connects_once_for_each_of_6_at_a_time() {
    trusting("in_parallel_fixed_connects_once_for_each_of_6_at_a_time", async |upstream| {
        let site = site::resources();
        let [.., (_, fixed)] = variants(upstream);
        load(&fixed, &site[0]).await;
        assert_eq!(upstream.counted().tcp_connections, 1);

        // The page's connection is idle, and takes one; the other five find none.
        load_in_parallel(&fixed, &site[1..7]).await;
        // They may all have been answered before the last connection was complete.
        while upstream.counted().full_handshakes + upstream.counted().resumed_handshakes < 6 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(upstream.counted().tcp_connections, 6);

        // The last connection's way into the pool.
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
