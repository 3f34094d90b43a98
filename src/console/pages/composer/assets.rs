//! The page on which assets are attached to a listing of the team, and detached.

use super::{
    attached, candidates,
    found::{self, ATTACHED_FROM, FROM, Found, ROWS_PER_PAGE, field_names, offset},
};
use crate::{
    console::{
        address::next_page,
        forms::KEY_FIELD,
        pages::{
            inventory::state::{self, InventoryState, Selection},
            own_listings,
        },
        parts::samples,
        prelude::*,
    },
    domain::{
        listing_lifecycle::Operation,
        listings::{AttachSkip, LifecycleStage},
        row_ids::AssetRowId,
    },
    operations::{
        assets::{self, AssetFilter},
        listing_assets,
        listing_attachments::{self, AttachOutcome, Chosen, SkippedAssets},
        listings,
    },
    store::{inventory, listings::ListingRow},
};

/// Field that is sent after the page has shown how many assets can be attached.
const CONFIRMED: &str = "confirmed";

/// The page.
pub struct Assets;

impl Page<Vendor> for Assets {
    const PATH: &'static str = "/selling/listings/{id}/assets";
    const TITLE: &'static str = "Assets of a listing";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        if visit.query.has(KEY_FIELD) {
            return Ok(Answer::Redirect(found::sent_by_pager(&visit.query).at(&visit.context.path)));
        }
        content(visit, None).await
    }
}

impl FormPage<Vendor> for Assets {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let ids: Vec<Uuid> = fields.all(state::ASSET).filter_map(|id| Uuid::try_parse(id).ok()).collect();
        let chosen = if fields.get("scope") == Some("all") {
            let filter = InventoryState::of(&visit.query).filter(&visit.access)?;
            if !fields.is_checked(CONFIRMED) {
                return ask(visit, id, filter, ids).await;
            }
            Chosen::Matching(filter)
        } else {
            if ids.is_empty() {
                return Err(invalid("attach", "Choose at least one asset in the table."));
            }
            Chosen::Ids(ids)
        };
        let change = Change::new("attach_listing_assets", "listing", id);
        let outcome = changes::perform(visit, fields, change, move |writer, vendor| {
            listing_attachments::attach(writer, vendor, Actor::Team, id, chosen)
        });
        let outcome = outcome.await.map_err(own_listings::in_words)?;
        content(visit, Some(&outcome)).await
    }
}

/// Shows how many of the matching assets can be attached, and why the others cannot. Attaches nothing yet. The assets that are
/// `chosen` stay chosen on the way back.
async fn ask(visit: &Visit<Vendor>, id: Uuid, filter: AssetFilter, chosen: Vec<Uuid>) -> Result<Answer> {
    let read = visit.read(move |reader, vendor| {
        let listing = listings::find_own(reader.rows, vendor, id)?;
        Ok((listing, listing_attachments::preview(reader, vendor, id, filter)?))
    });
    let (listing, outcome) = read.await.map_err(own_listings::in_words)?;
    let context = &visit.context;
    let title = own_listings::title_of(&listing.title);
    let skipped: u64 = outcome.skipped.iter().map(|skipped| skipped.count).sum();
    let query = InventoryState::of(&context.query).query();
    let back = Selection::Assets(chosen).on(query.clone()).at(&context.path);
    let form = html! {
        input type="hidden" name="scope" value="all";
        input type="hidden" name=(CONFIRMED) value="yes";
        div.row {
            @if outcome.attached > 0 {
                button.primary { "Attach " (text::counted(outcome.attached, "asset", "assets")) }
            }
            a.button.quiet href={ (context.links.to(&back)) "#attach" } { "Attach nothing" }
        }
    };
    let body = html! {
        p {
            (text::counted(outcome.attached + skipped, "asset matches", "assets match")) ". "
            b { (text::grouped(outcome.attached)) " can be attached" @if skipped > 0 { ", " (text::grouped(skipped)) " cannot" } } "."
        }
        @if skipped > 0 {
            (tables::section("skipped", "What cannot be attached, and why", &html! {
                ul { @for skipped in &outcome.skipped { li { (skipped_line(context, skipped)) } } }
            }))
        }
        (fields::form(context, &query.at(&context.path), &form))
    };
    let content = Content::new("Attach all that match?", body)
        .with_note(html! { "To " bdi.long { (title) } })
        .with_parent("Listings", paths::OWN_LISTINGS)
        .with_parent(title, paths::own_listing(id))
        .with_parent("Assets", paths::listing_assets(id));
    Ok(content.narrow().into())
}

/// The button that detaches an asset.
pub struct Detach;

impl Action<Vendor> for Detach {
    const PATH: &'static str = "/selling/listings/{id}/assets/detach";
    const TITLE: &'static str = "Detach an asset";

    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let asset = fields.get(state::ASSET).and_then(|asset| Uuid::try_parse(asset).ok());
        let asset = asset.ok_or_else(|| Error::not_found("asset"))?;
        let change = Change::new("detach_listing_asset", "listing", id);
        let detach = changes::perform(visit, fields, change, move |writer, vendor| {
            listing_assets::detach(writer, vendor, Actor::Team, id, asset)
        });
        detach.await.map_err(own_listings::in_words)?;
        let page = paths::listing_assets(id);
        let is_page = |next: &&str| next.split('?').next() == Some(page.as_str());
        let next = fields.get(found::NEXT).and_then(next_page).filter(is_page);
        Ok(Answer::done(next.unwrap_or(&page), Notice::Detached))
    }
}

