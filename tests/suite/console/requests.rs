//! A vendor answers requests of buyers: it sees what fits, bids on projects, withdraws, and delivers.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        assets::Kind, listings::Actor, opportunities::OpportunityKind, opportunity_fields::OpportunityFields,
    },
    operations::opportunities,
};
use serde_json::json;
use uuid::Uuid;

use super::{BUYER, VENDOR};
use crate::{
    catalog::small_market::{console_key, published, small_market_with},
    harness::{
        TestMarket,
        browser::{Browser, Page},
        teams,
    },
    opportunities::{create, fields, perform},
    sales::{DAY, codebase, listing_id},
    vendor_api::seller_market::taskset_record,
};

const NEW_PROJECT: &str = "/console/opportunities/new?kind=project";

/// Opens a page, sends its form, and returns the answer.
pub(super) async fn send(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Page {
    let page = browser.get(path).await;
    let answer = browser.submit(&page, path, fields).await;
    assert_eq!(answer.status(), 303, "{path}: {}", answer.visible());
    answer
}

/// Returns the address that an answer leads to, without its query.
pub(super) fn target(answer: &Page) -> String {
    answer.location().split('?').next().unwrap().to_owned()
}

#[tokio::test]
async fn vendor_bids_on_a_project_and_is_led_to_its_bid() {
    let market = TestMarket::demo();
    let (buyer, vendor) =
        (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, VENDOR).await);
    let project = target(&send(&buyer, NEW_PROJECT, &[("title", "Tasks about tides")]).await);
    send(&buyer, &format!("{project}/publish"), &[]).await;
    let id = project.rsplit('/').next().unwrap();
    let request = format!("/console/requests/{id}");
    vendor.get("/console/requests?text=TIDES&kind=project").await.expect(200, &request);
    vendor.get("/console/requests?max_budget=1").await.expect(200, "Nothing matches");
    for typed in ["many", "1,5"] {
        vendor
            .get(&format!("/console/requests?max_budget={typed}"))
            .await
            .expect(422, "Enter an amount in US dollars");
    }
    let file = vendor.get("/console/requests?format=csv").await;
    file.expect(200, "Tasks about tides,Aurora Frontier,Project").expect(200, &format!(",{id}\r\n"));
    file.expect(200, "\"environments, tasksets\",24000.00,60000.00,In total,\"multi-agent, calendar\",");
    vendor.get(&request).await.expect(200, "Bid on the project").expect(200, "What you have that fits");
    assert_eq!(vendor.get(&project).await.location(), request);
    buyer.get(&request).await.expect(403, "which your team does not have");

    let form = format!("{request}/bid");
    let page = vendor.get(&form).await;
    // A comma separates thousands only: 1,5 is not 15.
    for number in ["many", "1,5"] {
        let refused = vendor.submit(&page, &form, &[("num_tasks", number), ("attachments", "notes")]).await;
        refused.expect(422, "Enter a whole number from 1 to 1,000,000.").expect(422, "a comma, and a size");
    }
    let fields = [("num_tasks", "40"), ("attachments", "plan.pdf, 1.2 MB")];
    let bid = target(&send(&vendor, &form, &fields).await);
    vendor.get(&bid).await.expect(200, "plan.pdf").expect(200, "Withdraw the bid");
    vendor.get(&form).await.expect(200, "Withdraw it before you make another one.");
    vendor.get("/console/requests/bids").await.expect(200, &bid);

    let bid_id = bid.rsplit('/').next().unwrap();
    send(&buyer, &format!("{project}/bids/{bid_id}/accept"), &[]).await;
    assert_eq!(vendor.open_notification("Your project bid").await, bid);
    vendor.get(&bid).await.expect(200, "Deliver tasksets").expect(200, "Notifications about this");
    vendor.get(&format!("{bid}/withdraw")).await.expect(200, "Only a bid that waits for the buyer");
    vendor.get(&format!("{bid}/deliver")).await.expect(200, "You offered 40 tasks.");
    buyer.get(&bid).await.expect(403, "which your team does not have");
}

/// Returns a market in which the seller has the published listing `plain`, codebases, and a taskset, and the buyer, the seller,
/// and `both` have keys for the console.
fn market() -> TestMarket {
    let mut maps = codebase("maps", &json!(5));
    maps["domain_tags"] = json!(["logistics"]);
    small_market_with(
        &[published("plain", 30, &json!({"assets": ["c1"]}))],
        &json!({
            "assets": [codebase("c1", &json!(20)), maps],
            "tasksets": [taskset_record("mine", "seller"), taskset_record("theirs", "both")],
            "keys": [console_key("buyer"), console_key("seller"), console_key("both")],
        }),
    )
}

async fn open<'m>(market: &'m TestMarket, team: &str) -> Browser<'m> {
    Browser::signed_in(market, &format!("mkt_{team}_console")).await
}

