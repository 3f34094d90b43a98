//! The operations on listings: what each one writes, that a failed write leaves nothing, and that replaying a
//! recorded history writes the same rows.

mod replay;
mod rules;

use marketplace::{
    clock::fixture_record_id,
    domain::{
        assets::Kind,
        listing_lifecycle::Operation,
        listings::{Actor, Event},
        money::Cents,
        notifications::NotificationType,
        problems::Problems,
        time::Timestamp,
    },
    error::{Error, Result},
    market::Writer,
    operations::{
        access::{Platform, Vendor},
        certifications, linked_data, listing_assets, listing_lifecycle,
    },
    store::{
        self,
        listing_history::{self, HistoryEvent},
        listings::ListingFields,
    },
    string_enum::StringEnum,
};
use serde_json::json;
use uuid::Uuid;

use crate::{
    catalog::small_market::{listing, small_market_with},
    harness::{TestMarket, listing_lifecycle::perform_as},
};

/// Microseconds per second.
const SECOND: i64 = 1_000_000;

fn fields(title: &str) -> ListingFields {
    ListingFields {
        title: title.to_owned(),
        description: "About it.".to_owned(),
        price: Some(Cents(5_000)),
        ..ListingFields::default()
    }
}

/// Returns a market with a draft of the seller, and a codebase that is on no listing.
fn market_with_draft() -> TestMarket {
    let code = json!({
        "key": "code", "team": "seller", "sku": "codebase", "title": "Code", "description": "D", "price_usd": 5,
        "domain_tags": ["finance"], "created_at": "-P9D",
        "codebase": {
            "exclusivity": "available", "lines_of_code": 9, "commits": 2, "contributors": 1, "merged_prs": 0,
            "history_start": "2020-01-01", "history_end": "2021-01-01", "ci_on_prs": false,
            "data": {"channel": "github", "repo_full_name": "acme/x", "archive_status": "completed",
                "analysis_status": "completed", "attached_at": "-P5D"},
        },
    });
    let market = small_market_with(&[listing("a", &json!({}))], &json!({"assets": [code]}));
    market.write(|writer| give_credits(writer, "seller")).unwrap();
    market
}

/// Gives a team enough credits for a few quality runs.
fn give_credits(writer: &mut Writer, team: &str) -> Result<()> {
    let team = store::teams::find(writer.rows, fixture_record_id("teams", team))?.unwrap();
    let id = writer.new_id(marketplace::domain::collections::Collection::Listings);
    let charge = Cents(-10_000);
    marketplace::operations::quality_runs::charge(writer, id, team.row_id, "gift", charge)?;
    Ok(())
}

fn draft_id() -> Uuid {
    fixture_record_id("listings", "a")
}

/// The rows that operations write about a listing.
#[derive(Debug, PartialEq)]
struct Rows {
    entry: String,
    certified_at: Option<Timestamp>,
    history: Vec<HistoryEvent>,
    notifications: Vec<NotificationType>,
    last_change: i64,
}

fn rows(reader: &store::Reader, id: Uuid) -> Rows {
    let row = store::listings::find(reader, id).unwrap().unwrap();
    let entry = store::catalog_entries::find(reader, row.row_id).unwrap();
    let notifications = store::notifications::list_newest(reader, row.team, 100).unwrap();
    Rows {
        entry: format!("{entry:?}"),
        certified_at: row.certified_at,
        history: listing_history::list(reader, row.row_id).unwrap(),
        notifications: notifications.iter().map(|notification| notification.kind).collect(),
        last_change: store::index_queue::last_change(reader).unwrap(),
    }
}

/// Performs an operation with the draft of [`market_with_draft`], as this actor.
fn perform(writer: &mut Writer, operation: Operation, actor: Actor) -> Result<()> {
    let (platform, id) = (Platform::of_process(), draft_id());
    let vendor = &platform.vendor_of_listing(writer.rows, id)?;
    match operation {
        Operation::UpdateTexts => listing_lifecycle::update(writer, vendor, actor, id, &fields("Changed")),
        Operation::UpdateTerms => {
            let title = store::listings::find(writer.rows, id)?.unwrap().title;
            let terms = ListingFields { terms: "Other terms.".to_owned(), ..fields(&title) };
            listing_lifecycle::update(writer, vendor, actor, id, &terms)
        }
        Operation::Attach => return attach(writer, vendor, actor, id),
        Operation::Detach => {
            let asset = fixture_record_id("assets", "a-files");
            return listing_assets::detach(writer, vendor, actor, id, asset);
        }
        Operation::DeleteAsset => {
            let asset = fixture_record_id("assets", "a-files");
            return marketplace::operations::assets::delete(writer, vendor, asset, Kind::RawData);
        }
        Operation::ChangeData => {
            let code = fixture_record_id("assets", "code");
            return linked_data::detach(writer, vendor, code, Kind::Codebase);
        }
        _ => perform_as(writer, id, operation, actor, Some("Tidy up.")),
    }
    .map(|_| ())
}

