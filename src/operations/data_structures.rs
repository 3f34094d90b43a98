//! The tree of directories and files in linked data.

use uuid::Uuid;

use super::{access::Vendor, assets};
use crate::{
    domain::assets::Kind,
    error::{Error, Result},
    market::Reader,
    store::{self, data_structures::StoredStructure},
};

/// Returns the structure of the data that is linked to the team's asset.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<StoredStructure> {
    if let Some(structure) = store::data_structures::find(reader.rows, vendor.team_row_id(), id, kind)? {
        return Ok(structure);
    }
    assets::find(reader.rows, vendor, id, Some(kind))?;
    Err(Error::not_found("linked data of this asset"))
}
