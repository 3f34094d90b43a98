//! Pages of operators that ask before something is done, and say what will happen: with money, with a team, and with a listing
//! whose checks have not passed.

use serde_json::{Value, json};

use super::records::{OPERATOR, list};
use crate::harness::{
    self, TestMarket,
    browser::{Browser, Page, open},
    markup,
};

/// Returns the first record of a list of the operator API that fulfills a condition.
async fn first(market: &TestMarket, path: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let found = list(market, path, &[]).await;
    found.into_iter().find(is_wanted).unwrap_or_else(|| panic!("{path} lacks such a record"))
}

fn text<'v>(record: &'v Value, field: &str) -> &'v str {
    record[field].as_str().unwrap_or_default()
}

async fn credits(market: &TestMarket, team: &str) -> String {
    let wallet = market.get(OPERATOR, &format!("/operator/v1/wallets/{team}")).await.ok();
    text(&wallet, "credits").to_owned()
}

#[tokio::test]
async fn adjustment_shows_the_balance_after_it_before_it_is_booked() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let team = first(&market, "/operator/v1/wallets", |wallet| text(wallet, "credits") > "0").await;
    let (id, path) = (text(&team, "team_id"), "/console/operator/adjustments/new");
    let before = credits(&market, id).await;
    let form = open(&browser, path).await;
    form.expect(200, "Continue");
    let fields = [("team_id", id), ("amount", "12.50"), ("description", "For <your> patience")];
    let question = browser.submit(&form, path, &fields).await;
    question.expect(200, "Nothing was changed yet").expect(200, "+$12.50");
    question.expect(200, "For &lt;your&gt; patience").expect(200, "After it, USD");
    markup::parse(&question.text).unwrap();
    assert_eq!(credits(&market, id).await, before);
    // Back in the form, everything is as it was typed.
    let again = browser.submit(&question, path, &[("confirmed", "no")]).await;
    again.expect(422, "12.50").expect(422, "For &lt;your&gt; patience");
    assert!(!again.text.contains("has to be corrected"), "{}", again.visible());
    assert_eq!(credits(&market, id).await, before);
    let done = browser.submit(&question, path, &[("confirmed", "yes")]).await;
    assert_eq!(done.status(), 303, "{}", done.visible());
    assert_ne!(credits(&market, id).await, before);
    // What cannot be booked is not promised either.
    browser
        .submit(&form, path, &[("team_id", id), ("amount", "0"), ("description", "x")])
        .await
        .expect(422, "at least");
    for path in ["conversions", "withdrawals", "credit-purchases"] {
        let path = format!("/console/operator/{path}/new");
        let form = open(&browser, &path).await;
        browser
            .submit(&form, &path, &[("team_id", id), ("amount", "0")])
            .await
            .expect(422, "must be at least $0.01");
    }
    // More than the team has is refused where it was typed.
    let fields = [("team_id", id), ("amount", "-99999999"), ("description", "Too much")];
    browser.submit(&form, path, &fields).await.expect(422, "The team has only $");
}

/// A purchase for a team matches the page that was shown. Without enough credits, the page says so before.
#[tokio::test]
async fn purchase_for_a_team_is_that_of_its_quote() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let path = "/console/operator/purchases/new";
    let form = open(&browser, path).await;
    let team = json!({"name": "Poor Ltd", "roles": ["buyer"], "nda_accepted": true});
    let team = market.call(OPERATOR, "POST", "/operator/v1/teams", &team).await.expect_status(201);
    let (team, mut bought) = (text(&team, "id").to_owned(), 0);
    for listing in list(&market, "/operator/v1/listings", &[]).await {
        let id = text(&listing, "id");
        let fields =
            |pay_with| [("team_id", &*team), ("listing_id", id), ("kind", "full"), ("pay_with", pay_with)];
        let question = browser.submit(&form, path, &fields("invoice")).await;
        if question.status() != 200 {
            continue;
        }
        browser.submit(&form, path, &fields("credits")).await.expect(422, "The buyer lacks $");
        let changed = browser.submit(&question, path, &[("confirmed", "yes"), ("quote", "another")]).await;
        changed.expect(409, "have changed since this page was made");
        let done = browser.submit(&question, path, &[("confirmed", "yes")]).await;
        assert_eq!(done.status(), 303, "{}", done.visible());
        bought += 1;
        break;
    }
    assert_eq!(bought, 1);
}

