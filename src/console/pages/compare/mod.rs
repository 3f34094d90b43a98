//! Up to four listings side by side.

mod file;
mod found;

use self::found::Found;
use crate::{
    console::{
        csv,
        parts::{
            bars,
            cards::{self, CHOSEN_FIELD, COMPARE_FIELD, MAX_COMPARED},
            listing_view::{Details, ListingView, sample_price_text, tier_text},
        },
        prelude::*,
    },
    domain::{excerpt::excerpt, purchases::Charges},
    operations::access::FullCatalogViewer,
};

/// The page.
pub struct Compare;

impl Page<FullCatalogViewer> for Compare {
    const PATH: &'static str = paths::COMPARE;
    const TITLE: &'static str = "Compare";
    const BUDGET: Budget = Budget::Catalog;

    async fn show(visit: &Visit<FullCatalogViewer>) -> Result<Answer> {
        let chosen = chosen(&visit.query);
        let ids: Vec<Uuid> = chosen.iter().copied().take(MAX_COMPARED).collect();
        let asked = ids.clone();
        let found = visit.read(move |reader, access| found::find(reader, access, &asked)).await?;
        if found.listings.is_empty() {
            let catalog = visit.links.to(paths::CATALOG);
            let advice = "Tick the box “Compare” of up to four listings in the catalog.";
            let body = tables::empty("No listings to compare", advice, Some(("Open the catalog", &catalog)));
            return Ok(Content::new(Self::TITLE, body).with_parent("Catalog", paths::CATALOG).into());
        }
        if csv::is_asked(&visit.query) {
            return Ok(file::answer(&visit.context, &found));
        }
        Ok(content(&visit.context, &chosen, &ids, &found).into())
    }
}

