//! The file of an exported world with the properties of its market besides rows and files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::template::{LATEST, WorldKey};
use crate::{
    clock::ClockState,
    domain::{clock_modes::ClockMode, collections::Collection, time::Timestamp},
    error::{Error, Problem, Result},
    string_enum::StringEnum,
};

/// Name of the file.
pub const NAME: &str = "market.json";

/// Identifies the format of the file.
const FORMAT: &str = "marketplace-world";

/// Version of the format.
const FORMAT_VERSION: u32 = 1;

/// Limit on counts, which leaves room for many more.
const MAX_COUNT: u64 = 1 << 53;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketFile {
    format: String,
    format_version: u32,
    /// Version of the schema of the database.
    pub schema_version: u32,
    clock: ClockFields,
    /// Settings that differ from those of other worlds, by key.
    pub settings: BTreeMap<String, toml::Value>,
    /// The API keys that were valid when the world began.
    pub keys: Vec<WorldKey>,
    /// The largest number that tables without reuse of numbers have given to a row.
    pub sequences: BTreeMap<String, i64>,
    /// Paths of directories without files.
    #[serde(default)]
    pub directories: Vec<String>,
}

/// The state of the clock.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockFields {
    now: String,
    mode: String,
    seed: u64,
    /// Number of generated IDs by collection, without zeros.
    ids: BTreeMap<String, u64>,
    secrets: u64,
    reports: u64,
}

impl MarketFile {
    /// Creates the file of a world.
    pub fn new(
        schema_version: u32,
        clock: &ClockState,
        settings: &[(String, toml::Value)],
        keys: &[WorldKey],
        sequences: BTreeMap<String, i64>,
    ) -> MarketFile {
        let counts = Collection::ALL.iter().map(|of| (of.as_str().to_owned(), clock.id_counts[*of as usize]));
        let mode = if clock.is_running { ClockMode::Running } else { ClockMode::Frozen };
        MarketFile {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            schema_version,
            clock: ClockFields {
                now: with_micros(clock.now),
                mode: mode.as_str().to_owned(),
                seed: clock.seed,
                ids: counts.filter(|(_, count)| *count > 0).collect(),
                secrets: clock.secret_count,
                reports: clock.report_count,
            },
            settings: settings.iter().cloned().collect(),
            keys: keys.to_vec(),
            sequences,
            directories: Vec::new(),
        }
    }

    /// Parses the file, and checks that this program knows the format.
    pub fn parse(text: &str) -> Result<MarketFile> {
        let file: MarketFile =
            serde_json::from_str(text).map_err(|error| refused(&[], format!("{error}.")))?;
        if file.format != FORMAT || file.format_version != FORMAT_VERSION {
            let message = format!("This server reads `{FORMAT}` in version {FORMAT_VERSION}.");
            return Err(refused(&["format"], message));
        }
        Ok(file)
    }

    /// Returns the state of the clock.
    pub fn clock(&self) -> Result<ClockState> {
        let ClockFields { now, mode, seed, ids, secrets, reports } = &self.clock;
        let now = Timestamp::parse(now)
            .filter(|now| (Timestamp(0)..=LATEST).contains(now))
            .ok_or_else(|| refused(&["clock", "now"], format!("The time must be from 1970 to {LATEST}.")))?;
        let mode = ClockMode::parse(mode)
            .ok_or_else(|| refused(&["clock", "mode"], "The mode must be `frozen` or `running`."))?;
        let mut state = ClockState::new(now, mode == ClockMode::Running, *seed);
        let is_seed = i64::try_from(*seed).is_ok();
        if !is_seed || ids.values().chain([secrets, reports]).any(|count| *count > MAX_COUNT) {
            return Err(refused(&["clock"], "The seed or a count is too large."));
        }
        for (name, count) in ids {
            let collection = Collection::parse(name)
                .ok_or_else(|| refused(&["clock", "ids", name], "There is no such collection."))?;
            state.id_counts[collection as usize] = *count;
        }
        (state.secret_count, state.report_count) = (*secrets, *reports);
        Ok(state)
    }
}

/// Returns a problem with a place in this file.
fn refused(path: &[&str], message: impl Into<String>) -> Error {
    Error::invalid(Problem::body(&[&[NAME][..], path].concat(), "value_error", message))
}

/// Formats a time with microseconds.
fn with_micros(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{}{:03}Z", text.trim_end_matches('Z'), at.0.rem_euclid(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_of_a_clock_is_read_as_it_was_written() {
        let mut clock = ClockState::new(Timestamp(1_772_355_600_123_456), true, 7);
        clock.id_counts[Collection::Teams as usize] = 3;
        (clock.secret_count, clock.report_count) = (4, 5);
        let file = MarketFile::new(1, &clock, &[], &[], BTreeMap::new());
        assert_eq!(file.clock.now, "2026-03-01T09:00:00.123456Z");
        let text = serde_json::to_string(&file).unwrap();
        assert_eq!(MarketFile::parse(&text).unwrap().clock().unwrap(), clock);
    }
}
