//! A vendor's raw data: creation, editing, and linking of uploaded archives.

use uuid::Uuid;

use super::{access::Vendor, asset_changes, assets, linked_data};
use crate::{
    domain::{
        assets::{Channel, Kind},
        inventory::{Asset, AssetChange},
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
    /// URL of the upload.
    pub url: String,
    /// URL of the vendor's own manifest of the archive.
    pub manifest_url: Option<String>,
}

/// Row ID and size in bytes of an upload.
type FoundUpload = (UploadRowId, u64);

/// Creates raw data, optionally with an upload. If `suffix_title` is set and the title is taken, a number is
/// appended to the title.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    change: AssetChange,
    upload: Option<&UploadReference>,
    suffix_title: bool,
) -> Result<Asset> {
    let mut asset = assets::new_asset(writer, vendor, Kind::RawData)?;
    let mut problems = asset_changes::apply(writer, &mut asset, change, &[])?;
    let found = upload.map(|upload| find_upload(writer, vendor, upload, &["data"])).transpose()?;
    let found = match found {
        Some(Err(problem)) => {
            problems.push(problem);
            None
        }
        Some(Ok(found)) => Some(found),
        None => None,
    };
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
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

/// Updates one of the team's raw data assets.
pub fn update(writer: &mut Writer, vendor: &Vendor, id: Uuid, change: AssetChange) -> Result<Asset> {
    let mut asset = assets::find(writer.rows, vendor, id, Some(Kind::RawData))?;
    let before = asset.title.clone();
    asset_changes::apply_valid(writer, &mut asset, change)?;
    if asset.title != before {
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
) -> Result<Asset> {
    let asset = assets::find(writer.rows, vendor, id, Some(Kind::RawData))?;
    let found = find_upload(writer, vendor, upload, &[])?.map_err(Error::invalid)?;
    let data = upload_data(writer, upload, found);
    linked_data::attach(writer, vendor, &asset, &data)
}

/// Returns the upload with this URL, or a problem. The problem does not reveal whether another team has an
/// upload with this URL.
fn find_upload(
    writer: &Writer,
    vendor: &Vendor,
    upload: &UploadReference,
    path: &[&str],
) -> Result<std::result::Result<FoundUpload, Problem>> {
    let found = store::uploads::find_by_url(writer.rows, vendor.team_row_id(), &upload.url)?;
    Ok(found.ok_or_else(|| {
        let msg = "Your team has no completed upload with this URL. Upload the zip, then send its URL.";
        Problem::body(&[path, &["url"]].concat(), "unknown_reference", msg)
    }))
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
