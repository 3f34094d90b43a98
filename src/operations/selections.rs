//! Selections: what single assets of a listing cost together.

use std::collections::HashMap;

use uuid::Uuid;

use super::{access::Buyer, listings};
use crate::{
    domain::{
        money::Cents,
        problems::Problems,
        purchases::{MAX_SELECTED_ASSETS, selection_price},
    },
    error::{Error, Problem, Result},
    market::Reader,
    request_problems::ProblemsExt,
    store::{self, listing_assets::SelectableAsset, listings::ListingRow},
};

/// Returns the assets of a listing on sale that can be bought without the others, as many as one purchase can select.
pub fn list_selectable(reader: &Reader, buyer: &Buyer, listing: Uuid) -> Result<Vec<SelectableAsset>> {
    let listing = listings::find_on_sale(reader.rows, buyer, listing)?;
    store::listing_assets::list_selectable(reader.rows, listing.row_id, MAX_SELECTED_ASSETS as u32)
}

/// Returns the price of all assets of a listing if a buyer selects them one by one; `None` if that is not possible
/// because the listing is exclusive, an asset has no asking price, or there are too many assets for a selection.
pub(super) fn price_of_all(rows: &store::Reader, listing: &ListingRow) -> Result<Option<Cents>> {
    if listing.is_exclusive {
        return Ok(None);
    }
    let prices = store::listing_assets::find_prices(rows, listing.row_id, MAX_SELECTED_ASSETS + 1)?;
    let is_possible = (1..=MAX_SELECTED_ASSETS).contains(&prices.assets) && prices.priced == prices.assets;
    Ok(is_possible.then_some(prices.sum))
}

/// Whether a listing has two assets or more, of which buyers can choose some.
pub(super) fn has_choice(rows: &store::Reader, listing: &ListingRow) -> Result<bool> {
    let prices = store::listing_assets::find_prices(rows, listing.row_id, 2)?;
    Ok(!listing.is_exclusive && prices.assets > 1)
}

/// Returns the price of these assets of a listing: the sum of their asking prices, at most the price of the
/// listing. Fails with all problems: no or too many assets, duplicates, assets that are not on the listing, and
/// assets without an asking price.
pub fn price(rows: &store::Reader, listing: &ListingRow, ids: &[Uuid], listed_price: Cents) -> Result<Cents> {
    if ids.is_empty() || ids.len() > MAX_SELECTED_ASSETS {
        let kind = if ids.is_empty() { "too_short" } else { "too_long" };
        let rule =
            format!("Select 1 to {MAX_SELECTED_ASSETS} assets, or leave out `asset_ids` for all of them.");
        return Err(Error::invalid(Problem::body(&["asset_ids"], kind, rule)));
    }
    let found = store::purchases::list_selected(rows, listing.row_id, ids)?;
    let prices: HashMap<Uuid, Option<Cents>> =
        found.into_iter().map(|asset| (asset.id, asset.price)).collect();
    let (mut problems, mut seen, mut total) = (Problems::default(), HashMap::new(), Vec::new());
    for (index, id) in ids.iter().enumerate() {
        let mut report = |kind, msg: String| {
            problems.push(Problem::body(&["asset_ids", &index.to_string()], kind, msg));
        };
        if let Some(first) = seen.insert(*id, index) {
            report("duplicate", format!("The asset {id} is listed already, at index {first}."));
            continue;
        }
        match prices.get(id) {
            None => report("unknown_reference", format!("The listing has no asset {id}.")),
            Some(None) => {
                report(
                    "value_error",
                    format!("The asset {id} has no asking price. Buy the whole listing instead."),
                );
            }
            Some(Some(price)) => total.push(*price),
        }
    }
    problems.into_result()?;
    Ok(selection_price(total, listed_price))
}
