//! The content of the page on which assets are attached, and the data that both of its tables need.

use std::collections::BTreeSet;

use crate::{
    console::{
        forms::{KEY_FIELD, OPENED_BY_FIELD},
        pages::inventory::{
            chosen::Elsewhere,
            state::{self, InventoryState, Selection},
        },
        parts::assets,
        prelude::*,
    },
    domain::{row_ids::AssetRowId, stages::RequiredField},
    operations::assets::AssetPage,
    store::{groups::Group, listings::ListingRow},
};

/// Number of assets on a page of a table.
pub(super) const ROWS_PER_PAGE: usize = 50;

/// Maximum number of assets of a listing before a page.
const MAX_OFFSET: u64 = 10_000_000;

/// Field of the query with the number of candidates before the page.
pub(super) const FROM: &str = state::FROM;

/// Field of the query with the number of attached assets before the page.
pub(super) const ATTACHED_FROM: &str = "attached_from";

/// Field of the form that detaches an asset, with the page that is shown again.
pub(super) const NEXT: &str = "next";

/// ID of the form with the table of candidates.
pub(super) const FORM: &str = "candidates";

/// What the page shows.
pub(super) struct Found {
    /// The listing.
    pub(super) listing: ListingRow,
    /// Why its assets cannot be changed; `None` if they can.
    pub(super) refusal: Option<&'static str>,
    /// A page of what is attached.
    pub(super) attached: AssetPage,
    /// The groups of the inventory.
    pub(super) groups: Vec<Group>,
    /// What is searched for.
    pub(super) state: InventoryState,
    /// A page of the results; `None` if the search cannot be parsed.
    pub(super) candidates: Option<AssetPage>,
    /// Which of these are attached already.
    pub(super) attached_candidates: BTreeSet<AssetRowId>,
}

impl Found {
    /// Whether the page has the form with candidates.
    pub(super) fn has_choices(&self) -> bool {
        self.candidates.as_ref().is_some_and(|candidates| candidates.counts.total() > 0)
    }

    /// Returns the assets that are chosen in a refused form, or by the address.
    pub(super) fn chosen(&self, context: &Context) -> Elsewhere {
        let chosen = match Selection::of(context.inputs.typed().map_or(&context.query, Fields::values)) {
            Some(Selection::Assets(assets)) => assets,
            _ => Vec::new(),
        };
        let shown = self.candidates.as_ref().map(|candidates| candidates.items.as_slice());
        Elsewhere::of(&chosen, shown.unwrap_or_default())
    }

    /// Returns the query of the page as it is shown, with what is chosen.
    pub(super) fn query(&self, context: &Context) -> Query {
        let query = context.query.without(state::ASSET, None).without(Notice::FIELD, None);
        self.chosen(context).selection().on(query)
    }
}

/// Returns the offset in a field of the query.
pub(super) fn offset(context: &Context, name: &str) -> u64 {
    context.query.get(name).and_then(|number| number.parse().ok()).unwrap_or(0).min(MAX_OFFSET)
}

/// Returns the names of fields that an asset lacks, as people read them.
pub(super) fn field_names(fields: &[RequiredField]) -> String {
    let names: Vec<&str> = fields.iter().map(|field| assets::required_field(*field)).collect();
    names.join(", ")
}

/// Returns the query to which a button of a pager leads, without the key of the form and what comes after the button.
pub(super) fn sent_by_pager(query: &Query) -> Query {
    let query =
        [KEY_FIELD, OPENED_BY_FIELD].iter().fold(query.clone(), |query, name| query.without(name, None));
    [FROM, ATTACHED_FROM].iter().fold(query, |query, name| {
        let from = query.get(name).filter(|from| *from != "0").unwrap_or_default().to_owned();
        query.with(name, &from)
    })
}

/// Returns the address of the page with another query, at the table whose offset is in the field `name`.
pub(super) fn address(context: &Context, query: &Query, name: &str) -> String {
    let part = if name == FROM { "attach" } else { "attached" };
    format!("{}#{part}", context.here(&query.without(Notice::FIELD, None)))
}

/// Shows what leads to the other pages of one of the tables; the other table stays on its page. These are links with this query,
/// or else buttons of the form with the candidates, so that what is chosen stays chosen. Outside of the form, they are links:
/// Enter presses the first button of a form.
pub(super) fn pager(
    context: &Context,
    name: &str,
    shown: usize,
    total: u64,
    linked: Option<&Query>,
) -> Markup {
    let from = offset(context, name);
    let (shown, rows) = (shown as u64, ROWS_PER_PAGE as u64);
    let step = |from: u64, label: &str| {
        let number = if from == 0 { String::new() } else { from.to_string() };
        html! {
            @match linked {
                Some(query) => a.button href=(address(context, &query.with(name, &number), name)) { (label) },
                None => {
                    button name=(name) value=(from) formmethod="get"
                        formaction=(address(context, &Query::default(), name)) { (label) }
                }
            }
        }
    };
    html! {
        nav.row.apart aria-label={ @if name == FROM { "Pages of your inventory" } @else { "Pages of what is attached" } } {
            span.note {
                @if shown == 0 { "Nothing on this page of " (text::grouped(total)) }
                @else { (text::grouped(from + 1)) " to " (text::grouped(from + shown)) " of " (text::grouped(total)) }
            }
            span.row {
                @if from > 0 { (step(from.saturating_sub(rows), "Back")) }
                @if shown > 0 && from + shown < total { (step(from + shown, "Next")) }
            }
        }
    }
}
