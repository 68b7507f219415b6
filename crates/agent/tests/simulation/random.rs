//! Chance that comes out the same for the same seed.
//!
//! Every throw belongs to an occasion with a name, and not to one long row of throws: what happens once more, or in
//! another order, changes nothing for everything else. That is what lets a failing run be cut shorter and still fail.

use std::fmt::{self, Write as _};
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Dice {
    seed: u64,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Whether the seed is one of every so many.
    pub(crate) const fn is_of_every(self, many: u64) -> bool {
        self.seed.is_multiple_of(many)
    }

    pub(crate) fn on(self, occasion: fmt::Arguments<'_>) -> Random {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let written = hash.write_fmt(occasion);
        debug_assert!(written.is_ok());
        let mut random = Random(hash.0);
        random.next();
        random
    }
}

struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// Splitmix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to, not including, `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// So many times out of a thousand.
    pub(crate) fn per_mille(&mut self, times: u64) -> bool {
        self.below(1_000) < times
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.per_mille(500)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    /// One of these, each as often as its weight says.
    pub(crate) fn weighed<T: Copy>(&mut self, from: &[(u64, T)]) -> T {
        let total = from.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for (weight, one) in from {
            if left < *weight {
                return *one;
            }
            left -= weight;
        }
        unreachable!("something has a weight")
    }

    pub(crate) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from + 1))
    }
}