#[tokio::test]
async fn every_booking_asks_before_it_is_made() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    for (list, label) in [
        ("adjustments", "Adjust credits"),
        ("conversions", "Convert earnings"),
        ("withdrawals", "Request a withdrawal"),
        ("credit-purchases", "Add bought credits"),
        ("purchases", "Buy for a team"),
    ] {
        let page = open(&browser, &format!("/console/operator/{list}/new")).await;
        page.expect(200, label).expect(200, "Continue");
    }
}

#[tokio::test]
async fn refund_says_who_gets_what_back_and_what_the_buyer_loses() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let mut shown = 0;
    for purchase in list(market, "/operator/v1/purchases", &[]).await {
        if text(&purchase, "status") != "completed" {
            continue;
        }
        let page =
            open(&browser, &format!("/console/operator/purchases/{}/refund", text(&purchase, "id"))).await;
        page.expect(200, "Buyer").expect(200, "Vendor").expect(200, "Total");
        if !page.text.contains("What will be posted") {
            // It is too late, so there is no button.
            assert!(!page.text.contains(">Refund</button>"), "{}", page.visible());
            continue;
        }
        page.expect(200, "can no longer download").expect(200, "It is final");
        let is_invoice = text(&purchase, "pay_with") == "invoice" && text(&purchase, "total") != "0.00";
        assert_eq!(page.text.contains("yourself."), is_invoice, "{}", page.visible());
        assert!(!page.text.contains("Earnings of a team"), "{}", page.visible());
        shown += 1;
    }
    assert!(shown > 0);
}

/// Who pays a refund back outside the marketplace must know before that it is too late.
#[tokio::test]
async fn refund_is_not_offered_when_it_is_too_late() {
    let market = TestMarket::demo();
    let purchase =
        first(&market, "/operator/v1/purchases", |found| text(found, "status") == "completed").await;
    let path = format!("/console/operator/purchases/{}/refund", text(&purchase, "id"));
    market.clock().advance(40 * 86_400_000_000);
    market.market().run_due_steps().unwrap();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let page = open(&browser, &path).await;
    page.expect(200, "A purchase can be refunded for 30 days after its completion.");
    assert!(!page.text.contains("What will be posted"), "{}", page.visible());
    assert!(!page.text.contains("You must transfer"), "{}", page.visible());
    assert!(!page.text.contains(&format!("action=\"{path}\"")), "{}", page.visible());
}

#[tokio::test]
async fn bids_that_cannot_be_accepted_are_not_offered_for_acceptance() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let has_form = |page: &Page, path: &str| page.text.contains(&format!("action=\"{path}\""));
    let mut acceptable = None;
    for offer in list(&market, "/operator/v1/offers", &[]).await {
        let path = format!("/console/operator/bids/{}/accept", text(&offer, "id"));
        if has_form(&open(&browser, &path).await, &path) {
            acceptable = Some((path, format!("/operator/v1/listings/{}", text(&offer, "listing_id"))));
            break;
        }
    }
    let (path, listing) = acceptable.expect("a bid that can be accepted");
    market.call(OPERATOR, "POST", &format!("{listing}/unpublish"), &json!({})).await.ok();
    let page = open(&browser, &path).await;
    page.expect(200, "The listing is not in the catalog.");
    assert!(!has_form(&page, &path), "{}", page.visible());

    let bid = first(&market, "/operator/v1/project-bids", |bid| text(bid, "status") == "submitted").await;
    let path = format!("/console/operator/project-bids/{}/accept", text(&bid, "id"));
    let project = format!("/operator/v1/project-opportunities/{}", text(&bid, "opportunity_id"));
    assert!(has_form(&open(&browser, &path).await, &path));
    market.call(OPERATOR, "POST", &format!("{project}/cancel"), &json!({})).await.ok();
    let page = open(&browser, &path).await;
    page.expect(200, "The project is canceled");
    assert!(!has_form(&page, &path), "{}", page.visible());
}

