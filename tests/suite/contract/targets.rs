//! The records of the demo market that the path of a route may identify: those that a team may see, and all
//! others.

use std::sync::OnceLock;

use marketplace::{
    clock::{fixture_record_id, stopped_record_id},
    rest::route::Target,
};
use serde_json::Value;
use uuid::Uuid;

use super::cases::{BOTH, VENDOR, is_listing_visible};
use crate::harness::{
    records::{self, demo_records, key, texts},
    worlds,
};

/// Returns the IDs for the parameters of a path: of records that the team with this key may see, or of all
/// others and of none.
pub fn ids(target: Target, secret: &str, is_visible: bool) -> Vec<Vec<String>> {
    match target {
        Target::RecordOf(collection) => return any_record(collection, is_visible),
        Target::Record(collection, key) => {
            let id = if is_visible { fixture_record_id(collection, key) } else { Uuid::nil() };
            return vec![vec![id.to_string()]];
        }
        Target::Created(collection) => {
            let id = if is_visible { stopped_record_id(collection, 0) } else { Uuid::nil() };
            return vec![vec![id.to_string()]];
        }
        Target::LedgerEntryOf(entry_type) => return ledger_entries(entry_type, is_visible),
        Target::None => return if is_visible { vec![Vec::new()] } else { Vec::new() },
        Target::TaskPart(collection) => return task_parts(collection, is_visible),
        Target::World => {
            return vec![vec![if is_visible { worlds::EXAMPLE } else { "no-such-world" }.to_owned()]];
        }
        Target::WorldRepository => {
            let world = if is_visible { worlds::EXAMPLE } else { "no-such-world" };
            return vec![[world, "acme", "billing"].map(str::to_owned).to_vec()];
        }
        Target::WorldFault => {
            let fault = if is_visible { worlds::EXAMPLE_FAULT } else { "no-such-fault" };
            return vec![[worlds::EXAMPLE, fault].map(str::to_owned).to_vec()];
        }
        Target::Snapshot => {
            return vec![vec![
                if is_visible { worlds::EXAMPLE_SNAPSHOT } else { "no-such-snapshot" }.to_owned(),
            ]];
        }
        Target::Absent(id) => return if is_visible { Vec::new() } else { vec![vec![id.to_owned()]] },
        _ => {}
    }
    let team = demo_records().team_of(secret);
    let own = |collection, field| by_owner(collection, field, team, is_visible);
    match target {
        Target::None
        | Target::RecordOf(_)
        | Target::Record(..)
        | Target::Created(_)
        | Target::TaskPart(_)
        | Target::Absent(_)
        | Target::World
        | Target::WorldRepository
        | Target::WorldFault
        | Target::Snapshot
        | Target::LedgerEntryOf(_) => unreachable!("handled above"),
        Target::TasksetInBody => taskset_in_body(secret, is_visible),
        Target::UploadGrant => vec![vec!["x".repeat(32)]],
        Target::CatalogListing => single(catalog_listings(team, is_visible), is_visible),
        Target::CatalogTaskset => catalog_tasksets(team, is_visible),
        Target::OwnListing => own("listings", "team"),
        Target::OwnListingAsset => listing_assets(team, is_visible),
        Target::OwnAsset => assets(team, |_| true, is_visible),
        Target::OwnCodebase => assets(team, |asset| asset["sku"] == "codebase", is_visible),
        Target::OwnLinkedCodebase => linked_assets(team, "codebase", is_visible),
        Target::OwnRawData => assets(team, |asset| asset["sku"] == "raw_data", is_visible),
        Target::OwnLinkedRawData => linked_assets(team, "raw_data", is_visible),
        Target::OwnTask => assets(team, |asset| asset["sku"] == "task", is_visible),
        Target::OwnGroup => own("groups", "team"),
        Target::OwnGroupAndAsset => placements(team, is_visible),
        Target::OwnEstimation => own("estimations", "team"),
        Target::Opportunity => opportunities("opportunities", team, is_visible),
        Target::ProjectOpportunity => opportunities("project_opportunities", team, is_visible),
        Target::OwnOpportunity => own("opportunities", "owner"),
        Target::OwnProjectOpportunity => own("project_opportunities", "owner"),
    }
}

