//! A buyer writes opportunities, and decides about bids; vendors read them.

use marketplace::{
    domain::{listings::Actor, opportunities::Bid, project_bids::BidFields, time::Timestamp},
    market::Writer,
    operations::project_bids,
};
use uuid::Uuid;

use super::{BUYER, VENDOR};
use crate::harness::{
    NOW, TestMarket,
    browser::{Browser, Page},
    teams,
};

const NEW_LISTING_REQUEST: &str = "/console/opportunities/new?kind=listing_request";
const NEW_PROJECT: &str = "/console/opportunities/new?kind=project";

/// Returns the day this many days after now, as a form has it.
fn day(days: i64) -> String {
    Timestamp::parse(NOW).unwrap().plus_days(days).day().to_string()
}

/// Writes an opportunity, and returns the path of its page.
async fn write(browser: &Browser<'_>, form: &str, fields: &[(&str, &str)]) -> String {
    let page = browser.get(form).await;
    let answer = browser.submit(&page, form, fields).await;
    assert_eq!(answer.status(), 303, "{}", answer.visible());
    answer.location().split('?').next().unwrap().to_owned()
}

/// Opens a page below an opportunity, sends its form, and returns the page that it leads to.
async fn step(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Page {
    let page = browser.get(path).await;
    let answer = browser.submit(&page, path, fields).await;
    assert_eq!(answer.status(), 303, "{path}: {}", answer.visible());
    browser.open(answer.location()).await
}

fn id_of(path: &str) -> Uuid {
    path.rsplit('/').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn request_for_listings_is_written_published_and_closed() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    browser.get("/console/opportunities/new").await.expect(200, "What do you ask for?");
    let fields = [("title", "Tide tables of harbors"), ("tags", "tides, harbors"), ("deadline", &day(10))];
    let path = write(&browser, NEW_LISTING_REQUEST, &fields).await;
    let page = browser.get(&path).await;
    page.expect(200, "Tide tables of harbors").expect(200, "Nobody has seen this draft. Close it instead.");
    let edit = format!("{path}/edit");
    step(&browser, &edit, &[("budget_max", "20,000"), ("accepted_asset_types", "raw_data")])
        .await
        .expect(200, "up to $20,000");
    step(&browser, &format!("{path}/exclude"), &[("team_ids", "lumen codeworks")])
        .await
        .expect(200, "Lumen Codeworks");
    browser.get(&edit).await.expect(200, "Excluded vendors");
    step(&browser, &format!("{path}/publish"), &[]).await.expect(200, "Vendors can see it now.");
    browser.get(&edit).await.expect(200, "so only its deadline can be moved");
    let extend = format!("{path}/extend");
    let page = browser.get(&extend).await;
    browser.submit(&page, &extend, &[("deadline", &day(5))]).await.expect(422, "moved to a later time");
    let extended = step(&browser, &extend, &[("deadline", &day(20))]).await;
    extended.expect(200, "The deadline was moved.").expect(200, "March 2026, end of day (UTC)</time>");
    browser.get("/console/opportunities").await.expect(200, "March 2026, end of day (UTC)</time>");
    step(&browser, &format!("{path}/close"), &[]).await.expect(200, "It is closed.");
    browser.get(&format!("{path}/publish")).await.expect(200, "This cannot be done now.");
    let file = browser.get("/console/opportunities?status=closed&format=csv").await;
    file.expect(200, "Tide tables of harbors,Listing request,Closed");
    let other = Browser::signed_in(&market, VENDOR).await;
    other.get(&path).await.expect(404, "This is not here");
}

#[tokio::test]
async fn refused_form_shows_all_problems_and_keeps_what_was_typed() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let page = browser.get(NEW_PROJECT).await;
    let fields = [("budget_min", "many"), ("deadline", "2020-01-01"), ("description", "Typed <b>text</b>")];
    let refused = browser.submit(&page, NEW_PROJECT, &fields).await;
    refused.expect(422, "Enter a title.").expect(422, "Enter an amount in US dollars");
    refused.expect(422, "Typed &lt;b&gt;text&lt;/b&gt;");
    assert!(!refused.visible().contains('`'), "{}", refused.visible());
    let past = browser.submit(&page, NEW_PROJECT, &[("title", "Late"), ("deadline", "2020-01-01")]).await;
    past.expect(422, "Deadline must be in the future");
}

fn bid(market: &TestMarket, project: Uuid, id: u128) -> Bid {
    let fields = BidFields { num_tasks: 40, expected_timeline_days: Some(21), attachments: Vec::new() };
    let submit = |writer: &mut Writer| {
        let vendor = teams::vendor(writer.rows, "lumen-codeworks");
        project_bids::submit(writer, &vendor, Actor::Team, Uuid::from_u128(id), project, &fields)
    };
    market.write(submit).unwrap()
}

