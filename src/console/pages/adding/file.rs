//! The pages on which a zip is chosen: for a new asset, or for one that has no data.

use super::{
    asset_of, below_adding, below_asset,
    file_fields::{self, Subject},
    groups_of,
};
use crate::{
    console::{prelude::*, wording},
    domain::{assets::Kind, inventory::Asset},
    market::Market,
    operations::own_uploads,
    store::operator_uploads::UploadTarget,
};

/// The script that sends files in parts.
pub const SCRIPT: &str = "upload.js";

/// The page for a new asset.
pub struct AddFile;

/// The page for an asset that has no data.
pub struct AttachFile;

impl Page<Vendor> for AddFile {
    const PATH: &'static str = "/inventory/add/file";
    const TITLE: &'static str = "Upload a zip";
    const BUDGET: Budget = Budget::Uploads;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let groups = groups_of(visit).await?;
        let leave = ("Leave", paths::ADD_ASSETS);
        let body = html! {
            (file_fields::form(&visit.context, Subject::New(&groups), file_fields::NEW_WHOLE, leave))
        };
        Ok(below_adding(Content::new(Self::TITLE, body)).with_script(SCRIPT).into())
    }
}

impl FormPage<Vendor> for AddFile {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let target = file_fields::target(fields, None)?;
        plan(visit, fields, target).await
    }
}

/// Returns the kind of an asset that can get a file. Fails if the asset has data, or if its kind has none.
pub(super) fn kind_for_file(asset: &Asset) -> Result<Kind> {
    if !own_uploads::KINDS.contains(&asset.kind) {
        return Err(Error::Conflict("Only codebases and raw data have files.".to_owned()));
    }
    own_uploads::check_without_data(asset).map(|()| asset.kind)
}

impl Page<Vendor> for AttachFile {
    const PATH: &'static str = "/inventory/{asset}/file";
    const TITLE: &'static str = "Upload a zip for an asset";
    const BUDGET: Budget = Budget::Uploads;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let asset = asset_of(visit).await?;
        let path = paths::asset(asset.id);
        let body = match kind_for_file(&asset) {
            Ok(_) => html! {
                (file_fields::form(
                    &visit.context,
                    Subject::Existing(&asset),
                    &file_fields::path_for_whole(asset.id),
                    ("Back to the asset", &path),
                ))
            },
            Err(error) => html! {
                (badges::warning(html! { (wording::humanize(&error.message())) }))
                div.row { a.button href=(visit.links.to(&path)) { "Back to the asset" } }
            },
        };
        Ok(below_asset(Content::new(AddFile::TITLE, body), &asset).with_script(SCRIPT).into())
    }
}

impl FormPage<Vendor> for AttachFile {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let asset = asset_of(visit).await?;
        let kind = kind_for_file(&asset)?;
        let target = file_fields::target(fields, Some((asset.id, kind)))?;
        plan(visit, fields, target).await
    }
}

/// Plans an upload, whose page sends the file.
async fn plan(visit: &Visit<Vendor>, fields: &Fields, target: UploadTarget) -> Result<Answer> {
    let file = file_fields::announced_file(fields)?;
    let (vendor, checked) = (visit.access.clone(), (file.clone(), target.clone()));
    let prepare = move |market: &Market| own_uploads::prepare(market, &vendor, &checked.0, &checked.1);
    let upload = visit.market().spawn_blocking(prepare).await?;
    let (planned, change) = (upload.clone(), Change::new("plan_upload", "upload", upload.id));
    let work = move |writer: &mut Writer, vendor: &Vendor| {
        own_uploads::plan(writer, vendor, (&file, target), &planned)
    };
    let result: Result<Uuid> = changes::perform(visit, fields, change, work).await;
    let finish = move |market: &Market| {
        own_uploads::finish_plan(market, &upload);
        Ok(())
    };
    visit.market().spawn_blocking(finish).await?;
    Ok(Answer::Redirect(paths::upload(result?)))
}
