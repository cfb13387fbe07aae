/// The path that asks `hot-clone` for as many rounds as the variable ROUNDS says, and the answer. `just replicate
/// unchanged` changes the work of the same executable, so that nothing else differs.
#[allow(dead_code, reason = "a bench that compares two of them names both variables")]
pub fn rounds() -> (String, String) {
    rounds_of("ROUNDS")
}

/// The same for another variable.
pub fn rounds_of(variable: &str) -> (String, String) {
    let rounds: u64 = std::env::var(variable).map_or(100_000, |it| it.parse().expect("a number"));
    let sum: u64 = (0..rounds).map(|i| i + 1 + 2 + 3).sum();
    (format!("/cpu?rounds={rounds}"), sum.to_string())
}
