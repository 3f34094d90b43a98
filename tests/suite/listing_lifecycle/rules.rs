//! Effects of changes of a listing: ended states, refusals, and events.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        listing_lifecycle::Operation,
        listings::{Actor, CatalogStatus, ReviewStatus},
        row_ids::EventRowId,
    },
    error::{Error, StateCode},
    operations::{access::Platform, listing_lifecycle},
    store,
    string_enum::StringEnum,
};
use serde_json::json;

use super::{draft_id, give_credits, market_with_draft, perform};
use crate::{
    catalog::small_market::{listing, small_market_with},
    harness::TestMarket,
};

/// Returns the state of the draft of [`market_with_draft`].
fn state(market: &TestMarket) -> (ReviewStatus, CatalogStatus) {
    let status =
        market.read(|reader| Ok(store::listings::find(reader.rows, draft_id())?.unwrap().status)).unwrap();
    (status.review, status.catalog)
}

/// Other texts or assets end the approval; other prices and terms do not, and can change in the catalog.
#[test]
fn change_of_what_was_reviewed_ends_the_approval() {
    use Operation as O;
    for (change, review) in [
        (O::UpdateTexts, ReviewStatus::Draft),
        (O::Attach, ReviewStatus::Draft),
        (O::Detach, ReviewStatus::Draft),
        (O::DeleteAsset, ReviewStatus::Draft),
        (O::UpdateTerms, ReviewStatus::Approved),
    ] {
        let market = market_with_draft();
        let perform = |operation| market.write(|writer| perform(writer, operation, Actor::Team));
        for operation in [O::Submit, O::Approve, change] {
            perform(operation).unwrap();
        }
        assert_eq!(state(&market), (review, CatalogStatus::Unpublished), "{change:?}");
        match change {
            O::UpdateTerms => {
                perform(O::Publish).unwrap();
                perform(O::UpdateTerms).unwrap();
                let refused = perform(O::UpdateTexts);
                assert!(matches!(refused, Err(Error::InvalidState(StateCode::ListingNotEditable, _))));
            }
            _ => assert!(matches!(perform(O::Publish), Err(Error::InvalidTransition { .. }))),
        }
    }
}

/// A vendor without credits can submit; the listing is reviewed without a quality run.
#[test]
fn submission_without_credits_has_no_run() {
    for (credits, has_run) in [(0, false), (10_000, true)] {
        let market = small_market_with(&[listing("a", &json!({}))], &json!({}));
        let submitted = market.write(|writer| {
            if credits > 0 {
                give_credits(writer, "seller")?;
            }
            let vendor = Platform::of_process().vendor_of_listing(writer.rows, draft_id())?;
            listing_lifecycle::submit(writer, &vendor, Actor::Team, draft_id())
        });
        assert_eq!(submitted.unwrap().run.is_some(), has_run);
        assert_eq!(state(&market).0, ReviewStatus::InReview);
    }
}

/// No two listings have the same featured place, and places begin at 1.
#[test]
fn featured_place_belongs_to_one_listing() {
    let market = small_market_with(&[listing("a", &json!({})), listing("b", &json!({}))], &json!({}));
    let feature = |key: &str, place| {
        market.write(|writer| {
            let (platform, id) = (Platform::of_process(), fixture_record_id("listings", key));
            listing_lifecycle::feature(writer, platform, Actor::Platform, id, place)
        })
    };
    assert!(matches!(feature("a", 0), Err(Error::Invalid(_))));
    feature("a", 1).unwrap();
    feature("a", 1).unwrap();
    assert!(matches!(feature("b", 1), Err(Error::Conflict(_))));
    feature("a", 2).unwrap();
    feature("b", 1).unwrap();
}

/// Every change of a listing is an event of its vendor. The events say what the state was and what it is.
#[test]
fn events_of_a_listing_replay_to_its_state() {
    use Operation as O;
    let market = market_with_draft();
    let operations = [
        O::Certify,
        O::Attach,
        O::Submit,
        O::RequestChanges,
        O::UpdateTexts,
        O::Submit,
        O::Approve,
        O::Publish,
        O::Feature,
        O::UpdateTerms,
        O::Unfeature,
        O::Archive,
    ];
    let first = events(&market).last().map_or(EventRowId(0), |event| event.row_id);
    for operation in operations {
        market.write(|writer| perform(writer, operation, Actor::Team)).unwrap();
    }
    let all = events(&market);
    let events: Vec<_> = all.iter().filter(|event| event.row_id > first).collect();
    let types: Vec<&str> = events
        .iter()
        .filter(|event| event.event_type.resource() == "listing")
        .map(|event| event.event_type.as_str().trim_start_matches("listing."))
        .collect();
    let expected = [
        "certified",
        "assets_attached",
        "certification_revoked",
        "submitted",
        "changes_requested",
        "updated",
        "submitted",
        "approved",
        "published",
        "featured",
        "updated",
        "unfeatured",
        "archived",
    ];
    assert_eq!(types, expected);
    let mut stage = json!("draft");
    for event in events.iter().filter(|event| event.event_type.resource() == "listing") {
        let data: serde_json::Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(
            (event.team, &event.subject.0),
            (Some(fixture_record_id("teams", "seller")), &draft_id().to_string())
        );
        assert_eq!(data["from_stage"], stage, "{data}");
        stage = data["to_stage"].clone();
    }
    assert_eq!(stage, "archived");
}

fn events(market: &TestMarket) -> Vec<store::events::Event> {
    market.read(|reader| store::events::list_after(reader.rows, EventRowId(0), 1_000)).unwrap()
}
