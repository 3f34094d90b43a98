//! Effects of exclusive sales: what their completion ends, and what a refund makes possible again.
//!
//! A refund makes the codebases available again, and listings with them can be restored. They stay archived until
//! then, and what the sale ended (offers and purchases) stays ended.

use super::{listing_lifecycle, purchase_changes};
use crate::{
    domain::{
        assets::Exclusivity,
        events::{AssetExclusivityData, EventData},
        listings::Actor,
    },
    error::{Error, Result},
    market::Writer,
    store::{self, purchases::PurchaseRow},
};

/// Carries out the effects of an exclusive sale, as the system: its codebases become unavailable, every listing with one of
/// them is archived, and the offers and pending purchases of these listings end. `purchase` is completed, and nothing forbids
/// the sale.
pub fn record(writer: &mut Writer, purchase: &PurchaseRow) -> Result<()> {
    store::exclusive_sales::insert(writer.rows, purchase.row_id)?;
    for ended in store::exclusive_sales::list_ended_purchases(writer.rows, purchase.row_id)? {
        purchase_changes::cancel(writer, &ended, Actor::System)?;
    }
    for row_id in store::exclusive_sales::list_carrying_listings(writer.rows, purchase.row_id)? {
        let listing = store::listings::find_by_row_id(writer.rows, row_id)?
            .ok_or_else(|| Error::internal("a listing that carries a sold asset does not exist"))?;
        listing_lifecycle::archive_in_any_stage(writer, listing, Actor::System)?;
    }
    set_exclusivity(writer, purchase, Exclusivity::Unavailable)
}

/// Makes the codebases of an exclusive sale available again, because it is refunded.
pub fn reverse(writer: &Writer, purchase: &PurchaseRow) -> Result<()> {
    store::exclusive_sales::delete(writer.rows, purchase.row_id)?;
    set_exclusivity(writer, purchase, Exclusivity::Available)
}

fn set_exclusivity(writer: &Writer, purchase: &PurchaseRow, exclusivity: Exclusivity) -> Result<()> {
    let changed = store::exclusive_sales::set_exclusivity(writer.rows, purchase.row_id, exclusivity)?;
    let Some(first) = changed.first() else { return Ok(()) };
    let data = AssetExclusivityData::new(exclusivity, &changed);
    writer.emit(Some(purchase.vendor), *first, &EventData::AssetExclusivityChanged(data))
}
