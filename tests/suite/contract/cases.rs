//! One test case per operation: who may call it, and sample requests. A missing case fails a test, so none is
//! forgotten.

use marketplace::clock::fixture_record_id;
use serde_json::Value;
use uuid::Uuid;

use super::{buyer_cases, vendor_cases};
use crate::harness::records::{self, demo_records, is_published, key, texts};

/// The access that a caller needs for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredAccess {
    /// A valid key.
    ValidKey,
    /// A marketplace role and the mutual NDA.
    Member,
    /// As `Member`; teams without catalog access may only get the first page without filters.
    MemberFirstPage,
    /// As `Member`, and catalog access.
    CatalogAccess,
    /// As `Member`, and either catalog access or ownership of the listing.
    CatalogAccessOrOwner,
    /// The vendor role and the mutual NDA.
    Vendor,
    /// The buyer role and the mutual NDA.
    Buyer,
}

/// A request: its key and its path.
pub type CaseRequest = (&'static str, String);

/// Test case of an operation.
pub struct Case {
    /// `operationId` in the document.
    pub operation: &'static str,
    /// Access that the caller needs.
    pub access: RequiredAccess,
    /// Requests that return 200 (of a GET operation).
    pub ok_requests: fn() -> Vec<CaseRequest>,
    /// Well-formed requests that return 404, since the resource does not exist or is not visible to the team.
    pub not_found_requests: fn() -> Vec<CaseRequest>,
    /// The documented example of the request body, `Null` if the operation takes none.
    pub body: fn() -> Value,
    /// A query with a misspelled parameter, and the name that the error suggests (empty if it suggests none).
    pub misspelled_query: (&'static str, &'static str),
}

/// Key of a buyer.
pub const BUYER: &str = "mkt_demo_buyer";
/// Key of a vendor with catalog access.
pub const VENDOR: &str = "mkt_demo_vendor";
/// Key of a team that is vendor and buyer.
pub const BOTH: &str = "mkt_demo_both";
/// Key of a vendor without catalog access.
pub const LOCKED_VENDOR: &str = "mkt_demo_locked";

/// Keys of teams with catalog access.
pub const TEAMS_WITH_CATALOG_ACCESS: [&str; 7] = [
    VENDOR,
    BUYER,
    BOTH,
    "mkt_demo_buyer_two",
    "mkt_demo_buyer_three",
    "mkt_demo_vendor_two",
    "mkt_demo_both_two",
];

/// Operations of both APIs.
const SHARED_CASES: [Case; 13] = [
    Case {
        operation: "browse_listings",
        access: RequiredAccess::MemberFirstPage,
        ok_requests: browse,
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("min_pice=3", "min_price"),
    },
    Case {
        operation: "get_browse_access",
        access: RequiredAccess::Member,
        ok_requests: || for_all_keys("/v2/listings/browse/access"),
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("unlocked=true", ""),
    },
    Case {
        operation: "get_listings_by_ids",
        access: RequiredAccess::CatalogAccess,
        ok_requests: by_ids,
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("idss=1", "ids"),
    },
    Case {
        operation: "get_listing",
        access: RequiredAccess::CatalogAccessOrOwner,
        ok_requests: || listings_by_visibility(true, &[""]),
        not_found_requests: || listings_by_visibility(false, &[""]),
        body: || Value::Null,
        misspelled_query: ("listing=1", ""),
    },
    Case {
        operation: "get_listing_quality",
        access: RequiredAccess::CatalogAccessOrOwner,
        ok_requests: || listings_by_visibility(true, &["/quality"]),
        not_found_requests: || listings_by_visibility(false, &["/quality"]),
        body: || Value::Null,
        misspelled_query: ("limit=1", ""),
    },
    Case {
        operation: "get_taskset",
        access: RequiredAccess::CatalogAccessOrOwner,
        ok_requests: || tasksets_by_visibility(true, ""),
        not_found_requests: || tasksets_by_visibility(false, ""),
        body: || Value::Null,
        misspelled_query: ("limit=1", ""),
    },
    Case {
        operation: "preview_taskset_tasks",
        access: RequiredAccess::CatalogAccessOrOwner,
        ok_requests: || tasksets_by_visibility(true, "/tasks"),
        not_found_requests: || tasksets_by_visibility(false, "/tasks"),
        body: || Value::Null,
        misspelled_query: ("offset=20", ""),
    },
    Case {
        operation: "list_domains",
        access: RequiredAccess::ValidKey,
        ok_requests: || for_all_keys("/v2/domains"),
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("limit=1", ""),
    },
    Case {
        operation: "list_inventory_tags",
        access: RequiredAccess::ValidKey,
        ok_requests: || for_all_keys("/v2/inventory-tags"),
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("category=x", ""),
    },
    Case {
        operation: "list_content_tags",
        access: RequiredAccess::ValidKey,
        ok_requests: || for_all_keys("/v2/content-tags"),
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("limit=1", ""),
    },
    Case {
        operation: "list_asset_types",
        access: RequiredAccess::ValidKey,
        ok_requests: || for_all_keys("/v2/asset-types"),
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("deprecated=true", ""),
    },
    Case {
        operation: "get_wallet",
        access: RequiredAccess::Member,
        ok_requests: || for_all_keys("/v2/wallet"),
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("currency=USD", ""),
    },
    Case {
        operation: "list_notifications",
        access: RequiredAccess::Member,
        ok_requests: notifications,
        not_found_requests: no_requests,
        body: || Value::Null,
        misspelled_query: ("limt=3", "limit"),
    },
];

/// Returns the cases of all operations.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    SHARED_CASES.iter().chain(&vendor_cases::CASES).chain(&buyer_cases::CASES)
}

