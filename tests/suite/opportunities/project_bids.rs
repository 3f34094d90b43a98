//! Bids on project opportunities, from submitting to the completed delivery.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        listings::Actor,
        opportunities::{Attachment, Bid, OpportunityKind},
        project_bids::BidFields,
    },
    error::Result,
    market::{Reader, Writer},
    operations::{
        access::{Buyer, Platform, Vendor},
        opportunities, project_bids, team_closures, teams,
    },
    store,
    string_enum::StringEnum,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    BOTH, BUYER, DAY, SELLER, buyer, create, event_views, events_of, fields, notification_types,
    notifications_of, perform, publish_project, refusal, vendor,
};
use crate::{
    catalog::small_market::{small_market, small_market_with},
    harness::{TestMarket, elements},
    vendor_api::seller_market::taskset_record,
};

const PROJECT: OpportunityKind = OpportunityKind::Project;

const OPERATOR: &str = "mkt_operator";

pub fn submit(market: &TestMarket, team: &str, id: u128, opportunity: Uuid) -> Result<Bid> {
    let file = Attachment { file_name: "plan.pdf".to_owned(), size_bytes: 12 };
    let bid = BidFields { num_tasks: 30, expected_timeline_days: Some(14), attachments: vec![file] };
    market.write(|writer| {
        let bidder = vendor(writer.rows, team);
        project_bids::submit(writer, &bidder, Actor::Team, Uuid::from_u128(id), opportunity, &bid)
    })
}

pub fn as_vendor(
    market: &TestMarket,
    team: &str,
    id: u128,
    operation: impl FnOnce(&mut Writer, &Vendor, Actor, Uuid) -> Result<Bid>,
) -> Result<Bid> {
    market.write(|writer| {
        let bidder = vendor(writer.rows, team);
        operation(writer, &bidder, Actor::Team, Uuid::from_u128(id))
    })
}

pub fn as_buyer(
    market: &TestMarket,
    team: &str,
    id: u128,
    operation: impl FnOnce(&mut Writer, &Buyer, Actor, Uuid) -> Result<Bid>,
) -> Result<Bid> {
    market.write(|writer| {
        let owner = buyer(writer.rows, team);
        operation(writer, &owner, Actor::Team, Uuid::from_u128(id))
    })
}

fn deliver(market: &TestMarket, id: u128, tasksets: &[Uuid]) -> Result<Bid> {
    as_vendor(market, "seller", id, |writer, vendor, actor, id| {
        project_bids::deliver(writer, vendor, actor, id, tasksets)
    })
}

fn market_with_tasksets() -> TestMarket {
    let tasksets = json!([taskset_record("mine", "seller"), taskset_record("theirs", "both")]);
    small_market_with(&[], &json!({"tasksets": tasksets}))
}

/// Project bids move no money.
#[tokio::test]
async fn bid_is_accepted_delivered_and_completed_without_moving_money() {
    let market = market_with_tasksets();
    let wallet =
        async || [market.get(SELLER, "/v2/wallet").await.ok(), market.get(BUYER, "/v2/wallet").await.ok()];
    let before = wallet().await;
    let project = publish_project(&market, 1);
    submit(&market, "seller", 1, project).unwrap();
    as_buyer(&market, "buyer", 1, project_bids::accept).unwrap();
    let (mine, theirs) = (fixture_record_id("tasksets", "mine"), fixture_record_id("tasksets", "theirs"));
    assert_eq!(refusal(deliver(&market, 1, &[])), "delivery_taskset_ids too_short");
    assert_eq!(refusal(deliver(&market, 1, &[mine; 101])), "delivery_taskset_ids too_long");
    assert_eq!(
        refusal(deliver(&market, 1, &[mine, theirs, mine, Uuid::nil()])),
        "delivery_taskset_ids.1 unknown_reference, delivery_taskset_ids.2 duplicate, \
         delivery_taskset_ids.3 unknown_reference"
    );
    deliver(&market, 1, &[mine]).unwrap();
    let completed = as_buyer(&market, "buyer", 1, project_bids::complete).unwrap();
    assert!(completed.completed_at.is_some());

    let own = market.get(SELLER, "/v2/project-opportunities/bids/mine").await.ok();
    let bid = &own["items"][0];
    assert_eq!(
        (&bid["status"], &bid["delivery_taskset_ids"]),
        (&json!("completed"), &json!([mine.to_string()]))
    );
    let path = format!("/v2/buyer/project-opportunities/{project}/bids");
    let received = market.get(BUYER, &path).await.ok();
    let activity = |side: &str| -> Vec<Value> {
        let events = received["items"][0]["activity"][side].as_array().unwrap();
        events.iter().map(|event| event["event"].clone()).collect()
    };
    assert_eq!(activity("vendor_events"), ["Bid submitted", "Delivered"]);
    assert_eq!(
        activity("platform_events"),
        ["Bid received", "Accepted by the buyer", "Delivery accepted by the buyer"]
    );
    assert_eq!(wallet().await, before);

    let notification = &notifications_of(&market, SELLER).await[1];
    assert_eq!(notification["type"], "project_bid_accepted");
    assert_eq!(notification["opportunity_bid_id"], Uuid::from_u128(1).to_string());
    assert_eq!(notification["project_opportunity_id"], project.to_string());
    let views = event_views(&market, "project_bid");
    assert_eq!(
        views,
        ["submitted", "accepted", "delivered", "completed"]
            .iter()
            .flat_map(|verb| [format!("project_bid.{verb} seller"), format!("project_bid.{verb} buyer")])
            .collect::<Vec<_>>()
    );
    let (_, _, data) = events_of(&market, "project_bid").pop().unwrap();
    assert_eq!(
        (&data["status"], &data["delivery_taskset_ids"]),
        (&json!("completed"), &json!([mine.to_string()]))
    );
}