#[tokio::test]
async fn withdrawal_names_the_vendor_the_amount_and_the_account() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let earlier =
        first(&market, "/operator/v1/withdrawals", |found| text(found, "status") == "requested").await;
    let team = text(&earlier, "team_id");
    let name = market.get(OPERATOR, &format!("/operator/v1/teams/{team}")).await.ok();
    let change = |setup: Value| {
        let market = &market;
        async move {
            let path = format!("/operator/v1/teams/{team}");
            market.call(OPERATOR, "PATCH", &path, &json!({"payout_setup": setup})).await.ok();
        }
    };
    let of_earlier = format!("/console/operator/withdrawals/{}/paid", text(&earlier, "id"));
    open(&browser, &of_earlier).await.expect(200, "It was not stated how this withdrawal is paid.");
    change(json!("IBAN XX00 1234")).await;
    let body = json!({"team_id": team, "amount": "1.00"});
    let withdrawal =
        market.call(OPERATOR, "POST", "/operator/v1/withdrawals", &body).await.expect_status(201);
    let path = |step| format!("/console/operator/withdrawals/{}/{step}", text(&withdrawal, "id"));
    for step in ["paid", "failed"] {
        let page = open(&browser, &path(step)).await;
        page.expect(200, text(&name, "name")).expect(200, "Amount");
        assert_eq!(page.text.contains("IBAN XX00 1234"), step == "paid", "{}", page.visible());
        assert!(!page.text.contains("is notified"), "no notification says this");
    }
    change(Value::Null).await;
    open(&browser, &path("paid"))
        .await
        .expect(200, "IBAN XX00 1234")
        .expect(200, "has changed how it is paid");
    let failed = open(&browser, &path("failed")).await;
    assert!(!failed.text.contains("Before you pay"), "{}", failed.visible());
}

#[tokio::test]
async fn team_is_closed_only_after_its_name_was_typed() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let (mut closable, mut hindered) = (None, 0);
    for team in list(&market, "/operator/v1/teams", &[]).await {
        if !team["closed_at"].is_null() {
            continue;
        }
        let path = format!("/console/operator/teams/{}/close", text(&team, "id"));
        let page = open(&browser, &path).await;
        if page.text.contains("It cannot be closed now") {
            hindered += 1;
            page.expect(200, "href=\"/console/operator/project-bids/");
            assert!(!page.text.contains("action=\"/console/operator/teams"), "{}", page.visible());
        } else {
            page.expect(200, "What stays:").expect(200, "Buyers keep what they have bought");
            closable = Some((team, path));
        }
    }
    assert!(hindered > 0);
    let (team, path) = closable.unwrap();
    let page = open(&browser, &path).await;
    browser.submit(&page, &path, &[("retyped", "Another")]).await.expect(422, "Type the name exactly");
    let closed = browser.submit(&page, &path, &[("retyped", text(&team, "name"))]).await;
    assert_eq!(closed.status(), 303, "{}", closed.visible());
}

/// A page shows several spaces as one, so its name is typed with one.
#[tokio::test]
async fn name_that_has_several_spaces_is_typed_as_it_is_shown() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let team = json!({"name": "Two  spaces Ltd", "roles": ["buyer"]});
    let team = market.call(OPERATOR, "POST", "/operator/v1/teams", &team).await.expect_status(201);
    let path = format!("/console/operator/teams/{}/close", text(&team, "id"));
    let page = open(&browser, &path).await;
    browser.submit(&page, &path, &[("retyped", "Two spaces")]).await.expect(422, "exactly as it is shown");
    let closed = browser.submit(&page, &path, &[("retyped", "Two spaces Ltd")]).await;
    assert_eq!(closed.status(), 303, "{}", closed.visible());
}

/// A form sends other line ends than the API, which is no change of a text: that would end the approval.
#[tokio::test]
async fn price_of_an_approved_listing_is_changed_without_ending_the_approval() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let listing =
        first(&market, "/operator/v1/listings", |found| text(found, "review_status") == "in_review").await;
    let api = format!("/operator/v1/listings/{}", text(&listing, "id"));
    let call = async |method: &str, step: &str, body: &Value| {
        market.call(OPERATOR, method, &format!("{api}{step}"), body).await.ok()
    };
    call("POST", "/request-changes", &json!({"note": "Say more."})).await;
    let texts = json!({"description": "First line.\r\nSecond line.\n", "terms": "One.\r\nTwo."});
    let before = call("PATCH", "", &texts).await;
    call("POST", "/submit", &json!({})).await;
    call("POST", "/approve", &json!({})).await;
    let path = format!("/console/operator/listings/{}/change", text(&listing, "id"));
    let page = open(&browser, &path).await;
    let saved = browser.submit(&page, &path, &[("price", "12345")]).await;
    assert_eq!(saved.status(), 303, "{}", saved.visible());
    let after = market.get(OPERATOR, &api).await.ok();
    assert_eq!((text(&after, "review_status"), text(&after, "price")), ("approved", "12345.00"));
    assert_eq!(after["description"], before["description"]);
    // A word of any length stays on the page.
    browser.get(saved.location()).await.expect(200, "<div class=\"prose long\">");
}

