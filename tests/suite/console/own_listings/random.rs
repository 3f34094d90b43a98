//! Random steps of a listing, and of all that its steps depend on: the menu offers exactly what the operations accept.

use std::collections::BTreeSet;

use marketplace::{
    domain::{
        listing_lifecycle::Operation,
        listings::{Actor, ListingStatus},
        money::Cents,
        purchases::{PayWith, PurchaseKind},
    },
    error::{Error, Result, StateCode},
    market::Writer,
    operations::{
        access::Platform,
        listing_assets,
        listing_attachments::{self, Chosen},
        listing_drafts, listing_lifecycle as operations,
    },
    store::{self, listings::ListingFields},
};
use uuid::Uuid;

use super::{Menu, SELLER, asset_id, draft, market, row};
use crate::{
    harness::{TestMarket, browser::Browser, listing_lifecycle, random::Random, teams},
    sales::{buy, listing_id},
};

/// The steps by their segments in the menu.
const STEPS: [(&str, &str, Operation); 8] = [
    ("edit", "Edit the listing", Operation::UpdateTerms),
    ("assets", "Attach or detach assets", Operation::Attach),
    ("submit", "Submit for review", Operation::Submit),
    ("withdraw", "Withdraw from review", Operation::Withdraw),
    ("publish", "Publish", Operation::Publish),
    ("unpublish", "Take out of the catalog", Operation::Unpublish),
    ("restore", "Restore", Operation::Restore),
    ("archive", "Archive", Operation::Archive),
];

fn read_fields(rows: &store::Reader, id: Uuid) -> Result<ListingFields> {
    let row = store::listings::find(rows, id)?.unwrap();
    store::listings::find_fields(rows, row.row_id)
}

fn perform(writer: &mut Writer, operation: Operation) -> Result<()> {
    let id = listing_id("draft");
    let vendor = Platform::of_process().vendor_of_listing(writer.rows, id)?;
    match operation {
        Operation::UpdateTerms => {
            let mut fields = read_fields(writer.rows, id)?;
            fields.terms.push('.');
            operations::update(writer, &vendor, Actor::Team, id, &fields).map(drop)
        }
        Operation::Attach => {
            let chosen = Chosen::Ids(vec![asset_id("c4")]);
            listing_attachments::attach(writer, &vendor, Actor::Team, id, chosen).map(drop)
        }
        step => listing_lifecycle::perform(writer, id, step).map(drop),
    }
}

/// Whether an operation is accepted now. It is not carried out.
fn is_accepted(market: &TestMarket, operation: Operation) -> bool {
    const UNDONE: &str = "accepted, and undone";
    let result: Result<()> = market.write(|writer| {
        perform(writer, operation)?;
        Err(Error::Conflict(UNDONE.to_owned()))
    });
    match result.expect_err("it is undone") {
        Error::Conflict(message) if message == UNDONE => true,
        // The forms of edits and attachments say which values they refuse. The menu is about the state.
        Error::InvalidState(StateCode::ListingNotEditable, _) => false,
        _ => matches!(operation, Operation::UpdateTerms | Operation::Attach),
    }
}

fn status(market: &TestMarket) -> ListingStatus {
    row(market, listing_id("draft")).status
}

/// Compares the menu with the operations.
async fn check_menu(market: &TestMarket, seller: &Browser<'_>, trace: &[String]) -> Menu {
    let page = seller.get(&draft()).await;
    assert_eq!(page.status(), 200, "{trace:?}: {}", page.visible());
    super::check_markup(&page);
    let menu = Menu::of(&page, &draft());
    assert_eq!(menu.offered.len() + menu.refused.len(), STEPS.len(), "{trace:?}: {menu:?}");
    for (segment, title, operation) in STEPS {
        let is_offered = menu.offered.iter().any(|offered| offered == segment);
        assert_eq!(is_offered, is_accepted(market, operation), "{segment} after {trace:?}: {menu:?}");
        if !is_offered {
            assert!(menu.reason(title).len() > 10, "{menu:?}");
        }
    }
    menu
}

/// Sends the form of a step, whether the menu offers it or not.
async fn step(market: &TestMarket, seller: &Browser<'_>, menu: &Menu, segment: &str, trace: &[String]) {
    let before = status(market);
    let is_offered = menu.offered.iter().any(|offered| offered == segment);
    let answer = seller.post(&format!("{}/{segment}", draft()), &[]).await;
    let expected = if is_offered { 303 } else { 409 };
    assert_eq!(answer.status(), expected, "{segment} after {trace:?}: {}", answer.visible());
    assert_eq!(status(market) == before, !is_offered, "{segment} after {trace:?}");
    if !is_offered {
        let question = seller.get(&format!("{}/{segment}", draft())).await;
        question.expect(200, "This cannot be done now.");
    }
}

