//! Composing listings: the form, the listing as buyers see it, and attaching assets of the inventory.

mod assets;
mod attached;
mod candidates;
mod compose;
mod form;
mod preview;
mod read;
mod sample;

use uuid::Uuid;

pub use self::{
    assets::{Assets, Detach},
    compose::{EditListing, NewListing},
    preview::Preview,
};
use crate::console::paths;

/// Path of the page on which a listing is written.
pub const NEW: &str = "/selling/listings/new";

/// Returns the path on which a listing of the team is edited.
pub fn edit(id: Uuid) -> String {
    format!("{}/edit", paths::own_listing(id))
}

/// Returns the path on which a listing of the team is shown as buyers see it.
pub fn preview(id: Uuid) -> String {
    format!("{}/preview", paths::own_listing(id))
}

/// Returns the path on which assets are attached to a listing of the team.
pub fn assets(id: Uuid) -> String {
    format!("{}/assets", paths::own_listing(id))
}
