//! Groups of the inventory: creating, renaming, and deleting one.

use super::state::InventoryState;
use crate::{
    console::prelude::*,
    operations::{assets, groups},
    store::{groups::Group, inventory},
};

/// Field with the name of a group.
const NAME: &str = "name";

/// Says what to enter as a name.
const NAME_PROBLEM: &str = "Enter a name, for example Client applications.";

/// The page that creates a group.
pub struct NewGroup;

/// The page that renames a group.
pub struct RenameGroup;

/// The question before a group is deleted.
pub struct DeleteGroup;

/// Returns the path of the question before a group is deleted.
pub fn delete_path(group: Uuid) -> String {
    format!("{}/delete", paths::group(group))
}

/// Returns the path of the inventory with the assets of a group.
fn assets_path(group: Uuid) -> String {
    InventoryState { group: Some(group), ..InventoryState::default() }.query().at(paths::INVENTORY)
}

fn below_inventory(content: Content) -> Answer {
    content.with_parent("Inventory", paths::INVENTORY).narrow().into()
}

fn name_field(inputs: &Inputs, name: &str) -> Markup {
    Field::text(NAME, "Name").value(name).required().at_most(120).show(inputs)
}

async fn find(visit: &Visit<Vendor>) -> Result<Group> {
    let id = visit.id(0)?;
    visit.read(move |reader, vendor| groups::find(reader.rows, vendor, id)).await
}

impl Page<Vendor> for NewGroup {
    const PATH: &'static str = paths::NEW_GROUP;
    const TITLE: &'static str = "New group";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let form = html! {
            (name_field(&visit.inputs, ""))
            (fields::buttons(&visit.context, "Create the group", ("Leave", paths::INVENTORY)))
        };
        let body = fields::form(&visit.context, paths::NEW_GROUP, &form);
        Ok(below_inventory(Content::new(Self::TITLE, body).with_request("/v2/asset-groups")))
    }
}

impl FormPage<Vendor> for NewGroup {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let name = fields.require(NAME, NAME_PROBLEM)?.to_owned();
        let change = Change::new("create_asset_group", "team", visit.access.team().id);
        let work = move |writer: &mut Writer, vendor: &Vendor| Ok(groups::create(writer, vendor, &name)?.id);
        let id = changes::perform(visit, fields, change, work).await?;
        Ok(Answer::done(&assets_path(id), Notice::GroupCreated))
    }
}

impl Page<Vendor> for RenameGroup {
    const PATH: &'static str = "/inventory/groups/{group}";
    const TITLE: &'static str = "Rename a group";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let group = find(visit).await?;
        let form = html! {
            (Seen::of(&group.name).edited(&visit.inputs))
            (name_field(&visit.inputs, &group.name))
            (fields::buttons(&visit.context, "Rename the group", ("Leave", &assets_path(group.id))))
        };
        let body = html! {
            (fields::form(&visit.context, &paths::group(group.id), &form))
            @if !group.is_default { p { a href=(visit.links.to(&delete_path(group.id))) { "Delete this group…" } } }
        };
        Ok(below_inventory(Content::new("Rename the group", body)))
    }
}

impl FormPage<Vendor> for RenameGroup {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let (id, sent) = (visit.id(0)?, fields.clone());
        let name = fields.require(NAME, NAME_PROBLEM)?.to_owned();
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            Seen::of(&groups::find(writer.rows, vendor, id)?.name).check(&sent)?;
            groups::rename(writer, vendor, id, Some(&name)).map(drop)
        };
        changes::perform(visit, fields, Change::new("rename_asset_group", "group", id), work).await?;
        Ok(Answer::done(&assets_path(id), Notice::GroupRenamed))
    }
}

impl Page<Vendor> for DeleteGroup {
    const PATH: &'static str = "/inventory/groups/{group}/delete";
    const TITLE: &'static str = "Delete a group";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, vendor: &Vendor| {
            let group = groups::find(reader.rows, vendor, id)?;
            let query = inventory::Query { group: Some(id), ..inventory::Query::new(vendor.team_row_id()) };
            Ok((group, assets::count(reader, vendor, &query)?))
        };
        let (group, count) = visit.read(read).await?;
        let here = assets_path(id);
        let body = match (group.is_default, count) {
            (true, _) => {
                badges::warning("The default group cannot be deleted. Rename it, or delete another group.")
            }
            (false, 0) => {
                let lost = html! { p { "The group " bdi { (group.name) } " has no assets. Only the group itself is deleted." } };
                fields::question(&visit.context, &lost, ("danger primary", "Delete the group"), &here)
            }
            (false, count) => {
                let has = text::counted(count, "asset", "assets");
                badges::warning(format!(
                    "The group has {has}. Move them to another group first, then delete this one."
                ))
            }
        };
        let body = html! {
            (body)
            @if group.is_default || count > 0 {
                div.row { a.button.primary href=(visit.links.to(&here)) { "Show the assets of the group" } }
            }
        };
        Ok(below_inventory(Content::new("Delete this group?", body)))
    }
}

impl FormPage<Vendor> for DeleteGroup {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let work = move |writer: &mut Writer, vendor: &Vendor| groups::delete(writer, vendor, id);
        changes::perform(visit, fields, Change::new("delete_asset_group", "group", id), work).await?;
        Ok(Answer::done(paths::INVENTORY, Notice::GroupDeleted))
    }
}