#[tokio::test]
async fn team_has_one_standing_bid_on_an_opportunity() {
    let market = small_market(&[]);
    let project = publish_project(&market, 1);
    submit(&market, "seller", 1, project).unwrap();
    assert_eq!(refusal(submit(&market, "seller", 2, project)), "conflict");
    submit(&market, "both", 3, project).unwrap();
    as_vendor(&market, "seller", 1, project_bids::withdraw).unwrap();
    submit(&market, "seller", 2, project).unwrap();
    as_buyer(&market, "buyer", 2, project_bids::decline).unwrap();
    submit(&market, "seller", 4, project).unwrap();
    as_buyer(&market, "buyer", 4, project_bids::accept).unwrap();
    assert_eq!(refusal(submit(&market, "seller", 5, project)), "conflict");
}

/// "Accepting one declines none of the others."
#[tokio::test]
async fn accepting_a_bid_leaves_the_others() {
    let market = small_market(&[]);
    let project = publish_project(&market, 1);
    submit(&market, "seller", 1, project).unwrap();
    submit(&market, "both", 2, project).unwrap();
    as_buyer(&market, "buyer", 1, project_bids::accept).unwrap();
    let theirs = market.get(BOTH, "/v2/project-opportunities/bids/mine").await.ok();
    assert_eq!(theirs["items"][0]["status"], "submitted");
    as_buyer(&market, "buyer", 2, project_bids::decline).unwrap();
    assert_eq!(notification_types(&market, SELLER).await, ["opportunity_published", "project_bid_accepted"]);
    assert_eq!(notification_types(&market, BOTH).await, ["opportunity_published", "project_bid_declined"]);
    assert_eq!(refusal(as_vendor(&market, "seller", 1, project_bids::withdraw)), "from accepted: deliver");
}

#[tokio::test]
async fn only_open_opportunities_that_the_vendor_sees_take_bids() {
    let market = small_market(&[]);
    let mut own = fields("Own");
    own.deadline = None;
    let own = market
        .write(|writer| {
            let both = buyer(writer.rows, "both");
            let id = (Uuid::from_u128(9), PROJECT);
            opportunities::create(writer, &both, Actor::Team, id, &own)?;
            opportunities::publish(writer, &both, Actor::Team, id)
        })
        .unwrap()
        .id;
    assert_eq!(refusal(submit(&market, "both", 1, own)), "conflict");
    let draft = create(&market, 2, PROJECT, &fields("Draft")).unwrap();
    assert_eq!(refusal(submit(&market, "seller", 1, draft)), "not_found");
    let closed = publish_project(&market, 3);
    perform(&market, opportunities::close, closed, PROJECT).unwrap();
    assert_eq!(refusal(submit(&market, "seller", 1, closed)), "conflict");
    let excluding = publish_project(&market, 4);
    market
        .write(|writer| {
            let owner = buyer(writer.rows, "buyer");
            let seller = fixture_record_id("teams", "seller");
            opportunities::exclude(writer, &owner, Actor::Team, (excluding, PROJECT), &[seller])
        })
        .unwrap();
    assert_eq!(refusal(submit(&market, "seller", 1, excluding)), "conflict");
    let listing = create(&market, 5, OpportunityKind::Listing, &fields("L")).unwrap();
    perform(&market, opportunities::publish, listing, OpportunityKind::Listing).unwrap();
    assert_eq!(refusal(submit(&market, "seller", 1, listing)), "not_found");
    let late = publish_project(&market, 6);
    market.clock().advance(10 * DAY);
    assert_eq!(refusal(submit(&market, "seller", 1, late)), "conflict");
    submit(&market, "seller", 1, own).unwrap();
}

