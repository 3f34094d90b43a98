//! Domains, tags, and asset kinds, and how a kind retires.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        assets::Kind,
        notifications::NotificationType,
        taxonomy::{InventoryTag, Label},
        time::Timestamp,
    },
    error::{Error, Result},
    operations::{
        asset_types::{self, DeprecationInput},
        taxonomy, team_closures,
    },
};
use serde_json::{Value, json};

use super::{HOUR, event_types, events, notifications, platform, problems, refusal, run_steps};
use crate::{
    catalog::small_market::{BROWSE, matching_keys, published, small_market, small_market_with},
    harness::{NOW, TestMarket, elements},
};

fn label(slug: &str, label: &str) -> Label {
    Label { slug: slug.to_owned(), label: label.to_owned() }
}

fn inventory_tag(slug: &str, label: &str) -> InventoryTag {
    let text = |text: &str| text.to_owned();
    InventoryTag {
        slug: text(slug),
        label: text(label),
        description: text("About it."),
        category: text("other"),
    }
}

/// Checks which listings each word finds.
async fn check_words(market: &TestMarket, cases: &[(&str, &[&str])]) {
    for (word, expected) in cases {
        assert_eq!(matching_keys(market, &format!("query={word}")).await, *expected, "{word}");
    }
}

#[tokio::test]
async fn listing_is_found_by_the_new_label_of_its_domain_and_tag() {
    let market = small_market(&[]);
    market.write(|writer| taxonomy::create_domain(writer, platform(), &label("kelp", "Seaweed"))).unwrap();
    market
        .write(|writer| taxonomy::create_inventory_tag(writer, platform(), &inventory_tag("reef", "Corals")))
        .unwrap();
    let record = published("a", 3, &json!({"domain_tags": ["kelp"], "tag_slugs": ["reef"], "assets": ["f"]}));
    market.seed_json(&json!({
        "teams": [{"key": "v", "name": "V", "roles": ["vendor"], "tier": 1, "nda_accepted_at": "-P99D", "created_at": "-P99D"}],
        "assets": [{"key": "f", "team": "v", "sku": "raw_data", "title": "F", "created_at": "-P95D", "raw_data": {}}],
        "listings": [{"team": "v", "key": "a", "title": "T", "description": "D", "price_usd": 5, "created_at": "-P90D",
            "assets": record["assets"], "domain_tags": ["kelp"], "tag_slugs": ["reef"], "history": record["history"]}],
    }));
    assert_eq!(matching_keys(&market, "query=seaweed").await, ["a"]);
    market.write(|writer| taxonomy::update_domain(writer, platform(), &label("kelp", "Algae"))).unwrap();
    market
        .write(|writer| taxonomy::update_inventory_tag(writer, platform(), &inventory_tag("reef", "Atolls")))
        .unwrap();
    check_words(&market, &[("seaweed", &[]), ("algae", &["a"]), ("corals", &[]), ("atolls", &["a"])]).await;
    let expected = ["domain.created", "inventory_tag.created", "domain.updated", "inventory_tag.updated"];
    assert_eq!(event_types(&market, &["domain.", "inventory_tag."]), expected);
}

#[tokio::test]
async fn domain_and_tag_with_the_same_slug_have_their_own_labels() {
    let own = json!({
        "domains": [{"slug": "kelp", "label": "Seaweed"}],
        "inventory_tags": [{"slug": "kelp", "label": "Underwater", "description": "About it.", "category": "other"}],
    });
    let market = small_market_with(
        &[
            published("a", 3, &json!({"domain_tags": ["kelp"]})),
            published("b", 2, &json!({"tag_slugs": ["kelp"]})),
        ],
        &own,
    );
    check_words(&market, &[("seaweed", &["a"]), ("underwater", &["b"])]).await;
    market.write(|writer| taxonomy::update_domain(writer, platform(), &label("kelp", "Algae"))).unwrap();
    check_words(&market, &[("algae", &["a"]), ("seaweed", &[]), ("underwater", &["b"])]).await;
    market
        .write(|writer| {
            taxonomy::update_inventory_tag(writer, platform(), &inventory_tag("kelp", "Submarine"))
        })
        .unwrap();
    check_words(&market, &[("algae", &["a"]), ("submarine", &["b"]), ("underwater", &[])]).await;
}

#[test]
fn slugs_are_unique_and_stay() {
    let market = small_market(&[]);
    let create = |slug: &str| {
        market.write(|writer| taxonomy::create_content_tag(writer, platform(), &label(slug, "Label")))
    };
    create("sea_maps").unwrap();
    assert!(matches!(create("sea_maps"), Err(Error::Conflict(_))));
    for slug in ["", "Maps", "a b", &"x".repeat(65)] {
        assert_eq!(problems(create(slug)).len(), 1, "{slug:?}");
    }
    let update = |slug: &str, text: &str| {
        market.write(|writer| taxonomy::update_content_tag(writer, platform(), &label(slug, text)))
    };
    assert!(matches!(update("absent", "Label"), Err(Error::NotFound(_))));
    assert_eq!(problems(update("sea_maps", " ")).len(), 1);
    update("sea_maps", "Charts").unwrap();
    assert_eq!(event_types(&market, &["content_tag."]), ["content_tag.created", "content_tag.updated"]);
    let create_domain =
        |slug: &str| market.write(|writer| taxonomy::create_domain(writer, platform(), &label(slug, "L")));
    assert!(matches!(create_domain("finance"), Err(Error::Conflict(_))));
}

fn deprecate(market: &TestMarket, hours: i64) -> Result<()> {
    let retires_at = Timestamp::parse(NOW).unwrap().plus_micros(hours * HOUR);
    let input = DeprecationInput { retires_at, accepts_new_listings: false, message: "Use a codebase." };
    market.write(|writer| asset_types::deprecate(writer, platform(), Kind::RawData, &input)).map(|_| ())
}

