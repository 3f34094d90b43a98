//! Groups of a vendor's inventory.

use uuid::Uuid;

use super::access::Vendor;
use crate::{
    domain::{
        collections::Collection,
        events::{EventData, GroupData},
        row_ids::GroupRowId,
        texts,
    },
    error::{Error, Result, StateCode, quoted},
    market::{Reader, Writer},
    request_problems::check_text,
    store::{self, groups::Group},
};

/// Returns the team's groups: the default group first, then by name.
pub fn list(reader: &Reader, vendor: &Vendor) -> Result<Vec<Group>> {
    store::groups::list(reader.rows, vendor.team_row_id())
}

/// Returns one of the team's groups.
pub fn find(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<Group> {
    store::groups::find(rows, vendor.team_row_id(), id)?.ok_or_else(|| Error::not_found("group"))
}

/// Creates a group.
pub fn create(writer: &mut Writer, vendor: &Vendor, name: &str) -> Result<Group> {
    check_name(writer, vendor, name, None)?;
    let id = writer.new_id(Collection::Groups);
    store::groups::insert(writer.rows, id, vendor.team_row_id(), name, false, writer.now)?;
    let group = find(writer.rows, vendor, id)?;
    emit(writer, vendor, &group, EventData::GroupCreated)?;
    Ok(group)
}

/// Renames a group, if there is a new name.
pub fn rename(writer: &mut Writer, vendor: &Vendor, id: Uuid, name: Option<&str>) -> Result<Group> {
    let group = find(writer.rows, vendor, id)?;
    let Some(name) = name.filter(|name| *name != group.name) else { return Ok(group) };
    check_name(writer, vendor, name, Some(group.row_id))?;
    store::groups::rename(writer.rows, group.row_id, name, writer.now)?;
    let group = find(writer.rows, vendor, id)?;
    emit(writer, vendor, &group, EventData::GroupRenamed)?;
    Ok(group)
}

/// Deletes a group. It must be empty, and it must not be the default group.
pub fn delete(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let group = find(writer.rows, vendor, id)?;
    let default = store::groups::find_default_row_id(writer.rows, vendor.team_row_id())?;
    if group.is_default {
        let message = "The default group cannot be deleted. Rename it, or delete another group.";
        return Err(Error::InvalidState(StateCode::DefaultGroup, message.to_owned()));
    }
    let assets = store::groups::name_assets(writer.rows, vendor.team_row_id(), group.row_id)?;
    if !assets.is_empty() {
        let message = format!("The group has assets: {assets}. Move them to another group first.");
        return Err(Error::InvalidState(StateCode::GroupNotEmpty, message));
    }
    store::groups::delete(writer.rows, group.row_id, default)?;
    emit(writer, vendor, &group, EventData::GroupDeleted)
}

fn emit(writer: &Writer, vendor: &Vendor, group: &Group, make: fn(GroupData) -> EventData) -> Result<()> {
    let data = GroupData { group_id: group.id, name: group.name.clone() };
    writer.emit(Some(vendor.team_row_id()), group.id, &make(data))
}

/// Checks that a name follows its rule, and that no group of the team except `own` has it.
fn check_name(writer: &Writer, vendor: &Vendor, name: &str, own: Option<GroupRowId>) -> Result<()> {
    check_text(&["name"], name, texts::GROUP_NAME)?;
    match store::groups::find_by_name(writer.rows, vendor.team_row_id(), name)? {
        Some(other) if Some(other.row_id) != own => Err(Error::Conflict(format!(
            "Your team already has a group named {}. Choose another name.",
            quoted(&other.name)
        ))),
        _ => Ok(()),
    }
}
