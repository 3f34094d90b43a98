//! Seeded teams by their keys in the fixture set, and the proofs to act in their names.

use marketplace::{
    clock::fixture_record_id,
    domain::teams::Team,
    operations::access::{Buyer, Platform, Vendor},
    store,
};

/// Returns a team.
pub fn team(rows: &store::Reader, key: &str) -> Team {
    store::teams::find(rows, fixture_record_id("teams", key)).unwrap().unwrap()
}

/// Returns the proof to act in the name of a buyer.
pub fn buyer(rows: &store::Reader, key: &str) -> Buyer {
    Platform::of_process().buyer(team(rows, key)).unwrap()
}

/// Returns the proof to act in the name of a vendor.
pub fn vendor(rows: &store::Reader, key: &str) -> Vendor {
    Platform::of_process().vendor(team(rows, key)).unwrap()
}