async fn listing_a(market: &TestMarket) -> Value {
    let id = fixture_record_id("listings", "a");
    market.get("mkt_buyer", &format!("{BROWSE}/{id}")).await.ok()
}

#[tokio::test]
async fn deprecated_kind_retires_at_its_time() {
    let market = small_market(&[published("a", 3, &json!({}))]);
    assert_eq!(problems(deprecate(&market, 0)).len(), 1);
    deprecate(&market, 48).unwrap();
    let detail = listing_a(&market).await;
    assert_eq!(detail["deprecation"]["types"], json!(["raw_data"]), "{detail}");
    assert_eq!(detail["carries_retired_sku"], false);
    market.clock().advance(49 * HOUR);
    run_steps(&market);
    assert_eq!(listing_a(&market).await["carries_retired_sku"], true);
    let found = events(&market, &["asset_type."]);
    assert_eq!(event_types(&market, &["asset_type."]), ["asset_type.deprecated", "asset_type.retired"]);
    assert_eq!((found[0].subject.as_str(), &found[0].data["vendors"]["count"]), ("raw_data", &json!(1)));
    assert_eq!(found[1].occurred_at, "2026-03-03T09:00:00.000Z");
    assert_eq!(refusal(deprecate(&market, 99)), ("retired", vec!["disable"]));
}

#[test]
fn vendors_of_a_deprecated_kind_are_notified_by_one_statement() {
    let market = small_market(&[
        published("a", 3, &json!({})),
        published("b", 3, &json!({"team": "both"})),
        published("c", 3, &json!({"team": "both"})),
    ]);
    let statements = |hours: i64| {
        let before = market.market().statement_count();
        deprecate(&market, hours).unwrap();
        market.market().statement_count() - before
    };
    let with_two = statements(48);
    for team in ["Seller house", "Both house"] {
        let (kind, message) = notifications(&market, team).into_iter().next().unwrap();
        assert_eq!(kind, NotificationType::AssetTypeDeprecated);
        assert!(message.contains("will be retired at 3 March 2026, 09:00 UTC. Use a codebase."), "{message}");
    }
    assert!(notifications(&market, "Buyer house").is_empty());
    let told = &events(&market, &["asset_type."])[0].data["vendors"];
    let ids = ["seller", "both"].map(|key| fixture_record_id("teams", key).to_string());
    assert_eq!(told, &json!({"count": 2, "team_ids": ids}));
    // A closed team hears nothing. The number of statements does not depend on the number of teams.
    market
        .write(|writer| {
            team_closures::close(
                writer,
                platform(),
                marketplace::domain::listings::Actor::Platform,
                "Both house",
            )
        })
        .unwrap();
    assert_eq!(statements(72), with_two);
    assert_eq!(notifications(&market, "Both house").len(), 1);
    assert_eq!(notifications(&market, "Seller house").len(), 2);
}

#[tokio::test]
async fn kind_that_an_operator_retires_early_retires_once() {
    let market = small_market(&[published("a", 3, &json!({}))]);
    let retire = || market.write(|writer| asset_types::retire(writer, platform(), Kind::RawData));
    assert_eq!(refusal(retire()), ("current", vec!["enable", "disable", "deprecate"]));
    deprecate(&market, 48).unwrap();
    retire().unwrap();
    assert_eq!(listing_a(&market).await["carries_retired_sku"], true);
    market.clock().advance(72 * HOUR);
    run_steps(&market);
    assert_eq!(event_types(&market, &["asset_type."]), ["asset_type.deprecated", "asset_type.retired"]);
}

#[test]
fn disabled_kind_is_enabled_again() {
    let market = small_market(&[]);
    let set = |is_enabled| {
        market
            .write(|writer| asset_types::set_enabled(writer, platform(), Kind::Codebase, is_enabled))
            .unwrap()
    };
    assert!(!set(false).is_enabled && !set(false).is_enabled && set(true).is_enabled);
    assert_eq!(event_types(&market, &["asset_type."]), ["asset_type.disabled", "asset_type.enabled"]);
}

#[test]
fn retired_kind_that_is_disabled_does_not_retire_again() {
    let market = small_market(&[]);
    deprecate(&market, 48).unwrap();
    market.clock().advance(49 * HOUR);
    run_steps(&market);
    market.write(|writer| asset_types::set_enabled(writer, platform(), Kind::RawData, false)).unwrap();
    run_steps(&market);
    let expected = ["asset_type.deprecated", "asset_type.retired", "asset_type.disabled"];
    assert_eq!(event_types(&market, &["asset_type."]), expected);
}

#[tokio::test]
async fn retired_kind_stays_retired_when_the_clock_jumps_back() {
    let market = small_market(&[published("a", 3, &json!({}))]);
    deprecate(&market, 48).unwrap();
    market.clock().advance(49 * HOUR);
    run_steps(&market);
    market.clock().advance(-40 * HOUR);
    assert_eq!(refusal(deprecate(&market, 99)), ("retired", vec!["disable"]));
    assert_eq!(listing_a(&market).await["carries_retired_sku"], true);
    let types = market.get("mkt_buyer", "/v2/asset-types").await.ok();
    let retired = elements(&types["deprecated_asset_types"]).find(|kind| kind["slug"] == "raw_data");
    assert_eq!(retired.unwrap()["deprecation"]["retired"], true, "{types}");
    market.clock().advance(40 * HOUR);
    run_steps(&market);
    assert_eq!(event_types(&market, &["asset_type."]), ["asset_type.deprecated", "asset_type.retired"]);
}
