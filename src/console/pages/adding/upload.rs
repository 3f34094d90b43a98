//! An upload in parts: how far it is, its parts, and its end.

use poem::{
    Request, Response,
    http::{Method, StatusCode, header},
};

use super::{below_adding, file::SCRIPT};
use crate::{
    console::{prelude::*, receivers::Receiver},
    domain::uploads::PartLayout,
    market::Market,
    operations::own_uploads::{self, CompletedOwnUpload, UploadProgress},
    store::operator_uploads::OperatorUpload,
    web::part_uploads,
};

/// The page of an upload.
pub struct UploadPage;

/// A part of an upload.
pub struct UploadPart;

/// The button that completes an upload.
pub struct CompleteUpload;

/// The page that discards an upload.
pub struct DiscardUpload;

impl Page<Vendor> for UploadPage {
    const PATH: &'static str = "/inventory/add/uploads/{upload}";
    const TITLE: &'static str = "An upload";
    const BUDGET: Budget = Budget::Uploads;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let (id, vendor) = (visit.id(0)?, visit.access.clone());
        if let Some(completed) =
            visit.read(move |reader, vendor| own_uploads::find_completed(reader, vendor, id)).await?
        {
            return Ok(below_adding(complete_content(&visit.context, &completed)).into());
        }
        let find = move |market: &Market| own_uploads::find_progress(market, &vendor, id);
        let progress = visit.market().spawn_blocking(find).await?;
        let body = in_progress(&visit.context, &progress);
        Ok(below_adding(Content::new("Upload", body)).with_script(SCRIPT).into())
    }
}

fn in_progress(context: &Context, progress: &UploadProgress) -> Markup {
    let UploadProgress { upload, received, is_joining } = progress;
    let Some(received) = received else { return dropped(context, upload) };
    let (id, layout) = (upload.upload.id, upload.upload.layout);
    let numbers: Vec<String> = received.iter().map(|part| part.part_number.to_string()).collect();
    let bytes: u64 = received.iter().map(|part| part.size_bytes).sum();
    let is_complete = received.len() as u64 >= u64::from(layout.part_count());
    let modified = upload.target.as_ref().and_then(|target| target.modified_ms);
    let path = paths::upload(id);
    html! {
        section.panel aria-label="Transfer" data-upload data-parts=(context.links.to(&format!("{path}/parts/")))
            data-name=(upload.file_name) data-size=(layout.size_bytes) data-part-bytes=(layout.part_bytes)
            data-part-count=(layout.part_count()) data-received=(numbers.join(","))
            data-modified=[modified] data-is-joining[*is_joining] {
            (facts(upload))
            progress max=(layout.size_bytes) value=(bytes) aria-label="How much has arrived" {}
            p role="status" data-upload-state {
                @if *is_joining { "All of it has arrived. The market checks the file. Load the page again to see the result." }
                @else { (state(layout, received.len(), bytes)) }
            }
            @if !is_complete && !is_joining {
                div.field data-upload-again hidden {
                    label for="again" { "Choose the same file again to go on" }
                    p.note #again-h { "Browsers forget which file it was. What has arrived is not sent again." }
                    input #again type="file" accept=".zip,application/zip" aria-describedby="again-h";
                }
                noscript { p { "Sending a file in parts needs a script, which your browser has switched off." } }
            }
            div.row {
                button type="button" data-upload-pause hidden { "Pause" }
                (discard_link(context, id))
            }
        }
        form.row method="post" action=(context.links.to(&format!("{path}/complete"))) data-upload-complete {
            (fields::form_key(context))
            button.primary hidden[!is_complete || *is_joining] { "Finish" }
        }
    }
}

/// Shows an upload that the store no longer has. The script does not continue it.
fn dropped(context: &Context, upload: &OperatorUpload) -> Markup {
    html! {
        section.panel aria-label="Transfer" {
            (facts(upload))
            p role="status" data-upload-state {
                "The store no longer has what has arrived of this file. Discard the upload, and add the file again."
            }
            div.row { (discard_link(context, upload.upload.id)) }
        }
    }
}

fn facts(upload: &OperatorUpload) -> Markup {
    tables::facts(&[
        ("File", html! { span.long { bdi { (upload.file_name) } } }),
        ("Size", html! { (text::size(upload.upload.layout.size_bytes)) }),
        ("Becomes", becomes(upload)),
        ("Has to arrive by", text::moment(upload.expires_at)),
    ])
}

fn discard_link(context: &Context, id: Uuid) -> Markup {
    let discard = format!("{}/discard", paths::upload(id));
    html! { a.button.quiet href=(context.links.to(&discard)) { "Discard…" } }
}

fn state(layout: PartLayout, parts: usize, bytes: u64) -> String {
    if parts == 0 {
        return "Nothing has arrived yet.".to_owned();
    }
    let have = if parts == 1 { "has" } else { "have" };
    let all = text::counted(u64::from(layout.part_count()), "part", "parts");
    format!("{} of {all} {have} arrived: {}.", text::grouped(parts as u64), text::size(bytes))
}