/// Returns each ID as the only one of a path. Those that the team may not see also include one that nothing
/// has.
fn single(ids: Vec<Uuid>, is_visible: bool) -> Vec<Vec<String>> {
    let unknown = (!is_visible).then_some(Uuid::nil());
    ids.into_iter().chain(unknown).map(|id| vec![id.to_string()]).collect()
}

/// The records of a collection, or an ID that nothing has. Those that are named by a slug have it as their ID.
fn any_record(collection: &str, is_visible: bool) -> Vec<Vec<String>> {
    if let Some(records) = taxonomy()[collection].as_array() {
        let slug = |record: &Value| vec![record["slug"].as_str().unwrap().to_owned()];
        return if is_visible {
            records.iter().take(9).map(slug).collect()
        } else {
            vec![vec!["no-such-slug".to_owned()]]
        };
    }
    if !is_visible {
        return vec![vec![Uuid::nil().to_string()]];
    }
    let records = demo_records().collection(collection).iter();
    records.map(|record| vec![records::id(collection, record).to_string()]).collect()
}

/// The ledger entries of a type, or those of other types and one that does not exist.
fn ledger_entries(entry_type: &str, is_visible: bool) -> Vec<Vec<String>> {
    let entries = demo_records().collection("ledger_entries").iter();
    let found = entries.filter(|entry| (entry["entry_type"] == entry_type) == is_visible);
    single(found.map(|entry| records::id("ledger_entries", entry)).collect(), is_visible)
}

/// Returns the taxonomy, which is no part of the demo set. Its records are named by slugs.
fn taxonomy() -> &'static Value {
    static TAXONOMY: OnceLock<Value> = OnceLock::new();
    let json = include_str!("../../../fixtures/taxonomy/taxonomy.json");
    TAXONOMY.get_or_init(|| serde_json::from_str(json).unwrap())
}

/// The records of a collection whose `field` is the team, or all others.
fn by_owner(collection: &str, field: &str, team: &str, is_own: bool) -> Vec<Vec<String>> {
    let records = demo_records().collection(collection).iter();
    let found = records.filter(|record| (record[field] == team) == is_own);
    single(found.map(|record| records::id(collection, record)).collect(), is_own)
}

fn catalog_listings(team: &str, is_visible: bool) -> Vec<Uuid> {
    let listings = demo_records().collection("listings").iter();
    let found = listings.filter(|listing| is_listing_visible(team, listing) == is_visible);
    found.map(|listing| records::id("listings", listing)).collect()
}

/// Tasksets on visible listings, or on hidden ones, or tasksets that are not on the listing.
fn catalog_tasksets(team: &str, is_visible: bool) -> Vec<Vec<String>> {
    let mut pairs = Vec::new();
    let any = demo_records().collection("tasksets");
    for listing in demo_records().collection("listings") {
        let own = demo_records().taskset_keys(listing);
        let id = records::id("listings", listing);
        if is_listing_visible(team, listing) == is_visible {
            let tasksets =
                own.iter().map(|key| records::id("tasksets", demo_records().find("tasksets", key)));
            pairs.extend(tasksets.map(|taskset| (id, taskset)));
        }
        if !is_visible {
            // A taskset of another listing, and the ID of an asset (or a nil UUID), which is not a taskset.
            let other = any.iter().find(|taskset| !own.contains(&key(taskset)));
            let asset = texts(&listing["assets"]).next().map(|key| fixture_record_id("assets", key));
            pairs.push((id, records::id("tasksets", other.expect("the demo has several tasksets"))));
            pairs.push((id, asset.unwrap_or_default()));
        }
    }
    if !is_visible {
        pairs.push((Uuid::nil(), records::id("tasksets", &any[0])));
    }
    to_texts(pairs)
}

/// The assets on the team's listings; or a listing of another team with one of its assets, and an own listing
/// with assets that are not on it.
fn listing_assets(team: &str, is_visible: bool) -> Vec<Vec<String>> {
    let on_listings = |is_own: bool| {
        let listings = demo_records().collection("listings").iter();
        let found = listings.filter(move |listing| (listing["team"] == team) == is_own);
        found.flat_map(|listing| {
            let id = records::id("listings", listing);
            texts(&listing["assets"]).map(move |asset| (id, fixture_record_id("assets", asset)))
        })
    };
    if is_visible {
        return to_texts(on_listings(true).collect());
    }
    let Some((listing, _)) = on_listings(true).next() else { return Vec::new() };
    let (other_listing, asset) = on_listings(false).next().expect("other teams have listings");
    to_texts(vec![(other_listing, asset), (listing, asset), (listing, Uuid::nil())])
}

