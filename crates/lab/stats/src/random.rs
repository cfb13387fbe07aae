//! Random numbers that do not depend on the machine or on a crate's version.

/// A small generator of good random numbers, from a seed (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// The seed of the `nth` sequence that follows from this one, such as the arrivals of a pair of runs. It
    /// has 53 bits, which every reader of JSON keeps.
    pub fn seed_of(mut self, nth: usize) -> u64 {
        (0..nth).for_each(|_| _ = self.next());
        self.next() >> 11
    }

    /// Uniform from 0 up to but not including 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts them into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, (self.uniform() * (last + 1) as f64) as usize);
        }
    }

    /// Exponentially distributed with the mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}
