//! Names, roles, tiers, avatars, payout setups, and the closing of teams.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        listings::{Actor, CatalogStatus},
        money::Cents,
        purchases::{PayWith, PurchaseKind},
        teams::Role,
    },
    error::{Error, Result},
    operations::{
        grants, keys, listing_lifecycle,
        offers::{self, OfferInput},
        purchases::{self, PurchaseInput},
        team_closures, teams,
    },
    store,
};
use serde_json::{Value, json};

use super::{event_types, events, platform, problems};
use crate::{
    catalog::small_market::{BROWSE, listing, published, small_market, small_market_with},
    harness::{TestMarket, grant_input},
};

fn conflict<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(Error::Conflict(message)) => message,
        other => panic!("not a conflict: {other:?}"),
    }
}

#[tokio::test]
async fn renamed_team_has_its_new_name_on_its_listings() {
    let market = small_market(&[published("a", 3, &json!({}))]);
    market.write(|writer| teams::rename(writer, platform(), "Seller house", "  Marble Works ")).unwrap();
    let found = market.get("mkt_buyer", &format!("{BROWSE}?query=marble")).await.ok();
    assert_eq!(found["items"][0]["team_name"], "Marble Works", "{found}");
    let event = events(&market, &["team.renamed"]).pop().unwrap();
    assert_eq!(event.subject, fixture_record_id("teams", "seller").to_string());
    assert!(
        event.has_team && event.data["name"] == "Marble Works" && event.data["roles"] == json!(["vendor"])
    );
}

#[test]
fn name_of_another_team_is_refused_in_any_case() {
    let market = small_market(&[]);
    let rename =
        |name: &'static str| market.write(|writer| teams::rename(writer, platform(), "Seller house", name));
    assert!(conflict(rename("BUYER HOUSE")).contains("There is already a team \"Buyer house\""));
    assert_eq!(problems(rename(" \t")).len(), 1);
    // A team may change the case of its own name, and a closed team keeps its name.
    assert_eq!(rename("SELLER house").unwrap().name, "SELLER house");
    market.write(|writer| team_closures::close(writer, platform(), Actor::Platform, "Buyer house")).unwrap();
    assert!(conflict(rename("buyer house")).contains("There is already a team"));
}

#[tokio::test]
async fn roles_decide_what_a_team_may_do_and_take_nothing_away() {
    let market = small_market(&[published("a", 3, &json!({}))]);
    let set_roles = |roles: &'static [Role]| {
        market.write(|writer| teams::set_roles(writer, platform(), "Seller house", roles)).unwrap()
    };
    set_roles(&[Role::Buyer]);
    assert_eq!(
        market.get("mkt_seller", "/v2/codebases").await.expect_error(403),
        "marketplace_role_required"
    );
    let found = market.get("mkt_buyer", BROWSE).await.ok();
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "its listing stays published");
    set_roles(&[Role::Buyer]);
    assert_eq!(event_types(&market, &["team."]), ["team.roles_changed"], "no change, no event");
    set_roles(&[Role::Vendor]);
    market.get("mkt_seller", "/v2/codebases").await.ok();
}

#[tokio::test]
async fn tier_and_avatar_are_checked_and_shown() {
    let market = small_market(&[published("a", 3, &json!({}))]);
    let set_tier =
        |tier: u8| market.write(|writer| teams::set_tier(writer, platform(), "Seller house", tier));
    assert_eq!(problems(set_tier(4)).len() + problems(set_tier(0)).len(), 2);
    set_tier(3).unwrap();
    let id = fixture_record_id("listings", "a");
    let detail = market.get("mkt_buyer", &format!("{BROWSE}/{id}")).await.ok();
    assert_eq!(detail["vendor_tier"], 3, "{detail}");
    let set_avatar =
        |url: Option<&str>| market.write(|writer| teams::set_avatar(writer, platform(), "Seller house", url));
    for url in ["http://acme.example/a.png", "https://", "https:///a", "https://acme.example/a b", ""] {
        assert_eq!(problems(set_avatar(Some(url))).len(), 1, "{url}");
    }
    assert_eq!(problems(set_avatar(Some(&format!("https://a/{}", "x".repeat(2_048))))).len(), 1);
    set_avatar(Some("https://acme.example/a.png")).unwrap();
    set_avatar(None).unwrap();
    let expected = ["team.tier_changed", "team.avatar_changed", "team.avatar_changed"];
    assert_eq!(event_types(&market, &["team."]), expected);
}

