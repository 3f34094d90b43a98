//! What the analyses of archives and repositories have in common: the end of an analysis, and the slugs of
//! languages.

use std::collections::BTreeMap;

use super::{
    asset_events, quality_runs,
    running_job::{JobResult, RunningJob},
};
use crate::{
    domain::{inventory::Asset, replaced_values, row_ids::AssetRowId, taxonomy::Language, time::Timestamp},
    error::Result,
    market::Writer,
    store::{self, assets::DataProgress},
};

/// Shows the progress of the data of a job's asset while the job runs.
pub(super) fn write_progress(job: &RunningJob, progress: &DataProgress) -> JobResult {
    let asset = job.asset_row_id();
    job.write_progress(|writer| store::assets::set_progress(writer.rows, asset, progress))
}

/// Ends a job with the final progress of the data of its asset.
pub(super) fn finish_with(job: &RunningJob, progress: &DataProgress) -> JobResult {
    job.finish(|writer| finish_analysis(writer, job.asset_row_id(), progress))
}

/// Records the final progress of an asset's data, and resumes the quality runs that waited for it.
pub fn finish_analysis(writer: &Writer, asset_row_id: AssetRowId, progress: &DataProgress) -> Result<()> {
    record_progress(writer, asset_row_id, progress)?;
    let Some(asset) = store::assets::find_by_row_id(writer.rows, asset_row_id)? else { return Ok(()) };
    asset_events::analyzed(writer, asset.stage(), &asset, progress)
}

fn record_progress(writer: &Writer, asset_row_id: AssetRowId, progress: &DataProgress) -> Result<()> {
    store::assets::set_progress(writer.rows, asset_row_id, progress)?;
    quality_runs::resume_waiting_runs(writer, asset_row_id)
}

/// Stores an asset whose fields were set from its data, and keeps the values from `before`, which are restored
/// when the data is detached. Records that the analysis ended at `at`.
pub fn store_fields(writer: &Writer, before: &Asset, asset: &Asset, at: Timestamp) -> Result<()> {
    let mut replaced = store::assets::find_replaced_values(writer.rows, asset.row_id)?;
    replaced_values::add_replaced(&mut replaced, before, asset);
    store::assets::set_replaced_values(writer.rows, asset.row_id, &replaced)?;
    let progress = DataProgress::analyzed(at);
    record_progress(writer, asset.row_id, &progress)?;
    store::assets::update(writer.rows, asset)?;
    asset_events::analyzed(writer, before.stage(), asset, &progress)
}

/// Converts language names to the slugs of known languages. An unknown language gets its name in lower case as its slug.
pub fn languages_by_slug(known: &[Language], bytes: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut slugs = BTreeMap::new();
    for (name, count) in bytes {
        let matches_name = |language: &&Language| {
            language.name.eq_ignore_ascii_case(&name)
                || language.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&name))
        };
        let slug = known.iter().find(matches_name).map(|language| language.slug.clone());
        let slug = slug.unwrap_or_else(|| name.to_lowercase().replace([' ', '/'], "-"));
        *slugs.entry(slug).or_default() += count;
    }
    slugs
}
