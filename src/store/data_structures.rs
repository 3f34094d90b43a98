//! Directory trees of linked data, as they are shown to the vendor. They are deleted with the data.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        assets::{ArtifactStatus, Kind},
        row_ids::AssetRowId,
        teams::TeamRowId,
    },
    error::Result,
    string_enum::StringEnum,
};

/// The directory tree of an asset's linked data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStructure {
    /// State of the analysis of the data.
    pub analysis_status: ArtifactStatus,
    /// Number of levels of the tree, and the JSON of its root entries; `None` until the data is analyzed.
    pub tree: Option<(u32, String)>,
}

/// Inserts or replaces the directory tree of an asset's linked data.
pub fn upsert(writer: &Writer, asset: AssetRowId, max_depth: u32, roots: &str) -> Result<()> {
    const SQL: &str = "INSERT INTO data_structures (asset, max_depth, roots) VALUES (?1, ?2, ?3)
         ON CONFLICT (asset) DO UPDATE SET max_depth = excluded.max_depth, roots = excluded.roots";
    writer.execute(SQL, (asset, max_depth, roots))?;
    Ok(())
}

/// Sets the JSON description of an asset's linked data as a dataset. The directory tree must be stored
/// already.
pub fn set_dataset(writer: &Writer, asset: AssetRowId, dataset: Option<&str>) -> Result<()> {
    const SQL: &str = "UPDATE data_structures SET dataset = ?2 WHERE asset = ?1";
    writer.execute(SQL, (asset, dataset))?;
    Ok(())
}

/// Returns the directory tree of the data linked to the team's asset with this ID and kind; `None` if no data
/// is linked.
pub fn find(reader: &Reader, team: TeamRowId, id: Uuid, kind: Kind) -> Result<Option<StoredStructure>> {
    const SQL: &str = "SELECT d.analysis_status, s.max_depth, s.roots
         FROM assets a JOIN data_objects d ON d.asset = a.id LEFT JOIN data_structures s ON s.asset = a.id
         WHERE a.uuid = ?1 AND a.team = ?2 AND a.kind = ?3 AND a.deleted_at IS NULL";
    reader.query_first(SQL, (id, team, kind.as_str()), |row| {
        let depth: Option<u32> = row.get("max_depth")?;
        let tree = depth.map(|depth| Ok::<_, rusqlite::Error>((depth, row.get("roots")?))).transpose()?;
        Ok(StoredStructure { analysis_status: row::string_enum(row, "analysis_status")?, tree })
    })
}