#[tokio::test]
async fn bids_are_declined_and_accepted_once() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = write(&browser, NEW_PROJECT, &[("title", "Tasks about tides")]).await;
    step(&browser, &format!("{path}/publish"), &[]).await.expect(200, "No vendor has bid yet.");
    let project = id_of(&path);
    let first = bid(&market, project, 1).id;
    browser.get(&path).await.expect(200, "Lumen Codeworks").expect(200, "40");
    step(&browser, &format!("{path}/bids/{first}/decline"), &[]).await.expect(200, "You declined the bid.");
    let second = bid(&market, project, 2).id;
    let accept = format!("{path}/bids/{second}/accept");
    let page = browser.get(&accept).await;
    for _ in 0..2 {
        let answer = browser.submit(&page, &accept, &[]).await;
        assert_eq!(answer.location(), format!("{path}?notice=bid_accepted"));
    }
    let page = browser.get(&path).await;
    page.expect(200, "The vendor has not delivered yet.").expect(200, &format!("{path}?format=csv"));
    let file = browser.get(&format!("{path}?format=csv")).await;
    let lines: Vec<_> = file.expect(200, "Vendor,Status,Tasks,Expected days").text.lines().skip(1).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("Lumen Codeworks,Accepted,40,21,2"), "{lines:?}");
    assert!(lines[0].ends_with(&format!(",{second}")), "{lines:?}");
    assert!(lines[1].starts_with("Lumen Codeworks,Declined,40,21,2"), "{lines:?}");
    browser.get(&format!("{path}/bids/{first}/accept")).await.expect(200, "You have declined the bid.");
    let elsewhere = format!("/console/opportunities/{}/bids/{second}/accept", Uuid::from_u128(9));
    browser.get(&elsewhere).await.expect(404, "This is not here");

    // The addresses that notifications of both sides have lead to the page.
    let link = format!("/console/project-opportunities/{project}");
    assert_eq!(browser.get(&link).await.location(), path);
    let vendor = Browser::signed_in(&market, VENDOR).await;
    vendor.open(&link).await.expect(200, "In the buyer");
    vendor.get(&format!("{path}?format=csv")).await.expect(404, "This is not here");
}

/// Steps that the times of an opportunity forbid say so, instead of asking first.
#[tokio::test]
async fn steps_that_times_forbid_are_not_offered() {
    const TOO_LATE: &str = "Its deadline, or the day of the evaluation, has passed.";
    const NO_LATER: &str = "Its deadline cannot be after the day of the evaluation";
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let (fifth, tenth) = (day(5), day(10));
    let draft = write(&browser, NEW_PROJECT, &[("title", "Late"), ("deadline", &fifth)]).await;
    let fields = [("title", "Maps"), ("deadline", &*fifth), ("evaluation_date", &*tenth)];
    let project = write(&browser, NEW_PROJECT, &fields).await;
    browser.get(&format!("{draft}/publish")).await.expect(200, "Publish the opportunity");
    step(&browser, &format!("{project}/publish"), &[]).await;
    let extend = format!("{project}/extend");
    let page = browser.get(&extend).await;
    page.expect(200, "It cannot be after the evaluation, ");
    browser
        .submit(&page, &extend, &[("deadline", &day(11))])
        .await
        .expect(422, "Choose a deadline that is not later.");
    step(&browser, &extend, &[("deadline", &tenth)]).await.expect(200, NO_LATER);
    browser.get(&extend).await.expect(200, NO_LATER);

    market.clock().advance(6 * 86_400_000_000);
    market.market().run_due_steps().unwrap();
    let browser = Browser::signed_in(&market, BUYER).await;
    browser.get(&draft).await.expect(200, TOO_LATE);
    browser.get(&format!("{draft}/publish")).await.expect(200, TOO_LATE);
    step(&browser, &format!("{draft}/edit"), &[("deadline", &tenth)]).await;
    step(&browser, &format!("{draft}/publish"), &[]).await.expect(200, "Vendors can see it now.");
}

/// Nobody can respond after the deadline: the list and its file say so, as the page does.
#[tokio::test]
async fn list_and_file_say_that_a_deadline_has_passed() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    for (form, title) in [(NEW_PROJECT, "Maps of piers"), (NEW_LISTING_REQUEST, "Charts of piers")] {
        let path = write(&browser, form, &[("title", title), ("deadline", &day(5))]).await;
        step(&browser, &format!("{path}/publish"), &[]).await;
    }
    let file = "/console/opportunities?text=of+piers&format=csv";
    let rows = |status: &str, deadline: &str| {
        let rows = [("Charts of piers,Listing request", ""), ("Maps of piers,Project", "0")];
        rows.map(|(name, bids)| format!("\r\n{name},{status},{bids},0,{deadline}"))
    };
    let end = format!("{}T23:59:59", day(5));
    let before = browser.get(file).await;
    for row in rows("Published", &end) {
        before.expect(200, &row);
    }

    market.clock().advance(6 * 86_400_000_000);
    market.market().run_due_steps().unwrap();
    let browser = Browser::signed_in(&market, BUYER).await;
    let after = browser.get(file).await;
    for row in rows("Deadline passed", &end) {
        after.expect(200, &row);
    }
    let list = browser.get("/console/opportunities?text=of+piers").await;
    assert_eq!(list.text.matches(">Deadline passed<").count(), 2, "{}", list.visible());
}
