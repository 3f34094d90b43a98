//! Fixture sets: the contents of the demo set, and invalid sets, which are rejected as a whole with file,
//! record and field.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::Path,
};

use marketplace::{
    artifacts::analyses,
    config::Settings,
    domain::{notifications::NotificationType, purchases},
    fixtures::{self, FixtureSet, SeedOutcome, StoredAnalysis},
    operations,
    string_enum::StringEnum,
};
use serde_json::{Value, json};

use crate::harness::{
    TestMarket, demo,
    records::{demo_records, key, stage, texts},
};

/// Counts the records of a collection by the value that `of` returns.
fn count_by<'a>(collection: &'a str, of: impl Fn(&'a Value) -> &'a str) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for record in demo_records().collection(collection) {
        *counts.entry(of(record)).or_default() += 1;
    }
    counts
}

fn string_field<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap()
}

/// Returns all values of a string enum.
fn enum_values<T: StringEnum + 'static>() -> BTreeSet<&'static str> {
    T::ALL.iter().map(|value| value.as_str()).collect()
}

fn keys_of<'a>(counts: &BTreeMap<&'a str, usize>) -> BTreeSet<&'a str> {
    counts.keys().copied().collect()
}

#[test]
fn demo_has_teams_of_every_role_tier_and_nda_state() {
    let teams = demo_records().collection("teams");
    assert!(teams.len() >= 14);
    let roles: BTreeSet<Vec<&str>> = teams.iter().map(|team| texts(&team["roles"]).collect()).collect();
    for expected in [vec![], vec!["vendor"], vec!["buyer"], vec!["vendor", "buyer"]] {
        assert!(roles.contains(&expected), "no team has exactly the roles {expected:?}");
    }
    let tiers: BTreeSet<u64> = teams.iter().map(|team| team["tier"].as_u64().unwrap()).collect();
    assert_eq!(tiers, BTreeSet::from([1, 2, 3]));
    for role in ["vendor", "buyer"] {
        let without =
            teams.iter().any(|team| team["roles"] == json!([role]) && team["nda_accepted_at"].is_null());
        assert!(without, "every {role} has accepted the NDA");
    }
    let vendors =
        teams.iter().filter(|team| team["roles"] == json!(["vendor"]) && !team["nda_accepted_at"].is_null());
    let (locked, open): (Vec<_>, Vec<_>) = vendors.partition(|team| demo_records().is_locked(key(team)));
    assert!(!locked.is_empty() && open.len() >= 3);
    let secrets: BTreeSet<&str> =
        demo_records().collection("keys").iter().map(|key| string_field(key, "secret")).collect();
    for secret in ["vendor", "buyer", "both", "locked", "no_nda", "no_role"] {
        assert!(secrets.contains(format!("mkt_demo_{secret}").as_str()), "{secret}");
    }
}

#[test]
fn demo_has_listings_of_every_stage_and_kind() {
    let listings = demo_records().collection("listings");
    let stages = count_by("listings", stage);
    assert!(listings.len() >= 120 && stages["active"] >= 70, "{stages:?}");
    assert_eq!(keys_of(&stages), BTreeSet::from(["active", "archived", "draft", "ready", "review"]));
    let published = || listings.iter().filter(|listing| stage(listing) == "active");
    let kinds: BTreeSet<&str> = published().flat_map(|listing| demo_records().asset_kinds(listing)).collect();
    assert_eq!(kinds, enum_values::<marketplace::domain::assets::Kind>());
    let events: BTreeSet<&str> = listings
        .iter()
        .flat_map(|listing| listing["history"].as_array().into_iter().flatten())
        .map(|entry| string_field(entry, "event"))
        .collect();
    for event in [
        "submitted",
        "approved",
        "published",
        "changes_requested",
        "rejected",
        "unpublished",
        "archived",
        "updated",
    ] {
        assert!(events.contains(event), "no listing has the event `{event}`");
    }
    for field in ["delivery", "tag_slugs", "terms"] {
        assert!(published().any(|listing| !listing[field].is_null()), "no published listing has {field}");
    }
    for field in ["sample_price_usd", "featured", "bundle_files", "hub_ingest"] {
        let (with, without): (Vec<_>, Vec<_>) = published().partition(|listing| !listing[field].is_null());
        assert!(!with.is_empty() && !without.is_empty(), "{field}: {} and {}", with.len(), without.len());
    }
}

