//! The settings of a team: who it is, its NDA, and the ways into the market that it manages itself.

pub mod grants;
pub mod key_forms;
pub mod keys;
pub mod nda;
pub mod profile;
pub mod sessions;
pub mod webhook;
pub mod webhook_forms;
pub mod webhooks;

use crate::console::{
    parts::tabs::{self, Tab},
    prelude::*,
};

/// Name of the profile, below which the other settings are.
const SETTINGS: &str = "Settings";

/// Returns the links between the settings that the visitor can have.
pub fn tabs(context: &Context) -> Markup {
    let Some(team) = context.team() else { return Markup::default() };
    let (is_bound, has_role) = (team.nda_accepted_at.is_some(), team.is_vendor || team.is_buyer);
    let all = [
        ("Profile", paths::PROFILE, is_bound),
        ("NDA", paths::NDA, true),
        ("Keys", paths::KEYS, is_bound),
        ("Sessions", paths::SESSIONS, true),
        ("Webhooks", paths::WEBHOOKS, is_bound && has_role),
        ("Payout", paths::PAYOUT_SETUP, is_bound && team.is_vendor),
        ("Upload grants", paths::GRANTS, is_bound && team.is_vendor),
    ];
    let shown: Vec<Tab> = all
        .into_iter()
        .filter(|(_, _, is_shown)| *is_shown)
        .map(|(label, path, _)| Tab {
            label,
            address: context.links.to(path),
            is_current: context.path == path,
        })
        .collect();
    tabs::tabs("Settings", &shown)
}

/// Puts the profile above the page in the breadcrumbs if the visitor can open it.
pub fn below_settings(context: &Context, content: Content) -> Content {
    let is_bound = context.team().is_some_and(|team| team.nda_accepted_at.is_some());
    if is_bound { content.with_parent(SETTINGS, paths::PROFILE) } else { content }
}