impl Case {
    /// Returns the case of an operation.
    pub fn for_operation(operation: &str) -> &'static Case {
        cases().find(|row| row.operation == operation).unwrap_or_else(|| panic!("{operation} has no row"))
    }

    /// Returns the path of the first successful request, without its query.
    pub fn path(&self) -> String {
        let (_, path) = (self.ok_requests)().swap_remove(0);
        path.split('?').next().unwrap().to_owned()
    }
}

fn no_requests() -> Vec<CaseRequest> {
    Vec::new()
}

fn for_all_keys(path: &str) -> Vec<CaseRequest> {
    TEAMS_WITH_CATALOG_ACCESS.into_iter().map(|key| (key, path.to_owned())).collect()
}

fn browse() -> Vec<CaseRequest> {
    let mut requests = for_all_keys("/v2/listings/browse");
    for query in [
        "limit=100",
        "limit=1&sort=price_low",
        "sort=price_high&owned=true",
        "query=data&sort=recent",
        "query=nothingatallwillevermatchthis",
        "asset_types=bundle&asset_types=other",
        "vendor_tiers=1&vendor_tiers=9&min_price=0.01&max_price=1e12",
    ] {
        requests.extend(for_all_keys(&format!("/v2/listings/browse?{query}")));
    }
    requests
}

fn by_ids() -> Vec<CaseRequest> {
    let mut requests = for_all_keys("/v2/listings/browse/by-ids");
    let listings = demo_records().collection("listings");
    let ids: Vec<String> =
        listings.iter().map(|record| format!("ids={}", records::id("listings", record))).collect();
    for sort in ["recommended", "recent", "price_low", "price_high"] {
        requests.extend(for_all_keys(&format!("/v2/listings/browse/by-ids?sort={sort}&{}", ids.join("&"))));
    }
    requests.extend(for_all_keys(&format!("/v2/listings/browse/by-ids?ids={}", Uuid::nil())));
    requests
}

fn notifications() -> Vec<CaseRequest> {
    let mut requests = for_all_keys("/v2/vendor/notifications");
    requests.extend(for_all_keys("/v2/vendor/notifications?limit=100"));
    requests.extend(for_all_keys("/v2/vendor/notifications?limit=1"));
    requests
}

/// Whether the browse routes show a listing to a team: it is published, the team owns it, or the team bought
/// it.
pub fn is_listing_visible(team: &str, listing: &Value) -> bool {
    is_published(listing)
        || listing["team"] == team
        || !demo_records().purchase_kinds(team, key(listing)).is_empty()
}

/// Requests for each listing that is visible to the calling team (`is_seen`) or not, with each suffix in
/// `steps`.
fn listings_by_visibility(is_seen: bool, steps: &[&str]) -> Vec<CaseRequest> {
    let mut requests = Vec::new();
    for secret in TEAMS_WITH_CATALOG_ACCESS {
        let team = demo_records().team_of(secret);
        for listing in demo_records()
            .collection("listings")
            .iter()
            .filter(|listing| is_listing_visible(team, listing) == is_seen)
        {
            for step in steps {
                requests.push((
                    secret,
                    format!("/v2/listings/browse/{}{step}", records::id("listings", listing)),
                ));
            }
        }
        if !is_seen {
            requests.push((secret, format!("/v2/listings/browse/{}{}", Uuid::nil(), steps[0])));
        }
    }
    requests
}

/// Requests for tasksets on visible listings (`is_seen`), or on hidden ones, or with tasksets that are not on
/// the listing.
fn tasksets_by_visibility(is_seen: bool, step: &str) -> Vec<CaseRequest> {
    let mut requests = Vec::new();
    let path = |listing: &Value, taskset: Uuid| {
        format!("/v2/listings/browse/{}/tasksets/{taskset}{step}", records::id("listings", listing))
    };
    let any = demo_records().collection("tasksets");
    for secret in TEAMS_WITH_CATALOG_ACCESS {
        let team = demo_records().team_of(secret);
        for listing in demo_records().collection("listings") {
            let own = demo_records().taskset_keys(listing);
            let ids = own.iter().map(|key| records::id("tasksets", demo_records().find("tasksets", key)));
            if is_listing_visible(team, listing) == is_seen {
                requests.extend(ids.map(|id| (secret, path(listing, id))));
            }
            if is_seen {
                continue;
            }
            // A taskset of another listing, and the ID of an asset (or a nil UUID), which is not a taskset.
            let other = any
                .iter()
                .find(|taskset| !own.contains(&key(taskset)))
                .expect("the demo has several tasksets");
            let asset = texts(&listing["assets"]).next().map(|key| fixture_record_id("assets", key));
            requests.push((secret, path(listing, records::id("tasksets", other))));
            requests.push((secret, path(listing, asset.unwrap_or_default())));
        }
        if !is_seen {
            requests.push((
                secret,
                path(&serde_json::json!({"id": Uuid::nil()}), records::id("tasksets", &any[0])),
            ));
        }
    }
    requests
}
