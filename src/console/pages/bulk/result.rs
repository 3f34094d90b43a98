//! A change of many assets: its progress, and the changed and skipped assets.

use super::{assets, below_inventory, numbers, phrase, reason, state};
use crate::{
    console::{parts::assets::Domains, prelude::*},
    domain::bulk_changes::{BulkAction, BulkChangeStatus, SkipReason, SkippedAssets},
    operations::bulk_changes::{self, NamedChange},
    store::bulk_changes::BulkChange,
};

/// The page.
pub struct BulkChangePage;

impl Page<Vendor> for BulkChangePage {
    const PATH: &'static str = "/inventory/changes/{id}";
    const TITLE: &'static str = "Change of many assets";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let found = visit.read(move |reader, vendor| bulk_changes::find(reader, vendor, id)).await?;
        let change = &found.change;
        let body = html! {
            (progress(&visit.context, change))
            (facts(&visit.context, &found))
            (skipped(&visit.context, &found))
        };
        let inventory = visit.links.to(paths::INVENTORY);
        let content = below_inventory(Content::new(phrase(change.action.kind(), change.selected), body));
        Ok(content.with_actions(html! { a.button href=(inventory) { "Back to the inventory" } }).into())
    }
}

fn progress(context: &Context, change: &BulkChange) -> Markup {
    let numbers = numbers(change);
    let stays = "What was done before stays.";
    match change.status {
        BulkChangeStatus::Running => running(context, change),
        BulkChangeStatus::Completed => {
            let tone = if change.changed == 0 { Tone::Warning } else { Tone::Good };
            badges::message(tone, html! { b { (numbers) } })
        }
        BulkChangeStatus::Cancelled => badges::neutral(html! { b { "Canceled. " } (numbers) ". " (stays) }),
        BulkChangeStatus::Failed => badges::failure(
            html! { b { "The market could not finish this because of a fault of its own. " } (numbers) ". " (stays) },
        ),
    }
}

fn running(context: &Context, change: &BulkChange) -> Markup {
    let path = paths::bulk_change(change.id);
    let here = context.links.to(&path);
    let looked_at = change.changed + change.skipped.total();
    let content = html! {
        div.stack.tight {
            b { (text::grouped(looked_at)) " of " (text::counted(change.selected, "asset", "assets")) }
            // With scripts, the page updates itself during the change.
            div hx-get=(here) hx-trigger="every 2s" hx-target="#main" hx-select="#main" hx-swap="outerMorph" {}
            progress aria-label="Assets that were looked at" value=(looked_at) max=(change.selected.max(1)) {}
            p { (numbers(change)) ". You can leave this page. " a href=(here) { "See how far it is" } }
            (fields::button(context, &format!("{path}/cancel"), "Cancel", "danger"))
            p.note { "What was done before you cancel stays." }
        }
    };
    badges::pending(&content)
}

fn facts(context: &Context, found: &NamedChange) -> Markup {
    let change = &found.change;
    let target = |path: String| {
        html! { @match &found.target {
            Some(name) => { a.long href=(context.links.to(&path)) { bdi { (name) } } }
            None => "It does not exist any more",
        } }
    };
    let domains = Domains(found.domains.clone());
    let tags =
        |tags: &[String]| html! { @if tags.is_empty() { (text::MISSING) } @else { (domains.labels(tags)) } };
    let mut facts = vec![("Status", badges::of(state(change.status)))];
    match &change.action {
        BulkAction::Move { group } => {
            facts.push(("To the group", target(format!("{}?group={group}", paths::INVENTORY))));
        }
        BulkAction::Attach { listing } => {
            facts.push(("To the listing", target(paths::own_listing(*listing))));
        }
        BulkAction::Tag { add, remove } => {
            facts.extend([("Tags added", tags(add)), ("Tags removed", tags(remove))]);
        }
        BulkAction::Describe { description: Some(description) } => {
            facts.push(("Description", html! { div.long { (description) } }));
        }
        BulkAction::Describe { description: None } => facts.push(("Description", html! { "Removed" })),
        BulkAction::Price { cents } => {
            let price = cents.map_or_else(|| "Removed".to_owned(), |cents| text::money(Cents(cents)));
            facts.push(("Asking price", html! { (price) }));
        }
        BulkAction::Check | BulkAction::Delete => {}
    }
    facts.push(("Started", text::moment(change.created_at)));
    facts.extend(change.completed_at.map(|time| ("Ended", text::moment(time))));
    tables::facts(&facts)
}

fn skipped(context: &Context, found: &NamedChange) -> Markup {
    let change = &found.change;
    let section = html! {
        @for (why, skipped) in change.skipped.by_reason() {
            h3 {
                @if why == SkipReason::Unchanged { (reason(why)) ": " (text::grouped(skipped.count)) }
                @else { (text::counted(skipped.count, "asset", "assets")) ": " (reason(why)) }
            }
            (examples(context, found, skipped))
        }
    };
    html! { @if change.skipped.total() > 0 { (tables::section("skipped", "Skipped, and why", &section)) } }
}

fn examples(context: &Context, found: &NamedChange, skipped: &SkippedAssets) -> Markup {
    let named = skipped.examples.iter().filter_map(|id| Some((*id, found.titles.get(id)?.as_str())));
    assets::titles(context, named, skipped.count)
}

/// The button that cancels a change.
pub struct CancelBulkChange;

impl Action<Vendor> for CancelBulkChange {
    const PATH: &'static str = "/inventory/changes/{id}/cancel";
    const TITLE: &'static str = "Cancel a change of many assets";

    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("cancel_bulk_change", "bulk_change", id);
        let cancel = changes::perform(visit, fields, change, move |writer, vendor| {
            bulk_changes::cancel(writer, vendor, id)
        });
        match cancel.await {
            // It has ended in the meantime, as its page says.
            Ok(()) | Err(Error::Conflict(_)) => Ok(Answer::Redirect(paths::bulk_change(id))),
            Err(error) => Err(error),
        }
    }
}
