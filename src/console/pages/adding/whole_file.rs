//! Zips that arrive with their form in one request, from browsers without a script.

use std::sync::Arc;

use uuid::Uuid;

use super::{
    asset_of,
    file::{AddFile, AttachFile, kind_for_file},
    file_fields,
};
use crate::{
    console::{
        answer::Answer,
        changes::{self, Change},
        forms::{Fields, problem},
        notices::Notice,
        page::Page,
        paths,
        receivers::{self, Receiver},
        refusals,
        visit::Visit,
    },
    domain::assets::Kind,
    error::{Error, Result},
    market::{Market, Writer},
    operations::{
        access::Vendor,
        grant_uploads::FileInput,
        own_uploads::{self, WholeFile},
    },
    web::multipart::{self, FormLimits, FormWithFile, ReceivedFile},
};

/// Maximum size of the texts of the form.
const TEXT_BYTES: u64 = 16 << 10;

/// A zip for a new asset.
pub struct AddWholeFile;

/// A zip for an asset that has no data.
pub struct AttachWholeFile;

impl Receiver for AddWholeFile {
    const PATH: &'static str = file_fields::NEW_WHOLE;
    const TITLE: &'static str = "Upload a zip without a script";

    type Access = Vendor;

    async fn receive(visit: &Visit<Vendor>, request: &mut poem::Request) -> Result<Answer> {
        let (fields, file) = receive(visit, request).await?;
        match add(visit, &fields, file, None).await {
            Err(error) if refusals::is_about_form(&error) => {
                receivers::show_refused::<AddFile>(visit, request, AddFile::PATH, (fields, &error)).await
            }
            other => other,
        }
    }
}

impl Receiver for AttachWholeFile {
    const PATH: &'static str = "/inventory/{asset}/file/whole";
    const TITLE: &'static str = "Upload a zip for an asset without a script";

    type Access = Vendor;

    async fn receive(visit: &Visit<Vendor>, request: &mut poem::Request) -> Result<Answer> {
        let asset = asset_of(visit).await?;
        let kind = kind_for_file(&asset)?;
        let (fields, file) = receive(visit, request).await?;
        match add(visit, &fields, file, Some((asset.id, kind))).await {
            Err(error) if refusals::is_about_form(&error) => {
                let path = format!("{}/file", paths::asset(asset.id));
                receivers::show_refused::<AttachFile>(visit, request, &path, (fields, &error)).await
            }
            other => other,
        }
    }
}

/// Receives a form with a zip.
async fn receive(
    visit: &Visit<Vendor>,
    request: &mut poem::Request,
) -> Result<(Fields, Option<ReceivedFile>)> {
    let file_bytes = visit.market().settings().blobs.max_upload_bytes.min(file_fields::MAX_WHOLE_BYTES);
    let limits = FormLimits { text_bytes: TEXT_BYTES, file_bytes };
    let body = request.take_body();
    let FormWithFile { fields, file } = multipart::receive(visit.market(), request, body, limits).await?;
    Ok((Fields::of_pairs(fields)?, file))
}

/// Stores a zip, and makes it what the form says.
async fn add(
    visit: &Visit<Vendor>,
    fields: &Fields,
    file: Option<ReceivedFile>,
    existing: Option<(Uuid, Kind)>,
) -> Result<Answer> {
    let target = file_fields::target(fields, existing)?;
    let ReceivedFile { name, size_bytes, mut content } =
        file.ok_or_else(|| Error::invalid(problem("file", "Choose a zip file.")))?;
    let input = FileInput { file_name: name, size_bytes, sha256: None };
    let (vendor, checked) = (visit.access.clone(), target.clone());
    let store = move |market: &Market| {
        own_uploads::store_whole(market, &vendor, (&input, &checked), &mut content).map(Arc::new)
    };
    let stored: Arc<WholeFile> = visit.market().spawn_blocking(store).await?;
    let (base_url, file) = (visit.served.base_url().to_owned(), Arc::clone(&stored));
    let change = Change::new("upload_file", "team", visit.access.team().id);
    let work = move |writer: &mut Writer, vendor: &Vendor| {
        own_uploads::add_whole(writer, vendor, &base_url, &file, &target)
    };
    let result: Result<Uuid> = changes::perform(visit, fields, change, work).await;
    visit.market().spawn_blocking(move |market| own_uploads::finish_whole(market, &stored)).await?;
    Ok(Answer::done(&paths::upload(result?), Notice::FileUploaded))
}
