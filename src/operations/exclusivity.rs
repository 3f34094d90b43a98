//! The rules of exclusive listings: which assets they can have, and what an exclusive sale forbids. The sales
//! themselves are in `exclusive_sales`.

use crate::{
    error::{Error, Result, StateCode},
    store::{self, Reader, exclusive_sales::Obstacles, listings::ListingRow, purchases::PurchaseRow},
};

/// Checks that a listing with its present assets can be offered: no asset was sold exclusively, and if the
/// listing `is_exclusive`, all of them can be sold exclusively.
pub fn check_listing(rows: &Reader, listing: &ListingRow, is_exclusive: bool) -> Result<()> {
    if !is_exclusive {
        return check_not_sold(rows, listing);
    }
    let found = store::exclusive_sales::find_obstacles(rows, listing.row_id)?;
    if found.is_sold {
        return Err(no_longer_available());
    }
    let problem = if found.has_other_kind {
        "Only codebases can be sold exclusively. Detach the other assets, or set `exclusive` to false."
    } else if found.is_covered {
        "A codebase of the listing was sold already, so it cannot be sold exclusively. Detach it, or set \
         `exclusive` to false."
    } else if found.has_unavailable {
        "A codebase of the listing is not available for exclusive sales. Set its `exclusivity` to available, \
         detach it, or set `exclusive` to false."
    } else {
        return Ok(());
    };
    Err(Error::Conflict(problem.to_owned()))
}

/// Checks that no asset of a listing was sold exclusively.
pub fn check_not_sold(rows: &Reader, listing: &ListingRow) -> Result<()> {
    if store::exclusive_sales::has_sold_asset(rows, listing.row_id)? {
        return Err(no_longer_available());
    }
    Ok(())
}

/// Checks that a listing can be sold now.
pub fn check_sale(rows: &Reader, listing: &ListingRow) -> Result<()> {
    if !listing.is_exclusive {
        return check_not_sold(rows, listing);
    }
    match store::exclusive_sales::find_obstacles(rows, listing.row_id)? {
        found if found == Obstacles::default() => Ok(()),
        _ => Err(no_longer_available()),
    }
}

/// Checks that a purchase of data can be completed, whatever was sold since its creation.
pub fn check_completion(rows: &Reader, purchase: &PurchaseRow) -> Result<()> {
    let found = store::exclusive_sales::find_obstacles_of_purchase(rows, purchase.row_id)?;
    if found.is_sold || purchase.is_exclusive && found.is_covered {
        return Err(no_longer_available());
    }
    Ok(())
}

fn no_longer_available() -> Error {
    let message =
        "An asset of the listing cannot be sold now, because of another sale or by decision of the vendor.";
    Error::InvalidState(StateCode::NoLongerAvailable, message.to_owned())
}
