//! What each operation needs and how it is asked: one row an operation, so that a new one cannot be forgotten.

use marketplace::clock::record_id;
use serde_json::Value;
use uuid::Uuid;

use super::{buyer_rows, vendor_rows};
use crate::harness::records::{self, demo_records, is_published, key, texts};

/// What a caller needs for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A valid key.
    Key,
    /// A marketplace role and the mutual NDA.
    Member,
    /// The same; and in front of the browse gate only the bare request is served.
    FirstPage,
    /// The same, and an open browse gate.
    OpenGate,
    /// The same, and an open browse gate or a listing of one's own.
    OpenGateOrOwn,
    /// The vendor's role and the mutual NDA.
    Vendor,
    /// The buyer's role and the mutual NDA.
    Buyer,
}

/// A request: the key that it comes with, and its path.
pub type Asked = (&'static str, String);

/// An operation and how it is asked.
pub struct Row {
    /// Its `operationId`.
    pub operation: &'static str,
    /// What a caller needs.
    pub needs: Needs,
    /// Paths that some team gets 200 from.
    pub happy: fn() -> Vec<Asked>,
    /// Paths that are well-formed and lead nowhere for the team: 404.
    pub absent: fn() -> Vec<Asked>,
    /// A body of the operation's own example, where it takes one.
    pub body: fn() -> Value,
    /// A query that has a misspelt name, and the name that it means; empty where the operation takes none.
    pub misspelt: (&'static str, &'static str),
}

/// Teams of each kind, by their keys.
pub const BUYER: &str = "mkt_demo_buyer";
/// A vendor past the gate.
pub const VENDOR: &str = "mkt_demo_vendor";
/// A team that sells and buys.
pub const BOTH: &str = "mkt_demo_both";
/// A vendor in front of the gate.
pub const LOCKED: &str = "mkt_demo_locked";

/// Keys of teams that may browse everything.
pub const OPEN: [&str; 7] = [
    VENDOR,
    BUYER,
    BOTH,
    "mkt_demo_buyer_two",
    "mkt_demo_buyer_three",
    "mkt_demo_vendor_two",
    "mkt_demo_both_two",
];

/// Operations that both sides share.
const SHARED: [Row; 13] = [
    Row {
        operation: "browse_listings",
        needs: Needs::FirstPage,
        happy: browse,
        absent: nothing,
        body: || Value::Null,
        misspelt: ("min_pice=3", "min_price"),
    },
    Row {
        operation: "get_browse_access",
        needs: Needs::Member,
        happy: || everybody("/v2/listings/browse/access"),
        absent: nothing,
        body: || Value::Null,
        misspelt: ("unlocked=true", ""),
    },
    Row {
        operation: "get_listings_by_ids",
        needs: Needs::OpenGate,
        happy: by_ids,
        absent: nothing,
        body: || Value::Null,
        misspelt: ("idss=1", "ids"),
    },
    Row {
        operation: "get_listing",
        needs: Needs::OpenGateOrOwn,
        happy: || on_listings(true, &[""]),
        absent: || on_listings(false, &[""]),
        body: || Value::Null,
        misspelt: ("listing=1", ""),
    },
    Row {
        operation: "get_listing_quality",
        needs: Needs::OpenGateOrOwn,
        happy: || on_listings(true, &["/quality"]),
        absent: || on_listings(false, &["/quality"]),
        body: || Value::Null,
        misspelt: ("limit=1", ""),
    },
    Row {
        operation: "get_taskset",
        needs: Needs::OpenGateOrOwn,
        happy: || on_tasksets(true, ""),
        absent: || on_tasksets(false, ""),
        body: || Value::Null,
        misspelt: ("limit=1", ""),
    },
    Row {
        operation: "preview_taskset_tasks",
        needs: Needs::OpenGateOrOwn,
        happy: || on_tasksets(true, "/tasks"),
        absent: || on_tasksets(false, "/tasks"),
        body: || Value::Null,
        misspelt: ("offset=20", ""),
    },
    Row {
        operation: "list_domains",
        needs: Needs::Key,
        happy: || everybody("/v2/domains"),
        absent: nothing,
        body: || Value::Null,
        misspelt: ("limit=1", ""),
    },
    Row {
        operation: "list_inventory_tags",
        needs: Needs::Key,
        happy: || everybody("/v2/inventory-tags"),
        absent: nothing,
        body: || Value::Null,
        misspelt: ("category=x", ""),
    },
    Row {
        operation: "list_content_tags",
        needs: Needs::Key,
        happy: || everybody("/v2/content-tags"),
        absent: nothing,
        body: || Value::Null,
        misspelt: ("limit=1", ""),
    },
    Row {
        operation: "list_asset_types",
        needs: Needs::Key,
        happy: || everybody("/v2/asset-types"),
        absent: nothing,
        body: || Value::Null,
        misspelt: ("deprecated=true", ""),
    },
    Row {
        operation: "get_wallet",
        needs: Needs::Member,
        happy: || everybody("/v2/wallet"),
        absent: nothing,
        body: || Value::Null,
        misspelt: ("currency=USD", ""),
    },
    Row {
        operation: "list_notifications",
        needs: Needs::Member,
        happy: notifications,
        absent: nothing,
        body: || Value::Null,
        misspelt: ("limt=3", "limit"),
    },
];

/// Every operation.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    SHARED.iter().chain(&vendor_rows::ROWS).chain(&buyer_rows::ROWS)
}

