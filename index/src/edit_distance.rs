//! Words that are one edit away from another one.

use std::sync::LazyLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy_fst::Automaton;

/// Builder of automata for edit distance one, with a transposition as one edit.
static BUILDER: LazyLock<LevenshteinAutomatonBuilder> =
    LazyLock::new(|| LevenshteinAutomatonBuilder::new(1, true));

/// An automaton that accepts the words that are at most one edit away from a word.
pub(crate) struct OneEdit(DFA);

impl OneEdit {
    pub(crate) fn new(word: &str) -> OneEdit {
        OneEdit(BUILDER.build_dfa(word))
    }

    /// Returns whether a word is at most one edit away.
    pub(crate) fn accepts(&self, word: &str) -> bool {
        matches!(self.0.eval(word), Distance::Exact(_))
    }
}

/// Adapts the automaton to the term dictionary.
impl Automaton for OneEdit {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}
