//! A vendor's raw data: creation, editing, and linking of uploaded archives.

use uuid::Uuid;

use super::{access::Vendor, asset_changes, assets, linked_data};
use crate::{
    domain::{
        assets::{Channel, Kind},
        inventory::{Asset, AssetChange},
        problems::Problems,
        row_ids::UploadRowId,
    },
    error::{Error, Problem, Result},
    market::Writer,
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

/// Creates raw data, optionally with an upload. If `suffix_title` is set and the title is taken, a number is
/// appended to the title. `problems` has those with the body so far.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    change: AssetChange,
    upload: Option<&UploadReference>,
    suffix_title: bool,
    mut problems: Problems,
) -> Result<Asset> {
    let mut asset = assets::new_asset(writer, vendor, Kind::RawData)?;
    asset_changes::apply(writer, &mut asset, change, &[], &mut problems)?;
    let found = match upload {
        Some(upload) => find_upload(writer, vendor, upload, &["data"], &mut problems)?,
        None => None,
    };
    problems.into_result()?;
    if suffix_title {
        asset.title = unique_title(writer, &asset)?;
    }
    check_title_is_free(writer, &asset)?;
    let fields = KindFields::RawData { files: None, extensions: &[] };
    let row_id = store::assets::insert(writer.rows, &NewAsset::from_asset(&asset, fields))?;
    if let (Some(upload), Some(found)) = (upload, found) {
        linked_data::insert(writer, row_id, &upload_data(writer, upload, found))?;
    }
    store::inventory::upsert_row(writer.rows, row_id)?;
    assets::find(writer.rows, vendor, asset.id, None)
}

/// Updates one of the team's raw data assets. `problems` has those with the body so far.
pub fn update(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    change: AssetChange,
    problems: Problems,
) -> Result<Asset> {
    let (asset, title_before) =
        asset_changes::apply_to_own(writer, vendor, (id, Kind::RawData), change, problems)?;
    if asset.title != title_before {
        check_title_is_free(writer, &asset)?;
    }
    store::assets::update(writer.rows, &asset)?;
    Ok(asset)
}

/// Attaches an upload. A job then analyzes it.
pub fn attach_upload(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    upload: &UploadReference,
    mut problems: Problems,
) -> Result<Asset> {
    let asset = problems.if_available(assets::find(writer.rows, vendor, id, Some(Kind::RawData)))?;
    let found = find_upload(writer, vendor, upload, &[], &mut problems)?;
    let (asset, found) = problems.into_result_of(asset.zip(found))?;
    let data = upload_data(writer, upload, found);
    linked_data::attach(writer, vendor, &asset, &data)
}

/// Returns the upload with this URL, or adds a problem. The problem does not reveal whether another team has an
/// upload with this URL.
fn find_upload(
    writer: &Writer,
    vendor: &Vendor,
    upload: &UploadReference,
    path: &[&str],
    problems: &mut Problems,
) -> Result<Option<FoundUpload>> {
    let Some(url) = &upload.url else { return Ok(None) };
    let found = store::uploads::find_by_url(writer.rows, vendor.team_row_id(), url)?;
    if found.is_none() {
        let msg = "Your team has no completed upload with this URL. Upload the zip, then send its URL.";
        problems.push(Problem::body(&[path, &["url"]].concat(), "unknown_reference", msg));
    }
    Ok(found)
}

fn upload_data<'a>(
    writer: &Writer,
    upload: &'a UploadReference,
    (row_id, bytes): FoundUpload,
) -> NewData<'a> {
    NewData {
        is_private: true,
        archive_bytes: Some(bytes),
        manifest_url: upload.manifest_url.as_deref(),
        upload: Some(row_id),
        ..NewData::pending(Channel::Zip, writer.now)
    }
}

fn check_title_is_free(writer: &Writer, asset: &Asset) -> Result<()> {
    if !store::inventory::title_is_taken(writer.rows, asset)? {
        return Ok(());
    }
    let title = &asset.title;
    Err(Error::Conflict(format!(
        "Your team already has raw data titled {title:?}. Choose another title, or set `suffix_title`."
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
