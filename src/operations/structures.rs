//! The tree of directories and files in linked data.

use uuid::Uuid;

use super::{access::Vendor, assets};
use crate::{
    domain::assets::Kind,
    error::{Error, Result},
    market::Reader,
    store::{self, structures::Shown},
};

/// Returns the structure of the data that is linked to the team's asset.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<Shown> {
    if let Some(shown) = store::structures::find(reader.rows, vendor.number(), id, kind)? {
        return Ok(shown);
    }
    assets::find(reader.rows, vendor, id, Some(kind))?;
    Err(Error::not_found("linked data of this asset"))
}
