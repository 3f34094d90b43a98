//! The rules of exclusive listings: which assets they can have, and what an exclusive sale forbids. The sales
//! themselves are in `exclusive_sales`.

use crate::{
    error::{Error, NameList, Result, StateCode, excerpt, quoted},
    store::{self, Reader, exclusive_sales::Obstacles, listings::ListingRow, purchases::PurchaseRow},
};

/// Checks that a listing with its present assets can be offered: no asset was sold exclusively, and if the
/// listing `is_exclusive`, all of them can be sold exclusively.
pub fn check_listing(rows: &Reader, listing: &ListingRow, is_exclusive: bool) -> Result<()> {
    if !is_exclusive {
        return check_not_sold(rows, listing);
    }
    let found = store::exclusive_sales::find_obstacles(rows, listing.row_id)?;
    if !found.sold.is_empty() {
        return Err(assets_are_sold(&found.sold));
    }
    let problem = if !found.other_kinds.is_empty() {
        let others = found.other_kinds;
        format!(
            "Only codebases can be sold exclusively. Detach these assets, or do not sell the listing exclusively: {others}."
        )
    } else if !found.covered.is_empty() {
        let covered = found.covered;
        format!(
            "These codebases, or others of your team with the same data, were sold already, so they cannot be sold exclusively: \
             {covered}. Detach them, or do not sell the listing exclusively."
        )
    } else if !found.unavailable.is_empty() {
        let unavailable = found.unavailable;
        format!(
            "These codebases are not available for exclusive sales: {unavailable}. Make them available, detach them, or do \
             not sell the listing exclusively."
        )
    } else {
        return Ok(());
    };
    Err(Error::Conflict(problem))
}

/// Checks that no asset of a listing was sold exclusively, for its vendor.
pub fn check_not_sold(rows: &Reader, listing: &ListingRow) -> Result<()> {
    let sold = store::exclusive_sales::find_sold_assets(rows, listing.row_id)?;
    if sold.is_empty() { Ok(()) } else { Err(assets_are_sold(&sold)) }
}

/// Checks that a listing, or its sample, can be sold now.
pub fn check_sale(rows: &Reader, listing: &ListingRow, is_of_data: bool) -> Result<()> {
    let can_be_sold = if is_of_data && listing.is_exclusive {
        store::exclusive_sales::find_obstacles(rows, listing.row_id)? == Obstacles::default()
    } else {
        store::exclusive_sales::find_sold_assets(rows, listing.row_id)?.is_empty()
    };
    if can_be_sold { Ok(()) } else { Err(no_longer_available(&listing.title)) }
}

/// Checks that the data of a listing in the catalog can be sold, so that bids on it make sense. Only an exclusive listing can be in
/// the catalog when it cannot: others are archived with the sale that forbids theirs.
pub fn check_bids(rows: &Reader, listing: &ListingRow) -> Result<()> {
    if listing.is_exclusive { check_sale(rows, listing, true) } else { Ok(()) }
}

/// Checks that a purchase of data can be completed: later sales must not conflict with it.
pub fn check_completion(rows: &Reader, purchase: &PurchaseRow) -> Result<()> {
    let found = store::exclusive_sales::find_obstacles_of_purchase(rows, purchase.row_id)?;
    if !found.sold.is_empty() || purchase.is_exclusive && !found.covered.is_empty() {
        return Err(no_longer_available(&purchase.listing_title));
    }
    Ok(())
}

fn assets_are_sold(sold: &NameList) -> Error {
    let message = format!(
        "These assets, or others of your team with the same data, were sold exclusively, so the listing cannot be offered: \
         {sold}. Detach them first."
    );
    Error::InvalidState(StateCode::NoLongerAvailable, message)
}

/// Returns the error for a buyer, who may not learn which assets the vendor has sold to whom.
fn no_longer_available(title: &str) -> Error {
    let message = format!(
        "The listing {} cannot be sold now, because of another sale of its assets or by decision of the vendor.",
        quoted(&excerpt(title))
    );
    Error::InvalidState(StateCode::NoLongerAvailable, message)
}