fn attach(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<()> {
    let ids = [fixture_record_id("assets", "code")];
    let context = writer.check_context();
    let listing = listing_assets::check_attachment(&context, vendor, id, &[], Problems::default())?;
    let result = listing_assets::attach(writer, vendor, actor, &listing, &ids, Vec::new())?;
    assert_eq!(result.attached, 1, "{:?}", result.skipped);
    Ok(())
}

/// Returns operations that bring a draft into a state in which an operation is allowed.
fn operations_before(operation: Operation) -> &'static [Operation] {
    use Operation as O;
    match operation {
        O::Withdraw | O::Approve | O::RequestChanges | O::Reject => &[O::Submit],
        O::Publish => &[O::Submit, O::Approve],
        O::ChangeData => &[O::Attach, O::Submit, O::Approve],
        O::Unpublish => &[O::Submit, O::Approve, O::Publish],
        O::Restore => &[O::Archive],
        O::Revoke => &[O::Certify],
        O::Unfeature => &[O::Feature],
        _ => &[],
    }
}

/// Each operation writes one event with the actor that it is given, and its notification, and queues the
/// listing for the index in the same transaction. Featuring has no event.
#[test]
fn operation_writes_one_event_its_notification_and_the_queue() {
    for operation in Operation::ALL.iter().copied() {
        for actor in Actor::ALL.iter().copied() {
            // Assets are only deleted, and separated from their data, by their team.
            let is_of_team = [Operation::DeleteAsset, Operation::ChangeData].contains(&operation);
            let actor = if is_of_team { Actor::Team } else { actor };
            let market = market_with_draft();
            market.clock().advance(SECOND);
            let step = |operation, actor| {
                let changed = market.write(|writer| {
                    let before = rows(writer.rows, draft_id());
                    perform(writer, operation, actor)?;
                    Ok((before, rows(writer.rows, draft_id()), writer.now))
                });
                changed.unwrap_or_else(|error| panic!("{operation:?}: {error}"))
            };
            for earlier in operations_before(operation) {
                step(*earlier, Actor::System);
            }
            let (before, after, now) = step(operation, actor);
            let new_events = &after.history[..after.history.len() - before.history.len()];
            let events: Vec<_> =
                new_events.iter().map(|event| (event.event, event.actor, event.occurred_at)).collect();
            let expected: Vec<_> = operation.event().map(|event| (event, actor, now)).into_iter().collect();
            assert_eq!(events, expected, "{operation:?}");
            let sent = &after.notifications[..after.notifications.len() - before.notifications.len()];
            let mut expected: Vec<_> = operation.notification().into_iter().collect();
            if operation == Operation::Withdraw {
                // Its quality run is canceled.
                expected.push(NotificationType::QualityCheckCompleted);
            }
            assert_eq!(sent, expected, "{operation:?}");
            assert!(after.last_change > before.last_change, "{operation:?} does not queue the listing");
        }
    }
}

/// A transaction that fails after an operation leaves nothing of it.
#[test]
fn rollback_leaves_nothing() {
    for operation in Operation::ALL.iter().copied() {
        let market = market_with_draft();
        for earlier in operations_before(operation) {
            market.write(|writer| perform(writer, *earlier, Actor::Team)).unwrap();
        }
        market.clock().advance(SECOND);
        let read = || market.read(|reader| Ok(rows(reader.rows, draft_id()))).unwrap();
        let before = read();
        let failed = market.write(|writer| {
            perform(writer, operation, Actor::Platform)?;
            assert_ne!(rows(writer.rows, draft_id()), before, "{operation:?} writes nothing");
            Err::<(), _>(Error::Conflict("rolled back".to_owned()))
        });
        assert!(matches!(failed, Err(Error::Conflict(message)) if message == "rolled back"), "{operation:?}");
        assert_eq!(read(), before, "{operation:?}");
    }
}

