//! Repeatable choices: the same seed gives the same ones on every machine.

/// A small generator (splitmix64), good enough to choose test data with.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one.
    pub fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// Whether something with this chance in a hundred happens.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// One of several.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// Some of several, each once, in their order.
    pub fn some<T: Clone>(&mut self, of: &[T], chance: u64) -> Vec<T> {
        of.iter().filter(|_| self.percent(chance)).cloned().collect()
    }
}
