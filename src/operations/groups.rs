//! A vendor's inventory folders.

use uuid::Uuid;

use super::access::Vendor;
use crate::{
    domain::teams::TeamNumber,
    error::{Code, Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, groups::Group},
};

/// The team's groups: the default one, then by name.
pub fn list(reader: &Reader, vendor: &Vendor) -> Result<Vec<Group>> {
    store::groups::list(reader.rows, vendor.number())
}

/// One of the team's groups.
pub fn find(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<Group> {
    store::groups::find(rows, vendor.number(), id)?.ok_or_else(|| Error::not_found("group"))
}

/// The group that a body refers to, or what is wrong with the reference. Whether it is another team's or nobody's makes no
/// difference.
pub fn referred(
    rows: &store::Reader,
    team: TeamNumber,
    id: Uuid,
) -> Result<std::result::Result<Group, Problem>> {
    Ok(store::groups::find(rows, team, id)?.ok_or_else(|| {
        let msg = "Your team has no such group. `GET /v2/asset-groups` lists them.";
        Problem::body(&["group_id"], "unknown_reference", msg)
    }))
}

/// Makes a group.
pub fn create(writer: &mut Writer, vendor: &Vendor, name: &str) -> Result<Group> {
    check_name(writer, vendor, name, None)?;
    let id = writer.clock.id();
    store::groups::insert(writer.rows, id, vendor.number(), name, false, writer.now)?;
    find(writer.rows, vendor, id)
}

/// Names a group anew.
pub fn rename(writer: &mut Writer, vendor: &Vendor, id: Uuid, name: Option<&str>) -> Result<Group> {
    let group = find(writer.rows, vendor, id)?;
    let Some(name) = name.filter(|name| *name != group.name) else { return Ok(group) };
    check_name(writer, vendor, name, Some(group.number))?;
    store::groups::rename(writer.rows, group.number, name, writer.now)?;
    find(writer.rows, vendor, id)
}

/// Deletes a group, which must be empty and not the default one.
pub fn delete(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let group = find(writer.rows, vendor, id)?;
    let default = store::groups::default_of(writer.rows, vendor.number())?;
    if group.is_default {
        let what = "Every team keeps its default group. Rename it, or delete another one.";
        return Err(Error::State(Code::DefaultGroup, what.to_owned()));
    }
    let held = store::groups::asset_count(writer.rows, vendor.number(), group.number)?;
    if held > 0 {
        let what = format!("The group holds {held} assets. Place them in another group first.");
        return Err(Error::State(Code::GroupNotEmpty, what));
    }
    store::groups::delete(writer.rows, group.number, default)
}

fn check_name(writer: &Writer, vendor: &Vendor, name: &str, own: Option<i64>) -> Result<()> {
    match store::groups::named(writer.rows, vendor.number(), name)? {
        Some(other) if Some(other.number) != own => Err(Error::Conflict(format!(
            "Your team has a group named {:?} already. Choose another name.",
            other.name
        ))),
        _ => Ok(()),
    }
}