#[tokio::test]
async fn deadline_that_an_operator_moves_lasts_until_the_end_of_its_day() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let has_deadline = |found: &Value| text(found, "status") == "published" && !found["deadline"].is_null();
    let opportunity = first(&market, "/operator/v1/opportunities", has_deadline).await;
    let id = text(&opportunity, "id");
    let path = format!("/console/operator/opportunities/{id}/extend");
    let page = open(&browser, &path).await;
    let moved = browser.submit(&page, &path, &[("deadline", "2027-01-31")]).await;
    assert_eq!(moved.status(), 303, "{}", moved.visible());
    let after = market.get(OPERATOR, &format!("/operator/v1/opportunities/{id}")).await.ok();
    assert_eq!(text(&after, "deadline"), "2027-01-31T23:59:59.000Z");
}

#[tokio::test]
async fn listing_offers_only_what_applies() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let listings = list(&market, "/operator/v1/listings", &[]).await;
    let page_of = |listing: &Value| format!("/console/operator/listings/{}", text(listing, "id"));
    let find = |is_wanted: &dyn Fn(&Value) -> bool| listings.iter().find(|found| is_wanted(found)).cloned();
    let rejected = find(&|found| text(found, "review_status") == "in_review").expect("a listing in review");
    let reject = format!("/operator/v1/listings/{}/reject", text(&rejected, "id"));
    market.call(OPERATOR, "POST", &reject, &json!({"note": "Not yours."})).await.ok();
    let page = open(&browser, &page_of(&rejected)).await;
    page.expect(200, "Rejected</span>").expect(200, "A rejected listing cannot be submitted.");
    let certified = find(&|found| !found["certified_at"].is_null()).expect("a certified listing");
    let page = open(&browser, &page_of(&certified)).await;
    assert!(!page.text.contains("/certify\""), "{}", page.visible());
    page.expect(200, "/revoke\"");
    // A draft without anything says what it lacks.
    let team = text(&certified, "team_id");
    let draft = json!({"team_id": team, "title": "Empty"});
    let draft = market.call(OPERATOR, "POST", "/operator/v1/listings", &draft).await.expect_status(201);
    let page = open(&browser, &page_of(&draft)).await;
    page.expect(200, "Missing: description, price, assets.").expect(200, "The listing has no assets.");
    for step in ["submit", "certify", "detach"] {
        assert!(!page.text.contains(&format!("/{step}\"")), "{step}: {}", page.visible());
    }
}

#[tokio::test]
async fn approval_asks_unless_all_required_checks_have_passed() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let queue = list(&market, "/operator/v1/listings", &[]).await;
    let waiting = queue.iter().filter(|listing| text(listing, "review_status") == "in_review");
    let mut asked = 0;
    for listing in waiting {
        let (id, title) = (text(listing, "id"), text(listing, "title"));
        let path = format!("/console/operator/review/{id}");
        let page = open(&browser, &path).await;
        let answer = browser.submit(&page, &path, &[("decision", "approve")]).await;
        if answer.status() == 303 {
            continue;
        }
        answer.expect(200, "Approve anyway");
        let says = answer.text.contains("required checks have") || answer.text.contains("never checked");
        assert!(says, "{}", answer.visible());
        open(&browser, &format!("/console/operator/listings/{id}/approve")).await.expect(200, "check");
        let done = browser.submit(&answer, &path, &[("decision", "approve_anyway")]).await;
        assert_eq!(done.status(), 303, "{}", done.visible());
        browser.get(done.location()).await.expect(200, "You approved <a").expect(200, title);
        asked += 1;
    }
    assert!(asked > 0);
}

