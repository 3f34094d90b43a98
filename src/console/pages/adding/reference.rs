//! The domains and kinds that the market has, by the names that filters and tables use.

use super::below_adding;
use crate::{
    console::{parts::kinds, prelude::*},
    domain::{assets::Kind, taxonomy::Label},
    operations::taxonomy,
    string_enum::StringEnum,
};

/// The page.
pub struct Reference;

impl Page for Reference {
    const PATH: &'static str = "/inventory/add/names";
    const TITLE: &'static str = "Domains and kinds";

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let domains = visit.read(taxonomy::domains_of_assets).await?;
        let body = html! { (domains_section(&domains)) (kinds_section()) };
        let note = html! { "The names that filters of the inventory, and tables of codebases, use." };
        Ok(below_adding(Content::new(Self::TITLE, body).with_note(note)).with_request("/v2/domains").into())
    }
}

/// Lists the domains.
pub fn domains_section(domains: &[Label]) -> Markup {
    let rows =
        domains.iter().map(|domain| vec![html! { span.mono { (domain.slug) } }, html! { (domain.label) }]);
    let rows: Vec<Vec<Markup>> = rows.collect();
    let table = tables::table("Domains", &[Head::text("Name in a cell"), Head::text("Domain")], &rows);
    tables::section(
        "domains",
        "Domains",
        &html! {
            @if rows.is_empty() { p.note { "The market has no domains." } }
            @else { details open { summary { (text::counted(rows.len() as u64, "domain", "domains")) } (table) } }
        },
    )
}

/// Lists the kinds of assets.
pub fn kinds_section() -> Markup {
    let row = |kind: &Kind| vec![html! { span.mono { (kind.as_str()) } }, html! { (kinds::plural(*kind)) }];
    let rows: Vec<Vec<Markup>> = Kind::ALL.iter().map(row).collect();
    let table = tables::table("Kinds", &[Head::text("Name in a filter"), Head::text("Kind")], &rows);
    tables::section("kinds", "Kinds of assets", &table)
}
