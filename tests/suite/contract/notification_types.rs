//! Each type of notification, sent by the operations that cause it: who receives it, and whom it names.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        assets::Kind,
        estimation_requests::EstimationRequest,
        inventory::AssetChange,
        listing_lifecycle::Operation,
        listings::Actor,
        notifications::NotificationType,
        opportunities::OpportunityKind,
        problems::Problems,
        purchases::{PayWith, PurchaseKind},
        quality_runs::RunTrigger,
        teams::Team,
    },
    error::Result,
    market::{Reader, Writer},
    operations::{
        access::Platform,
        asset_types::{self, DeprecationInput},
        assets, opportunities, payouts, project_bids, quality_runs,
        raw_data::{self, UploadReference},
        team_closures,
    },
    store::{self, notifications::Notification},
    string_enum::StringEnum,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    catalog::small_market::{listing, published, seed_market},
    harness::{
        TestMarket,
        archives::zip_of,
        git::Repositories,
        listing_lifecycle,
        teams::{buyer, vendor},
    },
    opportunities::{Transition, create, estimations, fields, perform, project_bids as bids},
    sales::{DAY, accept, bid, buy, codebase, complete, decline, give_credits, listing_id},
    vendor_api::seller_market::upload_zip,
};

/// Keys of all teams: the usual ones, vendors that have not accepted the NDA, that opportunities exclude, and that
/// are closed, and two that are created later.
const TEAMS: [&str; 9] =
    ["seller", "both", "buyer", "other", "unsigned", "excluded", "closed", "late", "undecided"];

/// What causes a notification. Performs operations in a new market until the notification is sent. Returns the
/// keys of the teams that must have received it, sorted.
type Cause = fn(&TestMarket) -> &'static [&'static str];

/// Returns the causes of a type, with their names. Every type needs a case.
fn causes(kind: NotificationType) -> Vec<(&'static str, Cause)> {
    use NotificationType as T;
    match kind {
        T::OpportunityPublished => vec![
            ("request", |market| announce(market, REQUEST)),
            ("project", |market| announce(market, PROJECT)),
        ],
        T::OpportunityClosed => vec![
            ("request", |market| end_request(market, opportunities::close)),
            ("project", |market| end_project(market, opportunities::close)),
        ],
        T::OpportunityCancelled => vec![
            ("request", |market| end_request(market, opportunities::cancel)),
            ("project", |market| end_project(market, opportunities::cancel)),
        ],
        T::ListingApproved => vec![("approved", |market| review(market, Operation::Approve))],
        T::ListingChangesRequested => {
            vec![("changes requested", |market| review(market, Operation::RequestChanges))]
        }
        T::ListingRejected => vec![("rejected", |market| review(market, Operation::Reject))],
        T::OfferReceived => vec![("bid", receive_offer)],
        T::OfferAccepted => vec![("accepted", accept_offer)],
        T::OfferDeclined => vec![("by the vendor", decline_offer), ("archived", archive_listing)],
        T::OfferExpired => vec![("not decided", let_offer_expire)],
        T::SaleCompleted => vec![
            ("credits", buy_with_credits),
            ("invoice", complete_invoice),
            ("sample", buy_sample),
            ("bid", buy_by_accepted_bid),
        ],
        T::QualityCheckCompleted => vec![
            ("run of a listing", end_run_of_listing),
            ("canceled run", cancel_run),
            ("run of an asset", end_run_of_asset),
        ],
        T::EstimationCompleted => {
            vec![("quote", quote_repository), ("no rates", quote_other_kind), ("failed", quote_unreadable)]
        }
        T::ProjectBidAccepted => vec![("accepted", accept_project_bid)],
        T::ProjectBidDeclined => {
            vec![("declined", decline_project_bid), ("buyer is closed", close_team_with_bids)]
        }
        T::AssetTypeDeprecated => vec![("deprecated", deprecate_raw_data)],
        T::PayoutSetupChanged => vec![("changed", change_payout_setup)],
    }
}

