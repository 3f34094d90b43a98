//! Listings of all vendors, in every stage.

use std::collections::BTreeSet;

use super::{hidden_listings, listing_forms, listing_steps, prelude::*};
use crate::{
    console::parts::listing_states,
    domain::listings::{CatalogStatus, LifecycleStage, ListingStatus, ReviewStatus},
    operations::listing_visibility,
    store::records::{
        Filters,
        audit::AUDIT,
        listing_history::LISTING_HISTORY,
        listings::LISTINGS as LISTING_RECORDS,
        pages::{Start, TeamPageRequest},
    },
};

/// Number of events of the history that are shown.
const EVENTS: u32 = 50;

/// The resource.
pub struct Listings;

impl Resource for Listings {
    const LIST: &'static str = LISTINGS;
    const TITLE: &'static str = "Listings";
    const RELATED_OPERATIONS: &'static [&'static str] = &["get_listing_history"];
    const RECORDS: &'static Records = &LISTING_RECORDS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Market.link("Listings"));
    const EMPTY: &'static str = "What vendors offer, or prepare to offer, appears here.";
    const TABS: &'static [(&'static str, &'static str)] = LISTING_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("title", "Title", Plain),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("status", "Stage", Badge(stage_look)),
        RecordField::listed("price", "Price, USD", Money),
        RecordField::listed("asset_count", "Assets", Number),
        RecordField::listed("featured", "Featured place", Number),
        RecordField::listed("certified_at", "Certified", Moment),
        RecordField::listed("updated_at", "Changed", Moment),
        RecordField::detail("review_status", "In the review", Called(review_word)),
        RecordField::detail("catalog_status", "In the catalog", State),
        RecordField::detail("exclusive", "Exclusive sale", Flag),
        RecordField::detail("accepts_bids", "Open to bids", Flag),
        RecordField::detail("submitted_offer_count", "Bids that wait", Number),
        RecordField::detail("sample_price", "Price of the sample, USD", Money),
        RecordField::detail("description", "Description, in the words of the vendor", Text),
        RecordField::detail("terms", "Terms, in the words of the vendor", Text),
        RecordField::detail("domain_tags", "Domains", Words),
        RecordField::detail("tag_slugs", "Tags", Words),
        RecordField::detail("delivery_method", "Delivery", Word),
        RecordField::detail("delivery_days", "Days of delivery", Number),
        RecordField::detail("available_from", "Available from", Moment),
        RecordField::detail("review_feedback", "Note of the last review", Text),
        RecordField::detail("latest_quality_run_id", "Latest quality run", Record(RUNS)),
        RecordField::detail("created_at", "Created", Moment),
        RecordField::detail("published_at", "Published", Moment),
        RecordField::detail("archived_at", "Archived", Moment),
        RecordField::detail("id", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("stage", "Stage", || text::choices(listing_states::stage_word)),
        ListFilter::choice("review_status", "In the review", || text::choices(listing_states::review_word)),
        ListFilter::choice("catalog_status", "In the catalog", text::word_choices::<CatalogStatus>),
        ListFilter::choice("exclusive", "Exclusive sale", resources::yes_or_no),
        ListFilter::choice("featured", "Featured", resources::yes_or_no),
        ListFilter::choice("certified", "Certified", resources::yes_or_no),
        ListFilter::text("title", "Title, as it is"),
        ListFilter::text("team_id", "Vendor, by name or ID"),
    ];

    const DERIVED_COLUMNS: DeriveColumns = |record, _| {
        // The name of the field in which another place is typed.
        record.set("place", record.get("featured").clone());
        let status = match (record.text("stage"), record.text("review_status")) {
            ("draft", review @ ("rejected" | "changes_requested")) => review,
            (stage, _) => stage,
        };
        record.set("status", Value::Text(status.to_owned()));
    };

    const LINKS: Links = |record| {
        let Some(id) = record.id("id") else { return Vec::new() };
        let of = |label: &'static str, path: &str| (label, format!("{path}?listing_id={id}"));
        vec![
            of("Assets", ASSETS),
            of("Quality runs", RUNS),
            of("Bids", "/operator/bids"),
            of("Purchases", "/operator/purchases"),
        ]
    };

    const STEPS: &'static [Step] = listing_steps::STEPS;

    const NEW: Option<&'static Step> = Some(&listing_forms::NEW);

    fn above_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let id = id_of(record)?;
        let hidden = listing_visibility::why_hidden(reader, platform, id)?;
        Ok(hidden.map(|hidden| {
            Box::new(move |context: &Context| hidden_listings::message(context, id, hidden)) as RenderFn
        }))
    }

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let filters = Filters::default().with("listing_id", id_of(record)?.to_string());
        let request = TeamPageRequest { start: Start::Newest, limit: EVENTS, counts: false };
        let found = records::page_of_any(reader, platform, &LISTING_HISTORY, &filters, request)?;
        let has_more = found.next.is_some();
        let audited = records::page_of_any(reader, platform, &AUDIT, &of_subject(record), request)?.rows;
        let by_operators = audited.iter().filter(|entry| entry.text("actor_kind") == "operator");
        let by_operators = by_operators.filter_map(|entry| entry.time("occurred_at")).collect();
        Ok(Some(Box::new(move |_: &Context| history(&found.rows, &by_operators, has_more))))
    }
}