#[test]
fn payout_setup_is_text_that_no_event_contains() {
    let market = small_market(&[]);
    let set = |text: &str| {
        market.write(|writer| teams::set_payout_setup(writer, platform(), "Seller house", Some(text)))
    };
    assert_eq!(problems(set(&"x".repeat(2_001))).len(), 1);
    set("IBAN DE00 0000").unwrap();
    let read = || market.read(|reader| teams::payout_setup(reader, platform(), "Seller house"));
    assert_eq!(read().unwrap().as_deref(), Some("IBAN DE00 0000"));
    let event = events(&market, &["team."]).pop().unwrap();
    assert_eq!(event.kind, "team.payout_setup_changed");
    assert!(!event.data.to_string().contains("DE00") && event.data["is_set"] == true);
    // Earnings of a closed team stay payable.
    market.write(|writer| team_closures::close(writer, platform(), Actor::Platform, "Seller house")).unwrap();
    set("IBAN DE11 1111").unwrap();
    assert_eq!(read().unwrap().as_deref(), Some("IBAN DE11 1111"));
}

#[test]
fn created_team_and_accepted_nda_are_events() {
    let market = TestMarket::empty();
    let input =
        teams::TeamInput { name: "Oak", is_vendor: true, is_buyer: true, tier: 2, has_accepted_nda: false };
    let id = market.write(|writer| teams::create(writer, &input)).unwrap();
    for _ in 0..2 {
        market.write(|writer| teams::accept_nda(writer, "Oak")).unwrap();
    }
    let found = events(&market, &["team."]);
    assert_eq!(event_types(&market, &["team."]), ["team.created", "team.nda_accepted"]);
    assert!(found.iter().all(|event| event.subject == id.to_string() && event.has_team));
    assert_eq!(found[0].data["roles"], json!(["vendor", "buyer"]));
    assert_eq!(
        (&found[0].data["nda_accepted_at"], found[1].data["nda_accepted_at"].is_string()),
        (&Value::Null, true)
    );
}

fn listing_status(market: &TestMarket, key: &str) -> CatalogStatus {
    let find = |reader: &marketplace::market::Reader| {
        store::listings::find(reader.rows, fixture_record_id("listings", key))
    };
    market.read(find).unwrap().unwrap().status.catalog
}

fn close(market: &TestMarket, team: &str) -> Result<marketplace::domain::teams::Team> {
    market.write(|writer| team_closures::close(writer, platform(), Actor::Platform, team))
}

#[tokio::test]
async fn closing_a_team_ends_what_it_has_begun() {
    let submitted = json!({"history": [{"event": "submitted", "at": "-P2D"}]});
    let market = small_market(&[
        published("a", 3, &json!({})),
        listing("b", &submitted),
        listing("c", &json!({})),
        published("d", 3, &json!({"team": "both"})),
    ]);
    let grant = grant_input("Seller house", "Code");
    market.write(|writer| grants::create(writer, &grant)).unwrap();
    let (_, key) = market.write(|writer| keys::create(writer, "Seller house", "ci", None)).unwrap();
    market.get(&key, "/v2/codebases").await.ok();
    close(&market, "Seller house").unwrap();
    for key in [key.as_str(), "mkt_seller"] {
        assert_eq!(market.get(key, "/v2/codebases").await.expect_error(401), "unauthorized");
    }
    assert_eq!(["a", "b", "c"].map(|key| listing_status(&market, key)), [CatalogStatus::Archived; 3]);
    assert_eq!(listing_status(&market, "d"), CatalogStatus::Published);
    let closed = events(&market, &["team.closed"]).pop().unwrap();
    let counts =
        ["archived_listings", "revoked_keys", "revoked_grants"].map(|name| closed.data[name].clone());
    assert_eq!(counts, [3, 2, 1].map(Value::from));
    assert_eq!(event_types(&market, &["key.revoked", "upload_grant.revoked"]).len(), 3);
}

#[test]
fn nothing_is_changed_or_created_for_a_closed_team() {
    let market = small_market(&[published("a", 3, &json!({}))]);
    close(&market, "Seller house").unwrap();
    let team = "Seller house";
    let grant = grant_input(team, "Code");
    let id = fixture_record_id("listings", "a");
    let results = [
        conflict(close(&market, team)),
        conflict(market.write(|writer| teams::rename(writer, platform(), team, "New"))),
        conflict(market.write(|writer| teams::set_roles(writer, platform(), team, &[]))),
        conflict(market.write(|writer| teams::set_tier(writer, platform(), team, 2))),
        conflict(market.write(|writer| teams::set_avatar(writer, platform(), team, None))),
        conflict(market.write(|writer| teams::accept_nda(writer, team))),
        conflict(market.write(|writer| keys::create(writer, team, "ci", None))),
        conflict(market.write(|writer| grants::create(writer, &grant))),
        conflict(market.write(|writer| {
            let vendor = platform().vendor_of_listing(writer.rows, id)?;
            listing_lifecycle::restore(writer, &vendor, Actor::Platform, id)
        })),
    ];
    for message in results {
        assert!(
            message.contains("The team \"Seller house\" was closed at 2026-03-01T09:00:00.000Z"),
            "{message}"
        );
    }
}