#[test]
fn each_type_is_sent_once_to_its_recipients_and_names_no_buyer_to_a_vendor() {
    let repositories = Repositories::new();
    repositories.create_with_files("acme/ledger", &[("src/main.rs", "fn main() {}\n")]);
    for kind in NotificationType::ALL.iter().copied() {
        for (name, cause) in causes(kind) {
            let market = market(&repositories);
            let expected = cause(&market);
            // Whatever the operation left to do sends no second one.
            market.run_background();
            let sent = sent_notifications(&market, kind);
            let recipients: Vec<&str> = sent.iter().map(|(team, _)| key(team)).collect();
            assert_eq!(recipients, expected, "{kind:?}, {name}");
            for (team, notification) in &sent {
                let Notification { title, message, .. } = notification;
                assert!(!title.trim().is_empty() && !message.trim().is_empty(), "{kind:?}, {name}");
                check_link(notification);
                check_names(&market, team, notification);
            }
        }
    }
}

/// Returns all notifications of a type with their recipients, in the order of the keys of the teams.
fn sent_notifications(market: &TestMarket, kind: NotificationType) -> Vec<(Team, Notification)> {
    let mut sent = Vec::new();
    for team in teams(market) {
        let list = |reader: &Reader| store::notifications::list_newest(reader.rows, team.row_id, 1_000);
        let all = market.read(list).unwrap();
        sent.extend(all.into_iter().filter(|found| found.kind == kind).map(|found| (team.clone(), found)));
    }
    sent.sort_by_key(|(team, _)| key(team));
    sent
}

fn teams(market: &TestMarket) -> Vec<Team> {
    market.read(|reader| store::teams::list(reader.rows)).unwrap()
}

/// Returns the key of a team.
fn key(team: &Team) -> &'static str {
    TEAMS.into_iter().find(|key| fixture_record_id("teams", key) == team.id).expect("the key of each team")
}

/// Checks what the APIs state as the link of a notification: null for most types. The web app has a page for each, which is not
/// part of the APIs.
fn check_link(notification: &Notification) {
    use NotificationType as T;
    let link = notification.link.as_deref();
    match notification.kind {
        T::OpportunityPublished | T::OpportunityClosed | T::OpportunityCancelled => {
            assert!(link.is_some_and(|link| link.contains("opportunities/")), "{notification:?}");
        }
        T::ProjectBidAccepted | T::ProjectBidDeclined => {
            assert!(link.is_some_and(|link| link.starts_with("/project-opportunities/")), "{notification:?}");
        }
        T::EstimationCompleted => {
            assert_eq!(link, Some("/estimations"));
            assert!(notification.page.as_deref().is_some_and(|page| page.starts_with("/estimations/")));
        }
        _ => assert_eq!(link, None, "{notification:?}"),
    }
    assert!(link.is_some() || notification.page.is_some(), "it leads to no page: {notification:?}");
}

/// Checks that a notification does not name another team that buys, neither in its texts nor by an ID. Only those
/// of opportunities name the team that published them.
fn check_names(market: &TestMarket, recipient: &Team, notification: &Notification) {
    use NotificationType as T;
    let is_of_opportunity =
        matches!(notification.kind, T::OpportunityPublished | T::OpportunityClosed | T::OpportunityCancelled);
    let content = format!("{notification:?}").to_lowercase();
    for team in teams(market).iter().filter(|team| team.is_buyer && team.id != recipient.id) {
        let names = [team.name.to_lowercase(), team.id.to_string(), team.id.simple().to_string()];
        let is_named = names.iter().any(|name| content.contains(name));
        assert_eq!(is_named, is_of_opportunity && key(team) == "buyer", "{}: {content}", team.name);
    }
}

/// Returns a market in which the seller has the published listing `a` and the draft `draft`, and team `both` the
/// published listing `b`. The seller and the buyers have credits.
fn market(repositories: &Repositories) -> TestMarket {
    let market = TestMarket::with_settings(|settings| settings.repositories.github_url = repositories.url());
    let mut code = codebase("code", &json!(20));
    code["team"] = json!("excluded");
    let sold = |team: &str| json!({"team": team, "accepts_bids": true, "sample_price_usd": 2});
    let listings = [
        published("a", 30, &sold("seller")),
        listing("draft", &json!({})),
        published("b", 30, &sold("both")),
        published("c", 30, &sold("closed")),
    ];
    let mut unsigned = vendor_record("unsigned");
    unsigned.as_object_mut().unwrap().remove("nda_accepted_at");
    let vendors = json!([unsigned, vendor_record("excluded"), vendor_record("closed")]);
    seed_market(&market, &listings, &json!({"teams": vendors, "assets": [code]}));
    for team in ["seller", "buyer", "other"] {
        give_credits(&market, team, 100_000);
    }
    close_team(&market, "closed");
    market
}