#[tokio::test]
async fn bids_of_canceled_opportunities_can_be_declined_but_not_accepted() {
    let market = small_market(&[]);
    let project = publish_project(&market, 1);
    submit(&market, "seller", 1, project).unwrap();
    perform(&market, opportunities::cancel, project, PROJECT).unwrap();
    assert_eq!(refusal(as_buyer(&market, "buyer", 1, project_bids::accept)), "conflict");
    as_buyer(&market, "buyer", 1, project_bids::decline).unwrap();
    let all = notifications_of(&market, SELLER).await;
    assert_eq!(all[1]["type"], "opportunity_cancelled");
    assert_eq!(all[1]["opportunity_bid_id"], Uuid::from_u128(1).to_string());
}

#[tokio::test]
async fn foreign_bids_are_not_found() {
    let market = small_market(&[]);
    let project = publish_project(&market, 1);
    submit(&market, "seller", 1, project).unwrap();
    assert_eq!(refusal(as_vendor(&market, "both", 1, project_bids::withdraw)), "not_found");
    for operation in [project_bids::accept, project_bids::decline, project_bids::complete] {
        assert_eq!(refusal(as_buyer(&market, "other", 1, operation)), "not_found");
    }
}

/// "A team with a bid on a project opportunity can read it in any status."
#[tokio::test]
async fn bidder_that_was_never_told_reads_the_project_in_any_status() {
    let record = json!({"key": "p", "owner": "buyer", "title": "P", "description": "D", "status": "published",
        "visibility_mode": "all_vendors", "created_at": "-P9D"});
    let market = small_market_with(&[], &json!({"project_opportunities": [record]}));
    let project = fixture_record_id("project_opportunities", "p");
    submit(&market, "seller", 1, project).unwrap();
    perform(&market, opportunities::close, project, PROJECT).unwrap();
    let path = format!("/v2/project-opportunities/{project}");
    assert_eq!((market.get(SELLER, &path).await.status, market.get(BOTH, &path).await.status), (200, 404));
    assert_eq!(notification_types(&market, SELLER).await, ["opportunity_closed"]);
    assert!(notifications_of(&market, BOTH).await.is_empty());
}

/// A team that closes leaves neither opportunities nor bids that wait.
#[tokio::test]
async fn opportunities_and_bids_of_a_closing_team_are_ended() {
    let market = small_market(&[]);
    let draft = create(&market, 1, PROJECT, &fields("Draft")).unwrap();
    let (project, other) = (publish_project(&market, 2), publish_project(&market, 3));
    submit(&market, "both", 1, project).unwrap();
    submit(&market, "both", 2, other).unwrap();
    as_buyer(&market, "buyer", 2, project_bids::accept).unwrap();
    let platform = Platform::of_process();
    let close = |name: &str| {
        market.write(|writer| team_closures::close(writer, platform, Actor::Platform, name).map(|_| ()))
    };
    assert_eq!(refusal(close("Both house")), "conflict", "it owes a delivery");
    submit(&market, "seller", 3, project).unwrap();
    close("Buyer house").unwrap();
    let own = market.get(BOTH, "/v2/project-opportunities/bids/mine").await.ok();
    let mut statuses: Vec<_> = elements(&own["items"]).map(|bid| bid["status"].clone()).collect();
    statuses.sort_by_key(Value::to_string);
    assert_eq!(statuses, ["accepted", "declined"]);
    let declined = ["project_bid_declined", "opportunity_cancelled", "opportunity_cancelled"];
    let told = notification_types(&market, SELLER).await;
    assert_eq!(told[told.len() - 3..], declined, "{told:?}");
    let views = event_views(&market, "project_bid");
    let declined: Vec<&str> =
        views.iter().filter_map(|view| view.strip_prefix("project_bid.declined ")).collect();
    assert_eq!(declined, ["both", "buyer", "seller", "buyer"]);
    for (id, status) in [(draft, "closed"), (project, "cancelled"), (other, "cancelled")] {
        let found = market.read(|reader| store::opportunities::find(reader.rows, id, PROJECT));
        assert_eq!(found.unwrap().unwrap().status.as_str(), status);
    }
    let ended = &events_of(&market, "team").pop().unwrap().2;
    assert_eq!((&ended["ended_opportunities"], &ended["withdrawn_bids"]), (&json!(3), &json!(0)));
    assert_eq!(ended["declined_bids"], 2);
}

