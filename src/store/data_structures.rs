//! Directory trees of linked data, as they are shown to the vendor. They are deleted with the data.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        assets::{ArtifactStatus, Kind},
        row_ids::AssetRowId,
        teams::TeamRowId,
    },
    error::Result,
};

/// The directory tree of an asset's linked data.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct StoredStructure {
    /// State of the analysis of the data.
    pub analysis_status: ArtifactStatus,
    /// Number of levels of the tree, and the JSON of its root entries; `None` until the data is analyzed.
    #[row(pair)]
    pub tree: Option<(u32, String)>,
}

/// Inserts or replaces the directory tree of an asset's linked data.
pub fn upsert(
    writer: &Writer,
    asset: AssetRowId,
    max_depth: u32,
    roots: &str,
    file_sizes: &[u64],
) -> Result<()> {
    const SQL: &str =
        "INSERT INTO data_structures (asset, max_depth, roots, file_sizes) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (asset) DO UPDATE SET max_depth = excluded.max_depth, roots = excluded.roots,
             file_sizes = excluded.file_sizes";
    writer.run(SQL, (asset, max_depth, roots, row::to_json(file_sizes)?))
}

/// Sets the JSON description of an asset's linked data as a dataset. The directory tree must be stored
/// already.
pub fn set_dataset(writer: &Writer, asset: AssetRowId, dataset: Option<&str>) -> Result<()> {
    const SQL: &str = "UPDATE data_structures SET dataset = ?2 WHERE asset = ?1";
    writer.run(SQL, (asset, dataset))
}

/// Returns the directory tree of the data linked to the team's asset with this ID and kind; `None` if no data
/// is linked.
pub fn find(reader: &Reader, team: TeamRowId, id: Uuid, kind: Kind) -> Result<Option<StoredStructure>> {
    const SQL: &str = "SELECT d.analysis_status, s.max_depth, s.roots
         FROM assets a JOIN data_objects d ON d.asset = a.id LEFT JOIN data_structures s ON s.asset = a.id
         WHERE a.uuid = ?1 AND a.team = ?2 AND a.kind = ?3 AND a.deleted_at IS NULL";
    reader.query_first(SQL, (id, team, kind), StoredStructure::from_row)
}

/// The known files of an asset.
#[derive(Clone, Debug)]
pub struct AssetFiles {
    /// ID of the asset.
    pub asset: Uuid,
    /// Title of the asset.
    pub title: String,
    /// Kind of the asset.
    pub kind: Kind,
    /// Whether data is linked to it.
    pub has_data: bool,
    /// The directory tree of the data; `None` until the data is analyzed, and if the trees are too large.
    pub tree: Option<FileTree>,
}

/// The directory tree of data with the sizes of its files.
#[derive(Clone, Debug)]
pub struct FileTree {
    /// Number of levels.
    pub max_depth: u32,
    /// JSON of the root entries.
    pub roots: String,
    /// Sizes of the files in the order of the tree; empty if they are not known.
    pub file_sizes: Vec<u64>,
}

/// Returns the known files of each of these assets that belongs to the team. Trees are read in the order of the IDs, up to a total
/// of `max_bytes`.
pub fn list(reader: &Reader, team: TeamRowId, ids: &[Uuid], max_bytes: u64) -> Result<Vec<AssetFiles>> {
    // The inner query needs only the sizes of the trees, so those that do not fit are not read.
    const SQL: &str = "SELECT w.uuid AS uuid, w.title AS title, w.kind AS kind, w.has_data AS has_data,
             s.max_depth AS max_depth, s.roots, s.file_sizes
         FROM (
             SELECT a.id, a.uuid, a.title, a.kind, d.asset IS NOT NULL AS has_data, j.key,
                 sum(coalesce(octet_length(s.roots), 0) + coalesce(octet_length(s.file_sizes), 0))
                     OVER (ORDER BY j.key ROWS UNBOUNDED PRECEDING) AS bytes
             FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value) LEFT JOIN data_objects d ON d.asset = a.id
             LEFT JOIN data_structures s ON s.asset = a.id
             WHERE a.team = ?2 AND a.deleted_at IS NULL) w
         LEFT JOIN data_structures s ON s.asset = w.id AND w.bytes <= ?3
         ORDER BY w.key";
    reader.query_all(SQL, (row::ids_to_json(ids)?, team, max_bytes as i64), |row| {
        let (max_depth, roots): (Option<u32>, Option<String>) = (row.get("max_depth")?, row.get(5)?);
        let file_sizes: Option<Vec<u64>> = row::json(row, 6)?;
        let tree = max_depth.zip(roots).map(|(max_depth, roots)| FileTree {
            max_depth,
            roots,
            file_sizes: file_sizes.unwrap_or_default(),
        });
        let (asset, title, has_data) = (row.get("uuid")?, row.get("title")?, row.get("has_data")?);
        Ok(AssetFiles { asset, title, kind: row.get("kind")?, has_data, tree })
    })
}