#[test]
fn demo_has_thirty_listings_with_complete_tasksets() {
    let is_complete = |key: &&str| {
        let tasks = demo_records().find("tasksets", key)["tasks"].as_array().unwrap();
        let versions = || tasks.iter().flat_map(|task| task["versions"].as_array().into_iter().flatten());
        let traces = || versions().flat_map(|version| version["traces"].as_array().into_iter().flatten());
        let is_built =
            versions().any(|version| version["builds"].as_array().is_some_and(|builds| !builds.is_empty()));
        !tasks.is_empty()
            && versions().count() > 0
            && is_built
            && traces().any(|trace| trace["reward"].is_number())
    };
    let with: Vec<&Value> = demo_records()
        .collection("listings")
        .iter()
        .filter(|listing| {
            let tasksets = demo_records().taskset_keys(listing);
            !tasksets.is_empty() && tasksets.iter().all(is_complete)
        })
        .collect();
    assert!(with.len() >= 30, "only {}", with.len());
}

#[test]
fn demo_has_records_in_every_status() {
    let runs = demo_records().collection("quality_runs").iter().filter(|run| run["status"] == "completed");
    let is_failing = |run: &&Value| {
        let mut checks = run["checks"].as_array().into_iter().flatten();
        checks.any(|check| check["mandatory"] == true && check["status"] != "passed")
    };
    let (failed, passed): (Vec<_>, Vec<_>) = runs.partition(is_failing);
    assert!(!failed.is_empty() && !passed.is_empty());
    assert_eq!(
        keys_of(&count_by("offers", |offer| string_field(offer, "status"))),
        enum_values::<purchases::OfferStatus>()
    );
    assert_eq!(
        keys_of(&count_by("purchases", |purchase| string_field(purchase, "status"))),
        enum_values::<purchases::PurchaseStatus>()
    );
    assert_eq!(
        keys_of(&count_by("purchases", |purchase| string_field(purchase, "kind"))),
        enum_values::<purchases::PurchaseKind>()
    );
    assert_eq!(
        keys_of(&count_by("purchases", |purchase| string_field(purchase, "scope"))),
        enum_values::<purchases::ScopeMode>()
    );
    assert_eq!(
        keys_of(&count_by("notifications", |message| string_field(message, "type"))),
        enum_values::<NotificationType>()
    );
    let estimations = keys_of(&count_by("estimations", |estimation| string_field(estimation, "status")));
    assert_eq!(estimations, BTreeSet::from(["estimated", "failed", "pending", "unpriced"]));
    let opportunities = keys_of(&count_by("opportunities", |request| string_field(request, "status")));
    assert_eq!(opportunities, BTreeSet::from(["cancelled", "closed", "draft", "published"]));
    let modes = keys_of(&count_by("opportunities", |request| string_field(request, "visibility_mode")));
    assert_eq!(modes, BTreeSet::from(["all_except", "all_vendors"]));
    assert!(demo_records().collection("project_opportunities").len() > 3);
    let bids = keys_of(&count_by("project_bids", |bid| string_field(bid, "status")));
    assert_eq!(
        bids,
        BTreeSet::from(["accepted", "completed", "declined", "delivered", "submitted", "withdrawn"])
    );
}

/// Returns what seeding again could change: the last change number, and the numbers of teams, of all
/// listings, and of published listings.
fn market_state(market: &TestMarket) -> (u64, usize, (u64, u64)) {
    let market = market.market();
    let teams = market.read_blocking(|reader| marketplace::store::teams::list(reader.rows)).unwrap();
    let rows = rusqlite::Connection::open(market.data_dir().join("market.sqlite")).unwrap();
    let counts = "SELECT count(*), count(*) FILTER (WHERE catalog_status = 'published') FROM listings";
    let listings = rows.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (market.latest_change().unwrap(), teams.len(), listings)
}

