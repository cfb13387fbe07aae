//! Colours of frames: by what a frame is, and the same for a function in every picture.

use std::fmt;

use lab_observation::LANGUAGES;

/// What a flame graph shows of a request, which decides its colours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GraphKind {
    /// CPU time: warm.
    Cpu,
    /// The time that it takes, with its waits: cold.
    Waits,
    /// Allocated bytes: green.
    Allocations,
}

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// As CSS: `#ff9632`.
impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The allocator's frames among warm ones.
pub const ALLOCATIONS: Colour = Colour(125, 200, 115);
pub const GREY: Colour = Colour(190, 195, 200);
/// What the fix made cheaper or removed.
pub const LESS: Colour = Colour(105, 160, 255);
/// What costs the same.
pub const SAME: Colour = Colour(248, 248, 248);
/// What the fix made more expensive.
pub const MORE: Colour = Colour(255, 125, 110);

/// The colour of a function. All colours are light enough for dark text.
pub fn of(kind: GraphKind, name: &str) -> Colour {
    if LANGUAGES.is_machinery(name) {
        return GREY;
    }
    let shade = |range: u8| u8::try_from(hash(name) % u64::from(range)).unwrap_or(0);
    match kind {
        GraphKind::Cpu if LANGUAGES.is_allocator(name) => ALLOCATIONS,
        GraphKind::Cpu => Colour(255, 150 + shade(75), 60 + shade(50)),
        GraphKind::Waits => Colour(150 + shade(60), 165 + shade(45), 245),
        GraphKind::Allocations => Colour(120 + shade(90), 205 + shade(30), 110 + shade(50)),
    }
}

/// The colour of a change that is shown: the stronger the larger, up to all of it.
pub fn of_change(slow: u64, fixed: u64) -> Colour {
    let change = if slow == 0 { 1.0 } else { (fixed as f64 / slow as f64 - 1.0).clamp(-1.0, 1.0) };
    // The smallest change is a visible one.
    let strength = 0.1 + 0.9 * change.abs();
    match change {
        0.0 => SAME,
        ..0.0 => mix(SAME, LESS, strength),
        _ => mix(SAME, MORE, strength),
    }
}

fn mix(from: Colour, to: Colour, share: f64) -> Colour {
    let mix =
        |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * share) as u8;
    Colour(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// FNV-1a, because it is the same on every machine and with every Rust.
fn hash(name: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_change_is_stronger() {
        assert_eq!(of_change(100, 0), LESS);
        assert_eq!(of_change(100, 100), SAME);
        assert_ne!(of_change(1000, 999), SAME);
        assert_eq!(of_change(100, 300), MORE);
        let half = of_change(100, 50);
        assert!(LESS.0 < half.0 && half.0 < SAME.0, "{half}");
    }
}
