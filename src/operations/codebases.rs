//! A vendor's codebases: creation, and linking of repositories.

use uuid::Uuid;

use super::{access::Vendor, asset_changes, asset_events, assets, linked_data, references::References};
use crate::{
    domain::{
        assets::{ArtifactStatus, Exclusivity, Kind, RepositoryChannel},
        inventory::{Asset, AssetChange},
        problems::Problems,
        repository_addresses::find_name_fault,
        row_ids::{AssetRowId, GroupRowId, UploadRowId},
    },
    error::{Error, LocSegment, MAX_PROBLEMS, Problem, Result},
    market::{CheckContext, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        assets::{KindFields, NewAsset, NewData},
    },
};

/// A repository to link.
#[derive(Clone, Debug)]
pub struct LinkRequest {
    /// The host of the repository.
    pub channel: RepositoryChannel,
    /// Full name of the repository, `owner/name`.
    pub repo_full_name: String,
}

impl LinkRequest {
    /// Adds what is wrong with the request to `problems`. `path` leads to it in the body.
    pub fn check(&self, path: &[&str], problems: &mut Problems) {
        if let Some(fault) = find_name_fault(self.channel, &self.repo_full_name) {
            let path = [path, &["repo_full_name"]].concat();
            problems.push(Problem::body(&path, "value_error", format!("`repo_full_name` {fault}.")));
        }
    }
}

/// Returns a codebase to create. Fails with all problems. `problems` has those with the body so far.
pub fn check_new(
    context: &CheckContext,
    vendor: &Vendor,
    change: AssetChange,
    mut problems: Problems,
) -> Result<Asset> {
    let asset = asset_changes::check_new(context, vendor, Kind::Codebase, change, &mut problems)?;
    problems.into_result()?;
    Ok(asset)
}

/// Creates a codebase, optionally linked to a repository.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    asset: &Asset,
    link: Option<&LinkRequest>,
) -> Result<Asset> {
    let row_id = insert_rows(writer, asset)?;
    if let Some(link) = link {
        linked_data::insert(writer, row_id, &repository_data(writer, link))?;
    }
    store::inventory::upsert_row(writer.rows, row_id)?;
    asset_events::created(writer, asset.team, asset.kind, &[asset.id])?;
    assets::find(writer.rows, vendor, asset.id, None)
}

/// Returns several codebases to create. Fails with the problems of all of them, or at least the first
/// [`MAX_PROBLEMS`]. A change is `None` if it cannot be checked at all; `problems` then has the reason.
pub fn check_all_new(
    context: &CheckContext,
    vendor: &Vendor,
    changes: Vec<Option<AssetChange>>,
    mut problems: Problems,
) -> Result<Vec<Asset>> {
    let references = References::read(context, vendor, changes.iter().flatten())?;
    let group = (references.default_group.row_id, references.default_group.id);
    let (mut created, schema_problems) = (Vec::new(), problems.len());
    for (index, change) in changes.into_iter().enumerate() {
        // Problems with later rows would not be reported.
        if problems.len() - schema_problems >= MAX_PROBLEMS {
            break;
        }
        let Some(change) = change else { continue };
        let mut asset = assets::new_asset(context, vendor, Kind::Codebase, group);
        let path = [LocSegment::Name("items".to_owned()), LocSegment::Index(index)];
        asset_changes::apply(context, &references, &mut asset, change, &path, &mut problems);
        created.push(asset);
    }
    problems.into_result()?;
    Ok(created)
}

/// Creates several codebases.
pub fn create_all(writer: &mut Writer, assets: &[Asset]) -> Result<()> {
    for asset in assets {
        let row_id = insert_rows(writer, asset)?;
        store::inventory::upsert_row(writer.rows, row_id)?;
    }
    let ids: Vec<Uuid> = assets.iter().map(|asset| asset.id).collect();
    assets.first().map_or(Ok(()), |first| asset_events::created(writer, first.team, first.kind, &ids))
}

