//! Files that belong to a receipt: the digests of the delivered files, and the text of the agreement. Also the button that
//! starts the preparation of a download.

use bytes::Bytes;
use futures_util::stream;
use poem::{Body, Response, http::header};

use crate::{
    console::prelude::*,
    domain::row_ids::AssetRowId,
    operations::{
        agreements,
        receipts::{self, Archive, DeliveryState, MAX_PAGE_LINES, ManifestPage},
    },
};

/// Returns the path of a file of a purchase, or of the form that starts the preparation of its download: `part` is the last segment.
pub fn path(purchase: Uuid, part: &str) -> String {
    format!("{}/{part}", paths::purchase(purchase))
}

/// Returns the name of the file with the digests of a purchase.
pub fn digests_name(purchase: Uuid) -> String {
    format!("purchase-{purchase}.sha256")
}

/// Returns the name of the file with the proof that the attestation of a purchase is in the log.
pub fn proof_name(purchase: Uuid) -> String {
    format!("proof-{purchase}.json")
}

/// The file with the digests, as `sha256sum --check` reads it.
pub struct Digests;

impl Page<Buyer> for Digests {
    const PATH: &'static str = "/purchases/{purchase_id}/sha256";
    const TITLE: &'static str = "Digests of a purchase";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let receipt = visit.read(move |reader, buyer| receipts::receipt(reader, buyer, id)).await?;
        let DeliveryState::Ready(archive) = receipt.delivery else {
            let message =
                "There are no digests yet, or no longer: the download of this purchase is not ready.";
            return Err(Error::Conflict(message.to_owned()));
        };
        let first = document_lines(&archive) + &lines(&receipt.manifest);
        let body = digests_body(visit, id, first, receipt.manifest.next);
        Ok(Answer::File(file("text/plain; charset=utf-8", &digests_name(id), body)))
    }
}

/// The text of the agreement, byte by byte as its digest has it.
pub struct AgreementText;

impl Page<Buyer> for AgreementText {
    const PATH: &'static str = "/purchases/{purchase_id}/agreement";
    const TITLE: &'static str = "Agreement of a purchase";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let found = visit.read(move |reader, buyer| agreements::find(reader, buyer, id)).await?;
        let agreement = found.ok_or_else(|| Error::not_found("agreement"))?;
        let name = format!("agreement-{id}.txt");
        Ok(Answer::File(file("text/plain; charset=utf-8", &name, Body::from_string(agreement.text))))
    }
}

/// The attestation, as it is in the bundle.
pub struct AttestationFile;

impl Page<Buyer> for AttestationFile {
    const PATH: &'static str = "/purchases/{purchase_id}/attestation";
    const TITLE: &'static str = "Attestation of a purchase";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let found = visit.read(move |reader, buyer| receipts::attestation(reader, buyer, id)).await?;
        let envelope = found.ok_or_else(|| Error::not_found("attestation"))?;
        let name = format!("attestation-{id}.json");
        Ok(Answer::File(file("application/json", &name, envelope.into())))
    }
}

/// The proof that the attestation is in the log.
pub struct ProofFile;

impl Page<Buyer> for ProofFile {
    const PATH: &'static str = "/purchases/{purchase_id}/proof";
    const TITLE: &'static str = "Proof of a purchase";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let proof = visit.read(move |reader, buyer| receipts::proof(reader, buyer, id)).await?;
        Ok(Answer::File(file("application/json", &proof_name(id), proof.into())))
    }
}

/// The button that lets a download be prepared.
pub struct Prepare;

impl Action<Buyer> for Prepare {
    const PATH: &'static str = "/purchases/{purchase_id}/prepare";
    const TITLE: &'static str = "Prepare the download";
    const BUDGET: Budget = Budget::Purchases;

    async fn submit(visit: &Visit<Buyer>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("prepare_download", "purchase", id);
        let prepared = changes::perform(visit, fields, change, move |writer, buyer| {
            receipts::request_preparation(writer, buyer, id)
        });
        prepared.await?;
        Ok(Answer::done(&paths::purchase(id), Notice::PreparationRequested))
    }
}

/// Returns a file with this name.
pub(super) fn file(content_type: &str, name: &str, body: Body) -> Response {
    Response::builder()
        .content_type(content_type)
        .header(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""))
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(body)
}

/// The manifest lists the entries only.
fn document_lines(archive: &Archive) -> String {
    let documents = archive.documents.iter();
    documents.fold(String::new(), |text, (path, digest)| text + &digest.sha256 + "  " + path + "\n")
}

fn lines(page: &ManifestPage) -> String {
    let files = page.lines.iter().filter_map(|line| line.file.as_ref());
    files.fold(String::new(), |text, file| text + &file.sha256 + "  " + &file.path + "\n")
}

/// What is left to send of the digests.
enum Left {
    Text(String, Option<AssetRowId>),
    After(AssetRowId),
}

/// Returns the digests, of which all but the first are read while they are sent.
fn digests_body(visit: &Visit<Buyer>, purchase: Uuid, first: String, next: Option<AssetRowId>) -> Body {
    let visit = Visit { access: visit.access.clone(), context: std::sync::Arc::clone(&visit.context) };
    let parts = stream::unfold((visit, Some(Left::Text(first, next))), move |(visit, left)| async move {
        let (part, next) = match left? {
            Left::Text(text, next) => (Ok(Bytes::from(text)), next),
            Left::After(after) => {
                let read = visit.read_part(move |reader, buyer| {
                    receipts::manifest(reader, buyer, purchase, Some(after), MAX_PAGE_LINES)
                });
                match read.await {
                    Ok(page) => (Ok(Bytes::from(lines(&page))), page.next),
                    Err(error) => (Err(std::io::Error::other(error.to_string())), None),
                }
            }
        };
        Some((part, (visit, next.map(Left::After))))
    });
    Body::from_bytes_stream(parts)
}
