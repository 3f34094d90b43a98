//! The list of estimations.

use super::{new, quote, quotes, status_words};
use crate::{
    console::{parts::assets::channel, prelude::*},
    domain::{assets::RepositoryChannel, estimations::InventoryStatus},
    store::records::team_lists::estimations::TeamEstimation,
};

/// The list.
pub struct Estimations;

impl List<Vendor> for Estimations {
    const PATH: &'static str = paths::ESTIMATIONS;
    const TITLE: &'static str = "Estimations";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Estimations"));

    type Row = TeamEstimation;

    fn columns() -> Vec<Column<TeamEstimation>> {
        vec![
            Column::link("Repository", |row| paths::estimation(row.0.id), |row| row.0.repo_full_name.clone()),
            Column::words("Host", |row| channel(row.0.channel).to_owned()),
            Column::badge("Status", |row| status_words(row.0.status)),
            Column::figures("Quote, USD", |row: &TeamEstimation| quote(&row.0)).only_in_table(),
            Column::amounts_in_file("Quote from, USD", |row| row.0.quote.map(|(low, _)| low)),
            Column::amounts_in_file("Quote to, USD", |row| row.0.quote.map(|(_, high)| high)),
            Column::new(Head::text("In the inventory"), asset, asset_text),
            Column::day("Requested", |row| row.0.created_at),
            Column::ids_in_file(|row| row.0.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text("text", "Repository contains"),
        ListFilter::choice("status", "Status", || text::choices(|status| status_words(status).1)),
        ListFilter::choice("channel", "Host", || {
            text::choices(|host: RepositoryChannel| channel(host.into()))
        }),
        ListFilter::choice("inventory", "In the inventory", in_inventory),
    ];

    fn load(reader: &Reader, vendor: &Vendor, request: &ListRequest) -> Result<TeamPage<TeamEstimation>> {
        let mut filters = request.record_filters_of(&["text", "status", "channel"]);
        if let Some(value) = request.filters.get("inventory") {
            filters = filters.with("is_added", value == InventoryStatus::Added.as_str());
        }
        team_records::page(reader, vendor, &filters, request.page)
    }

    fn empty(context: &Context) -> Markup {
        tables::empty(
            "Nothing was estimated yet",
            "The market measures a repository, and quotes what it might be worth as a codebase. The quote costs nothing and binds nobody.",
            Some(("Estimate a repository", &context.links.to(new::NewEstimation::PATH))),
        )
    }

    fn finish(context: &Context, content: Content) -> Content {
        content
            .with_note(html! { "What repositories might be worth as codebases. The quotes bind nobody." })
            .with_actions(html! {
                a.button href=(context.links.to(quotes::Quotes::PATH)) { "All quotes" }
                a.button.primary href=(context.links.to(new::NewEstimation::PATH)) { "Estimate a repository" }
            })
            .with_request("/v2/estimations")
    }
}

fn asset(context: &Context, row: &TeamEstimation) -> Markup {
    html! { @match row.0.asset {
        Some(id) => a href=(context.links.to(&paths::asset(id))) { "Open" span.out { " " (row.0.name) " in the inventory" } },
        None => "No",
    } }
}

fn asset_text(row: &TeamEstimation) -> String {
    if row.0.asset.is_some() { "Yes".to_owned() } else { "No".to_owned() }
}

fn in_inventory() -> Vec<(&'static str, String)> {
    vec![
        (InventoryStatus::Added.as_str(), "Yes".to_owned()),
        (InventoryStatus::NotAdded.as_str(), "No".to_owned()),
    ]
}
