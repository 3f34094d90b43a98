//! An asset of the inventory: its fields, its data, its quality runs, and the actions.

pub mod check;
mod columns;
mod data;
pub mod delete;
pub mod detail;
pub mod edit;
mod edit_form;
mod fields_shown;
mod input;
pub mod quality;
mod structure;

use crate::{
    console::{parts::assets, prelude::*},
    domain::{assets::Kind, field_locks::LockSource, inventory::Asset},
};

/// Returns the path of a page or form of an asset.
pub fn path(id: Uuid, verb: &str) -> String {
    format!("{}/{verb}", paths::asset(id))
}

/// Puts a page below the inventory.
fn below_inventory(content: Content) -> Content {
    content.with_parent("Inventory", paths::INVENTORY)
}

/// Puts a page below the page of an asset.
fn below_asset(content: Content, asset: &Asset) -> Content {
    below_inventory(content).with_parent(assets::name(asset), paths::asset(asset.id)).narrow()
}

/// Returns the address of an asset in the API.
fn api_path(asset: &Asset) -> String {
    match asset.kind {
        Kind::Codebase => format!("/v2/codebases/{}", asset.id),
        Kind::RawData => format!("/v2/raw-data/{}", asset.id),
        Kind::Task => format!("/v2/tasks/{}", asset.id),
        _ => format!("/v2/assets/{}", asset.id),
    }
}

/// Says why a field is read-only.
const fn lock_reason(source: LockSource) -> &'static str {
    match source {
        LockSource::Api => "Set through the API, so it is read-only here.",
        LockSource::Github => "Read from the linked GitHub repository, so it is read-only here.",
        LockSource::Gitlab => "Read from the linked GitLab repository, so it is read-only here.",
        LockSource::Bitbucket => "Read from the linked Bitbucket repository, so it is read-only here.",
        LockSource::Zip => "Read from the uploaded archive, so it is read-only here.",
    }
}

/// Returns the markup that makes a script reload the page every few seconds while work is in progress.
fn follow(context: &Context, path: &str) -> Markup {
    let here = context.links.to(path);
    html! { div hx-get=(here) hx-trigger="every 3s" hx-target="#main" hx-select="#main" hx-swap="outerMorph" {} }
}