/// Returns a filter that selects entries about a listing.
fn of_subject(record: &AnyRecord) -> Filters {
    Filters::default().with("subject_id", Listings::key_of(record))
}

/// Returns the label and the tone for the stage of a listing. A draft that was rejected or sent back has its own word.
fn stage_look(status: &str) -> (Tone, String) {
    let review = ReviewStatus::parse(status).unwrap_or(ReviewStatus::Draft);
    let (review, catalog) = match LifecycleStage::parse(status) {
        Some(LifecycleStage::Archived) => (review, CatalogStatus::Archived),
        Some(LifecycleStage::Active) => (ReviewStatus::Approved, CatalogStatus::Published),
        Some(LifecycleStage::Ready) => (ReviewStatus::Approved, CatalogStatus::Unpublished),
        Some(LifecycleStage::Review) => (ReviewStatus::InReview, CatalogStatus::Unpublished),
        Some(LifecycleStage::Draft) | None => (review, CatalogStatus::Unpublished),
    };
    let (tone, word) = listing_states::state(ListingStatus { review, catalog });
    (tone, word.to_owned())
}

fn stage_word(stage: &str) -> String {
    LifecycleStage::parse(stage)
        .map_or_else(|| text::words(stage), |stage| listing_states::stage_word(stage).to_owned())
}

fn review_word(review: &str) -> String {
    ReviewStatus::parse(review)
        .map_or_else(|| text::words(review), |review| listing_states::review_word(review).to_owned())
}

/// Returns the history of a listing. Events at one of the times were caused by an operator.
fn history(events: &[AnyRecord], by_operators: &BTreeSet<Timestamp>, has_more: bool) -> Markup {
    let row = |event: &AnyRecord| {
        let words = |name: &str| html! { (text::words(event.text(name))) };
        let before = if event.text("from_status").is_empty() {
            html! { (text::MISSING) }
        } else {
            html! { (stage_word(event.text("from_status"))) }
        };
        let at = event.time("occurred_at");
        let is_by_operator = at.is_some_and(|at| by_operators.contains(&at));
        let by = match event.text("actor") {
            "team" if is_by_operator => html! { "Operator, for the team" },
            "platform" if is_by_operator => html! { "Operator" },
            _ => words("actor"),
        };
        let after = html! { (stage_word(event.text("to_status"))) };
        [
            Head::text("Event").cell(words("event_type")),
            Head::text("By").cell(by),
            Head::text("Stage before").cell(before),
            Head::text("Stage after").cell(after),
            Head::number("Time").cell(at.map(text::moment).unwrap_or_default()),
        ]
    };
    let content = html! {
        (tables::of("History", events, row))
        @if has_more { p.note { "These are the newest " (EVENTS) " events. The API has all of them." } }
    };
    tables::section("history", "History", &content)
}
