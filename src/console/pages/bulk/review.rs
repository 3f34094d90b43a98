//! The preview of a change of a field of the chosen assets, before it is started.

use super::{NEW, assets, below_inventory, phrase, reason};
use crate::{
    console::{
        forms::{KEY_FIELD, OPENED_BY_FIELD},
        pages::inventory::state,
        parts::assets::Domains,
        prelude::*,
    },
    domain::bulk_changes::{BulkAction, BulkActionKind, SkipReason},
    operations::{
        bulk_changes::forecast::{self, Forecast},
        listing_attachments::Chosen,
        taxonomy,
    },
};

/// Field of the button that leads to the review.
pub const REVIEW: &str = "review";

/// Field of the button that leads from the review back to the form.
pub const BACK_TO_FORM: &str = "again";

/// Shows what a change will do. `shown` is the number of assets that the form has shown.
pub async fn show(
    visit: &Visit<Vendor>,
    fields: &Fields,
    (chosen, shown): (Chosen, Option<u64>),
    action: BulkAction,
) -> Result<Answer> {
    let kind = action.kind();
    let read = visit.read(move |reader, vendor| {
        let found = forecast::forecast(reader, vendor, (&chosen, shown), &action, assets::SHOWN)?;
        let domains = match kind {
            BulkActionKind::Tag => taxonomy::domains_of_assets(reader, vendor)?,
            _ => Vec::new(),
        };
        Ok((found.unwrap_or_default(), Domains(domains)))
    });
    let (found, domains) = read.await?;
    let context = &visit.context;
    let typed: Vec<(&str, String)> = fields
        .values()
        .pairs()
        .filter(|(name, _)| ![REVIEW, BACK_TO_FORM, KEY_FIELD, OPENED_BY_FIELD].contains(name))
        .map(|(name, value)| (name, value.to_owned()))
        .collect();
    let form = html! {
        (state::hidden(&typed))
        div.row {
            @if found.changed > 0 { button.primary { (phrase(kind, found.changed)) } }
            button name=(BACK_TO_FORM) value="yes" { "Change what you chose" }
        }
    };
    let body = html! {
        (numbers(&found))
        (live(&found))
        @if found.changed > 0 { (assets::changes(context, kind, &found, &domains)) }
        (fields::form(context, NEW, &form))
    };
    let title = if found.changed > 0 {
        format!("{}?", phrase(kind, found.changed))
    } else {
        "Nothing changes".to_owned()
    };
    Ok(below_inventory(Content::new(title, body)).into())
}

/// Warns that buyers see the change at once, if assets are in the catalog.
fn live(found: &Forecast) -> Markup {
    html! { @if found.live > 0 {
        (badges::warning(html! {
            b { (text::counted(found.live, "of the chosen assets is on a live listing", "of the chosen assets are on live listings")) ". " }
            "Buyers see the new prices at once, and can buy single assets at them."
        }))
    } }
}

/// Says how many assets will change, and why others will not.
fn numbers(found: &Forecast) -> Markup {
    let tone = if found.changed > 0 { Tone::Waiting } else { Tone::Warning };
    badges::message(
        tone,
        &html! {
            p { b { (text::counted(found.changed, "asset changes", "assets change")) } ". Nothing has been changed yet." }
            @if !found.skipped.is_empty() { ul { @for (why, count) in &found.skipped { li {
                @if *why == SkipReason::Unchanged { (reason(*why)) ": " (text::grouped(*count)) }
                @else { (text::counted(*count, "asset stays", "assets stay")) " as they are: " (reason(*why)) }
            } } } }
        },
    )
}