/// Changes what steps depend on besides the state, as far as the rules allow it now.
fn change_facts(market: &TestMarket, random: &mut Random) -> String {
    let id = listing_id("draft");
    let choice = random.below(7);
    let is_on = random.percent(70);
    let changed = market.write(|writer| {
        let vendor = teams::vendor(writer.rows, "seller");
        let mut fields = read_fields(writer.rows, id)?;
        match choice {
            0 => fields.description = String::from(if is_on { "About it." } else { "" }),
            1 => fields.price = is_on.then_some(Cents(5_000)),
            2 => fields.sample_price = (!is_on).then_some(Cents(100)),
            3 => fields.is_exclusive = !is_on,
            4 => return listing_assets::detach(writer, &vendor, Actor::Team, id, asset_id("c1")),
            5 => return listing_assets::detach(writer, &vendor, Actor::Team, id, asset_id("c2")),
            _ => {
                let chosen = Chosen::Ids(vec![asset_id("c1"), asset_id("c2")]);
                return listing_attachments::attach(writer, &vendor, Actor::Team, id, chosen).map(drop);
            }
        }
        operations::update(writer, &vendor, Actor::Team, id, &fields).map(drop)
    });
    format!("fact {choice} {is_on} {}", changed.is_ok())
}

/// Offers `c1` exclusively on another listing, too. Returns the ID of that one.
fn offer_once(market: &TestMarket) -> Uuid {
    let offered = market.write(|writer| {
        let vendor = teams::vendor(writer.rows, "seller");
        let fields = ListingFields {
            title: "Single".to_owned(),
            description: "Once.".to_owned(),
            price: Some(Cents(100)),
            is_exclusive: true,
            ..ListingFields::default()
        };
        let id = listing_drafts::create(writer, &vendor, Actor::Team, &fields, &[asset_id("c1")])?;
        for operation in [Operation::Submit, Operation::Approve, Operation::Publish] {
            listing_lifecycle::perform(writer, id, operation)?;
        }
        Ok(id)
    });
    offered.unwrap()
}

/// Lets the platform decide, if it can.
fn decide(market: &TestMarket, random: &mut Random) -> String {
    let decision = *random.pick(&[
        Operation::Approve,
        Operation::Approve,
        Operation::RequestChanges,
        Operation::Certify,
    ]);
    let decided = market.write(|writer| listing_lifecycle::perform(writer, listing_id("draft"), decision));
    format!("{decision:?} {}", decided.is_ok())
}

async fn walk(seed: u64, reasons: &mut BTreeSet<String>) {
    let market = market();
    let single = offer_once(&market);
    let seller = Browser::signed_in(&market, SELLER).await;
    let (mut random, mut trace) = (Random::new(seed), Vec::new());
    let sale_at = 10 + random.below(20);
    for turn in 0..40 {
        let menu = check_menu(&market, &seller, &trace).await;
        reasons.extend(menu.refused.iter().map(|(title, reason)| format!("{title}: {reason}")));
        let taken = match random.below(10) {
            _ if turn == sale_at => {
                let sold = buy(&market, "buyer", single, PurchaseKind::Full, PayWith::Credits);
                format!("sold {}", sold.is_ok())
            }
            // Most of the time, the listing goes on.
            0..4 => {
                let is_step = |segment: &&String| !["edit", "assets", "archive"].contains(&segment.as_str());
                let segment = menu.offered.iter().find(is_step).map_or("archive", String::as_str);
                step(&market, &seller, &menu, segment, &trace).await;
                segment.to_owned()
            }
            4..6 => {
                let (segment, ..) = *random.pick(&STEPS[2..]);
                step(&market, &seller, &menu, segment, &trace).await;
                segment.to_owned()
            }
            6..8 => decide(&market, &mut random),
            _ => change_facts(&market, &mut random),
        };
        trace.push(taken);
        // The budget of a minute is for people.
        market.clock().advance(super::MINUTE);
    }
}

#[tokio::test]
async fn menu_offers_exactly_what_operations_accept() {
    let mut reasons = BTreeSet::new();
    for seed in 1..=6 {
        walk(seed, &mut reasons).await;
    }
    // The walks came to all kinds of obstacles.
    for expected in [
        "Submit for review: Something is missing",
        "Submit for review: It is approved already.",
        "Publish: The market has to approve it first.",
        "Restore: These assets, or others of your team with the same data, were sold exclusively",
        "Archive: It is in review.",
        "Edit the listing: It is in review",
        "Attach or detach assets: It is live.",
    ] {
        let is_found = reasons.iter().any(|reason| reason.starts_with(expected));
        assert!(is_found, "{expected:?} is not in {reasons:#?}");
    }
}
