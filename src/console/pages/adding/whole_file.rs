//! Zips that arrive with their form in one request, from browsers without a script.

use std::fs::File;

use super::{
    asset_of,
    file::{AddFile, AttachFile, kind_for_file},
    file_fields,
};
use crate::{
    console::{
        prelude::*,
        receivers::{self, Receiver},
        refusals,
    },
    domain::assets::Kind,
    market::Market,
    operations::{grant_uploads::FileInput, operator_uploads::JoinedFile, own_uploads},
    web::multipart::{self, FormLimits, FormWithFile, ReceivedFile},
};

/// Maximum size of the texts of the form.
const TEXT_BYTES: u64 = 16 << 10;

/// A zip for a new asset.
pub struct AddWholeFile;

/// A zip for an asset that has no data.
pub struct AttachWholeFile;

impl Receiver<Vendor> for AddWholeFile {
    const PATH: &'static str = file_fields::NEW_WHOLE;
    const TITLE: &'static str = "Upload a zip without a script";

    async fn receive(visit: &Visit<Vendor>, request: &mut poem::Request) -> Result<Answer> {
        let (fields, added) = receive(visit, request, None).await;
        match added {
            Err(error) if refusals::is_about_form(&error) => {
                receivers::show_refused::<AddFile, _>(visit, request, AddFile::PATH, (fields, &error)).await
            }
            other => other,
        }
    }
}

impl Receiver<Vendor> for AttachWholeFile {
    const PATH: &'static str = "/inventory/{asset}/file/whole";
    const TITLE: &'static str = "Upload a zip for an asset without a script";

    async fn receive(visit: &Visit<Vendor>, request: &mut poem::Request) -> Result<Answer> {
        let asset = asset_of(visit).await?;
        let kind = kind_for_file(&asset)?;
        let (fields, added) = receive(visit, request, Some((asset.id, kind))).await;
        match added {
            Err(error) if refusals::is_about_form(&error) => {
                let path = format!("{}/file", paths::asset(asset.id));
                receivers::show_refused::<AttachFile, _>(visit, request, &path, (fields, &error)).await
            }
            other => other,
        }
    }
}

/// Receives a form with a zip, and carries it out. Returns its fields, which are empty if it did not arrive.
async fn receive(
    visit: &Visit<Vendor>,
    request: &mut poem::Request,
    existing: Option<(Uuid, Kind)>,
) -> (Fields, Result<Answer>) {
    let file_bytes = visit.market().settings().blobs.max_upload_bytes.min(file_fields::MAX_WHOLE_BYTES);
    let limits = FormLimits { text_bytes: TEXT_BYTES, file_bytes };
    let body = request.take_body();
    let received = multipart::receive(visit.market(), request, body, limits).await;
    let received = received
        .and_then(|FormWithFile { fields, file }| Fields::of_pairs(fields).map(|fields| (fields, file)));
    match received {
        Ok((fields, file)) => {
            let added = match visit.check_opened_by(&fields) {
                Ok(()) => add(visit, &fields, file, existing).await,
                Err(error) => Err(error),
            };
            (fields, added)
        }
        Err(error) => (Fields::default(), Err(error)),
    }
}

/// Stores a zip, and makes it what the form says.
async fn add(
    visit: &Visit<Vendor>,
    fields: &Fields,
    file: Option<ReceivedFile>,
    existing: Option<(Uuid, Kind)>,
) -> Result<Answer> {
    let target = file_fields::target(fields, existing)?;
    let ReceivedFile { name, size_bytes, content } =
        file.ok_or_else(|| invalid("file", "Choose a zip file."))?;
    let input = FileInput { file_name: name, size_bytes, sha256: None };
    let (vendor, checked) = (visit.access.clone(), (input.clone(), target.clone()));
    let prepare = move |market: &Market| own_uploads::prepare(market, &vendor, &checked.0, &checked.1);
    let upload = visit.market().spawn_blocking(prepare).await?;
    let (id, planned, vendor) = (upload.id, upload.clone(), visit.access.clone());
    let plan = move |writer: &mut Writer| own_uploads::plan(writer, &vendor, (&input, target), &planned);
    let is_planned = visit.market().write(visit.requester.clone(), plan).await;
    let finish = move |market: &Market| {
        own_uploads::finish_plan(market, &upload);
        Ok(())
    };
    visit.market().spawn_blocking(finish).await?;
    is_planned?;
    let completed = complete(visit, fields, id, content).await;
    // The form was refused, or was already carried out with another upload.
    if !matches!(completed, Ok(completed) if completed == id) {
        let vendor = visit.access.clone();
        let cancel = move |writer: &mut Writer| own_uploads::cancel(writer, &vendor, id);
        // Also if the key, or the session, has ended meanwhile.
        visit.market().write(visit.requester.clone().without_key(), cancel).await?;
    }
    Ok(Answer::done(&paths::upload(completed?), Notice::FileUploaded))
}

/// Stores a zip whose upload was planned, and completes the upload. Returns the ID of the upload, or that of an earlier one if the
/// form was carried out before.
async fn complete(visit: &Visit<Vendor>, fields: &Fields, id: Uuid, mut content: File) -> Result<Uuid> {
    let vendor = visit.access.clone();
    let store = move |market: &Market| own_uploads::store_whole(market, &vendor, id, &mut content);
    let joined: JoinedFile = visit.market().spawn_blocking(store).await?;
    // The same fields with another file are another form.
    let fields = fields.with_content(joined.sha256());
    let base_url = visit.served.base_url().to_owned();
    let work = move |writer: &mut Writer, vendor: &Vendor| {
        own_uploads::complete(writer, vendor, &base_url, &joined).map(|_| id)
    };
    changes::perform(visit, &fields, Change::new("upload_file", "upload", id), work).await
}