#[test]
fn team_that_owes_a_delivery_is_not_closed() {
    let project = json!({
        "key": "project", "owner": "buyer", "title": "Tasks", "description": "Tasks.", "status": "published",
        "deadline": "P20D", "created_at": "-P30D", "updated_at": "-P20D",
        "visibility_mode": "all_vendors",
    });
    let bid = |key: &str, team: &str, status: &str| {
        json!({"key": key, "project_opportunity": "project", "team": team, "num_tasks": 4, "status": status,
            "created_at": "-P9D", "updated_at": "-P8D"})
    };
    let records = json!({
        "project_opportunities": [project],
        "project_bids": [bid("one", "seller", "accepted"), bid("two", "both", "submitted")],
    });
    let market = small_market_with(&[], &records);
    assert_eq!(
        conflict(close(&market, "Seller house")),
        format!(
            "The team \"Seller house\" owes the deliveries of these project bids, which were accepted: \"Tasks\" \
             ({}). Record the deliveries first.",
            fixture_record_id("project_bids", "one")
        )
    );
    close(&market, "Both house").unwrap();
}

/// Both sides of each offer and purchase end, on the listings of the team and on those of others. Everything that
/// the closed team has earned stays.
#[tokio::test]
async fn closing_a_team_ends_its_offers_purchases_bids_and_opportunities() {
    let project = |key: &str, owner: &str, status: &str| {
        json!({"key": key, "owner": owner, "title": "Tasks", "description": "Tasks.", "status": status,
            "deadline": "P20D", "created_at": "-P30D", "updated_at": "-P20D",
            "visibility_mode": "all_vendors"})
    };
    let bid = json!({"key": "bid", "project_opportunity": "theirs", "team": "both", "num_tasks": 4,
        "status": "submitted", "created_at": "-P9D", "updated_at": "-P8D"});
    let records = json!({
        "project_opportunities": [project("own", "both", "published"), project("theirs", "buyer", "published")],
        "project_bids": [bid],
    });
    let bids = json!({"accepts_bids": true});
    let of_both = json!({"accepts_bids": true, "team": "both"});
    let market = small_market_with(&[published("a", 3, &bids), published("d", 3, &of_both)], &records);
    let [theirs, own] = ["a", "d"].map(|key| fixture_record_id("listings", key));
    for (team, listing) in [("Both house", theirs), ("Buyer house", own), ("Other buyer", theirs)] {
        market
            .write(|writer| {
                let buyer = platform().buyer(teams::resolve(writer.rows, team)?)?;
                let pay_with = PayWith::Invoice;
                let offer = OfferInput { listing, amount: Cents(4_000), pay_with };
                offers::submit(writer, &buyer, Actor::Team, &offer)?;
                let purchase = PurchaseInput { listing, kind: PurchaseKind::Full, asset_ids: None, pay_with };
                purchases::create(writer, &buyer, Actor::Team, &purchase)
            })
            .unwrap();
    }
    close(&market, "Both house").unwrap();
    let closed = events(&market, &["team.closed"]).pop().unwrap();
    let names = [
        "cancelled_purchases",
        "withdrawn_offers",
        "withdrawn_bids",
        "ended_opportunities",
        "archived_listings",
        "revoked_keys",
    ];
    assert_eq!(names.map(|name| closed.data[name].clone()), [2, 1, 1, 1, 1, 1].map(Value::from));
    let offers = market.get("mkt_buyer", &format!("{BROWSE}/offers")).await.ok();
    assert_eq!(offers["offers"][0]["offer"]["status"], "declined", "{offers}");
    // What others have begun with each other stays.
    let offers = market.get("mkt_other", &format!("{BROWSE}/offers")).await.ok();
    assert_eq!(offers["offers"][0]["offer"]["status"], "submitted", "{offers}");
    let pending = |team: &str| {
        market.read(|reader| {
            let team = teams::resolve(reader.rows, team)?;
            Ok(store::purchases::list_pending_of(reader.rows, team.row_id)?.len())
        })
    };
    let teams = ["Both house", "Buyer house", "Other buyer", "Seller house"];
    assert_eq!(teams.map(|team| pending(team).unwrap()), [0, 0, 1, 1]);
}