fn vendor_record(key: &str) -> Value {
    json!({"key": key, "name": format!("{key} house"), "roles": ["vendor"], "tier": 1,
        "nda_accepted_at": "-P99D", "created_at": "-P99D"})
}

fn write<T>(market: &TestMarket, work: impl FnOnce(&mut Writer) -> Result<T>) -> T {
    market.write(work).unwrap()
}

fn close_team(market: &TestMarket, key: &str) {
    let id = fixture_record_id("teams", key).to_string();
    write(market, |writer| team_closures::close(writer, Platform::of_process(), Actor::Platform, &id));
}

const REQUEST: OpportunityKind = OpportunityKind::Listing;
const PROJECT: OpportunityKind = OpportunityKind::Project;

/// Publishes an opportunity that excludes a vendor.
fn publish(market: &TestMarket, kind: OpportunityKind) -> Uuid {
    let id = create(market, 1, kind, &fields("Maps")).unwrap();
    exclude(market, (id, kind), "excluded");
    perform(market, opportunities::publish, id, kind).unwrap();
    id
}

fn exclude(market: &TestMarket, opportunity: (Uuid, OpportunityKind), team: &str) {
    let teams = [fixture_record_id("teams", team)];
    write(market, |writer| {
        let owner = buyer(writer.rows, "buyer");
        opportunities::exclude(writer, &owner, Actor::Team, opportunity, &teams)
    });
}

fn announce(market: &TestMarket, kind: OpportunityKind) -> &'static [&'static str] {
    publish(market, kind);
    &["both", "buyer", "seller"]
}

/// Ends a published request. One vendor joined after the publication, and another one was excluded.
fn end_request(market: &TestMarket, operation: Transition) -> &'static [&'static str] {
    let id = publish(market, REQUEST);
    market.seed_json(&json!({"teams": [vendor_record("late")]}));
    exclude(market, (id, REQUEST), "both");
    perform(market, operation, id, REQUEST).unwrap();
    &["buyer", "seller"]
}

/// Ends a published project. Two vendors joined after the publication, of which one has withdrawn its bid, and
/// another one was excluded after its bid.
fn end_project(market: &TestMarket, operation: Transition) -> &'static [&'static str] {
    let id = publish(market, PROJECT);
    market.seed_json(&json!({"teams": [vendor_record("late"), vendor_record("undecided")]}));
    for (number, team) in (1..).zip(["both", "late", "undecided"]) {
        bids::submit(market, team, number, id).unwrap();
    }
    bids::as_vendor(market, "undecided", 3, project_bids::withdraw).unwrap();
    exclude(market, (id, PROJECT), "both");
    perform(market, operation, id, PROJECT).unwrap();
    &["both", "buyer", "late", "seller"]
}

/// Performs an operation on a listing, as its usual actor.
fn change_listing(market: &TestMarket, key: &str, operation: Operation) {
    write(market, |writer| listing_lifecycle::perform(writer, listing_id(key), operation));
}

/// Submits the draft of the seller, and decides about it.
fn review(market: &TestMarket, decision: Operation) -> &'static [&'static str] {
    change_listing(market, "draft", Operation::Submit);
    change_listing(market, "draft", decision);
    &["seller"]
}

fn submit_offer(market: &TestMarket, team: &str) -> Uuid {
    bid(market, team, listing_id("a"), 4_000, PayWith::Credits).unwrap()
}

fn receive_offer(market: &TestMarket) -> &'static [&'static str] {
    submit_offer(market, "buyer");
    &["seller"]
}

fn accept_offer(market: &TestMarket) -> &'static [&'static str] {
    submit_offer(market, "other");
    accept(market, "seller", submit_offer(market, "buyer")).unwrap();
    &["buyer"]
}

fn decline_offer(market: &TestMarket) -> &'static [&'static str] {
    submit_offer(market, "other");
    decline(market, "seller", submit_offer(market, "buyer")).unwrap();
    &["buyer"]
}

fn archive_listing(market: &TestMarket) -> &'static [&'static str] {
    submit_offer(market, "buyer");
    submit_offer(market, "other");
    change_listing(market, "a", Operation::Archive);
    &["buyer", "other"]
}

fn let_offer_expire(market: &TestMarket) -> &'static [&'static str] {
    submit_offer(market, "buyer");
    market.clock().advance(DAY);
    submit_offer(market, "other");
    market.clock().advance(29 * DAY);
    market.market().run_due_steps().unwrap();
    &["buyer"]
}

