//! All variants behind one type.

use case_server::InProcess;
use hot_clone::{fixed, slow};

/// Every variant by name.
pub fn variants() -> [(&'static str, InProcess); 2] {
    [
        ("slow", InProcess::new(warp::service(slow::routes()))),
        ("fixed", InProcess::new(warp::service(fixed::routes()))),
    ]
}
