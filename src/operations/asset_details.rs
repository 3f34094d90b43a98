//! Everything that a vendor reads about one asset: its fields, its data, its quality runs, and where it is used.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{
    access::Vendor,
    asset_changes, assets, data_files, estimations, notifications,
    quality_runs::{self, CheckedRun},
    raw_data, tasks,
};
use crate::{
    artifacts::{datasets::Dataset, structure::Node},
    blobs::Blobs,
    domain::{
        assets::Kind,
        estimations::Estimation,
        inventory::{Asset, AssetChange},
        listings::CatalogStatus,
        money::Cents,
        problems::Problems,
        quality_runs::RunStatus,
        taxonomy::{Label, Retirement},
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{
        self,
        asset_details::{AssetFacts, OwnTaskset, TaskContent},
        groups::Group,
        listings::ListingRow,
        notifications::Notification,
        quality_runs::RunRow,
    },
};

/// Maximum number of listings, runs, and tasksets that are returned.
const MAX_RELATED: u32 = 50;

/// An asset with all that is known about it.
#[derive(Debug)]
pub struct AssetDetails {
    /// The asset.
    pub asset: Asset,
    /// The announced retirement of its kind.
    pub retirement: Option<Retirement>,
    /// All groups of the team.
    pub groups: Vec<Group>,
    /// Labels of the domain tags, by slug.
    pub domain_labels: BTreeMap<String, String>,
    /// Names of the languages, by slug.
    pub language_names: BTreeMap<String, String>,
    /// What was measured in the data.
    pub facts: AssetFacts,
    /// Whether its data is being copied or analyzed, or waits for that.
    pub is_in_progress: bool,
    /// Why the data has no files to check; `None` if it has some, or will have.
    pub not_readable: Option<String>,
    /// The first level of the tree of directories and files; empty if it is not known.
    pub tree: Vec<Node>,
    /// The tables in the data.
    pub dataset: Option<Dataset>,
    /// The newest listings with the asset.
    pub listings: Vec<ListingRow>,
    /// The latest quality runs, newest first, each with the number of its required checks that have not passed.
    pub runs: Vec<(RunRow, u64)>,
    /// The latest quality run with its checks.
    pub latest_run: Option<CheckedRun>,
    /// The latest estimation for the asset.
    pub estimation: Option<Estimation>,
    /// The content of a task.
    pub task: Option<TaskContent>,
    /// The first tasksets of a taskset or bundle.
    pub tasksets: Vec<OwnTaskset>,
    /// Whether a codebase was sold exclusively.
    pub is_sold_exclusively: bool,
    /// The newest notifications about the asset, and about its runs and its estimation.
    pub notifications: Vec<Notification>,
}

impl AssetDetails {
    /// Whether the latest run has read other data than the asset has now.
    pub fn is_run_of_other_data(&self) -> bool {
        let Some(CheckedRun { run, .. }) = &self.latest_run else { return false };
        let has_read = self.asset.data.as_ref().is_some_and(|data| data.attached_at <= run.started_at);
        let can_have_data = matches!(self.asset.kind, Kind::Codebase | Kind::RawData);
        run.status == RunStatus::Completed && can_have_data && !has_read
    }
}

/// Maximum number of notifications that are returned.
const MAX_NOTIFICATIONS: usize = 10;

/// Returns one of the team's assets with all that is known about it.
pub fn get(reader: &Reader, vendor: &Vendor, blobs: &Blobs, id: Uuid) -> Result<AssetDetails> {
    let (asset, mut deprecations) = assets::get_with_deprecations(reader, vendor, id)?;
    let (rows, row_id) = (reader.rows, asset.row_id);
    let facts = store::asset_details::find(rows, row_id)?;
    let structure = match asset.data {
        Some(_) => store::asset_details::find_structure(rows, row_id)?,
        None => None,
    };
    let (roots, dataset) = structure.map_or((None, None), |(roots, dataset)| (Some(roots), dataset));
    let is_in_progress = match &asset.data {
        Some(data) => data_files::is_in_progress(rows, row_id, data)?,
        None => false,
    };
    let not_readable = match &asset.data {
        Some(data) => data_files::unreadable_reason(rows, blobs, &asset, data)?,
        None => None,
    };
    let runs = store::quality_runs::list_of_asset(rows, row_id, MAX_RELATED)?;
    let estimation = estimations::latest(reader, vendor, &[id])?.pop().map(|(_, estimation)| estimation);
    let ids_of_runs = runs.iter().map(|(run, _)| run.id);
    let about: Vec<Uuid> = [id]
        .into_iter()
        .chain(ids_of_runs)
        .chain(estimation.iter().map(|estimation| estimation.id))
        .collect();
    Ok(AssetDetails {
        retirement: deprecations.remove(&asset.kind),
        groups: store::groups::list(rows, vendor.team_row_id())?,
        domain_labels: store::taxonomy::find_domain_labels(rows, &asset.domain_tags)?,
        language_names: store::taxonomy::find_language_names(
            rows,
            &facts.languages.keys().collect::<Vec<_>>(),
        )?,
        is_in_progress,
        not_readable,
        // Worlds that were written by other programs can have JSON of another shape, which is treated as absent.
        tree: roots.and_then(|roots| serde_json::from_str(&roots).ok()).unwrap_or_default(),
        dataset: dataset.and_then(|dataset| serde_json::from_str(&dataset).ok()),
        listings: store::listings::newest_listings_with_asset(rows, row_id, MAX_RELATED)?,
        latest_run: quality_runs::latest_asset_run(reader, &asset)?,
        task: if asset.task.is_some() { store::asset_details::find_task(rows, row_id)? } else { None },
        tasksets: store::asset_details::list_tasksets(rows, row_id, MAX_RELATED)?,
        is_sold_exclusively: store::exclusive_sales::is_sold(rows, row_id)?,
        notifications: notifications::list_about(reader, vendor, &about, MAX_NOTIFICATIONS)?,
        runs,
        estimation,
        facts,
        asset,
    })
}

/// Returns one of the team's assets, and one of its quality runs with its checks.
pub fn find_run(reader: &Reader, vendor: &Vendor, asset: Uuid, run: Uuid) -> Result<(Asset, CheckedRun)> {
    let asset = assets::find(reader.rows, vendor, asset, None)?;
    let found = store::quality_runs::find_of_asset(reader.rows, asset.row_id, run)?;
    let run = found.ok_or_else(|| Error::not_found("quality run"))?;
    Ok((asset, CheckedRun::read(reader.rows, run)?))
}

/// An asset, and what a form that changes it offers.
#[derive(Debug)]
pub struct EditableAsset {
    /// The asset.
    pub asset: Asset,
    /// All domains.
    pub domains: Vec<Label>,
    /// Whether a codebase was sold exclusively, so that it stays unavailable.
    pub is_sold_exclusively: bool,
    /// The newest listings with the asset that are in the catalog.
    pub live: Vec<ListingRow>,
}

/// Returns one of the team's assets to change.
pub fn editable(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<EditableAsset> {
    let asset = assets::find(reader.rows, vendor, id, None)?;
    let is_sold_exclusively = store::exclusive_sales::is_sold(reader.rows, asset.row_id)?;
    let mut live = store::listings::newest_listings_with_asset(reader.rows, asset.row_id, MAX_RELATED)?;
    live.retain(|listing| listing.status.catalog == CatalogStatus::Published);
    Ok(EditableAsset { domains: store::taxonomy::domains(reader.rows)?, is_sold_exclusively, live, asset })
}

/// Changes the fields of one of the team's assets. Fails with all problems.
pub fn edit(writer: &mut Writer, vendor: &Vendor, asset: (Uuid, Kind), change: AssetChange) -> Result<()> {
    let changed =
        asset_changes::check_update(&writer.check_context(), vendor, asset, change, Problems::default())?;
    match asset.1 {
        Kind::RawData => match raw_data::update(writer, changed) {
            Err(Error::Conflict(_)) => {
                let message = "Your team already has raw data with this name. Choose another one.";
                Err(Error::invalid(Problem::body(&["title"], "conflict", message)))
            }
            updated => updated.map(drop),
        },
        Kind::Task => tasks::update(writer, changed).map(drop),
        _ => asset_changes::update(writer, changed).map(drop),
    }
}

/// An asset that its vendor may want to delete, and where it is used.
#[derive(Debug)]
pub struct DeletableAsset {
    /// The asset.
    pub asset: Asset,
    /// The listings with the asset, oldest first.
    pub listings: Vec<ListingRow>,
    /// The listings that prevent a change of the asset: they are in review or published.
    pub fixed_by: Vec<ListingRow>,
}

/// Returns one of the team's assets, and the listings that it is on.
pub fn deletable(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<DeletableAsset> {
    let asset = assets::find(rows, vendor, id, None)?;
    let listings = store::listings::listings_with_asset(rows, asset.row_id)?;
    let fixed_by = listings.iter().filter(|listing| assets::keeps_assets(listing.status)).cloned().collect();
    Ok(DeletableAsset { asset, listings, fixed_by })
}

/// What a quality run of an asset would cost, and why none can be started.
#[derive(Debug)]
pub struct RunOffer {
    /// The asset.
    pub asset: Asset,
    /// The price of a run.
    pub price: Cents,
    /// The credits of the team.
    pub credits: Cents,
    /// Why none can be started; `None` if one can.
    pub refusal: Option<RunRefusal>,
}

/// Why no quality run of an asset can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunRefusal {
    /// The asset has no data.
    NoData,
    /// The server has no files of the data, for this reason.
    NotReadable(String),
    /// A run with this ID is in progress.
    InProgress(Uuid),
    /// The credits do not suffice.
    Credits,
}

/// Returns what a quality run of an asset would cost. [`quality_runs::start_asset_run`] has the last word.
pub fn run_offer(reader: &Reader, vendor: &Vendor, blobs: &Blobs, id: Uuid) -> Result<RunOffer> {
    let asset = assets::find(reader.rows, vendor, id, None)?;
    let price = quality_runs::price(reader.settings);
    let credits = store::wallet::balances(reader.rows, vendor.team_row_id())?.credits;
    let unreadable = match &asset.data {
        Some(data) => data_files::unreadable_reason(reader.rows, blobs, &asset, data)?,
        None => None,
    };
    let latest = store::quality_runs::find_latest_of_asset(reader.rows, asset.row_id)?;
    let unfinished = latest.filter(|run| run.completed_at.is_none());
    let refusal = match (&asset.data, unreadable, unfinished) {
        (None, ..) => Some(RunRefusal::NoData),
        (_, Some(reason), _) => Some(RunRefusal::NotReadable(reason)),
        (_, _, Some(run)) => Some(RunRefusal::InProgress(run.id)),
        _ if credits < price => Some(RunRefusal::Credits),
        _ => None,
    };
    Ok(RunOffer { asset, price, credits, refusal })
}