/// The team's assets that fit, or all other assets.
fn assets(team: &str, fits: impl Fn(&Value) -> bool, is_visible: bool) -> Vec<Vec<String>> {
    let found = demo_records().collection("assets").iter();
    let found = found.filter(|asset| (asset["team"] == team && fits(asset)) == is_visible);
    single(found.map(|asset| records::id("assets", asset)).collect(), is_visible)
}

/// The team's assets of a kind that have linked data; or the assets that are not of the team or of the kind.
fn linked_assets(team: &str, kind: &str, is_visible: bool) -> Vec<Vec<String>> {
    let is_linked = |asset: &Value| !is_visible || !asset[kind]["data"].is_null();
    assets(team, |asset| asset["sku"] == kind && is_linked(asset), is_visible)
}

/// An own asset and an own group; or another team's group with an own asset, an own group with another team's
/// asset, and both from other teams.
fn placements(team: &str, is_visible: bool) -> Vec<Vec<String>> {
    let of = |collection: &str, is_own: bool| -> Option<String> {
        let mut records = demo_records().collection(collection).iter();
        let found = records.find(|record| (record["team"] == team) == is_own)?;
        Some(records::id(collection, found).to_string())
    };
    let pair = |own_group, own_asset| Some(vec![of("groups", own_group)?, of("assets", own_asset)?]);
    let owned: &[(bool, bool)] =
        if is_visible { &[(true, true)] } else { &[(false, true), (true, false), (false, false)] };
    owned.iter().filter_map(|(group, asset)| pair(*group, *asset)).collect()
}

/// Opportunities that vendors may read: published or cancelled ones from which the team is not excluded, and
/// those that it has a bid on or a notification of.
fn opportunities(collection: &str, team: &str, is_visible: bool) -> Vec<Vec<String>> {
    let can_read = |record: &&Value| {
        let is_excluded = texts(&record["excluded_teams"]).any(|excluded| excluded == team);
        let is_shown = ["published", "cancelled"].contains(&record["status"].as_str().unwrap());
        (is_shown && !is_excluded) || concerns(team, collection, record)
    };
    let records = demo_records().collection(collection).iter();
    let found = records.filter(|record| can_read(record) == is_visible);
    single(found.map(|record| records::id(collection, record)).collect(), is_visible)
}

/// Whether the team has a bid on the opportunity or a notification of it.
fn concerns(team: &str, collection: &str, opportunity: &Value) -> bool {
    let field = if collection == "opportunities" { "opportunity" } else { "project_opportunity" };
    let records = ["project_bids", "notifications"].into_iter();
    let mut records = records.flat_map(|collection| demo_records().collection(collection));
    records.any(|record| record["team"] == team && record[field] == opportunity["key"])
}

/// The taskset of the example is on a withdrawn listing, which is visible only to its team and to a team that
/// bought it.
fn taskset_in_body(secret: &str, is_visible: bool) -> Vec<Vec<String>> {
    let is_seen = [VENDOR, BOTH].contains(&secret);
    if is_visible || !is_seen { vec![Vec::new()] } else { Vec::new() }
}

/// The tasks of the demo, or their versions or builds; or an ID that none has.
fn task_parts(collection: &str, is_visible: bool) -> Vec<Vec<String>> {
    let mut ids = Vec::new();
    for taskset in demo_records().collection("tasksets").iter().filter(|_| is_visible) {
        for task in taskset["tasks"].as_array().unwrap().iter().take(1) {
            let path = format!("{}/{}", key(taskset), key(task));
            for (version, number) in task["versions"].as_array().unwrap().iter().zip(1..).take(1) {
                let has_builds = version["builds"].as_array().is_some_and(|builds| !builds.is_empty());
                let path = match collection {
                    "tasks" => path.clone(),
                    "task_versions" => format!("{path}/{number}"),
                    _ if has_builds => format!("{path}/{number}/1"),
                    _ => continue,
                };
                ids.push(vec![fixture_record_id(collection, &path).to_string()]);
            }
        }
    }
    if is_visible { ids } else { vec![vec![Uuid::nil().to_string()]] }
}

fn to_texts(pairs: Vec<(Uuid, Uuid)>) -> Vec<Vec<String>> {
    pairs.into_iter().map(|(first, second)| vec![first.to_string(), second.to_string()]).collect()
}
