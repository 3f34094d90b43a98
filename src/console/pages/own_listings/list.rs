//! The table of a vendor's own listings, with the filters of the catalog and those by state.

use marketplace_index::Facet;
use std::{collections::BTreeMap, sync::Arc};

use super::{
    list_state::{LISTINGS_PER_PAGE, ListState, NO_ASSETS, REVIEWS, SKIPPED, STAGES, VIEW},
    title_of,
};
use crate::{
    console::{
        answer::FILTERS_FORM,
        csv::{self, Part},
        pages::catalog::{
            facets,
            found::Found,
            names::{self, Names},
            state::SORT,
        },
        parts::{
            listing_states,
            tabs::{self, Tab},
        },
        prelude::*,
    },
    domain::listings::{LifecycleStage, ReviewStatus, WorkspaceView},
    operations::{browse_filters::TEXT_PARAMETER, listings::FoundListings, own_listings},
    store::own_listings::OwnListing,
};

/// Number of listings that are read at once for a file.
const LISTINGS_PER_PART: usize = 500;

/// The page.
pub struct OwnListings;

impl Page<Vendor> for OwnListings {
    const PATH: &'static str = paths::OWN_LISTINGS;
    const TITLE: &'static str = "Listings";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Listings"));
    const BUDGET: Budget = Budget::Other;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let state = ListState::of(&visit.query);
        if csv::is_asked(&visit.query) {
            state.catalog.check_filters()?;
            return file(visit, state).await;
        }
        let asked = state.clone();
        let (found, names) = visit.read(move |reader, vendor| find(reader, vendor, &asked)).await?;
        let new = visit.links.to(paths::NEW_LISTING);
        let is_new_vendor = found.total == 0 && state.query == Query::default();
        let body = html! {
            @if is_new_vendor {
                (tables::empty(
                    "You have no listings yet",
                    "A listing offers some of your assets at a price. Write one, attach assets, and submit it for review. Buyers find \
                     it once the market has approved it and you have published it.",
                    Some(("Write a listing", &new)),
                ))
            } @else {
                (views(&visit.context, &state))
                div.split {
                    (filters(&visit.context, &state, &as_facets(&found, names.clone())))
                    (results(&visit.context, &state, &found, &names))
                }
            }
        };
        let note = html! {
            (text::counted(found.total, "listing", "listings")) ". Live listings ask for " (text::money(found.listed_value))
            " in all."
        };
        let content = Content::new(Self::TITLE, body).with_note(note).with_actions(html! {
            @if !is_new_vendor { button.small-only popovertarget="facets" { "Filters" } }
            a.button.primary href=(new) { "New listing" }
        });
        let as_request = state.catalog.without_invalid_filters(&state.query).without(REVIEWS, None);
        Ok(content.with_request(as_request.at("/v2/listings")).into())
    }
}

/// Finds the listings of a page, and the names of the labels that the filters show.
fn find(reader: &Reader, vendor: &Vendor, state: &ListState) -> Result<(FoundListings<OwnListing>, Names)> {
    let request = state.request(LISTINGS_PER_PAGE, state.skipped);
    let found = own_listings::page(reader, vendor, request, &state.reviews)?;
    let team = vendor.authenticated().ok_or_else(|| Error::internal("a page without a session"))?;
    let member = Member::authorize(team.clone())?;
    let names = Names::read(reader, team, &member, (&found.facets, &state.query))?;
    Ok((found, names))
}

/// Returns the numbers and the names that the filters of the catalog show, of the team's own listings.
fn as_facets(found: &FoundListings<OwnListing>, names: Names) -> Found {
    Found {
        listings: Vec::new(),
        certificates: BTreeMap::new(),
        next_cursor: None,
        total: found.total,
        owned: 0,
        facets: Arc::clone(&found.facets),
        market_facets: Arc::clone(&found.facets),
        names,
        drops: Vec::new(),
    }
}

/// Returns the links to the views.
fn views(context: &Context, state: &ListState) -> Markup {
    let tab = |view: WorkspaceView| Tab {
        label: match view {
            WorkspaceView::All => "All",
            WorkspaceView::Drafts => "Drafts",
            WorkspaceView::Submitted => "Submitted",
            WorkspaceView::Live => "Live",
            WorkspaceView::Archived => "Archived",
        },
        address: {
            let value = if view == WorkspaceView::All { "" } else { view.as_str() };
            context.here(&state.query.with(VIEW, value))
        },
        is_current: state.view == view,
    };
    let all: Vec<Tab> = WorkspaceView::ALL.iter().map(|view| tab(*view)).collect();
    tabs::tabs("Views", &all)
}

/// Returns the form with all filters.
fn filters(context: &Context, state: &ListState, found: &Found) -> Markup {
    let words = state.query.get(TEXT_PARAMETER).unwrap_or_default();
    let inputs = Inputs::default();
    let orders = text::choices(names::sort);
    html! {
        div.sheet #facets popover {
            form.stack id=(FILTERS_FORM) action=(context.links.to(paths::OWN_LISTINGS)) aria-label="Filters" autocomplete="off" {
                @if state.view != WorkspaceView::All { input type="hidden" name=(VIEW) value=(state.view.as_str()); }
                (Field::text(TEXT_PARAMETER, "Search your listings").value(words).at_most(1_000).show(&inputs))
                (fields::select(&inputs, SORT, "Order", orders, state.sort.as_str()))
                div {
                    (by_stage(state, found))
                    (by_review(state))
                    (facets::groups_of_own(&state.catalog, found))
                }
                button.full { "Apply the filters" }
                button.full.quiet.small-only type="button" popovertarget="facets" popovertargetaction="hide" { "Close" }
            }
        }
    }
}