fn buy_with_credits(market: &TestMarket) -> &'static [&'static str] {
    buy(market, "buyer", listing_id("a"), PurchaseKind::Full, PayWith::Credits).unwrap();
    &["seller"]
}

fn complete_invoice(market: &TestMarket) -> &'static [&'static str] {
    let purchase = buy(market, "buyer", listing_id("a"), PurchaseKind::Full, PayWith::Invoice).unwrap();
    assert_eq!(sent_notifications(market, NotificationType::SaleCompleted).len(), 0, "it is not paid yet");
    complete(market, purchase.id).unwrap();
    &["seller"]
}

fn buy_sample(market: &TestMarket) -> &'static [&'static str] {
    buy(market, "buyer", listing_id("b"), PurchaseKind::Sample, PayWith::Credits).unwrap();
    &["both"]
}

fn buy_by_accepted_bid(market: &TestMarket) -> &'static [&'static str] {
    accept_offer(market);
    &["seller"]
}

fn end_run_of_listing(market: &TestMarket) -> &'static [&'static str] {
    change_listing(market, "draft", Operation::Submit);
    market.run_background();
    &["seller"]
}

fn cancel_run(market: &TestMarket) -> &'static [&'static str] {
    review(market, Operation::Withdraw)
}

fn end_run_of_asset(market: &TestMarket) -> &'static [&'static str] {
    let url = upload_zip(market, "Seller house", &zip_of(&[("README.md", "# Scans\n")]));
    let asset = write(market, |writer| {
        let seller = vendor(writer.rows, "seller");
        let change = AssetChange { title: Some("Scans".to_owned()), ..AssetChange::default() };
        let upload = UploadReference { url: Some(url), manifest_url: None };
        let context = writer.check_context();
        let checked = raw_data::check_new(&context, &seller, change, Some(upload), Problems::default())?;
        raw_data::create(writer, &seller, checked, false)
    });
    market.run_background();
    write(market, |writer| {
        let asset = assets::find(writer.rows, &vendor(writer.rows, "seller"), asset.id, None)?;
        quality_runs::start_asset_run(writer, &asset, RunTrigger::Team)
    });
    market.run_background();
    &["seller"]
}

fn request_estimation(market: &TestMarket, request: &EstimationRequest) -> &'static [&'static str] {
    estimations::request(market, 1, request).unwrap();
    market.run_background();
    &["seller"]
}

fn quote_repository(market: &TestMarket) -> &'static [&'static str] {
    request_estimation(market, &estimations::source("acme/ledger"))
}

fn quote_other_kind(market: &TestMarket) -> &'static [&'static str] {
    let sku = Kind::Environment;
    request_estimation(market, &EstimationRequest { sku, ..estimations::source("acme/world") })
}

fn quote_unreadable(market: &TestMarket) -> &'static [&'static str] {
    request_estimation(market, &estimations::source("acme/gone"))
}

/// Publishes a project, on which two vendors bid.
fn receive_project_bids(market: &TestMarket) {
    let id = publish(market, PROJECT);
    bids::submit(market, "seller", 1, id).unwrap();
    bids::submit(market, "both", 2, id).unwrap();
}

fn accept_project_bid(market: &TestMarket) -> &'static [&'static str] {
    receive_project_bids(market);
    bids::as_buyer(market, "buyer", 1, project_bids::accept).unwrap();
    &["seller"]
}

fn decline_project_bid(market: &TestMarket) -> &'static [&'static str] {
    receive_project_bids(market);
    bids::as_buyer(market, "buyer", 1, project_bids::decline).unwrap();
    &["seller"]
}

fn close_team_with_bids(market: &TestMarket) -> &'static [&'static str] {
    receive_project_bids(market);
    close_team(market, "buyer");
    &["both", "seller"]
}

fn deprecate_raw_data(market: &TestMarket) -> &'static [&'static str] {
    write(market, |writer| {
        let retires_at = writer.now.plus_days(30);
        let input = DeprecationInput { retires_at, accepts_new_listings: false, message: "Use a codebase." };
        asset_types::deprecate(writer, Platform::of_process(), Kind::RawData, &input)
    });
    &["both", "seller"]
}

fn change_payout_setup(market: &TestMarket) -> &'static [&'static str] {
    write(market, |writer| {
        let vendor = vendor(writer.rows, "seller");
        payouts::set(writer, &vendor, "IBAN DE00 0000")
    });
    &["seller"]
}
