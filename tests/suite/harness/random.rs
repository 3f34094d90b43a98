//! Deterministic random choices: the same seed gives the same choices on every machine.

use marketplace::splitmix64::SplitMix64;

/// A generator of random test data.
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// Creates the generator of a seed.
    pub const fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number from 0 to `bound - 1`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns true with a probability of `chance` percent.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Returns one of the elements.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// Returns each element with a probability of `chance` percent, in the given order.
    pub fn sample<T: Clone>(&mut self, items: &[T], chance: u64) -> Vec<T> {
        items.iter().filter(|_| self.percent(chance)).cloned().collect()
    }
}