fn by_stage(state: &ListState, found: &Found) -> Markup {
    let counts = found.facets.values(Facet::LifecycleStages);
    html! {
        details.facet open {
            summary { "Stage" (chosen_note(state.stages.len())) }
            ul { @for stage in LifecycleStage::ALL { li { label {
                input type="checkbox" name=(STAGES) value=(stage.as_str()) checked[state.stages.contains(stage)] data-apply;
                (listing_states::stage_word(*stage))
                span { (text::grouped(counts.get(stage.as_str()).copied().unwrap_or_default())) }
            } } } }
        }
    }
}

fn by_review(state: &ListState) -> Markup {
    let chosen = state.reviews.len() + usize::from(state.no_assets);
    html! {
        details.facet open[chosen > 0] {
            summary { "Review and assets" (chosen_note(chosen)) }
            ul {
                @for review in ReviewStatus::ALL { li { label {
                    input type="checkbox" name=(REVIEWS) value=(review.as_str()) checked[state.reviews.contains(review)] data-apply;
                    (listing_states::review_word(*review))
                } } }
                li { label {
                    input type="checkbox" name=(NO_ASSETS) value="true" checked[state.no_assets] data-apply;
                    "Without assets"
                } }
            }
        }
    }
}

fn chosen_note(chosen: usize) -> Markup {
    html! { @if chosen > 0 { span { (chosen) " chosen" } } }
}

fn results(context: &Context, state: &ListState, found: &FoundListings<OwnListing>, names: &Names) -> Markup {
    let without_filters = context.here(&Query::default());
    html! {
        section.stack #results aria-label="Results" {
            (facets::unreadable(&state.catalog))
            (chosen_filters(context, state, names))
            @if found.listings.is_empty() {
                (tables::empty("No listing has all of this", "Drop a filter, or look at all of them.", Some(("Show all", &without_filters))))
            } @else {
                (tables::of("Listings", &found.listings, |listing| row(context, listing)))
                (pager(context, state, found))
            }
        }
    }
}

fn row(context: &Context, listing: &OwnListing) -> [Cell; 7] {
    let (address, waiting) = (context.links.to(&paths::own_listing(listing.id)), listing.waiting_offers);
    let certified = html! { @match listing.certified_at {
        Some(at) => { (badges::certified("Certified")) " " (text::day(at)) },
        None => (text::MISSING),
    } };
    let waiting = if waiting > 0 { text::grouped(waiting) } else { text::MISSING.to_owned() };
    [
        Head::text("Listing").cell(html! { a.long href=(address) { bdi { (title_of(&listing.title)) } } }),
        Head::text("Status").cell(badges::of(listing_states::state(listing.status))),
        Head::number("Price, USD").cell(text::optional_money(listing.price)),
        Head::number("Assets").cell(text::grouped(listing.asset_count)),
        Head::number("Waiting bids").cell(waiting),
        Head::text("Certified").cell(certified),
        Head::number("Changed").cell(text::day(listing.updated_at)),
    ]
}

fn chosen_filters(context: &Context, state: &ListState, names: &Names) -> Markup {
    let chips = state.chips(names);
    let chosen = chips.iter().map(|chip| (chip.name, chip.value.as_str(), context.here(&chip.without)));
    tabs::chosen_filters(&chosen.collect::<Vec<_>>(), &context.here(&Query::default()))
}

fn pager(context: &Context, state: &ListState, found: &FoundListings<OwnListing>) -> Markup {
    let (first_row, last_row) = (state.skipped + 1, state.skipped + found.listings.len() as u64);
    let at = |skipped: u64| {
        let skipped = if skipped == 0 { String::new() } else { skipped.to_string() };
        context.here(&state.query.with(SKIPPED, &skipped))
    };
    let file = context.here(&csv::query(&state.catalog.without_invalid_filters(&state.query)));
    let note = html! {
        (text::grouped(first_row)) " to " (text::grouped(last_row)) " of " (text::grouped(found.total))
        " · " (csv::link(&file))
    };
    let first = (state.skipped > 0).then(|| at(0));
    let next = (last_row < found.total).then(|| at(last_row));
    tables::pager(&note, first.as_deref(), next.as_deref())
}

/// Answers with a file of all listings that match.
async fn file(visit: &Visit<Vendor>, state: ListState) -> Result<Answer> {
    let heads = ["Title", "Status", "Price, USD", "Assets", "Waiting bids", "Certified", "Changed", "ID"];
    let heads = heads.map(str::to_owned).to_vec();
    csv::in_parts(visit, "own-listings", heads, 0, move |reader, vendor, skipped: u64| {
        let request = state.request(LISTINGS_PER_PART, skipped);
        let found = own_listings::page(reader, vendor, request, &state.reviews)?;
        let next = skipped + found.listings.len() as u64;
        Ok(Part {
            rows: found.listings.iter().map(cells).collect(),
            next: (!found.listings.is_empty() && next < found.total).then_some(next),
        })
    })
    .await
}

fn cells(listing: &OwnListing) -> csv::Row {
    vec![
        listing.title.clone(),
        listing_states::state(listing.status).1.to_owned(),
        text::plain_amount(listing.price),
        listing.asset_count.to_string(),
        listing.waiting_offers.to_string(),
        listing.certified_at.map(|at| at.to_string()).unwrap_or_default(),
        listing.updated_at.to_string(),
        listing.id.to_string(),
    ]
}
