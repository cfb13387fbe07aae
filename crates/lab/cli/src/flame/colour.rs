//! Colours of frames: by what a frame is, and the same for the same function in every picture.

use inferno::flamegraph::color::Color;

use super::view::{KERNEL, UNKNOWN};

/// What a graph shows, which decides on its colours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// CPU time: warm.
    Cpu,
    /// Time that a request waits: cold.
    Wait,
    /// Allocated bytes: green.
    Memory,
}

/// Frames that stand for machinery: neither the case's fault nor its remedy.
const MACHINERY: [&str; 6] = ["http", "process", "tls", "tokio runtime", KERNEL, UNKNOWN];
/// How the C library's allocator calls its functions.
const ALLOCATOR: [&str; 14] = [
    "_int_free",
    "_int_malloc",
    "_int_realloc",
    "calloc",
    "free",
    "malloc",
    "malloc_consolidate",
    "posix_memalign",
    "realloc",
    "sysmalloc",
    "systrim",
    "tcache_init",
    "unlink_chunk",
    "madvise",
];

/// The colour of the allocator's frames among warm ones.
pub const ALLOCATIONS: Color = Color { r: 125, g: 200, b: 115 };
/// The colour of machinery.
pub const GREY: Color = Color { r: 190, g: 195, b: 200 };
/// The colour of what got cheaper, or went away.
pub const LESS: Color = Color { r: 105, g: 160, b: 255 };
/// The colour of what costs the same.
pub const SAME: Color = Color { r: 248, g: 248, b: 248 };
/// The colour of what got dearer.
pub const MORE: Color = Color { r: 255, g: 125, b: 110 };

/// Whether a frame belongs to the allocator.
pub fn is_allocator(name: &str) -> bool {
    ALLOCATOR.contains(&name.trim_start_matches("__"))
}

/// Whether a frame stands for machinery.
pub fn is_machinery(name: &str) -> bool {
    MACHINERY.contains(&name)
}

/// The colour of a function. All are light enough for dark text.
pub fn of(kind: Kind, name: &str) -> Color {
    if is_machinery(name) {
        return GREY;
    }
    let shade = |range: u8| u8::try_from(hash(name) % u64::from(range)).unwrap_or(0);
    match kind {
        Kind::Cpu if is_allocator(name) => ALLOCATIONS,
        Kind::Cpu => Color { r: 255, g: 150 + shade(75), b: 60 + shade(50) },
        Kind::Wait => Color { r: 150 + shade(60), g: 165 + shade(45), b: 245 },
        Kind::Memory => Color { r: 120 + shade(90), g: 205 + shade(30), b: 110 + shade(50) },
    }
}

/// The colour of a change from `slow` to `fixed`: the stronger the larger, up to all of it.
pub fn of_change(slow: u64, fixed: u64) -> Color {
    // Less than that is noise between two recordings, and shown as none.
    const NOISE: f64 = 0.05;
    let change = if slow == 0 { 1.0 } else { (fixed as f64 / slow as f64 - 1.0).clamp(-1.0, 1.0) };
    match change.abs() {
        ..NOISE => SAME,
        strength => mix(SAME, if change < 0.0 { LESS } else { MORE }, strength),
    }
}

fn mix(from: Color, to: Color, share: f64) -> Color {
    let mix =
        |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * share) as u8;
    Color { r: mix(from.r, to.r), g: mix(from.g, to.g), b: mix(from.b, to.b) }
}

/// FNV-1a: it has to be the same on every machine and for ever, and no more than that.
fn hash(name: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast of black on a colour, by the W3C's formula; 4.5 is what text needs.
    fn contrast(colour: Color) -> f64 {
        let linear = |channel: u8| match f64::from(channel) / 255.0 {
            small @ ..=0.04045 => small / 12.92,
            large => ((large + 0.055) / 1.055).powf(2.4),
        };
        let Color { r, g, b } = colour;
        (0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05) / 0.05
    }

    #[test]
    fn dark_text_can_be_read_on_every_colour() {
        for name in ["malloc", "kernel", "parse", "a", "b", "c", "d", "e", "String::clone"] {
            for kind in [Kind::Cpu, Kind::Wait, Kind::Memory] {
                assert!(contrast(of(kind, name)) > 7.0, "{name} {kind:?}");
            }
        }
        for colour in [LESS, SAME, MORE] {
            assert!(contrast(colour) > 7.0, "{colour}");
        }
    }

    #[test]
    fn a_change_is_the_stronger_the_larger_it_is() {
        assert_eq!(of_change(100, 0), LESS);
        assert_eq!(of_change(100, 98), SAME);
        assert_eq!(of_change(100, 300), MORE);
        let half = of_change(100, 50);
        assert!(LESS.r < half.r && half.r < SAME.r, "{half}");
    }
}
