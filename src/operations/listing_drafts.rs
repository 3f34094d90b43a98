//! New listings with their assets, in one transaction.

use uuid::Uuid;

use super::{access::Vendor, listing_assets, listing_lifecycle, listings};
use crate::{
    domain::{collections::Collection, listings::Actor},
    error::Result,
    market::Writer,
    store::listings::ListingFields,
};

/// Creates a draft with assets of the team, all or nothing. Returns its ID.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    fields: &ListingFields,
    asset_ids: &[Uuid],
) -> Result<Uuid> {
    let id = writer.new_id(Collection::Listings);
    listing_lifecycle::create(writer, vendor, actor, id, fields)?;
    if !asset_ids.is_empty() {
        let listing = listings::find_own(writer.rows, vendor, id)?;
        listing_assets::attach_all(writer, vendor, actor, &listing, asset_ids, false)?;
    }
    Ok(id)
}
