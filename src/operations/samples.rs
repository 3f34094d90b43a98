//! Counts the files and tasks of a sample before anybody buys it, and finds paths and tasks that the vendor chose but that do not
//! exist.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{
    access::{Buyer, Vendor},
    listings,
};
use crate::{
    artifacts::{
        packing::{
            FileSelection,
            forecast::{Forecast, forecast},
        },
        structure::Structure,
    },
    domain::{
        assets::Kind,
        problems::Problems,
        samples::{DEFAULT_TASKS, SampledAsset, Selection},
        teams::TeamRowId,
    },
    error::{NameList, Problem, Result, excerpt, quoted},
    market::Reader,
    request_problems::ProblemsExt,
    store::{
        self,
        data_structures::{AssetFiles, FileTree},
    },
};

/// Maximum total size of the file trees that are read for a vendor. Further assets are neither counted nor checked.
const MAX_TREE_BYTES: u64 = 16 << 20;

/// The same for a buyer, who reads the totals only, and with each view of the page: a tree with about 10,000 files.
const MAX_TREE_BYTES_OF_BUYERS: u64 = 1 << 20;

/// What a sample has of an asset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampledPart {
    /// Files of its data.
    Files(Forecast),
    /// Some of its tasks.
    Tasks {
        /// Number of tasks.
        tasks: u64,
        /// Number of tasks of the asset.
        all: u64,
    },
    /// Files of data whose tree is not known, or not yet.
    Unknown,
    /// Its description only, since it has no data.
    Description,
}

impl SampledPart {
    /// Whether the sample has everything that the asset has.
    pub const fn is_whole(&self) -> bool {
        match self {
            SampledPart::Files(files) => files.is_whole(),
            SampledPart::Tasks { tasks, all } => *tasks > 0 && *tasks == *all,
            SampledPart::Unknown | SampledPart::Description => false,
        }
    }
}

/// An asset of a sample, and what the sample has of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleContent {
    /// ID of the asset.
    pub asset: Uuid,
    /// Title of the asset.
    pub title: String,
    /// Kind of the asset.
    pub kind: Kind,
    /// What the sample has of it.
    pub part: SampledPart,
}

/// Returns the content of a sample for each of its assets that belongs to the vendor, in their order.
pub fn contents(reader: &Reader, vendor: &Vendor, sample: &[SampledAsset]) -> Result<Vec<SampleContent>> {
    let (rows, team) = (reader.rows, vendor.team_row_id());
    read(rows, team, sample, &list_had(rows, team, sample)?, MAX_TREE_BYTES)
}

/// Returns the content of the sample that a buyer can buy, as its vendor has chosen it. Large assets are
/// [`SampledPart::Unknown`].
pub fn offered(reader: &Reader, buyer: &Buyer, listing: Uuid) -> Result<Vec<SampleContent>> {
    let (rows, listing) = (reader.rows, listings::find_on_sale(reader.rows, buyer, listing)?);
    let sample = store::listings::find_fields(rows, listing.row_id)?.sample;
    let had = list_had(rows, listing.team, &sample)?;
    read(rows, listing.team, &sample, &had, MAX_TREE_BYTES_OF_BUYERS)
}

/// Fails if a vendor chose paths or tasks for a sample that an asset does not have.
pub(super) fn check(rows: &store::Reader, team: TeamRowId, sample: &[SampledAsset]) -> Result<()> {
    let is_chosen =
        |asset: &&SampledAsset| asset.selection.paths.is_some() || asset.selection.task_ids.is_some();
    let chosen: Vec<SampledAsset> = sample.iter().filter(is_chosen).cloned().collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let had = list_had(rows, team, &chosen)?;
    let mut problems = Problems::default();
    for content in read(rows, team, &chosen, &had, MAX_TREE_BYTES)? {
        let found = sample.iter().enumerate().find(|(_, asset)| asset.asset_id == content.asset);
        let Some((index, asset)) = found else { continue };
        let index = index.to_string();
        let mut report = |field: &str, rule: String| {
            problems.push(Problem::body(&["sample", &index, field], "value_error", rule));
        };
        match &content.part {
            SampledPart::Files(files) if !files.missing.is_empty() => {
                let missing: NameList = files.missing.iter().map(|path| quoted(&excerpt(path))).collect();
                let rule = format!(
                    "The data of this asset has no file at, or below: {missing}. Choose paths that it has, from its root."
                );
                let meant: NameList = files.meant.iter().map(|path| quoted(&excerpt(path))).collect();
                let rule = if meant.is_empty() { rule } else { format!("{rule} Did you mean {meant}?") };
                report("paths", rule);
            }
            SampledPart::Tasks { .. } => {
                let ids = asset.selection.task_ids.iter().flatten();
                let absent: NameList = ids.filter(|id| !had.contains(&(asset.asset_id, **id))).collect();
                if !absent.is_empty() {
                    report("task_ids", format!("This asset has no such tasks: {absent}."));
                }
            }
            _ => {}
        }
    }
    problems.into_result()
}