async fn content(visit: &Visit<Vendor>, outcome: Option<&AttachOutcome>) -> Result<Answer> {
    let (id, state) = (visit.id(0)?, InventoryState::of(&visit.query));
    let offsets = (offset(&visit.context, ATTACHED_FROM), offset(&visit.context, FROM));
    let found = visit.read(move |reader, vendor| find(reader, vendor, id, state, offsets)).await?;
    let (context, title) = (&visit.context, own_listings::title_of(&found.listing.title));
    let body = html! {
        @if let Some(outcome) = outcome { (shown_outcome(context, outcome)) }
        @match found.refusal {
            Some(reason) => (badges::warning(html! { b { "Its assets cannot be changed now. " } (reason) })),
            None if found.listing.status.stage() == LifecycleStage::Ready => (badges::warning(html! {
                b { "The market has approved this listing. " }
                "Attaching or detaching an asset ends the approval: you then submit the listing for review again."
            })),
            None => {}
        }
        (attached::section(context, &found))
        @if found.refusal.is_none() { (candidates::section(context, &found)) }
    };
    let done = html! { a.button href=(context.links.to(&paths::own_listing(id))) { "Go to the listing" } };
    let content = Content::new(format!("Assets of {title}"), body)
        .with_actions(done)
        .with_parent("Listings", paths::OWN_LISTINGS)
        .with_parent(title, paths::own_listing(id))
        .with_request(format!("/v2/listings/{id}/assets"));
    Ok(content.into())
}

/// Reads what the page shows. `from` are the numbers of assets before the pages of both tables.
fn find(
    reader: &Reader,
    vendor: &Vendor,
    id: Uuid,
    state: InventoryState,
    from: (u64, u64),
) -> Result<Found> {
    let listing = listings::find_own(reader.rows, vendor, id)?;
    let query = inventory::Query { listing: Some(id), ..inventory::Query::new(vendor.team_row_id()) };
    let of_listing = AssetFilter { query, deprecated: None, attachable_to: None };
    let attached = assets::page(reader, vendor, of_listing, ROWS_PER_PAGE, from.0)?;
    let refusal = why_locked(&listing);
    let groups = attached.counts.groups.iter().map(|(group, _)| group.clone()).collect();
    let is_searched = refusal.is_none() && state.problems.is_empty();
    let candidates = if is_searched {
        Some(assets::page(reader, vendor, state.filter(vendor)?, ROWS_PER_PAGE, from.1)?)
    } else {
        None
    };
    let rows: Vec<AssetRowId> =
        candidates.iter().flat_map(|page| &page.items).map(|asset| asset.row_id).collect();
    let attached_candidates = listing_attachments::attached_among(reader.rows, vendor, id, &rows)?;
    Ok(Found { listing, refusal, attached, groups, state, candidates, attached_candidates })
}

/// Returns why the assets of a listing cannot be changed, and what to do; `None` if they can.
fn why_locked(listing: &ListingRow) -> Option<&'static str> {
    let state = listing.state();
    if state.after(Operation::Attach).is_ok() {
        return None;
    }
    Some(match state.status.stage() {
        LifecycleStage::Review => "The listing is in review. Withdraw it from review first.",
        LifecycleStage::Active => "The listing is in the catalog. Take it out of the catalog first.",
        LifecycleStage::Archived => "The listing is archived. Restore it first.",
        LifecycleStage::Draft | LifecycleStage::Ready => "Its state does not allow it.",
    })
}

/// Shows how many assets were attached, and why others were not.
fn shown_outcome(context: &Context, outcome: &AttachOutcome) -> Markup {
    let skipped: u64 = outcome.skipped.iter().map(|skipped| skipped.count).sum();
    let tone = if outcome.attached > 0 { Tone::Good } else { Tone::Warning };
    let attached = match outcome.attached {
        0 => "Nothing was attached".to_owned(),
        attached => text::counted(attached, "asset was attached", "assets were attached"),
    };
    badges::message(
        tone,
        &html! {
            b { (attached) @if skipped > 0 { ", " (text::grouped(skipped)) " skipped" } }
            @if skipped > 0 { ul { @for skipped in &outcome.skipped { li { (skipped_line(context, skipped)) } } } }
        },
    )
}

fn skipped_line(context: &Context, skipped: &SkippedAssets) -> Markup {
    let (one, many) = match skipped.reason {
        AttachSkip::NotFound => ("asset is not in your inventory", "assets are not in your inventory"),
        AttachSkip::AlreadyAttached => ("asset is attached already", "assets are attached already"),
        AttachSkip::Deprecated => (
            "asset is of a kind that the market stops trading",
            "assets are of kinds that the market stops trading",
        ),
        AttachSkip::NotListable => ("asset lacks something", "assets lack something"),
    };
    let more = skipped.count.saturating_sub(skipped.first.len() as u64);
    html! {
        (text::counted(skipped.count, one, many))
        @if !skipped.first.is_empty() {
            ": "
            @for (index, asset) in skipped.first.iter().enumerate() {
                @if index > 0 { "; " }
                a.long href=(context.links.to(&paths::asset(asset.id))) {
                    bdi { (samples::title_or_default(&asset.title)) }
                }
                @if !asset.missing.is_empty() { " (" (field_names(&asset.missing)) ")" }
            }
            @if more > 0 { "; and " (text::grouped(more)) " more" }
        }
    }
}