#[test]
fn seeding_twice_changes_nothing() {
    let market = TestMarket::demo();
    let before = market_state(&market);
    assert_eq!(
        fixtures::seed(market.market(), &fixtures::demo_set().unwrap()).unwrap(),
        SeedOutcome::AlreadySeeded
    );
    assert_eq!(market_state(&market), before);
    let active =
        demo_records().collection("listings").iter().filter(|listing| stage(listing) == "active").count()
            as u64;
    assert_eq!(before.2, (demo_records().collection("listings").len() as u64, active));
    assert!(marketplace::fixtures::has_demo(market.market()).unwrap());
}

/// The harness checks the sum of the ledger after every test; this test covers every account of the demo
/// market.
#[test]
fn demo_ledger_sums_to_zero() {
    let market = demo().market();
    let unbalanced =
        market.read_blocking(|reader| marketplace::store::verify::unbalanced_entries(reader.rows)).unwrap();
    assert!(unbalanced.is_empty(), "{unbalanced:?}");
    let rows = rusqlite::Connection::open(market.data_dir().join("market.sqlite")).unwrap();
    let sum = "SELECT sum(cents), count(*) FROM ledger_postings";
    let (sum, postings): (i64, u64) = rows.query_row(sum, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(sum, 0);
    assert!(postings > 100);
}

/// Returns a small valid set.
fn valid_set() -> Value {
    json!({
        "teams": [
            {"key": "seller", "name": "Seller", "roles": ["vendor"], "tier": 1, "created_at": "-P9D"},
            {"key": "buyer", "name": "Buyer", "roles": ["buyer"], "tier": 1, "created_at": "-P9D"},
        ],
        "keys": [{"key": "k", "team": "seller", "name": "K", "secret": "mkt_fault", "created_at": "-P9D"}],
        "tasksets": [{"key": "t", "team": "seller", "name": "T", "created_at": "-P9D"}],
        "assets": [
            {"key": "a", "team": "seller", "sku": "raw_data", "title": "A", "created_at": "-P8D", "raw_data": {}},
            {"key": "foreign", "team": "buyer", "sku": "raw_data", "title": "A", "created_at": "-P8D", "raw_data": {}},
            {"key": "code", "team": "seller", "sku": "codebase", "title": "C", "created_at": "-P8D", "codebase": {
                "exclusivity": "available", "history_start": "2020-01-01", "history_end": "2020-01-01",
                "data": {"channel": "zip", "archive_status": "completed", "analysis_status": "completed",
                    "attached_at": "-P7D", "analyzed_at": "-P6D"}}},
        ],
        "listings": [{
            "key": "l", "team": "seller", "title": "L", "description": "D", "price_usd": 10, "assets": ["a"],
            "created_at": "-P7D", "history": [{"event": "submitted", "at": "-P6D"}, {"event": "approved", "at": "-P5D"}],
        }],
        "offers": [{"key": "o", "listing": "l", "buyer": "buyer", "amount_usd": 5, "status": "submitted", "created_at": "-P1D"}],
        "purchases": [{"key": "p", "listing": "l", "buyer": "buyer", "kind": "full", "status": "completed", "scope": "all",
            "created_at": "-P2D", "paid_at": "-P2D"}],
        "ledger_entries": [{"key": "e", "team": "seller", "entry_type": "adjustment", "amount_usd": 50, "description": "C",
            "created_at": "-P9D"}],
        "quality_runs": [{"key": "q", "listing": "l", "status": "completed", "triggered_by": "team", "started_at": "-P4D",
            "completed_at": "-P4D", "checks": []}],
        "notifications": [{"key": "n", "team": "seller", "type": "listing_approved", "title": "T", "message": "M",
            "created_at": "-P5D"}],
    })
}

#[test]
fn valid_set_is_written() {
    let market = TestMarket::empty();
    market.seed_json(&valid_set());
    assert_eq!(market_state(&market).2, (1, 0));
}

#[test]
#[allow(clippy::too_many_lines)] // The function is a table.
fn invalid_record_is_rejected_with_its_location_and_nothing_is_written() {
    let event = |event: &str, at: &str| json!({"event": event, "at": at});
    // Where the value is put, the value, the record and the field that the error names, and a part of its
    // message.
    let cases: Vec<(&str, Value, &str, &str, &str)> = vec![
        ("/listings/0/team", json!("sellr"), "listings \"l\"", "team", "did you mean \"seller\"?"),
        ("/listings/0/assets", json!(["zzz"]), "listings \"l\"", "assets", "there is no asset"),
        ("/listings/0/assets", json!(["foreign"]), "listings \"l\"", "assets", "belongs to another team"),
        ("/listings/0/domain_tags", json!(["financ"]), "listings \"l\"", "domain_tags", "finance"),
        (
            "/listings/0/tag_slugs",
            json!(["images", "images"]),
            "listings \"l\"",
            "tag_slugs",
            "more than once",
        ),
        ("/listings/0/title", json!(""), "listings \"l\"", "title", "1 to 200"),
        ("/listings/0/title", json!("x".repeat(201)), "listings \"l\"", "title", "1 to 200"),
        ("/listings/0/description", json!("a\u{0}b"), "listings \"l\"", "description", "control"),
        ("/listings/0/key", json!("L L"), "listings \"L L\"", "key", "a-z"),
        ("/listings/0/created_at", json!("P1D"), "listings \"l\"", "created_at", "future"),
        ("/listings/0/created_at", json!("yesterday"), "listings \"l\"", "created_at", "RFC 3339"),
        ("/listings/0/price_usd", json!(-1), "listings \"l\"", "price_usd", "amount"),
        ("/listings/0/price_usd", json!(1.001), "listings \"l\"", "price_usd", "amount"),
        ("/listings/0/price_usd", json!("10"), "listings \"l\"", "price_usd", "invalid type"),
        ("/listings/0/price_usd", Value::Null, "listings \"l\"", "history[0]", "price"),
        ("/listings/0/assets", json!([]), "listings \"l\"", "history[0]", "assets"),
        (
            "/listings/0/history",
            json!([event("published", "-P6D")]),
            "listings \"l\"",
            "history[0]",
            "not allowed",
        ),
        ("/listings/0/history", json!([event("submitted", "-P9D")]), "listings \"l\"", "history[0]", "after"),
        ("/listings/0/history", json!([event("submitted", "P1D")]), "listings \"l\"", "history[0]", "future"),
        (
            "/listings/0/history",
            json!([event("certified", "-P6D")]),
            "listings \"l\"",
            "history[0]",
            "is derived",
        ),
        (
            "/listings/0/history",
            json!([event("created", "-P6D")]),
            "listings \"l\"",
            "history[0]",
            "is derived",
        ),
        (
            "/listings/0/history",
            json!([event("gone", "-P6D")]),
            "listings \"l\"",
            "history[0].event",
            "unknown variant",
        ),
        (
            "/listings/0/catalog_status",
            json!("published"),
            "listings \"l\"",
            "catalog_status",
            "unknown field",
        ),
        ("/listings/0/catalog_scale", json!({"loc": 5}), "listings \"l\"", "catalog_scale", "unknown field"),
        (
            "/listings/0/delivery",
            json!({"method": "post", "expected_days": 1}),
            "listings \"l\"",
            "delivery.method",
            "unknown variant",
        ),
        (
            "/listings/0/bundle_files",
            json!([{"path": "a", "size_bytes": 1, "sha256": "zz"}]),
            "listings \"l\"",
            "bundle_files.sha256",
            "64",
        ),
        ("/assets/0/stage", json!("complete"), "assets \"a\"", "stage", "unknown field"),
        ("/assets/0/raw_data", Value::Null, "assets \"a\"", "raw_data", "is required for"),
        ("/assets/0/other", json!([]), "assets \"a\"", "other", "is not allowed for"),
        ("/assets/0/sku", json!("codebase"), "assets \"a\"", "codebase", "is required for"),
        ("/assets/0/sku", json!("zip"), "assets \"a\"", "sku", "unknown variant"),
        ("/assets/0/group", json!("g"), "assets \"a\"", "group", "there is no group"),
        (
            "/assets/0/raw_data",
            json!({"file_extensions": [".CSV"]}),
            "assets \"a\"",
            "raw_data.file_extensions",
            "lowercase",
        ),
        (
            "/assets/0/raw_data",
            json!({"data": {"channel": "zip", "attached_at": "-P1D", "source": "a.zip"}}),
            "assets \"a\"",
            "data.source",
            "there is no file under artifacts/",
        ),
        (
            "/assets/0/raw_data",
            json!({"data": {"channel": "zip", "attached_at": "-P1D", "source": "a.zip", "archive_bytes": 7}}),
            "assets \"a\"",
            "data.archive_bytes",
            "is read from `source`",
        ),
        (
            "/assets/0/raw_data",
            json!({"data": {"channel": "zip", "attached_at": "-P1D"}}),
            "assets \"a\"",
            "data.archive_status",
            "is required without `source`",
        ),
        (
            "/assets/2/codebase/history_end",
            json!("2019-12-31"),
            "assets \"code\"",
            "codebase.history_end",
            "must not be before `codebase.history_start`",
        ),
        (
            "/assets/2/codebase/history_end",
            json!("2999-01-01"),
            "assets \"code\"",
            "codebase.history_end",
            "is in the future",
        ),
        (
            "/assets/2/codebase/data/attached_at",
            json!("-P9D"),
            "assets \"code\"",
            "data.attached_at",
            "must not be before `created_at`",
        ),
        (
            "/assets/2/codebase/data/analyzed_at",
            json!("-P8D"),
            "assets \"code\"",
            "data.analyzed_at",
            "must not be before `data.attached_at`",
        ),
        (
            "/purchases/0/paid_at",
            json!("-P3D"),
            "purchases \"p\"",
            "paid_at",
            "must not be before `created_at`",
        ),
        (
            "/quality_runs/0/completed_at",
            json!("-P5D"),
            "quality_runs \"q\"",
            "completed_at",
            "must not be before `started_at`",
        ),
        ("/teams/0/tier", json!(4), "teams \"seller\"", "tier", "1, 2 or 3"),
        ("/teams/0/roles", json!(["boss"]), "teams \"seller\"", "roles[0]", "unknown variant"),
        ("/teams/1/key", json!("seller"), "teams \"seller\"", "key", "duplicate"),
        ("/keys/0/secret", json!("short"), "keys \"k\"", "secret", "8"),
        ("/keys/0/team", json!("nobody"), "keys \"k\"", "team", "there is no team"),
        ("/offers/0/buyer", json!("seller"), "offers \"o\"", "buyer", "own"),
        ("/offers/0/status", json!("accepted"), "offers \"o\"", "decided_at", "decided"),
        ("/offers/0/amount_usd", json!(-5), "offers \"o\"", "amount_usd", "amount"),
        ("/purchases/0/listing", json!("zzz"), "purchases \"p\"", "listing", "there is no listing"),
        ("/purchases/0/paid_at", Value::Null, "purchases \"p\"", "paid_at", "paid"),
        ("/purchases/0/scope", json!("selection"), "purchases \"p\"", "assets", "selection"),
        ("/purchases/0/kind", json!("accepted_bid"), "purchases \"p\"", "offer", ""),
        ("/purchases/0/buyer_fee", json!(1), "purchases \"p\"", "buyer_fee", "unknown field"),
        ("/ledger_entries/0/entry_type", json!("sale"), "ledger_entries \"e\"", "entry_type", "is derived"),
        ("/ledger_entries/0/amount_usd", json!(-50), "ledger_entries \"e\"", "amount_usd", "more than"),
        (
            "/quality_runs/0/mandatory_passed",
            json!(true),
            "quality_runs \"q\"",
            "mandatory_passed",
            "unknown field",
        ),
        ("/quality_runs/0/completed_at", Value::Null, "quality_runs \"q\"", "completed_at", "ended"),
        ("/quality_runs/0/asset", json!("a"), "quality_runs \"q\"", "listing", "either"),
        ("/notifications/0/type", json!("hello"), "notifications \"n\"", "type", "unknown variant"),
        ("/notifications/0/task", json!("t/none"), "notifications \"n\"", "task", "there is no task"),
    ];
    let market = TestMarket::empty();
    let before = market_state(&market);
    for (pointer, value, record, field, expected) in cases {
        let mut set = valid_set();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        set.pointer_mut(parent).unwrap()[name] = value.clone();
        let parsed = FixtureSet::parse("faulty", &[("faulty/one.json".to_owned(), set.to_string())]);
        let error = match parsed {
            Err(error) => error.to_string(),
            Ok(set) => match fixtures::seed(market.market(), &set) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("{pointer} = {value} was accepted"),
            },
        };
        let location = format!("faulty/one.json: {record}: {field}: ");
        assert!(
            error.starts_with(&location) && error.contains(expected),
            "{pointer} = {value}: {error}, expected {location}… {expected}"
        );
        assert_eq!(market_state(&market), before, "{pointer} = {value} changed the market");
    }
    // A valid set is still accepted, but another set cannot contain its records again.
    market.seed_json(&valid_set());
    let again = json!({"teams": [valid_set()["teams"][0]]});
    let set = FixtureSet::parse("again", &[("again.json".to_owned(), again.to_string())]).unwrap();
    let error = fixtures::seed(market.market(), &set).unwrap_err().to_string();
    assert!(error.starts_with("again.json: teams \"seller\": key: "), "{error}");
}

