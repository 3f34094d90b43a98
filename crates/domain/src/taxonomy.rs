//! The taxonomy of the catalog: domains, tags, asset kinds, and languages.

use schemars::JsonSchema;
use serde::Serialize;

use super::{assets::Kind, state_machine::StateMachine, time::Timestamp};
use crate::string_enum::{StringEnum, string_enum};

/// A slug with its display name. It is also the data of events about domains and content tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LabelData", description = "A domain or a content tag after a change.")]
pub struct Label {
    /// Identifier.
    pub slug: String,
    /// Display name.
    pub label: String,
}

/// A tag that describes listings in more detail than a domain. It is also the data of events about such tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "InventoryTagData", description = "An inventory tag after a change.")]
pub struct InventoryTag {
    /// Identifier.
    pub slug: String,
    /// Display name.
    pub label: String,
    /// What the tag says about a listing.
    pub description: String,
    /// Category of the tag.
    pub category: String,
}

/// A programming language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language {
    /// Identifier, as used in filters.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Alternative names of the language.
    pub aliases: Vec<String>,
}

/// The deprecation of an asset kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// Time at which the deprecation was announced.
    pub deprecated_at: Timestamp,
    /// Time at which the kind is retired.
    pub retires_at: Timestamp,
    /// Whether assets of this kind can still be added to listings.
    pub accepts_new_listings: bool,
    /// Explanation for vendors, including what to use instead.
    pub message: String,
}

/// The retirement of an asset kind: as it was announced, and whether it took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retirement {
    /// What was announced.
    pub announced: Deprecation,
    /// Time of retirement, once it was recorded. The kind stays retired if the clock jumps back.
    pub retired_at: Option<Timestamp>,
}

impl Retirement {
    /// Whether the kind is retired at `now`.
    pub fn is_retired(&self, now: Timestamp) -> bool {
        self.retired_at.is_some() || self.announced.retires_at <= now
    }
}

/// An asset kind as configured in the marketplace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetType {
    /// The asset kind.
    pub kind: Kind,
    /// Display name.
    pub label: String,
    /// Whether vendors can create assets of this kind.
    pub is_enabled: bool,
    /// Former names of listings with assets of this kind.
    pub listing_kinds: Vec<String>,
    /// The deprecation, if one was announced.
    pub deprecation: Option<Deprecation>,
}

string_enum! {
    /// How far the retirement of an asset kind has come.
    AssetTypeStage {
        /// No retirement was announced.
        Current = "current",
        /// Its retirement was announced.
        Deprecated = "deprecated",
        /// It is retired.
        Retired = "retired",
    }
}

string_enum! {
    /// An operation on an asset kind.
    AssetTypeOperation {
        /// Lets vendors create assets of the kind.
        Enable = "enable",
        /// Stops vendors from creating assets of the kind.
        Disable = "disable",
        /// Announces the retirement, or changes what was announced.
        Deprecate = "deprecate",
        /// Retires the kind.
        Retire = "retire",
    }
}

/// The state of an asset kind, which decides what operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssetTypeState {
    /// Whether vendors can create assets of the kind.
    pub is_enabled: bool,
    /// How far its retirement has come.
    pub stage: AssetTypeStage,
}

impl StateMachine for AssetTypeState {
    type Operation = AssetTypeOperation;

    fn name(self) -> &'static str {
        self.stage.as_str()
    }

    fn after(self, operation: AssetTypeOperation) -> Option<AssetTypeState> {
        use {AssetTypeOperation as O, AssetTypeStage as S};
        match (operation, self.stage) {
            (O::Enable, S::Current | S::Deprecated) => Some(AssetTypeState { is_enabled: true, ..self }),
            (O::Disable, _) => Some(AssetTypeState { is_enabled: false, ..self }),
            (O::Deprecate, S::Current | S::Deprecated) => {
                Some(AssetTypeState { stage: S::Deprecated, ..self })
            }
            (O::Retire, S::Deprecated) => Some(AssetTypeState { stage: S::Retired, ..self }),
            (O::Enable | O::Deprecate, S::Retired) | (O::Retire, S::Current | S::Retired) => None,
        }
    }
}

impl AssetTypeState {
    /// Returns the state at the time `now` of a kind with this retirement, if one was announced.
    pub fn new(is_enabled: bool, retirement: Option<&Retirement>, now: Timestamp) -> AssetTypeState {
        let stage = match retirement {
            None => AssetTypeStage::Current,
            Some(retirement) if retirement.is_retired(now) => AssetTypeStage::Retired,
            Some(_) => AssetTypeStage::Deprecated,
        };
        AssetTypeState { is_enabled, stage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_machine;

    fn describe(state: AssetTypeState) -> String {
        format!("{} {}", if state.is_enabled { "enabled" } else { "disabled" }, state.stage.as_str())
    }

    /// Compares the result of every operation in every state with a committed snapshot.
    #[test]
    fn every_operation_on_an_asset_kind_in_every_state() {
        let states: Vec<AssetTypeState> = AssetTypeStage::ALL
            .iter()
            .flat_map(|stage| [true, false].map(|is_enabled| AssetTypeState { is_enabled, stage: *stage }))
            .collect();
        insta::assert_snapshot!(state_machine::table(&states, describe));
    }
}
