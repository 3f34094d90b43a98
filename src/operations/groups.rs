//! Groups of a vendor's inventory.

use uuid::Uuid;

use super::access::Vendor;
use crate::{
    domain::teams::TeamNumber,
    error::{Code, Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, groups::Group},
};

/// Returns the team's groups: the default group first, then by name.
pub fn list(reader: &Reader, vendor: &Vendor) -> Result<Vec<Group>> {
    store::groups::list(reader.rows, vendor.number())
}

/// Returns one of the team's groups.
pub fn find(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<Group> {
    store::groups::find(rows, vendor.number(), id)?.ok_or_else(|| Error::not_found("group"))
}

/// Returns the group that a request body refers to, or a problem. The problem does not reveal whether another
/// team has a group with this ID.
pub fn referred(
    rows: &store::Reader,
    team: TeamNumber,
    id: Uuid,
) -> Result<std::result::Result<Group, Problem>> {
    Ok(store::groups::find(rows, team, id)?.ok_or_else(|| {
        let msg = "Your team has no such group. `GET /v2/asset-groups` lists its groups.";
        Problem::body(&["group_id"], "unknown_reference", msg)
    }))
}

/// Creates a group.
pub fn create(writer: &mut Writer, vendor: &Vendor, name: &str) -> Result<Group> {
    check_name(writer, vendor, name, None)?;
    let id = writer.clock.id();
    store::groups::insert(writer.rows, id, vendor.number(), name, false, writer.now)?;
    find(writer.rows, vendor, id)
}

/// Renames a group.
pub fn rename(writer: &mut Writer, vendor: &Vendor, id: Uuid, name: Option<&str>) -> Result<Group> {
    let group = find(writer.rows, vendor, id)?;
    let Some(name) = name.filter(|name| *name != group.name) else { return Ok(group) };
    check_name(writer, vendor, name, Some(group.number))?;
    store::groups::rename(writer.rows, group.number, name, writer.now)?;
    find(writer.rows, vendor, id)
}

/// Deletes a group. It must be empty, and it must not be the default group.
pub fn delete(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let group = find(writer.rows, vendor, id)?;
    let default = store::groups::default_of(writer.rows, vendor.number())?;
    if group.is_default {
        let what = "The default group cannot be deleted. Rename it, or delete another group.";
        return Err(Error::State(Code::DefaultGroup, what.to_owned()));
    }
    let held = store::groups::asset_count(writer.rows, vendor.number(), group.number)?;
    if held > 0 {
        let what = format!("The group has {held} assets. Move them to another group first.");
        return Err(Error::State(Code::GroupNotEmpty, what));
    }
    store::groups::delete(writer.rows, group.number, default)
}

fn check_name(writer: &Writer, vendor: &Vendor, name: &str, own: Option<i64>) -> Result<()> {
    match store::groups::named(writer.rows, vendor.number(), name)? {
        Some(other) if Some(other.number) != own => Err(Error::Conflict(format!(
            "Your team already has a group named {:?}. Choose another name.",
            other.name
        ))),
        _ => Ok(()),
    }
}
