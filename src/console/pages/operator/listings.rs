//! Listings of all vendors, in every stage.

use super::{ASSETS, LISTING_TABS, LISTINGS, RUNS, TEAMS, id_of, listing_forms, listing_steps};
use crate::{
    console::{
        prelude::*,
        resources::{
            self, Below, Named, Resource, Shown,
            Shows::{Flag, Id, Many, Moment, Money, Number, Plain, Record, State, Text, Word},
            Step,
        },
    },
    domain::{
        listings::{CatalogStatus, LifecycleStage, ReviewStatus},
        time::Timestamp,
    },
    operations::{access::Platform, records},
    store::records::{
        Filters, Records,
        any_record::AnyRecord,
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
    const BELOW: &'static [&'static str] = &["get_listing_history"];
    const RECORDS: &'static Records = &LISTING_RECORDS;
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::Market, label: "Listings" });
    const EMPTY: &'static str = "What vendors offer, or prepare to offer, appears here.";
    const TABS: &'static [(&'static str, &'static str)] = LISTING_TABS;

    const SHOWN: &'static [Shown] = &[
        Shown::listed("title", "Title", Plain),
        Shown::listed("team_id", "Vendor", Record(TEAMS)),
        Shown::listed("stage", "Stage", State),
        Shown::listed("price", "Price, USD", Money),
        Shown::listed("asset_count", "Assets", Number),
        Shown::listed("featured", "Featured place", Number),
        Shown::listed("certified_at", "Certified", Moment),
        Shown::listed("updated_at", "Changed", Moment),
        Shown::detail("review_status", "In the review", State),
        Shown::detail("catalog_status", "In the catalog", State),
        Shown::detail("exclusive", "Exclusive sale", Flag),
        Shown::detail("accepts_bids", "Open to bids", Flag),
        Shown::detail("submitted_offer_count", "Bids that wait", Number),
        Shown::detail("sample_price", "Price of the sample, USD", Money),
        Shown::detail("description", "Description, in the words of the vendor", Text),
        Shown::detail("terms", "Terms, in the words of the vendor", Text),
        Shown::detail("domain_tags", "Domains", Many),
        Shown::detail("tag_slugs", "Tags", Many),
        Shown::detail("delivery_method", "Delivery", Word),
        Shown::detail("delivery_days", "Days of delivery", Number),
        Shown::detail("available_from", "Available from", Moment),
        Shown::detail("review_feedback", "Note of the last review", Text),
        Shown::detail("latest_quality_run_id", "Latest quality run", Record(RUNS)),
        Shown::detail("created_at", "Created", Moment),
        Shown::detail("published_at", "Published", Moment),
        Shown::detail("archived_at", "Archived", Moment),
        Shown::detail("id", "ID", Id),
    ];

    fn filters() -> Vec<ListFilter> {
        vec![
            ListFilter { name: "stage", label: "Stage", values: text::word_choices::<LifecycleStage> },
            ListFilter {
                name: "review_status",
                label: "In the review",
                values: text::word_choices::<ReviewStatus>,
            },
            ListFilter {
                name: "catalog_status",
                label: "In the catalog",
                values: text::word_choices::<CatalogStatus>,
            },
            ListFilter { name: "exclusive", label: "Exclusive sale", values: resources::yes_or_no },
            ListFilter { name: "featured", label: "Featured", values: resources::yes_or_no },
            ListFilter { name: "certified", label: "Certified", values: resources::yes_or_no },
            ListFilter { name: "title", label: "Title, as it is", values: Vec::new },
            ListFilter { name: "team_id", label: "ID of the vendor", values: Vec::new },
        ]
    }

    const NAMED: Named = Named::By("title");

    fn complete(record: &mut AnyRecord, _: Timestamp) {
        // The name of the field in which another place is typed.
        record.set("place", record.get("featured").clone());
    }

    fn links(record: &AnyRecord) -> Vec<(&'static str, String)> {
        let Some(id) = record.id("id") else { return Vec::new() };
        let of = |label: &'static str, path: &str| (label, format!("{path}?listing_id={id}"));
        vec![
            of("Assets", ASSETS),
            of("Quality runs", RUNS),
            of("Bids", "/operator/bids"),
            of("Purchases", "/operator/purchases"),
        ]
    }

    const STEPS: &'static [Step] = listing_steps::STEPS;

    const NEW: Option<&'static Step> = Some(&listing_forms::NEW);

    fn below(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<Below>> {
        let filters = Filters::default().with("listing_id", id_of(record)?.to_string());
        let request = TeamPageRequest { start: Start::Newest, limit: EVENTS, counts: false };
        let found = records::page_of_any(reader, platform, &LISTING_HISTORY, &filters, request)?;
        let has_more = found.next.is_some();
        Ok(Some(Box::new(move |_: &Context| history(&found.rows, has_more))))
    }
}

/// Returns the history of a listing.
fn history(events: &[AnyRecord], has_more: bool) -> Markup {
    let heads = [
        Head::text("Event"),
        Head::text("By"),
        Head::text("Stage before"),
        Head::text("Stage after"),
        Head::number("Time"),
    ];
    let row = |event: &AnyRecord| {
        let words = |name: &str| html! { (text::words(event.text(name))) };
        let before = if event.text("from_status").is_empty() {
            html! { (text::MISSING) }
        } else {
            words("from_status")
        };
        let time = event.time("occurred_at").map(text::moment).unwrap_or_default();
        vec![words("event_type"), words("actor"), before, words("to_status"), time]
    };
    let content = html! {
        (tables::table("History", &heads, &events.iter().map(row).collect::<Vec<_>>()))
        @if has_more { p.note { "These are the newest " (EVENTS) " events. The API has all of them." } }
    };
    tables::section("history", "History", &content)
}