/// Returns what a sample has, given the pairs of an asset and a task of it that exist. `max_tree_bytes` limits the total size of
/// the file trees that are read.
fn read(
    rows: &store::Reader,
    team: TeamRowId,
    sample: &[SampledAsset],
    had: &BTreeSet<(Uuid, Uuid)>,
    max_tree_bytes: u64,
) -> Result<Vec<SampleContent>> {
    if sample.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = sample.iter().map(|asset| asset.asset_id).collect();
    let assets = store::data_structures::list(rows, team, &ids, max_tree_bytes)?;
    let with_tasks: Vec<Uuid> =
        assets.iter().filter(|asset| has_tasks(asset.kind)).map(|asset| asset.asset).collect();
    let counts: BTreeMap<Uuid, u64> = if with_tasks.is_empty() {
        BTreeMap::new()
    } else {
        store::bundle_tasks::count_of_assets(rows, team, &with_tasks)?.into_iter().collect()
    };
    let content = |asset: AssetFiles| {
        let sampled = sample.iter().find(|sampled| sampled.asset_id == asset.asset)?;
        let part = match counts.get(&asset.asset) {
            Some(all) => tasks(sampled, *all, had),
            None => files(&asset, &sampled.selection),
        };
        Some(SampleContent { asset: asset.asset, title: asset.title, kind: asset.kind, part })
    };
    Ok(assets.into_iter().filter_map(content).collect())
}

/// Whether a sample of an asset of this kind has tasks, and no files.
const fn has_tasks(kind: Kind) -> bool {
    matches!(kind, Kind::Task | Kind::Taskset | Kind::Bundle)
}

fn tasks(sampled: &SampledAsset, all: u64, had: &BTreeSet<(Uuid, Uuid)>) -> SampledPart {
    let tasks = match &sampled.selection.task_ids {
        None => all.min(DEFAULT_TASKS as u64),
        Some(ids) => {
            let ids: BTreeSet<&Uuid> = ids.iter().collect();
            ids.into_iter().filter(|id| had.contains(&(sampled.asset_id, **id))).count() as u64
        }
    };
    SampledPart::Tasks { tasks, all }
}

fn files(asset: &AssetFiles, selection: &Selection) -> SampledPart {
    if !asset.has_data {
        return SampledPart::Description;
    }
    let Some(structure) = asset.tree.as_ref().and_then(structure) else { return SampledPart::Unknown };
    SampledPart::Files(forecast(&structure, &FileSelection::of_sample(selection)))
}

fn structure(tree: &FileTree) -> Option<Structure> {
    // Worlds that were written by other programs can have other JSON, which is treated as absent.
    let roots = serde_json::from_str(&tree.roots).ok()?;
    Some(Structure { max_depth: tree.max_depth, roots, sizes: tree.file_sizes.clone() })
}

/// Returns the pairs of an asset and a task of a sample that exist.
fn list_had(
    rows: &store::Reader,
    team: TeamRowId,
    sample: &[SampledAsset],
) -> Result<BTreeSet<(Uuid, Uuid)>> {
    let pairs = sample
        .iter()
        .flat_map(|asset| asset.selection.task_ids.iter().flatten().map(|task| (asset.asset_id, *task)));
    let pairs: Vec<(Uuid, Uuid)> = pairs.collect();
    if pairs.is_empty() {
        return Ok(BTreeSet::new());
    }
    Ok(store::bundle_tasks::list_had(rows, team, &pairs)?.into_iter().collect())
}
