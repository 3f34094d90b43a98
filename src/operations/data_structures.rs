//! The tree of directories and files in linked data.

use uuid::Uuid;

use super::{access::Vendor, assets};
use crate::{
    artifacts::structure::Structure,
    domain::{assets::Kind, row_ids::AssetRowId},
    error::{Error, Result},
    market::{Reader, Writer},
    store::{self, data_structures::StoredStructure},
};

/// Stores the structure of the data that is linked to an asset.
pub(super) fn store(writer: &Writer, asset: AssetRowId, structure: &Structure) -> Result<()> {
    let roots = serde_json::to_string(&structure.roots).map_err(Error::internal)?;
    store::data_structures::upsert(writer.rows, asset, structure.max_depth, &roots, &structure.sizes)
}

/// Returns the structure of the data that is linked to the team's asset.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<StoredStructure> {
    if let Some(structure) = store::data_structures::find(reader.rows, vendor.team_row_id(), id, kind)? {
        return Ok(structure);
    }
    assets::find(reader.rows, vendor, id, Some(kind))?;
    Err(Error::not_found("linked data of this asset"))
}
