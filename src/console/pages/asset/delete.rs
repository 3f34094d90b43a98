//! The questions before an asset is deleted, and before its data is detached.

use super::{below_asset, path};
use crate::{
    console::{pages::own_listings, parts::assets, prelude::*},
    operations::{
        asset_details::{self, DeletableAsset},
        assets as inventory, linked_data,
    },
    store::listings::ListingRow,
};

/// Number of listings that are named.
const MAX_LISTINGS: usize = 20;

/// Returns an asset and its uses. Assets of kinds that the market manages cannot be deleted.
fn find(context: &CheckContext, vendor: &Vendor, id: Uuid) -> Result<DeletableAsset> {
    let found = asset_details::deletable(context.rows, vendor, id)?;
    if found.asset.kind.supports_proposals() { Ok(found) } else { Err(Error::not_found("page")) }
}

/// Names listings, with links.
fn listings(context: &Context, listings: &[ListingRow]) -> Markup {
    let more = listings.len().saturating_sub(MAX_LISTINGS);
    html! {
        ul {
            @for listing in listings.iter().take(MAX_LISTINGS) { li {
                a href=(context.links.to(&paths::own_listing(listing.id))) { bdi { (own_listings::title_of(&listing.title)) } }
            } }
            @if more > 0 { li.note { "And " (more) " more" } }
        }
    }
}

/// Returns a message that lists the uses of an asset; `None` if it is not in use.
fn in_use(context: &Context, what: &str, found: &DeletableAsset) -> Option<Markup> {
    (!found.fixed_by.is_empty()).then(|| {
        html! {
            b { (what) } " It is on listings that are in review or in the catalog. Withdraw them, or take them out of the catalog, first:"
            (listings(context, &found.fixed_by))
        }
    })
}

/// The page that deletes an asset.
pub struct DeleteAsset;

impl ConfirmationPage<Vendor, DeletableAsset> for DeleteAsset {
    const QUESTION: Question<Vendor, DeletableAsset> = Question {
        path: "/inventory/{asset_id}/delete",
        title: "Delete an asset",
        change: ("delete_asset", "asset"),
        notice: Notice::AssetDeleted,
        find,
        ask: ask_delete,
        perform: linked_data::delete_with_asset,
        next: |_| paths::INVENTORY.to_owned(),
    };
}

fn ask_delete(context: &Context, found: &DeletableAsset) -> Confirmation {
    let asset = &found.asset;
    let lost = html! {
        p { "“" bdi { (assets::name(asset)) } "” with all that you wrote about it is lost. What buyers have bought stays theirs." }
        @if asset.data.is_some() {
            p { b { "It has data, which is deleted, too." } " To keep the asset without its data, "
                a href=(context.links.to(&path(asset.id, "detach"))) { "detach the data" } "." }
        }
        @if !found.listings.is_empty() {
            p { "It is also taken off " (text::counted(found.listings.len() as u64, "listing", "listings")) ":" }
            (listings(context, &found.listings))
        }
    };
    Confirmation {
        page: below_asset(Content::new("Delete this asset?", Markup::default()), asset),
        prompt: match in_use(context, "It cannot be deleted now.", found) {
            Some(reason) => Err(reason),
            None => Ok((lost, "danger primary", "Delete the asset".to_owned())),
        },
        leave: ("Back to the asset", paths::asset(asset.id)),
    }
}

/// The page that detaches the data of an asset.
pub struct DetachData;

impl ConfirmationPage<Vendor, DeletableAsset> for DetachData {
    const QUESTION: Question<Vendor, DeletableAsset> = Question {
        path: "/inventory/{asset_id}/detach",
        title: "Detach the data of an asset",
        change: ("detach_data", "asset"),
        notice: Notice::DataDetached,
        ask: ask_detach,
        perform: |writer, vendor, id| {
            let kind = inventory::find(writer.rows, vendor, id, None)?.kind;
            linked_data::detach(writer, vendor, id, kind)
        },
        next: paths::asset,
        ..DeleteAsset::QUESTION
    };
}

fn ask_detach(context: &Context, found: &DeletableAsset) -> Confirmation {
    let asset = &found.asset;
    let lost = html! {
        p { "The copy of the data, and what the market read from it, are deleted. What buyers have bought stays theirs." }
        p { "Fields that were read from the data get the values back that they had before, and can be edited again. A check that is \
             in progress is canceled." }
        p { "Listings with the asset are no longer approved, and orders of it that wait for payment are canceled." }
        p { "You can link the same or other data afterward." }
    };
    Confirmation {
        page: below_asset(Content::new("Detach the data?", Markup::default()), asset),
        prompt: match in_use(context, "The data cannot be detached now.", found) {
            Some(reason) => Err(reason),
            None if asset.data.is_none() => Err(html! { "No data is linked." }),
            None => Ok((lost, "danger primary", "Detach the data".to_owned())),
        },
        leave: ("Back to the asset", paths::asset(asset.id)),
    }
}