/// A team that lost its role cannot begin anything, but what it has begun can be ended in its name.
#[test]
fn platform_ends_what_a_former_buyer_has_begun() {
    let market = market_with_tasksets();
    let kind = OpportunityKind::Listing;
    let draft = create(&market, 1, kind, &fields("Draft")).unwrap();
    let project = publish_project(&market, 2);
    submit(&market, "seller", 1, project).unwrap();
    submit(&market, "both", 2, project).unwrap();
    as_buyer(&market, "buyer", 1, project_bids::accept).unwrap();
    let platform = Platform::of_process();
    market.write(|writer| teams::set_roles(writer, platform, "Buyer house", &[])).unwrap();
    let former = |writer: &Writer| {
        let team = store::teams::find(writer.rows, fixture_record_id("teams", "buyer"))?.unwrap();
        assert_eq!(refusal(platform.buyer(team.clone())), "marketplace_role_required");
        platform.former_buyer(team)
    };
    deliver(&market, 1, &[fixture_record_id("tasksets", "mine")]).unwrap();
    market
        .write(|writer| {
            let (owner, actor) = (former(writer)?, Actor::Platform);
            let published = opportunities::publish(writer, &owner, actor, (draft, kind));
            assert_eq!(refusal(published), "marketplace_role_required");
            let created =
                opportunities::create(writer, &owner, actor, (Uuid::from_u128(3), kind), &fields("New"));
            assert_eq!(refusal(created), "marketplace_role_required");
            opportunities::close(writer, &owner, actor, (draft, kind))?;
            project_bids::complete(writer, &owner, actor, Uuid::from_u128(1))?;
            project_bids::decline(writer, &owner, actor, Uuid::from_u128(2))?;
            opportunities::cancel(writer, &owner, actor, (project, PROJECT))
        })
        .unwrap();
}

#[test]
fn team_that_has_not_decided_about_a_delivery_is_not_closed() {
    let market = market_with_tasksets();
    let project = publish_project(&market, 1);
    submit(&market, "seller", 1, project).unwrap();
    as_buyer(&market, "buyer", 1, project_bids::accept).unwrap();
    deliver(&market, 1, &[fixture_record_id("tasksets", "mine")]).unwrap();
    let close = || {
        market.write(|writer| {
            let platform = Platform::of_process();
            team_closures::close(writer, platform, Actor::Platform, "Buyer house").map(|_| ())
        })
    };
    assert_eq!(refusal(close()), "conflict", "it has to accept a delivery");
    as_buyer(&market, "buyer", 1, project_bids::complete).unwrap();
    close().unwrap();
}

/// A vendor delivers what it owes a team that was closed meanwhile, and the platform accepts it in the name of that team.
#[tokio::test]
async fn delivery_to_a_closed_team_is_completed_by_the_platform() {
    let market = market_with_tasksets();
    market.seed_json(&json!({"operator_keys": [
        {"key": "operator", "name": "Operator", "secret": OPERATOR, "created_at": "-P9D"}]}));
    let project = publish_project(&market, 1);
    submit(&market, "seller", 1, project).unwrap();
    as_buyer(&market, "buyer", 1, project_bids::accept).unwrap();
    let close = |writer: &mut Writer| {
        team_closures::close(writer, Platform::of_process(), Actor::Platform, "Buyer house").map(|_| ())
    };
    market.write(close).unwrap();
    deliver(&market, 1, &[fixture_record_id("tasksets", "mine")]).unwrap();
    let path = format!("/operator/v1/project-bids/{}", Uuid::from_u128(1));
    assert_eq!(market.get(OPERATOR, &path).await.ok()["status"], "delivered");
    let completed = market.call(OPERATOR, "POST", &format!("{path}/complete"), &json!({})).await.ok();
    assert_eq!(completed["status"], "completed");
}

#[tokio::test]
async fn closed_team_is_told_of_no_opportunity() {
    let market = small_market(&[]);
    let before = publish_project(&market, 1);
    let close = |writer: &mut Writer| {
        team_closures::close(writer, Platform::of_process(), Actor::Platform, "Both house").map(|_| ())
    };
    market.write(close).unwrap();
    perform(&market, opportunities::close, before, PROJECT).unwrap();
    publish_project(&market, 2);
    let types = |key: &str| {
        let id = fixture_record_id("teams", key);
        let list = |reader: &Reader| {
            let team = store::teams::find(reader.rows, id)?.unwrap().row_id;
            store::notifications::list_newest(reader.rows, team, 100)
        };
        let all = market.read(list).unwrap();
        all.iter().rev().map(|notification| notification.kind.as_str()).collect::<Vec<_>>()
    };
    let told = ["opportunity_published", "opportunity_closed", "opportunity_published"];
    assert_eq!((types("seller"), types("both")), (told.to_vec(), told[..1].to_vec()));
}