/// Says what an upload becomes.
pub fn becomes(upload: &OperatorUpload) -> Markup {
    html! { @if let Some(target) = &upload.target {
        @let (kind, _) = kinds::words(target.kind);
        @match target.asset {
            Some(_) => { "The data of an existing " (kind) },
            None => { "The " (kind) " " span.long { bdi { (target.title) } } },
        }
    } }
}

fn complete_content(context: &Context, completed: &CompletedOwnUpload) -> Content {
    let upload = &completed.upload;
    let asset = html! { @match &completed.asset {
        Some((id, title)) => a.long href=(context.links.to(&paths::asset(*id))) { bdi { (title) } },
        None => (text::MISSING),
    } };
    let facts = [
        ("File", html! { span.long { bdi { (upload.file_name) } } }),
        ("Size", html! { (text::size_in_bytes(upload.size_bytes)) }),
        ("SHA-256", html! { span.mono.long { (upload.sha256) } }),
        ("Arrived", text::moment(upload.completed_at)),
        ("Asset", asset),
    ];
    let body = html! {
        (tables::facts(&facts))
        p.note {
            @if completed.asset.is_some() { "The market reads a zip once it has arrived. The page of the asset shows how far it is, and what it found." }
            @else { "The asset was deleted since, or its data was detached." }
        }
        div.row {
            @if let Some((id, _)) = &completed.asset {
                a.button.primary href=(context.links.to(&paths::asset(*id))) { "Open the asset" }
            }
            a.button href=(context.links.to(paths::ADD_ASSETS)) { "Add another" }
        }
    };
    Content::new("The file has arrived", body)
}

impl Receiver<Vendor> for UploadPart {
    const PATH: &'static str = "/inventory/add/uploads/{upload}/parts/{part}";
    const TITLE: &'static str = "A part of an upload";
    const METHOD: Method = Method::PUT;
    // No budget, as for parts at signed URLs: a large file has more parts than a budget allows requests. The resources of parts
    // are shared fairly instead.
    const BUDGET: Option<Budget> = None;

    async fn receive(visit: &Visit<Vendor>, request: &mut Request) -> Result<Answer> {
        let id = visit.id(0)?;
        // Only as the page writes it.
        let number =
            visit.parameter(1).parse().ok().filter(|number: &u32| number.to_string() == visit.parameter(1));
        let number = number.ok_or_else(|| Error::not_found("page"))?;
        let found =
            visit.read(move |reader, vendor| own_uploads::find(&reader.check_context(), vendor, id)).await?;
        let (_, size) =
            found.upload.layout.part(number).ok_or_else(|| Error::not_found("part of this upload"))?;
        part_uploads::allow_any_time(request);
        part_uploads::check_length(request, size)?;
        let (body, vendor) = (request.take_body(), visit.access.clone());
        let open = move |market: &Market| own_uploads::start_part(market, &vendor, id, number);
        let Some(etag) = part_uploads::receive(visit.market(), request, body, size, open).await? else {
            // If the upload has ended meanwhile, the response says so, since another attempt is useless.
            let vendor = visit.access.clone();
            let check = move |market: &Market| own_uploads::check_receives_parts(market, &vendor, id);
            visit.market().spawn_blocking(check).await?;
            return Err(part_uploads::wrong_size_error(size));
        };
        let response = Response::builder().status(StatusCode::NO_CONTENT);
        Ok(Answer::File(response.header(header::ETAG, format!("\"{etag}\"")).finish()))
    }
}

impl Action<Vendor> for CompleteUpload {
    const PATH: &'static str = "/inventory/add/uploads/{upload}/complete";
    const TITLE: &'static str = "Complete an upload";
    const BUDGET: Budget = Budget::Uploads;

    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let (id, vendor) = (visit.id(0)?, visit.access.clone());
        let join = move |market: &Market| own_uploads::join(market, &vendor, id);
        if let Some(joined) = visit.market().spawn_blocking(join).await? {
            let base_url = visit.served.base_url().to_owned();
            let work = move |writer: &mut Writer, vendor: &Vendor| {
                own_uploads::complete(writer, vendor, &base_url, &joined)
            };
            let _: Uuid =
                changes::perform(visit, fields, Change::new("complete_upload", "upload", id), work).await?;
        }
        Ok(Answer::done(&paths::upload(id), Notice::FileUploaded))
    }
}

impl ConfirmationPage<Vendor, (Uuid, OperatorUpload)> for DiscardUpload {
    const QUESTION: Question<Vendor, (Uuid, OperatorUpload)> = Question {
        path: "/inventory/add/uploads/{upload}/discard",
        title: "Discard an upload",
        change: ("discard_upload", "upload"),
        notice: Notice::UploadDiscarded,
        find: |context, vendor, id| Ok((id, own_uploads::find(context, vendor, id)?)),
        ask: |_, (id, upload)| {
            let lost = html! { p {
                "What has arrived of " b.long { bdi { (upload.file_name) } } " is deleted. Your own file stays as it is."
            } };
            Confirmation {
                page: below_adding(Content::new("Discard this upload?", Markup::default())),
                prompt: Ok((lost, "danger primary", "Discard the upload".to_owned())),
                leave: ("Back to the upload", paths::upload(*id)),
            }
        },
        perform: own_uploads::cancel,
        next: |_| paths::ADD_ASSETS.to_owned(),
    };
}