/// Returns the IDs of the chosen listings, each once.
fn chosen(query: &Query) -> Vec<Uuid> {
    let mut ids = Vec::new();
    for id in query.all(COMPARE_FIELD).filter_map(|id| Uuid::try_parse(id).ok()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn content(context: &Context, chosen: &[Uuid], ids: &[Uuid], found: &Found) -> Content {
    let count = found.listings.len();
    let missing = ids.len() - count;
    let (shown, agreeing): (Vec<Row>, Vec<Row>) =
        rows(context, found).into_iter().partition(|row| count < 2 || !row.agrees());
    let body = html! {
        @if chosen.len() > MAX_COMPARED {
            (badges::warning("At most four listings fit side by side. These are the first four."))
        }
        @if missing > 0 {
            (badges::warning(html! {
                (text::counted(missing as u64, "listing is", "listings are")) " not here: taken down, or not for your team."
            }))
        }
        (table(context, ids, found, &shown))
        @if !agreeing.is_empty() {
            details {
                summary { (text::counted(agreeing.len() as u64, "row", "rows")) " in which all agree" }
                dl.facts { @for row in &agreeing {
                    dt { (row.label) } dd { @if let Some(cell) = row.cells.first() { (cell) } }
                } }
            }
        }
    };
    let add = ids.iter().fold(Query::default(), |query, id| query.and(CHOSEN_FIELD, &id.to_string()));
    let api = ids.iter().fold(Query::default(), |query, id| query.and("ids", &id.to_string()));
    let title = format!("Compare {}", text::counted(count as u64, "listing", "listings"));
    let shown = ids.iter().fold(Query::default(), |query, id| query.and(COMPARE_FIELD, &id.to_string()));
    let note = html! {
        @if count > 1 { "Rows in which all agree are folded at the end. " }
        (csv::link(&context.here(&csv::query(&shown))))
    };
    let mut content = Content::new(title, body).with_parent("Catalog", paths::CATALOG).with_note(note);
    if ids.len() < MAX_COMPARED {
        content = content.with_actions(html! {
            a.button href=(add.at(&context.links.to(paths::CATALOG))) { "Add a listing" }
        });
    }
    content.with_request(api.at("/v2/listings/browse/by-ids"))
}

/// A row: what is compared, and what each listing has.
struct Row {
    label: String,
    cells: Vec<Markup>,
}

impl Row {
    /// Whether all listings have the same.
    fn agrees(&self) -> bool {
        self.cells.windows(2).all(|pair| pair[0].0 == pair[1].0)
    }
}

fn table(context: &Context, ids: &[Uuid], found: &Found, rows: &[Row]) -> Markup {
    let without = |id: Uuid| {
        let others = ids.iter().filter(|other| **other != id);
        let query =
            others.fold(Query::default(), |query, other| query.and(COMPARE_FIELD, &other.to_string()));
        context.here(&query)
    };
    html! {
        div.scroll.compare tabindex="0" role="region" aria-label="Comparison" {
            table {
                thead { tr {
                    td { span.out { "What is compared" } }
                    @for listing in &found.listings { th scope="col" {
                        (cards::title(context, listing))
                        bdi { (listing.summary.team_name) }
                        @if let Some(details) = &listing.details { ", " (tier_text(details.vendor_tier)) }
                    } }
                } }
                tbody {
                    @for row in rows { tr { th scope="row" { (row.label) } @for cell in &row.cells { td { (cell) } } } }
                    tr {
                        th scope="row" { span.out { "Actions" } }
                        @for listing in &found.listings { td { (actions(context, listing, &without(listing.summary.id))) } }
                    }
                }
            }
        }
        p.hint.note { "Scroll sideways for the other listings." }
    }
}

fn actions(context: &Context, listing: &ListingView, without: &str) -> Markup {
    let id = listing.summary.id;
    let details = listing.details.as_ref();
    let is_foreign = context.team().is_some_and(|team| team.is_buyer && team.row_id != listing.vendor);
    html! {
        div.row {
            @if is_foreign && details.is_some_and(|details| details.price.is_some()) {
                a.button.primary.little href=(context.links.to(&paths::buy(id))) { "Buy" span.out { " " bdi { (listing.summary.title) } } }
            }
            @if is_foreign && details.is_some_and(|details| details.accepts_bids) {
                a.button.little href=(context.links.to(&paths::make_bid(id))) { "Bid" span.out { " on " bdi { (listing.summary.title) } } }
            }
            a.button.quiet.little href=(without) { "Remove" span.out { " " bdi { (listing.summary.title) } } }
        }
    }
}

fn rows(context: &Context, found: &Found) -> Vec<Row> {
    let mut rows = offer_rows(context, found);
    rows.extend(content_rows(found));
    rows.extend(evidence_rows(found));
    rows.extend(terms_rows(context, found));
    rows
}

/// Returns a row with what the details of each listing say.
fn row(found: &Found, label: &str, cell: impl Fn(&ListingView, &Details) -> Markup) -> Row {
    let cells = found.listings.iter().map(|listing| match &listing.details {
        Some(details) => cell(listing, details),
        None => html! { (text::MISSING) },
    });
    Row { label: label.to_owned(), cells: cells.collect() }
}

fn offer_rows(context: &Context, found: &Found) -> Vec<Row> {
    let fees = &context.market().settings().fees;
    let prices = || found.listings.iter().filter_map(|listing| listing.details.as_ref()?.price);
    let lowest = prices().min().filter(|_| prices().count() > 1);
    let price = |_: &ListingView, details: &Details| {
        html! {
            span.price { (cards::price_text(details)) }
            @if let Some(price) = details.price {
                @if Some(price) == lowest { " " small { "lowest" } }
                br; span.note { (text::short_money(Charges::new(price, fees.buyer_percent, fees.platform_percent).total())) " with fee" }
            }
        }
    };
    let for_lines = |listing: &ListingView, details: &Details| {
        html! { (text::optional_money(found::price_for_lines(listing, details))) }
    };
    let bids = |_: &ListingView, details: &Details| {
        html! {
            @if !details.accepts_bids { "Fixed price" }
            @else if details.active_bid_count == 0 { "Open, none waiting" }
            @else { "Open, " (details.active_bid_count) " waiting" }
        }
    };
    vec![
        row(found, "Price", price),
        row(
            found,
            "Price for each task",
            |_, details| html! { (text::optional_money(details.price_per_task)) },
        ),
        row(found, "Price for 1,000 lines", for_lines),
        row(found, "Sample", |_, details| html! { (sample_price_text(details.sample_price)) }),
        row(found, "Bids", bids),
    ]
}

fn content_rows(found: &Found) -> Vec<Row> {
    let number = |number: u64| html! { @if number > 0 { (text::grouped(number)) } @else { (text::MISSING) } };
    let list = |values: &[String]| {
        html! { @if values.is_empty() { (text::MISSING) } @else { span.long { (values.join(", ")) } } }
    };
    let languages = |listing: &ListingView, details: &Details| {
        html! {
            @if details.languages.is_empty() { (text::MISSING) }
            @else { (bars::bar(&listing.shares(), "bar")) p.note { (listing.main_languages(4)) } }
        }
    };
    let raw_data = |listing: &ListingView, _: &Details| {
        let scale = &listing.summary.scale;
        html! {
            @if scale.zip_file_count == 0 && scale.zip_size_bytes == 0 { (text::MISSING) }
            @else { (text::counted(scale.zip_file_count, "file", "files")) ", " (text::size(scale.zip_size_bytes)) }
        }
    };
    vec![
        row(found, "Contents", |listing, _| html! { (listing.summary.scale.contents()) }),
        row(found, "Lines of code", |listing, _| number(listing.summary.scale.loc)),
        row(found, "Languages", languages),
        row(found, "Tasks", |listing, _| number(listing.summary.scale.task_count)),
        row(found, "Raw data", raw_data),
        row(found, "File types", |_, details| list(&details.file_extensions)),
        row(found, "Robotics formats", |_, details| list(&found::format_names(details))),
        row(found, "Capabilities", |_, details| list(&details.capabilities)),
    ]
}

fn evidence_rows(found: &Found) -> Vec<Row> {
    let certified = |listing: &ListingView, _: &Details| {
        let at = found.certificates.get(&listing.row_id).and_then(|certificate| certificate.certified_at);
        html! { @match at {
            Some(at) => { (badges::certified("Certified")) br; span.note { (text::day(at)) } },
            None => (badges::badge(Tone::Neutral, "Not certified")),
        } }
    };
    let mut rows = vec![row(found, "Certified", certified)];
    rows.extend(found::check_labels(found).into_iter().map(|(key, label)| {
        let badge = |listing: &ListingView, _: &Details| match found::verdict(found, listing, key) {
            Some((tone, word)) => badges::badge(tone, word),
            None => html! { span.note { "Not run" } },
        };
        row(found, label, badge)
    }));
    rows
}

fn terms_rows(context: &Context, found: &Found) -> Vec<Row> {
    let terms = |listing: &ListingView, details: &Details| {
        let short = excerpt(&details.terms);
        let id = listing.summary.id;
        html! {
            @if short.is_empty() { (text::MISSING) } @else { p.long { bdi { (short) } } }
            @if short.len() < details.terms.trim().len() {
                a.note href=(context.links.to(&paths::listing(id))) { "Read all" span.out { " of the terms of " bdi { (listing.summary.title) } } }
            }
        }
    };
    let delivery = |_: &ListingView, details: &Details| {
        html! { @match details.delivery { Some(delivery) => (delivery.text()), None => (text::MISSING) } }
    };
    vec![
        row(found, "Terms, in the vendor's words", terms),
        row(found, "Delivery", delivery),
        row(found, "Available from", |_, details| match details.available_from {
            Some(time) => text::entered_day(time),
            None => html! { "Now" },
        }),
        row(found, "Published", |_, details| text::optional_day(details.published_at)),
    ]
}