/// The stored analyses of the demo's zip files and repositories match new ones. `READINGS_UPDATE=1` updates
/// them.
#[test]
fn stored_analyses_match_fresh_analyses() {
    let demo = fixtures::demo_set().unwrap();
    let settings = Settings::default();
    let directory = tempfile::tempdir().unwrap();
    let sources = demo.attachments.source_names();
    assert_eq!(
        sources,
        [
            "adrules.git",
            "calib.git",
            "cartwheel.zip",
            "fieldnote-sync.git",
            "gauge-readings.zip",
            "gripper-episodes.zip",
            "lightdesk.git",
            "pumplog.git",
            "slidepager.git",
            "tactics.git",
            "ticket-queue.git",
            "tide-tables.git"
        ]
    );
    for name in sources {
        let source = demo.attachments.find_source(name).unwrap().unwrap();
        let path = directory.path().join(name);
        let fresh = if source.is_zip() {
            std::io::copy(&mut source.open().unwrap(), &mut File::create(&path).unwrap()).unwrap();
            let limits = operations::archive_analysis::limits(&settings);
            let is_codebase = demo_records()
                .collection("assets")
                .iter()
                .any(|asset| asset["codebase"]["data"]["source"] == name);
            StoredAnalysis::Archive(analyses::analyze_archive(&path, is_codebase, limits, &|| true).unwrap())
        } else {
            source.write_repository(&path).unwrap();
            let limits = operations::repository_analysis::limits(&settings.repositories);
            // 2026-03-01 UTC, which is after the last commit.
            StoredAnalysis::Repository(
                analyses::analyze_repository(&path, limits, 1_772_323_200, &|| true).unwrap(),
            )
        };
        if std::env::var_os("READINGS_UPDATE").is_some() {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo/readings");
            std::fs::create_dir_all(&directory).unwrap();
            let text = serde_json::to_string_pretty(&fresh).unwrap() + "\n";
            std::fs::write(directory.join(format!("{}.json", source.digest)), text).unwrap();
            continue;
        }
        let stored = demo.attachments.stored_analysis(&source).unwrap();
        assert_eq!(stored, Some(fresh), "{name}: run this test with READINGS_UPDATE=1");
    }
}

/// Data that comes from a real source is read from it and not from the fixture file.
#[tokio::test]
async fn demo_codebase_from_a_real_repository_is_analyzed() {
    let market = TestMarket::demo();
    let of = |key: &str| marketplace::clock::fixture_record_id("assets", key).to_string();
    let tide =
        market.get("mkt_demo_vendor", &format!("/v2/codebases/{}", of("lumen-tide-tables"))).await.ok();
    let expected = serde_json::json!({"commits": 6, "contributors": 3, "merged_prs": 3, "ci_on_prs": true,
        "history_start": "2021-03-08", "history_end": "2023-11-27", "stage": "complete"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&tide[field], value, "{field}");
    }
    assert_eq!(tide["locked_fields"]["description"], "github");
    let run = market
        .call(
            "mkt_demo_vendor",
            "POST",
            &format!("/v2/codebases/{}/qc/runs", of("lumen-tide-tables")),
            &serde_json::Value::Null,
        )
        .await;
    run.expect_status(202);
    market.run_background();
    let quality =
        market.get("mkt_demo_vendor", &format!("/v2/codebases/{}/qc", of("lumen-tide-tables"))).await.ok();
    assert_eq!(quality["latest_run"]["mandatory_passed"], true, "{quality:#}");
}
