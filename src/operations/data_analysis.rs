//! What the analyses of archives and repositories have in common: the end of an analysis, and the slugs of
//! languages.

use std::collections::BTreeMap;

use super::quality_runs;
use crate::{
    domain::{row_ids::AssetRowId, taxonomy::Language},
    error::Result,
    market::Writer,
    store::{self, assets::DataProgress},
};

/// Records the final progress of an asset's data, and resumes the quality runs that waited for it.
pub fn finish_analysis(writer: &Writer, asset_row_id: AssetRowId, progress: &DataProgress) -> Result<()> {
    store::assets::set_progress(writer.rows, asset_row_id, progress)?;
    quality_runs::resume_waiting_runs(writer, asset_row_id)
}

/// Converts language names to slugs. A language that is not in the taxonomy gets its name in lower case as
/// its slug.
pub fn languages_by_slug(writer: &Writer, bytes: BTreeMap<String, u64>) -> Result<BTreeMap<String, u64>> {
    let known = store::taxonomy::languages(writer.rows)?;
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
    Ok(slugs)
}
