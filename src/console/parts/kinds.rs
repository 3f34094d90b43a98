//! Kinds of assets in words.

use super::text;
use crate::{domain::assets::Kind, string_enum::StringEnum};

/// Returns the word for one asset of a kind, and for several.
pub const fn words(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Codebase => ("codebase", "codebases"),
        Kind::RawData => ("raw data archive", "raw data archives"),
        Kind::Task => ("task", "tasks"),
        Kind::Taskset => ("taskset", "tasksets"),
        Kind::Bundle => ("bundle of tasksets", "bundles of tasksets"),
        Kind::Environment => ("environment", "environments"),
        Kind::RoboticsDataset => ("robotics dataset", "robotics datasets"),
        Kind::Other => ("other asset", "other assets"),
    }
}

/// Returns the display name of a kind, such as `Raw data archive`, for its name on the wire.
pub fn named(kind: &str) -> String {
    text::words(Kind::parse(kind).map_or(kind, |kind| words(kind).0))
}

/// Returns all kinds with their display names, for a choice.
pub fn choices() -> Vec<(&'static str, String)> {
    text::choices(|kind| text::words(words(kind).0))
}

/// Returns the display name of several assets of a kind, such as `Raw data archives`.
pub fn plural(kind: Kind) -> String {
    text::words(words(kind).1)
}

/// Returns a number of assets of a kind, such as `2 codebases`.
pub fn counted(kind: Kind, number: u64) -> String {
    let (one, many) = words(kind);
    text::counted(number, one, many)
}

/// Returns the name of a declared format of robotics datasets; `None` if it is not known.
pub fn robotics_format(value: &str) -> Option<&'static str> {
    match value {
        "lerobot_v3" => Some("LeRobot v3"),
        "lerobot_v2" => Some("LeRobot v2"),
        "ego_exo" => Some("Ego-Exo"),
        "other" => Some("Other format"),
        _ => None,
    }
}