/// Publishes an opportunity of the buyer, and returns the path of its page for vendors.
fn publish(market: &TestMarket, number: u128, kind: OpportunityKind, wanted: &OpportunityFields) -> String {
    let id = create(market, number, kind, wanted).unwrap();
    perform(market, opportunities::publish, id, kind).unwrap();
    format!("/console/requests/{id}")
}

#[tokio::test]
async fn request_shows_what_fits_by_kind_and_tags() {
    let market = market();
    let seller = open(&market, "seller").await;
    let want = |accepted: &[Kind], tags: &[&str]| {
        let mut wanted = fields("Wanted");
        wanted.accepted_asset_types = accepted.to_vec();
        wanted.metadata.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        wanted
    };
    // Both codebases are of the kind, and the one that shares a tag leaves the other one out.
    let cases: [(&[Kind], &[&str], bool, bool); 4] = [
        (&[], &[], true, true),
        (&[Kind::Codebase], &["Logistics"], true, true),
        (&[Kind::Codebase], &["finance"], true, true),
        (&[Kind::RawData], &["finance"], false, false),
    ];
    for (number, (accepted, tags, listing, asset)) in (1..).zip(cases) {
        let request = publish(&market, number, OpportunityKind::Listing, &want(accepted, tags));
        let page = seller.get(&request).await;
        page.expect(200, "What you have that fits").expect(200, "of <bdi>Buyer house</bdi>");
        let link = |path: String| page.text.contains(&format!("href=\"{path}\""));
        let found = (
            link(format!("/console/selling/listings/{}", listing_id("plain"))),
            link(format!("/console/inventory/{}", fixture_record_id("assets", "maps"))),
        );
        assert_eq!(found, (listing, asset), "{accepted:?}, {tags:?}: {}", page.visible());
        page.expect(200, if listing { "Write a listing" } else { "no listings and no assets of the kinds" });
    }
}

#[tokio::test]
async fn requests_are_in_the_order_of_their_publication() {
    let (market, kind) = (market(), OpportunityKind::Listing);
    let old_draft = create(&market, 1, kind, &fields("Old draft")).unwrap();
    market.clock().advance(DAY);
    publish(&market, 2, kind, &fields("Young request"));
    market.clock().advance(DAY);
    perform(&market, opportunities::publish, old_draft, kind).unwrap();
    let seller = open(&market, "seller").await;
    let file = seller.get("/console/requests?format=csv").await;
    let rows: Vec<&str> = file.text.trim_end().lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0].starts_with("Old draft,") && rows[0].contains("2026-03-03T09:00:00"), "{rows:?}");
    assert!(rows[1].starts_with("Young request,") && rows[1].contains("2026-03-02T09:00:00"), "{rows:?}");
}

#[tokio::test]
async fn text_filter_searches_tags_as_written() {
    let market = market();
    let seller = open(&market, "seller").await;
    let mut wanted = fields("Disk images");
    wanted.metadata.tags = ["5.25\" floppy", "C:\\dos"].map(str::to_owned).to_vec();
    let request = publish(&market, 1, OpportunityKind::Listing, &wanted);
    for (text, is_found) in [
        ("5.25\" floppy", true),
        ("c:\\DOS", true),
        ("images", true),
        ("buyer house", true),
        ("[\"", false),
        ("\",\"", false),
        ("C:\\\\dos", false),
    ] {
        let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let page = seller.get(&format!("/console/requests?text={encoded}")).await;
        assert_eq!(page.text.contains(&request), is_found, "{text}: {}", page.visible());
    }
}

#[tokio::test]
async fn request_is_hidden_from_vendors_that_it_excludes() {
    let market = market();
    let (seller, both) = (open(&market, "seller").await, open(&market, "both").await);
    let project = publish(&market, 1, OpportunityKind::Project, &fields("Maps"));
    let id: Uuid = project.rsplit('/').next().unwrap().parse().unwrap();
    both.get(&project).await.expect(200, "Bid on the project");
    let form = format!("{project}/bid");
    let page = both.get(&form).await;
    let excluded = market.write(|writer| {
        let owner = teams::buyer(writer.rows, "buyer");
        let ids = [fixture_record_id("teams", "both")];
        opportunities::exclude(writer, &owner, Actor::Team, (id, OpportunityKind::Project), &ids)
    });
    excluded.unwrap();
    assert!(!both.get("/console/requests").await.text.contains(&project));
    seller.get("/console/requests").await.expect(200, &project);
    // It was notified of it, so it can still read it.
    both.get(&project).await.expect(200, "It takes no answers from your team.");
    let answer = both.submit(&page, &form, &[("num_tasks", "4")]).await;
    answer.expect(409, "takes no bids from your team");
}

#[tokio::test]
async fn own_request_takes_no_answers_of_its_team() {
    let market = market();
    let both = open(&market, "both").await;
    let form = "/console/opportunities/new?kind=project";
    let project = target(&send(&both, form, &[("title", "Tasks about maps")]).await);
    send(&both, &format!("{project}/publish"), &[]).await;
    let id = project.rsplit('/').next().unwrap();
    both.get(&format!("/console/requests/{id}")).await.expect(200, "This is your own request.");
}

