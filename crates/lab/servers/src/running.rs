//! Servers that run already: nobody starts or stops them here.

/// The most load on a machine that is not this one. It keeps a typo from becoming an attack.
pub const REMOTE_USERS: usize = 8;
pub const REMOTE_REQUESTS_PER_S: u64 = 100;

/// The milliseconds that each user has to pause after a visit of `requests`, so that a closed loop
/// never exceeds the limit for remote hosts, however fast they answer.
pub fn remote_pause_ms(users: usize, requests: usize) -> u64 {
    (1000 * users as u64 * requests as u64).div_ceil(REMOTE_REQUESTS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_keeps_a_closed_loop_below_the_limit() {
        for (users, requests) in [(1, 1), (8, 1), (3, 7)] {
            let seconds = remote_pause_ms(users, requests) as f64 / 1e3;
            let rate = (users * requests) as f64 / seconds;
            assert!(rate <= REMOTE_REQUESTS_PER_S as f64 && rate > 99.0, "{rate}");
        }
    }
}