/// Checks and creates a codebase, optionally linked to a repository.
pub fn check_and_create(
    writer: &mut Writer,
    vendor: &Vendor,
    change: AssetChange,
    link: Option<&LinkRequest>,
) -> Result<Asset> {
    let asset = check_new(&writer.check_context(), vendor, change, Problems::default())?;
    create(writer, vendor, &asset, link)
}

/// A codebase to create from an upload.
#[derive(Clone, Copy, Debug)]
pub struct UploadedCodebase<'a> {
    /// Title, already checked.
    pub title: &'a str,
    /// Whether it can be sold exclusively; `None` if not stated.
    pub exclusivity: Option<Exclusivity>,
    /// Row ID of its group; `None` for the default group, which also replaces a group that was deleted.
    pub group: Option<GroupRowId>,
}

/// Creates a codebase from an upload, and enqueues its analysis. Returns the ID of the codebase.
pub fn create_from_upload(
    writer: &mut Writer,
    vendor: &Vendor,
    codebase: UploadedCodebase,
    upload: UploadRowId,
    bytes: u64,
) -> Result<Uuid> {
    let (team, default) =
        (vendor.team_row_id(), store::groups::find_default(writer.rows, vendor.team_row_id())?);
    let chosen = match codebase.group {
        Some(group) => store::groups::find_id(writer.rows, team, group)?.map(|id| (group, id)),
        None => None,
    };
    let group = chosen.unwrap_or((default.row_id, default.id));
    let mut asset = assets::new_asset(&writer.check_context(), vendor, Kind::Codebase, group);
    codebase.title.clone_into(&mut asset.title);
    asset.codebase.exclusivity = codebase.exclusivity;
    let row_id = insert_rows(writer, &asset)?;
    linked_data::insert(writer, row_id, &linked_data::of_upload(writer, upload, bytes))?;
    store::inventory::upsert_row(writer.rows, row_id)?;
    asset_events::created(writer, asset.team, asset.kind, &[asset.id])?;
    Ok(asset.id)
}

/// Links a repository to a codebase. A job then copies and analyzes it.
pub fn attach_repository(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    link: &LinkRequest,
) -> Result<Asset> {
    let asset = assets::find(writer.rows, vendor, id, Some(Kind::Codebase))?;
    let data = repository_data(writer, link);
    linked_data::attach(writer, vendor, &asset, &data)
}

/// Links the repository of a codebase again after copying it has failed.
pub fn retry_repository(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let asset = assets::find(writer.rows, vendor, id, Some(Kind::Codebase))?;
    let failed = asset.data.as_ref().filter(|data| data.archive_status == ArtifactStatus::Failed);
    let repository = store::asset_details::find(writer.rows, asset.row_id)?.repository;
    let (Some(channel), Some(repository)) = (failed.map(|data| data.channel), repository) else {
        return Err(Error::Conflict(
            "Only a repository that could not be copied is copied again.".to_owned(),
        ));
    };
    let detached = linked_data::detach_silently(writer, asset)?;
    let pending = NewData::pending(channel, writer.now);
    let data = NewData { repo_full_name: Some(&repository), ..pending };
    linked_data::attach(writer, vendor, &detached, &data).map(drop)
}

fn repository_data<'a>(writer: &Writer, link: &'a LinkRequest) -> NewData<'a> {
    let pending = NewData::pending(link.channel.into(), writer.now);
    NewData { repo_full_name: Some(&link.repo_full_name), ..pending }
}

/// Inserts the rows of a codebase. The caller updates the inventory row when the codebase is complete.
fn insert_rows(writer: &Writer, asset: &Asset) -> Result<AssetRowId> {
    let fields = KindFields::Codebase { fields: asset.codebase.clone(), languages: None };
    store::assets::insert(writer.rows, &NewAsset::from_asset(asset, fields))
}
