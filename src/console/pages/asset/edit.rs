//! The page on which the fields of an asset are changed.

use super::{below_asset, edit_form, input};
use crate::{
    console::prelude::*,
    operations::{
        asset_details::{self, EditableAsset},
        assets,
    },
};

/// The page.
pub struct EditAsset;

/// Returns the asset in the path. Assets of kinds that the market manages cannot be edited.
async fn find(visit: &Visit<Vendor>) -> Result<EditableAsset> {
    let id = visit.id(0)?;
    let found = visit.read(move |reader, vendor| asset_details::editable(reader, vendor, id)).await?;
    if found.asset.kind.is_edited_by_vendors() { Ok(found) } else { Err(Error::not_found("page")) }
}

impl Page<Vendor> for EditAsset {
    const PATH: &'static str = "/inventory/{asset_id}/edit";
    const TITLE: &'static str = "Edit an asset";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let found = find(visit).await?;
        let content = Content::new("Edit the asset", edit_form::form(&visit.context, &found)).with_note(
            html! { "What is required can be filled in later; until then, the asset cannot be listed." },
        );
        Ok(below_asset(content, &found.asset).into())
    }
}

impl FormPage<Vendor> for EditAsset {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let asset = find(visit).await?.asset;
        let (id, kind) = (asset.id, asset.kind);
        let (change, sent) = (input::read(fields, &asset)?, fields.clone());
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            edit_form::seen(&assets::find(writer.rows, vendor, id, None)?).check(&sent)?;
            asset_details::edit(writer, vendor, (id, kind), change)
        };
        changes::perform(visit, fields, Change::new("update_asset", "asset", id), work).await?;
        Ok(Answer::done(&paths::asset(id), Notice::Saved))
    }
}
