//! Single assets that are chosen on several pages of a table. The address has them, so each page shows them again.

use std::collections::BTreeSet;

use super::state::Selection;
use crate::{console::prelude::*, domain::inventory::Asset};

/// Maximum number of assets of other pages that stay chosen. With those of a page, they fit into an address that proxies take.
const MAX_ELSEWHERE: usize = 100;

/// The chosen assets that are not on the page, besides those on it.
pub struct Elsewhere {
    assets: Vec<Uuid>,
    left_out: u64,
    here: Vec<Uuid>,
}

impl Elsewhere {
    /// Returns the chosen assets that are not among those that the page shows.
    pub fn of(chosen: &[Uuid], shown: &[Asset]) -> Elsewhere {
        let here: Vec<Uuid> = shown.iter().map(|asset| asset.id).filter(|id| chosen.contains(id)).collect();
        let all: BTreeSet<Uuid> = chosen.iter().copied().filter(|id| !here.contains(id)).collect();
        let left_out = all.len().saturating_sub(MAX_ELSEWHERE) as u64;
        Elsewhere { assets: all.into_iter().take(MAX_ELSEWHERE).collect(), left_out, here }
    }

    /// Returns what stays chosen on another page: all but what is left out.
    pub fn selection(&self) -> Selection {
        Selection::Assets(self.here.iter().chain(&self.assets).copied().collect())
    }

    /// Whether an asset of the page is chosen.
    pub fn is_chosen(&self, id: &Uuid) -> bool {
        self.here.contains(id)
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.assets.is_empty()
    }

    /// Says how many of them no longer are chosen, and what to do.
    pub fn warning(&self) -> Markup {
        html! { @if self.left_out > 0 {
            (badges::warning(html! {
                "At most " (MAX_ELSEWHERE) " assets of other pages stay chosen, so " (text::counted(self.left_out, "asset", "assets"))
                " had to be left out. Change what is chosen first, or filter the inventory and select all that match."
            }))
        } }
    }

    /// Returns them as hidden fields of the form of the table.
    pub fn hidden(&self) -> Markup {
        Selection::Assets(self.assets.clone()).hidden()
    }

    /// Says how many assets are chosen. A script counts those of the page, too.
    pub fn label(&self) -> Markup {
        let count = self.assets.len() as u64;
        html! {
            b data-chosen data-elsewhere=(count) {
                @if count > 0 { (text::counted(count, "asset", "assets")) " of other pages chosen" } @else { "Choose assets:" }
            }
        }
    }
}

/// Returns the checkbox of a table's head that chooses all assets of the page. A script shows it.
pub fn all_of_page() -> Markup {
    html! { td { input type="checkbox" aria-label="Select this page" data-check-all hidden; } }
}
