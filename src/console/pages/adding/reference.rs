//! The domains and kinds that the market has, by the names that filters and tables use.

use super::below_adding;
use crate::{
    console::prelude::*,
    domain::{assets::Kind, taxonomy::Label},
    operations::taxonomy,
};

/// The page.
pub struct Reference;

impl Page<Vendor> for Reference {
    const PATH: &'static str = "/inventory/add/names";
    const TITLE: &'static str = "Domains and kinds";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let domains = visit.read(taxonomy::domains_of_assets).await?;
        let body = html! { (domains_section(&domains)) (kinds_section()) };
        let note = html! { "The names that filters of the inventory, and tables of codebases, use." };
        Ok(below_adding(Content::new(Self::TITLE, body).with_note(note)).with_request("/v2/domains").into())
    }
}

/// Lists the domains.
pub fn domains_section(domains: &[Label]) -> Markup {
    let row = |domain: &Label| {
        let slug = html! { span.mono { (domain.slug) } };
        [Head::text("Name in a cell").cell(slug), Head::text("Domain").cell(&domain.label)]
    };
    let table = tables::of("Domains", domains, row);
    tables::section(
        "domains",
        "Domains",
        &html! {
            @if domains.is_empty() { p.note { "The market has no domains." } }
            @else { details open { summary { (text::counted(domains.len() as u64, "domain", "domains")) } (table) } }
        },
    )
}

/// Lists the kinds of assets.
pub fn kinds_section() -> Markup {
    let row = |kind: &Kind| {
        let name = html! { span.mono { (kind.as_str()) } };
        [Head::text("Name in a filter").cell(name), Head::text("Kind").cell(kinds::plural(*kind))]
    };
    tables::section("kinds", "Kinds of assets", &tables::of("Kinds", Kind::ALL, row))
}
