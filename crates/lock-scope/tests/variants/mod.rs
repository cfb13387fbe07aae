//! All variants behind one type.

use std::time::Duration;

use case_server::InProcess;
use lock_scope::{
    fixed, slow,
    steps::{early_drop, rwlock_held},
};

/// Every variant by name, with `downstream` as the wait of a read.
pub fn variants(downstream: Duration) -> [(&'static str, InProcess); 4] {
    [
        ("slow", InProcess::new(warp::service(slow::routes(downstream)))),
        ("early-drop", InProcess::new(warp::service(early_drop::routes(downstream)))),
        ("rwlock-held", InProcess::new(warp::service(rwlock_held::routes(downstream)))),
        ("fixed", InProcess::new(warp::service(fixed::routes(downstream)))),
    ]
}