/// A note that was typed is there again when its rejection is not confirmed, and nothing claims to have changed.
#[tokio::test]
async fn note_stays_when_a_rejection_is_not_confirmed() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let listing =
        first(&market, "/operator/v1/listings", |found| text(found, "review_status") == "in_review").await;
    let path = format!("/console/operator/review/{}", text(&listing, "id"));
    let page = open(&browser, &path).await;
    let fields = [("decision", "reject"), ("note", "It is not yours.")];
    let question = browser.submit(&page, &path, &fields).await;
    let again = browser.submit(&question, &path, &[("decision", "back")]).await;
    again.expect(422, "It is not yours.</textarea>");
    let first_round = page.text.contains("first round of its review");
    assert_eq!(again.text.contains("first round of its review"), first_round, "{}", again.visible());
    assert!(!again.text.contains("has to be corrected"), "{}", again.visible());
}

/// The audit says which fields were changed, whether by the API or by a form, and events of the same request show it.
#[tokio::test]
async fn audit_has_the_values_before_and_after() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let listing = first(&market, "/operator/v1/listings", |found| {
        text(found, "review_status") == "draft" && text(found, "catalog_status") == "unpublished"
    })
    .await;
    let (id, before) = (text(&listing, "id"), text(&listing, "title"));
    let record = format!("/console/operator/listings/{id}");
    market
        .call(OPERATOR, "PATCH", &format!("/operator/v1/listings/{id}"), &json!({"title": "By the API"}))
        .await
        .ok();
    let by_form = format!("{record}/change");
    let form = open(&browser, &by_form).await;
    let done = browser.submit(&form, &by_form, &[("title", "By a form"), ("price", "1234.50")]).await;
    assert_eq!(done.status(), 303, "{}", done.visible());
    let entries = market.get(OPERATOR, &format!("/operator/v1/audit?subject_id={id}")).await.ok();
    let page_of = |index: usize| format!("/console/operator/audit/{}", entries["items"][index]["number"]);
    let page = open(&browser, &page_of(0)).await;
    page.expect(200, "What changed")
        .expect(200, "By the API")
        .expect(200, "By a form")
        .expect(200, "$1,234.50");
    let page = open(&browser, &page_of(1)).await;
    page.expect(200, "By the API").expect(200, &before.replace('&', "&amp;"));
    // The history says that an operator acted for the team.
    open(&browser, &record).await.expect(200, "Operator, for the team");
    let events = market.get(OPERATOR, "/operator/v1/events?types=listing.updated&limit=100").await.ok();
    let event = events["items"].as_array().unwrap().iter().rfind(|event| event.to_string().contains(id));
    let event = text(event.unwrap(), "id");
    open(&browser, &format!("/console/operator/events/{event}")).await.expect(200, "What changed");
    // How a team is paid is nothing that the audit keeps.
    let team = text(&listing, "team_id");
    market
        .call(OPERATOR, "PATCH", &format!("/operator/v1/teams/{team}"), &json!({"payout_setup": "IBAN 77"}))
        .await
        .ok();
    let entries = market.get(OPERATOR, &format!("/operator/v1/audit?subject_id={team}")).await.ok();
    let page = open(&browser, &format!("/console/operator/audit/{}", entries["items"][0]["number"])).await;
    page.expect(200, "How it is paid").expect(200, "Not kept");
    assert!(!page.text.contains("IBAN 77"), "{}", page.visible());
}

#[tokio::test]
async fn unknown_teams_are_told_in_a_sentence() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let path = "/console/operator/adjustments/new";
    let form = open(&browser, path).await;
    let fields = [("team_id", "aurora frontie"), ("amount", "1"), ("description", "x")];
    let refused = browser.submit(&form, path, &fields).await;
    refused.expect(422, "No team is called &quot;aurora frontie&quot;. Did you mean &quot;Aurora Frontier");
    assert!(!refused.text.contains("was found"), "{}", refused.visible());
}

#[tokio::test]
async fn charges_for_checks_are_named_in_wallets() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let mut named = 0;
    for wallet in list(harness::demo(), "/operator/v1/wallets", &[]).await {
        let page = open(&browser, &format!("/console/operator/wallets/{}", text(&wallet, "team_id"))).await;
        named += usize::from(page.text.contains("Charges for checks"));
    }
    assert!(named > 0);
}
