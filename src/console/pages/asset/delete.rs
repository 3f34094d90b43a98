//! The questions before an asset is deleted, and before its data is detached.

use super::{below_asset, path};
use crate::{
    console::{pages::own_listings, parts::assets, prelude::*},
    domain::inventory::Asset,
    market::Writer,
    operations::{
        asset_details::{self, DeletableAsset},
        assets as inventory, linked_data,
    },
    store::listings::ListingRow,
};

/// Number of listings that are named.
const MAX_LISTINGS: usize = 20;

/// Returns the asset in the path, and where it is used. Assets of kinds that the market manages cannot be deleted.
async fn find(visit: &Visit<Vendor>) -> Result<DeletableAsset> {
    let id = visit.id(0)?;
    let found = visit.read(move |reader, vendor| asset_details::deletable(reader.rows, vendor, id)).await?;
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

/// Says that an asset is in use, and where.
fn in_use(context: &Context, what: &str, fixed_by: &[ListingRow]) -> Markup {
    badges::message(
        Tone::Warning,
        &html! {
            b { (what) } " It is on listings that are in review or in the catalog. Withdraw them, or take them out of the catalog, first:"
            (listings(context, fixed_by))
        },
    )
}

/// Returns the link back to the page of an asset.
fn back(context: &Context, asset: &Asset) -> Markup {
    html! { div.row { a.button href=(context.links.to(&paths::asset(asset.id))) { "Back to the asset" } } }
}

/// Identifies what the page of a question states: the name of the asset, whether it has data, and the listings that it is on.
fn seen(found: &DeletableAsset) -> Seen {
    let listings: Vec<Uuid> = found.listings.iter().map(|listing| listing.id).collect();
    Seen::of(&(assets::name(&found.asset), found.asset.data.is_some(), listings))
}

/// The page that deletes an asset.
pub struct DeleteAsset;

impl Page for DeleteAsset {
    const PATH: &'static str = "/inventory/{asset_id}/delete";
    const TITLE: &'static str = "Delete an asset";

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let found = find(visit).await?;
        let content = Content::new("Delete this asset?", delete_body(&visit.context, &found));
        Ok(below_asset(content, &found.asset).into())
    }
}

fn delete_body(context: &Context, found: &DeletableAsset) -> Markup {
    let asset = &found.asset;
    if !found.fixed_by.is_empty() {
        return html! { (in_use(context, "It cannot be deleted now.", &found.fixed_by)) (back(context, asset)) };
    }
    let lost = html! {
        (seen(found).asked())
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
    fields::question(context, &lost, ("danger primary", "Delete the asset"), &paths::asset(asset.id))
}

impl FormPage for DeleteAsset {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let (id, sent) = (visit.id(0)?, fields.clone());
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            let found = asset_details::deletable(writer.rows, vendor, id)?;
            if !found.asset.kind.supports_proposals() {
                return Err(Error::not_found("page"));
            }
            if found.fixed_by.is_empty() {
                seen(&found).check(&sent)?;
            }
            linked_data::delete_with_asset(writer, vendor, id)
        };
        changes::perform(visit, fields, Change::new("delete_asset", "asset", id), work).await?;
        Ok(Answer::done(paths::INVENTORY, Notice::AssetDeleted))
    }
}

/// The page that detaches the data of an asset.
pub struct DetachData;

impl Page for DetachData {
    const PATH: &'static str = "/inventory/{asset_id}/detach";
    const TITLE: &'static str = "Detach the data of an asset";

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let found = find(visit).await?;
        let content = Content::new("Detach the data?", detach_body(&visit.context, &found));
        Ok(below_asset(content, &found.asset).into())
    }
}

fn detach_body(context: &Context, found: &DeletableAsset) -> Markup {
    let asset = &found.asset;
    if !found.fixed_by.is_empty() {
        return html! { (in_use(context, "The data cannot be detached now.", &found.fixed_by)) (back(context, asset)) };
    }
    let lost = html! {
        p { "The copy of the data, and what the market read from it, are deleted. What buyers have bought stays theirs." }
        p { "Fields that were read from the data get the values back that they had before, and can be edited again. A check that is \
             in progress is canceled." }
        p { "Listings with the asset are no longer approved, and orders of it that wait for payment are canceled." }
        p { "You can link the same or other data afterward." }
    };
    html! {
        @if asset.data.is_none() { p { "No data is linked." } (back(context, asset)) }
        @else { (fields::question(context, &lost, ("danger primary", "Detach the data"), &paths::asset(asset.id))) }
    }
}

impl FormPage for DetachData {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            let kind = inventory::find(writer.rows, vendor, id, None)?.kind;
            linked_data::detach(writer, vendor, id, kind)
        };
        changes::perform(visit, fields, Change::new("detach_data", "asset", id), work).await?;
        Ok(Answer::done(&paths::asset(id), Notice::DataDetached))
    }
}
