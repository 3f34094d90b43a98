//! Performs operations on listings, as the vendor or as the platform.

use marketplace::{
    domain::{
        listing_lifecycle::{ListingState, Operation},
        listings::Actor,
        teams::TeamRowId,
    },
    error::Result,
    market::Writer,
    operations::{
        access::{Platform, Vendor},
        certifications, listing_lifecycle,
    },
    store::{self, listings::ListingFields},
};
use uuid::Uuid;

/// Proof to act in the name of a team.
pub fn vendor(rows: &store::Reader, team: TeamRowId) -> Vendor {
    let teams = store::teams::list(rows).unwrap();
    Platform::of_process().vendor(teams.into_iter().find(|found| found.row_id == team).unwrap()).unwrap()
}

/// Creates a draft, and returns its ID.
pub fn create(writer: &mut Writer, team: TeamRowId, fields: &ListingFields) -> Result<Uuid> {
    let (vendor, id) =
        (vendor(writer.rows, team), writer.new_id(marketplace::domain::collections::Collection::Listings));
    listing_lifecycle::create(writer, &vendor, Actor::Team, id, fields).map(|_| id)
}

/// Replaces the fields of a listing.
pub fn update(writer: &mut Writer, id: Uuid, fields: &ListingFields) -> Result<ListingState> {
    let vendor = Platform::of_process().vendor_of_listing(writer.rows, id)?;
    listing_lifecycle::update(writer, &vendor, Actor::Team, id, fields)
}

/// Performs an operation that needs no arguments, as its usual actor. Featured listings get the first place.
pub fn perform(writer: &mut Writer, id: Uuid, operation: Operation) -> Result<ListingState> {
    use Operation as O;
    let actor = match operation {
        O::Submit | O::Withdraw | O::Publish | O::Unpublish | O::Archive | O::Restore => Actor::Team,
        _ => Actor::Platform,
    };
    perform_as(writer, id, operation, actor, None)
}

/// Performs an operation that needs at most a note, as this actor. Featured listings get the first place.
pub fn perform_as(
    writer: &mut Writer,
    id: Uuid,
    operation: Operation,
    actor: Actor,
    note: Option<&str>,
) -> Result<ListingState> {
    let platform = Platform::of_process();
    let vendor = &platform.vendor_of_listing(writer.rows, id)?;
    match operation {
        Operation::Submit => listing_lifecycle::submit(writer, vendor, actor, id).map(|done| done.state),
        Operation::Withdraw => listing_lifecycle::withdraw(writer, vendor, actor, id),
        Operation::Approve => listing_lifecycle::approve(writer, platform, actor, id),
        Operation::RequestChanges => listing_lifecycle::request_changes(writer, platform, actor, id, note),
        Operation::Reject => listing_lifecycle::reject(writer, platform, actor, id, note),
        Operation::Publish => listing_lifecycle::publish(writer, vendor, actor, id),
        Operation::Unpublish => listing_lifecycle::unpublish(writer, vendor, actor, id),
        Operation::Archive => listing_lifecycle::archive(writer, vendor, actor, id),
        Operation::Restore => listing_lifecycle::restore(writer, vendor, actor, id),
        Operation::Certify => certifications::certify(writer, platform, actor, id),
        Operation::Revoke => certifications::revoke(writer, platform, actor, id),
        Operation::Feature => listing_lifecycle::feature(writer, platform, actor, id, 1),
        Operation::Unfeature => listing_lifecycle::unfeature(writer, platform, actor, id),
        Operation::UpdateTexts
        | Operation::UpdateTerms
        | Operation::Attach
        | Operation::Detach
        | Operation::DeleteAsset
        | Operation::ChangeData => {
            panic!("{operation:?} needs arguments")
        }
    }
}
