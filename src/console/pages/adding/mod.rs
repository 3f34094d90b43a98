//! Adding assets and their data: repositories, zips, tables of codebases, and tasks of the platform.

pub mod choose;
pub mod file;
mod file_fields;
pub mod reference;
pub mod repository;
pub mod table;
pub mod tasks;
pub mod upload;
pub mod whole_file;

use crate::{
    console::prelude::*,
    domain::{assets::Exclusivity, inventory::Asset},
    operations::{assets, groups},
    store::groups::Group,
};

/// Name of the field with the group of a new asset.
const GROUP: &str = "group";

/// Name of the field that says whether a codebase can be sold exclusively.
const EXCLUSIVITY: &str = "exclusivity";

/// Puts a page below those that lead to it.
fn below_adding(content: Content) -> Content {
    content.with_parent("Inventory", paths::INVENTORY).with_parent("Add", paths::ADD_ASSETS).narrow()
}

/// Puts a page below that of an asset.
fn below_asset(content: Content, asset: &Asset) -> Content {
    content
        .with_parent("Inventory", paths::INVENTORY)
        .with_parent(name_of(asset), paths::asset(asset.id))
        .narrow()
}

/// Returns what an asset is called.
fn name_of(asset: &Asset) -> &str {
    if is_blank(&asset.title) { "Untitled asset" } else { &asset.title }
}

/// Returns the asset that the path of a page names.
async fn asset_of(visit: &Visit<Vendor>) -> Result<Asset> {
    let id = visit.id(0)?;
    visit.read(move |reader, vendor| assets::find(reader.rows, vendor, id, None)).await
}

/// Returns the groups of the team.
async fn groups_of(visit: &Visit<Vendor>) -> Result<Vec<Group>> {
    visit.read(groups::list).await
}

/// Returns the list of groups from which that of a new asset is chosen.
pub fn group_field(inputs: &Inputs, groups: &[Group]) -> Markup {
    let default = groups.first().map(|group| group.id.to_string()).unwrap_or_default();
    let choices = groups.iter().map(|group| (group.id, group.name.clone()));
    fields::select(inputs, GROUP, "Group", choices, &default)
}

/// Returns the list from which it is chosen whether a new codebase can be sold exclusively.
pub fn exclusivity_field(inputs: &Inputs, label: &str) -> Markup {
    let choices = [
        (Exclusivity::Available.as_str(), "It can be sold exclusively".to_owned()),
        (Exclusivity::Unavailable.as_str(), "It can no longer be sold exclusively".to_owned()),
    ];
    fields::select(inputs, EXCLUSIVITY, label, choices, Exclusivity::Available.as_str())
}

/// Returns the chosen group.
pub fn chosen_group(fields: &Fields) -> Result<Option<Uuid>> {
    fields.parsed(GROUP, "Choose a group of your inventory.", |text| Uuid::try_parse(text).ok())
}

/// Returns the chosen exclusivity. Fails with a problem at the field if none was chosen.
pub fn chosen_exclusivity(fields: &Fields) -> Result<Exclusivity> {
    let chosen = fields.get(EXCLUSIVITY).and_then(Exclusivity::parse);
    chosen.ok_or_else(|| invalid(EXCLUSIVITY, "Choose whether the codebase can be sold exclusively."))
}
