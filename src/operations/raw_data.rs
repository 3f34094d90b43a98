//! A vendor's raw data: creation, editing, and linking of uploaded archives.

use uuid::Uuid;

use super::{
    access::Vendor,
    asset_changes::{self, ChangedAsset},
    asset_events, assets, linked_data,
};
use crate::{
    domain::{
        assets::Kind,
        inventory::{Asset, AssetChange},
        problems::Problems,
        row_ids::{GroupRowId, UploadRowId},
    },
    error::{Error, Problem, Result, quoted},
    market::{CheckContext, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        assets::{KindFields, NewAsset, NewData},
    },
};

/// Maximum length of a title in characters, including a suffix.
const MAX_TITLE: usize = 200;

/// An upload to attach.
#[derive(Clone, Debug)]
pub struct UploadReference {
    /// URL of the upload; `None` if the request states it in an invalid form.
    pub url: Option<String>,
    /// URL of the vendor's own manifest of the archive.
    pub manifest_url: Option<String>,
}

/// Row ID and size in bytes of an upload.
type FoundUpload = (UploadRowId, u64);

/// An upload to attach that exists.
#[derive(Debug)]
pub struct CheckedUpload {
    found: FoundUpload,
    manifest_url: Option<String>,
}

/// Returns raw data to create, with its upload. Fails with all problems. `problems` has those with the body
/// so far.
pub fn check_new(
    context: &CheckContext,
    vendor: &Vendor,
    change: AssetChange,
    upload: Option<UploadReference>,
    mut problems: Problems,
) -> Result<(Asset, Option<CheckedUpload>)> {
    let asset = asset_changes::check_new(context, vendor, Kind::RawData, change, &mut problems)?;
    let upload = match upload {
        Some(upload) => check_upload(context, vendor, upload, &["data"], &mut problems)?,
        None => None,
    };
    problems.into_result()?;
    Ok((asset, upload))
}

/// Creates raw data, optionally with an upload. If `suffix_title` is set and the title is taken, a number is
/// appended to the title.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    (mut asset, upload): (Asset, Option<CheckedUpload>),
    suffix_title: bool,
) -> Result<Asset> {
    if suffix_title {
        asset.title = unique_title(writer, &asset)?;
    }
    check_title_is_free(writer, &asset)?;
    let fields = KindFields::RawData { files: None, extensions: &[] };
    let row_id = store::assets::insert(writer.rows, &NewAsset::from_asset(&asset, fields))?;
    if let Some(upload) = &upload {
        linked_data::insert(writer, row_id, &upload_data(writer, upload))?;
    }
    store::inventory::upsert_row(writer.rows, row_id)?;
    asset_events::created(writer, asset.team, asset.kind, &[asset.id])?;
    assets::find(writer.rows, vendor, asset.id, None)
}

/// Creates raw data from an upload, with a number behind the title if it is taken. Returns the ID of the raw data.
pub fn create_from_upload(
    writer: &mut Writer,
    vendor: &Vendor,
    (title, group): (&str, (GroupRowId, Uuid)),
    upload: (UploadRowId, u64),
) -> Result<Uuid> {
    let mut asset = assets::new_asset(&writer.check_context(), vendor, Kind::RawData, group);
    title.clone_into(&mut asset.title);
    let upload = CheckedUpload { found: upload, manifest_url: None };
    create(writer, vendor, (asset, Some(upload)), true).map(|asset| asset.id)
}

/// Stores changed raw data. Its title must be free.
pub fn update(writer: &mut Writer, changed: ChangedAsset) -> Result<Asset> {
    if changed.asset.title != changed.title_before {
        check_title_is_free(writer, &changed.asset)?;
    }
    asset_changes::update(writer, changed)
}

/// Returns one of the team's raw data assets, and the upload to attach to it. Fails with all problems.
/// `problems` has those with the body so far.
pub fn check_attachment(
    context: &CheckContext,
    vendor: &Vendor,
    id: Uuid,
    upload: UploadReference,
    mut problems: Problems,
) -> Result<(Asset, CheckedUpload)> {
    let asset = problems.if_available(assets::find(context.rows, vendor, id, Some(Kind::RawData)))?;
    let upload = check_upload(context, vendor, upload, &[], &mut problems)?;
    problems.into_result_of(asset.zip(upload))
}

/// Attaches an upload. A job then analyzes it.
pub fn attach_upload(
    writer: &mut Writer,
    vendor: &Vendor,
    (asset, upload): &(Asset, CheckedUpload),
) -> Result<Asset> {
    linked_data::attach(writer, vendor, asset, &upload_data(writer, upload))
}

/// Returns the upload with this URL, or adds a problem. The problem does not reveal whether another team has
/// an upload with this URL.
fn check_upload(
    context: &CheckContext,
    vendor: &Vendor,
    upload: UploadReference,
    path: &[&str],
    problems: &mut Problems,
) -> Result<Option<CheckedUpload>> {
    let UploadReference { url: Some(url), manifest_url } = upload else { return Ok(None) };
    let found = store::uploads::find_by_url(context.rows, vendor.team_row_id(), &url)?;
    if found.is_none() {
        let msg = "Your team has no completed upload with this URL. Upload the zip, then send its URL.";
        problems.push(Problem::body(&[path, &["url"]].concat(), "unknown_reference", msg));
    }
    Ok(found.map(|found| CheckedUpload { found, manifest_url }))
}

fn upload_data<'a>(writer: &Writer, upload: &'a CheckedUpload) -> NewData<'a> {
    let (row_id, bytes) = upload.found;
    NewData { manifest_url: upload.manifest_url.as_deref(), ..linked_data::of_upload(writer, row_id, bytes) }
}

fn check_title_is_free(writer: &Writer, asset: &Asset) -> Result<()> {
    if !store::inventory::title_is_taken(writer.rows, asset)? {
        return Ok(());
    }
    let title = &asset.title;
    Err(Error::Conflict(format!(
        "Your team already has raw data titled {title}. Choose another title, or set `suffix_title`.",
        title = quoted(title)
    )))
}

/// Returns the title itself if it is free, otherwise the title with the lowest number that makes it free.
fn unique_title(writer: &Writer, asset: &Asset) -> Result<String> {
    if !store::inventory::title_is_taken(writer.rows, asset)? {
        return Ok(asset.title.clone());
    }
    let taken =
        store::inventory::titles_with_prefix(writer.rows, asset, &first_chars(&asset.title, MAX_TITLE / 2))?;
    let numbered = (2..).map(|number: u64| {
        let suffix = format!(" ({number})");
        first_chars(&asset.title, MAX_TITLE - suffix.len()) + &suffix
    });
    let free = numbered.into_iter().find(|title| !taken.contains(title));
    Ok(free.unwrap_or_else(|| asset.title.clone()))
}

/// Returns the first characters of a title.
fn first_chars(title: &str, characters: usize) -> String {
    title.chars().take(characters).collect()
}