#[tokio::test]
async fn requests_are_filtered_by_budgets_to_the_cent() {
    let market = market();
    let seller = open(&market, "seller").await;
    let mut wanted = fields("Tide tables");
    wanted.metadata.budget_min = Some(1.1);
    let request = publish(&market, 1, OpportunityKind::Listing, &wanted);
    for (typed, is_found) in [("1", false), ("1.09", false), ("1.10", true), ("1.5", true), ("2", true)] {
        let page = seller.get(&format!("/console/requests?max_budget={typed}")).await;
        assert_eq!(page.text.contains(&request), is_found, "{typed}: {}", page.visible());
    }
}

#[tokio::test]
async fn ended_project_takes_no_other_bid() {
    let market = market();
    let seller = open(&market, "seller").await;
    let kind = OpportunityKind::Project;
    let project = publish(&market, 1, kind, &fields("Maps"));
    let form = format!("{project}/bid");
    let first = target(&send(&seller, &form, &[("num_tasks", "30")]).await);
    send(&seller, &format!("{first}/withdraw"), &[]).await;
    seller.get(&first).await.expect(200, "Make another bid");
    let second = target(&send(&seller, &form, &[("num_tasks", "40")]).await);
    let expect_no_other = async |page: &str| {
        let page = seller.get(page).await;
        page.expect(200, "you cannot make another one");
        assert!(!page.text.contains("Make another bid"), "{}", page.visible());
    };
    expect_no_other(&first).await;
    seller.get(&second).await.expect(200, "The buyer decides about your bid");
    perform(&market, opportunities::cancel, Uuid::from_u128(1), kind).unwrap();
    seller
        .get(&second)
        .await
        .expect(200, "The buyer has canceled the project")
        .expect(200, "Withdraw the bid…");
    send(&seller, &format!("{second}/withdraw"), &[]).await;
    expect_no_other(&second).await;
}

#[tokio::test]
async fn bid_is_withdrawn_made_again_and_delivered() {
    let market = market();
    let (seller, buyer) = (open(&market, "seller").await, open(&market, "buyer").await);
    let project = publish(&market, 1, OpportunityKind::Project, &fields("Maps"));
    let form = format!("{project}/bid");
    let first = target(&send(&seller, &form, &[("num_tasks", "1,200")]).await);
    seller.get(&first).await.expect(200, "1,200");
    let withdraw = format!("{first}/withdraw");
    let question = seller.get(&withdraw).await;
    question.expect(200, "The buyer can no longer accept this bid.");
    for _ in 0..2 {
        let answer = seller.submit(&question, &withdraw, &[]).await;
        assert_eq!(answer.location(), format!("{first}?notice=bid_withdrawn"));
    }
    seller.get(&first).await.expect(200, "you can make another one");
    let second =
        target(&send(&seller, &form, &[("num_tasks", "30"), ("expected_timeline_days", "14")]).await);
    assert_ne!(first, second);
    let deliver = format!("{second}/deliver");
    seller.get(&deliver).await.expect(200, "The buyer has not accepted the bid yet.");
    let id = second.rsplit('/').next().unwrap();
    send(
        &buyer,
        &format!("/console{}/bids/{id}/accept", project.replace("/console/requests", "/opportunities")),
        &[],
    )
    .await;
    assert_eq!(seller.open_notification("Your project bid").await, second);

    let page = seller.get(&deliver).await;
    page.expect(200, "Set mine");
    assert!(!page.text.contains("Set theirs"), "{}", page.visible());
    seller.get(&format!("{deliver}?text=other")).await.expect(200, "no such taskset");
    seller.submit(&page, &deliver, &[]).await.expect(422, "Choose the tasksets to deliver.");
    let theirs = fixture_record_id("tasksets", "theirs").to_string();
    let refused = seller.submit(&page, &deliver, &[("delivery_taskset_ids", &theirs)]).await;
    assert_eq!(refused.status(), 422, "{}", refused.visible());
    let mine = fixture_record_id("tasksets", "mine").to_string();
    let delivered = seller.submit(&page, &deliver, &[("delivery_taskset_ids", &mine)]).await;
    assert_eq!(delivered.location(), format!("{second}?notice=tasksets_delivered"));
    seller.get(&second).await.expect(200, "The buyer looks at your delivery");
    seller.get(&deliver).await.expect(200, "A delivery cannot be changed.");
    let other = open(&market, "both").await;
    for path in [&second, &deliver, &format!("{second}/withdraw")] {
        other.get(path).await.expect(404, "This is not here");
    }
    let file = seller.get("/console/requests/bids?format=csv").await;
    let bids: Vec<&str> = file.text.trim_end().lines().skip(1).collect();
    assert!(bids.len() == 2 && bids[0].starts_with("Maps,Delivered,30,14,"), "{bids:?}");
    assert!(bids[1].starts_with("Maps,Withdrawn,1200,,"), "{bids:?}");
}