impl Row {
    /// The row of an operation.
    pub fn of(operation: &str) -> &'static Row {
        rows().find(|row| row.operation == operation).unwrap_or_else(|| panic!("{operation} has no row"))
    }

    /// The path of the operation's first happy request, without its query.
    pub fn path(&self) -> String {
        let (_, path) = (self.happy)().swap_remove(0);
        path.split('?').next().unwrap().to_owned()
    }
}

fn nothing() -> Vec<Asked> {
    Vec::new()
}

fn everybody(path: &str) -> Vec<Asked> {
    OPEN.into_iter().map(|key| (key, path.to_owned())).collect()
}

fn browse() -> Vec<Asked> {
    let mut asked = everybody("/v2/listings/browse");
    for query in [
        "limit=100",
        "limit=1&sort=price_low",
        "sort=price_high&owned=true",
        "query=data&sort=recent",
        "query=nothingatallwillevermatchthis",
        "asset_types=bundle&asset_types=other",
        "vendor_tiers=1&vendor_tiers=9&min_price=0.01&max_price=1e12",
    ] {
        asked.extend(everybody(&format!("/v2/listings/browse?{query}")));
    }
    asked
}

fn by_ids() -> Vec<Asked> {
    let mut asked = everybody("/v2/listings/browse/by-ids");
    let listings = demo_records().of("listings");
    let ids: Vec<String> =
        listings.iter().map(|record| format!("ids={}", records::id("listings", record))).collect();
    for sort in ["recommended", "recent", "price_low", "price_high"] {
        asked.extend(everybody(&format!("/v2/listings/browse/by-ids?sort={sort}&{}", ids.join("&"))));
    }
    asked.extend(everybody(&format!("/v2/listings/browse/by-ids?ids={}", Uuid::nil())));
    asked
}

fn notifications() -> Vec<Asked> {
    let mut asked = everybody("/v2/vendor/notifications");
    asked.extend(everybody("/v2/vendor/notifications?limit=100"));
    asked.extend(everybody("/v2/vendor/notifications?limit=1"));
    asked
}

/// Whether the browse routes show a listing to a team: one in the catalog, its own, or one that it bought of.
pub fn may_see(team: &str, listing: &Value) -> bool {
    is_published(listing) || listing["team"] == team || !demo_records().bought(team, key(listing)).is_empty()
}

/// Listings of every kind with the keys of the teams that see them (or do not), and further steps of the path.
fn on_listings(is_seen: bool, steps: &[&str]) -> Vec<Asked> {
    let mut asked = Vec::new();
    for secret in OPEN {
        let team = demo_records().team_of(secret);
        for listing in
            demo_records().of("listings").iter().filter(|listing| may_see(team, listing) == is_seen)
        {
            for step in steps {
                asked.push((
                    secret,
                    format!("/v2/listings/browse/{}{step}", records::id("listings", listing)),
                ));
            }
        }
        if !is_seen {
            asked.push((secret, format!("/v2/listings/browse/{}{}", Uuid::nil(), steps[0])));
        }
    }
    asked
}

/// Tasksets on listings that teams see; or ones that they do not see, or that stand on other listings.
fn on_tasksets(is_seen: bool, step: &str) -> Vec<Asked> {
    let mut asked = Vec::new();
    let path = |listing: &Value, taskset: Uuid| {
        format!("/v2/listings/browse/{}/tasksets/{taskset}{step}", records::id("listings", listing))
    };
    let any = demo_records().of("tasksets");
    for secret in OPEN {
        let team = demo_records().team_of(secret);
        for listing in demo_records().of("listings") {
            let own = demo_records().tasksets(listing);
            let ids = own.iter().map(|key| records::id("tasksets", demo_records().find("tasksets", key)));
            if may_see(team, listing) == is_seen {
                asked.extend(ids.map(|id| (secret, path(listing, id))));
            }
            if is_seen {
                continue;
            }
            // One that stands on another listing, one that is an asset's id, and one that is nothing's.
            let other =
                any.iter().find(|taskset| !own.contains(&key(taskset))).expect("there are several tasksets");
            let asset = texts(&listing["assets"]).next().map(|key| record_id("assets", key));
            asked.push((secret, path(listing, records::id("tasksets", other))));
            asked.push((secret, path(listing, asset.unwrap_or_default())));
        }
        if !is_seen {
            asked.push((
                secret,
                path(&serde_json::json!({"id": Uuid::nil()}), records::id("tasksets", &any[0])),
            ));
        }
    }
    asked
}
