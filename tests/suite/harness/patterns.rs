//! Regular expressions of tests.

use std::{collections::BTreeMap, sync::Mutex};

use regex::Regex;

/// Returns a regular expression, which is compiled once. In a debug build that takes longer than most searches with it.
pub fn pattern(text: &'static str) -> &'static Regex {
    static COMPILED: Mutex<BTreeMap<&str, &Regex>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap();
    compiled.entry(text).or_insert_with(|| Box::leak(Box::new(Regex::new(text).unwrap())))
}
