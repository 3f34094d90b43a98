//! Reproducible choices of subjects.

use crate::splitmix64::{GOLDEN_GAMMA, SplitMix64};

/// A stream of choices. The same seed always results in the same choices.
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// Creates a stream. `purpose` makes the choices independent of those for other purposes, so that a new kind of question
    /// does not change the others.
    pub fn new(seed: u64, purpose: &str) -> Random {
        // FNV-1a.
        let hash = purpose.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Random(SplitMix64::new(hash ^ seed.wrapping_mul(GOLDEN_GAMMA)))
    }

    /// Returns a number.
    pub const fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound.max(1) as u64) as usize
    }

    /// Returns one of the values; `None` if there are none.
    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> Option<&'a T> {
        if values.is_empty() { None } else { values.get(self.below(values.len())) }
    }

    /// Brings values into another order.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    /// Returns a token of upper-case letters and digits that no text contains by chance.
    pub fn token(&mut self) -> String {
        const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ23456789";
        (0..10).map(|_| char::from(LETTERS[self.below(LETTERS.len())])).collect()
    }
}
