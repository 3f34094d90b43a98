//! The catalog: search, filters, and pages of listings as cards or as a table.

pub mod facets;
mod file;
pub mod found;
pub mod names;
mod results;
pub mod state;

use self::state::{SORT, State};
use crate::{
    console::{address::next_page, answer::FILTERS_FORM, csv, parts::listing_view::ListingView, prelude::*},
    domain::{
        browse::SortOrder,
        sessions::{ListView, SessionPreferences},
    },
    operations::{
        access::{Authenticated, AuthenticatedTeam, CatalogViewer},
        browse,
    },
};

/// The page.
pub struct Catalog;

impl Page<CatalogViewer> for Catalog {
    const PATH: &'static str = paths::CATALOG;
    const TITLE: &'static str = "Catalog";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Buying.link("Catalog"));
    const BUDGET: Budget = Budget::Catalog;

    async fn show(visit: &Visit<CatalogViewer>) -> Result<Answer> {
        let state = State::of(&visit.query);
        let gate = visit.access.gate();
        if !gate.is_open {
            return show_locked(visit, &state).await;
        }
        if csv::is_asked(&visit.query) {
            state.check_filters()?;
            return file::answer(visit, &state).await;
        }
        let signed_in =
            visit.signed_in.as_ref().ok_or_else(|| Error::internal("a page without a session"))?;
        let team = AuthenticatedTeam::authorize(signed_in.authenticated.clone())?;
        let asked = state.clone();
        let found = match visit.read(move |reader, viewer| found::find(reader, &team, viewer, &asked)).await {
            // Positions expire. An old address of a later page leads to the first one.
            Err(Error::InvalidCursor) => {
                return Ok(Answer::Redirect(state.keep(&state.query).at(paths::CATALOG)));
            }
            found => found?,
        };
        let view = signed_in.session.preferences.view.unwrap_or(ListView::Cards);
        let body = html! {
            div.split {
                (facets::form(&visit.context, &state, &found))
                (results::results(&visit.context, &state, &found, view))
            }
        };
        let note = match (state.chips(&found.names).is_empty(), found.total) {
            (true, total) => text::counted(total, "listing", "listings"),
            (false, 1) => "1 listing matches".to_owned(),
            (false, total) => format!("{} listings match", text::grouped(total)),
        };
        let mut content = Content::new(Self::TITLE, body)
            .with_note(html! { span #match-count data-count role="status" { (note) } })
            .with_actions(html! {
                button.small-only popovertarget="facets" { "Filters" }
                label.out for="sort" { "Order" }
                select.auto #sort name=(SORT) form=(FILTERS_FORM) data-apply {
                    @for order in SortOrder::ALL {
                        option value=(order.as_str()) selected[*order == state.sort] { (names::sort(*order)) }
                    }
                }
            })
            .with_request(state.without_invalid_filters(&state.query).at("/v2/listings/browse"));
        content.search = Some(state.selection.text.clone());
        Ok(content.into())
    }
}

/// Shows the first page to a team for which the catalog is locked, and how to unlock the rest.
async fn show_locked(visit: &Visit<CatalogViewer>, state: &State) -> Result<Answer> {
    let gate = visit.access.gate();
    let mut request = state.request();
    let is_searched = !request.is_plain_first_page()
        || request.sort != SortOrder::Recommended
        || !state.unreadable.is_empty();
    if is_searched {
        // A file has no place for the reason.
        if csv::is_asked(&visit.query) {
            return Err(gate.locked_error());
        }
        request = State::of(&Query::default()).request();
    }
    let listings = visit.read(move |reader, viewer| {
        let page = browse::search_listings(reader, viewer, request)?;
        browse::renderings(reader, &page.listings)?.iter().map(ListingView::summary_only).collect()
    });
    let listings: Vec<ListingView> = listings.await?;
    if csv::is_asked(&visit.query) {
        return Ok(file::locked(visit, &listings));
    }
    let body = results::locked(&visit.context, &listings, gate, is_searched);
    let file = visit.here(&csv::query(&Query::default()));
    let first = text::counted(listings.len() as u64, "listing", "listings");
    let note = html! { "The first " (first) " · " (csv::link(&file)) };
    Ok(Content::new(Catalog::TITLE, body).with_note(note).with_request("/v2/listings/browse").into())
}

/// The form that chooses between cards and a table. The choice is kept for the session.
pub struct ChooseView;

impl Action<Authenticated> for ChooseView {
    const PATH: &'static str = results::VIEW_PATH;
    const TITLE: &'static str = "Choose cards or table";

    async fn submit(visit: &Visit<Authenticated>, fields: &Fields) -> Result<Answer> {
        if let Some(view) = fields.get("view").and_then(ListView::parse) {
            visit.set_preferences(|others| SessionPreferences { view: Some(view), ..others }).await?;
        }
        Ok(Answer::Redirect(return_path(fields).to_owned()))
    }
}

/// Returns the page of the catalog on which the choice was made.
fn return_path(fields: &Fields) -> &str {
    let is_catalog =
        |path: &&str| path.strip_prefix(paths::CATALOG).is_some_and(|rest| rest.starts_with('?'));
    fields.get("next").and_then(next_page).filter(is_catalog).unwrap_or(paths::CATALOG)
}