/// An operation that the state refuses writes nothing, and says what is allowed.
#[test]
fn refused_operation_writes_nothing() {
    let market = market_with_draft();
    let read = || market.read(|reader| Ok(rows(reader.rows, draft_id()))).unwrap();
    let before = read();
    let refused = market.write(|writer| perform(writer, Operation::Publish, Actor::Team));
    match refused {
        Err(Error::InvalidTransition { from, allowed }) => {
            assert_eq!((from, allowed), ("draft", vec!["submit", "archive"]));
        }
        other => panic!("{other:?}"),
    }
    for operation in [Operation::Revoke, Operation::Unfeature] {
        let refused = market.write(|writer| perform(writer, operation, Actor::Platform));
        assert!(matches!(refused, Err(Error::Conflict(_))), "{operation:?}: {refused:?}");
    }
    assert_eq!(read(), before);
}

/// A team cannot change the listings of another team, even if the platform acts for it.
#[test]
fn listing_of_another_team_is_not_found() {
    let market = market_with_draft();
    let refused = market.write(|writer| {
        let other = store::teams::find(writer.rows, fixture_record_id("teams", "both"))?.unwrap();
        let vendor = Platform::of_process().vendor(other).unwrap();
        listing_lifecycle::submit(writer, &vendor, Actor::Team, draft_id())
    });
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}

/// The platform certifies and revokes itself; a quality run certifies, and a change revokes, as the system.
#[test]
fn certification_names_who_decided() {
    let market = market_with_draft();
    let event = |work: &dyn Fn(&mut Writer) -> Result<()>| {
        market.clock().advance(SECOND);
        market.write(|writer| work(writer)).unwrap();
        let history = market.read(|reader| Ok(rows(reader.rows, draft_id()))).unwrap().history;
        (history[0].event, history[0].actor)
    };
    let finish_run = |has_passed: bool| {
        move |writer: &mut Writer| {
            let row = store::listings::find(writer.rows, draft_id())?.unwrap();
            certifications::apply_run_result(writer, Platform::of_process(), row.row_id, has_passed)
        }
    };
    let by = |operation, actor| move |writer: &mut Writer| perform(writer, operation, actor);
    assert_eq!(event(&by(Operation::Certify, Actor::Platform)), (Event::Certified, Actor::Platform));
    assert_eq!(
        event(&by(Operation::Revoke, Actor::Platform)),
        (Event::CertificationRevoked, Actor::Platform)
    );
    assert_eq!(event(&finish_run(true)), (Event::Certified, Actor::System));
    assert_eq!(event(&finish_run(false)), (Event::CertificationRevoked, Actor::System));
    assert_eq!(event(&finish_run(true)), (Event::Certified, Actor::System));
    for change in [Operation::Attach, Operation::Detach] {
        event(&by(Operation::Certify, Actor::Platform));
        assert_eq!(
            event(&by(change, Actor::Team)),
            (Event::CertificationRevoked, Actor::System),
            "{change:?}"
        );
    }
}

/// A note of the platform is in the notification and in the quality run that was reviewed.
#[tokio::test]
async fn note_reaches_the_vendor() {
    let market = market_with_draft();
    for operation in [Operation::Submit, Operation::RequestChanges] {
        market.write(|writer| perform(writer, operation, Actor::Platform)).unwrap();
    }
    let feed = market.get("mkt_seller", "/v2/vendor/notifications").await.ok();
    let newest = &feed["notifications"][0];
    assert_eq!(newest["type"], "listing_changes_requested");
    assert_eq!(newest["message"], "\u{201c}Listing a\u{201d} needs changes. Tidy up.");
    let quality = market.get("mkt_seller", &format!("/v2/listings/{}/qc", draft_id())).await.ok();
    assert_eq!(quality["latest_run"]["review_feedback"], "Tidy up.");
    for note in [String::new(), " ".to_owned(), "x".repeat(marketplace::domain::texts::NOTE.max + 1)] {
        let refused = market.write(|writer| {
            perform(writer, Operation::Submit, Actor::Team)?;
            listing_lifecycle::reject(
                writer,
                Platform::of_process(),
                Actor::Platform,
                draft_id(),
                Some(&note),
            )
        });
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
}
