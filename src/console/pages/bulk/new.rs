//! The form that changes many assets. It shows their number and the losses before anything happens.

use std::{collections::BTreeSet, sync::Arc};

use super::{NEW, assets, below_inventory, deletion, phrase, review};
use crate::{
    console::{
        pages::inventory::state::{ACTION, InventoryState, Selection},
        parts::{asset_prices, assets::Domains},
        prelude::*,
    },
    domain::{
        bulk_changes::{BulkAction, BulkActionKind, MAX_ASSETS, MAX_PER_TRANSACTION},
        taxonomy::Label,
    },
    operations::{
        bulk_changes::{self, Preparation},
        listing_attachments::Chosen,
    },
};

/// Field with the number of assets that the form showed.
const NUMBER: &str = "number";

/// The page.
pub struct NewBulkChange;

/// The subject of the address or the form.
struct RequestedChange {
    state: InventoryState,
    selection: Selection,
    chosen: Chosen,
}

impl RequestedChange {
    /// Reads which assets are chosen; `None` if none is.
    fn read(query: &Query, vendor: &Vendor) -> Result<Option<RequestedChange>> {
        let state = InventoryState::of(query);
        let Some(selection) = Selection::of(query) else { return Ok(None) };
        let chosen = match &selection {
            Selection::Assets(ids) => Chosen::Ids(ids.clone()),
            Selection::All { .. } => Chosen::Matching(state.filter(vendor)?),
        };
        Ok(Some(RequestedChange { state, selection, chosen }))
    }
}

impl Page<Vendor> for NewBulkChange {
    const PATH: &'static str = NEW;
    const TITLE: &'static str = "Change many assets";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        content(visit, &visit.inputs).await
    }
}

async fn content(visit: &Visit<Vendor>, inputs: &Inputs) -> Result<Answer> {
    // A refused form is shown again for the same assets.
    let query = inputs.typed().map_or(&visit.query, Fields::values).clone();
    // An unreadable selection selects nothing.
    let asked = RequestedChange::read(&query, &visit.access).unwrap_or_default();
    let action = query.get(ACTION).and_then(BulkActionKind::parse);
    let (context, title) = (&visit.context, NewBulkChange::TITLE.to_owned());
    let (title, body) = match (asked, action) {
        (None, _) => (title, nothing_chosen(context)),
        (Some(asked), None) => (title, choice(context, inputs, &asked)),
        (Some(asked), Some(action)) => {
            let asked = Arc::new(asked);
            let read = Arc::clone(&asked);
            let prepare =
                visit.read(move |reader, vendor| bulk_changes::prepare(reader, vendor, &read.chosen, action));
            let prepared = prepare.await?;
            match prepared.count {
                0 => (title, nothing_chosen(context)),
                _ => (label(action, &prepared), form((context, inputs), &asked, action, &prepared)),
            }
        }
    };
    Ok(below_inventory(Content::new(title, body)).into())
}

impl FormPage<Vendor> for NewBulkChange {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        if fields.is_checked(review::BACK_TO_FORM) {
            return content(visit, &Inputs::kept(fields.clone())).await;
        }
        let asked = RequestedChange::read(fields.values(), &visit.access)?.ok_or_else(|| {
            Error::Conflict("No assets are chosen. Choose some in the inventory.".to_owned())
        })?;
        let kind = fields.parsed(ACTION, "Choose what to do.", BulkActionKind::parse)?;
        let kind = kind.ok_or_else(|| invalid(ACTION, "Choose what to do."))?;
        let action = read_action(kind, fields)?;
        let shown = fields.get(NUMBER).and_then(|number| number.parse().ok());
        if fields.is_checked(review::REVIEW) {
            return review::show(visit, fields, (asked.chosen, shown), action).await;
        }
        let change = Change::new("change_assets", "team", visit.access.team().id);
        let started = changes::perform(visit, fields, change, move |writer, vendor| {
            bulk_changes::start(writer, vendor, &asked.chosen, shown, &action)
        });
        Ok(Answer::Redirect(paths::bulk_change(started.await?)))
    }
}

fn read_action(kind: BulkActionKind, fields: &Fields) -> Result<BulkAction> {
    let id = |name: &'static str, message: &str| -> Result<Uuid> {
        let id = fields.parsed(name, message, |text| Uuid::try_parse(text).ok())?;
        id.ok_or_else(|| invalid(name, message))
    };
    let removes = fields.is_checked("clear");
    Ok(match kind {
        BulkActionKind::Move => BulkAction::Move { group: id("to_group", "Choose a group.")? },
        BulkActionKind::Attach => BulkAction::Attach { listing: id("to_listing", "Choose a listing.")? },
        BulkActionKind::Tag => {
            // Each once, however often the form has it.
            let all = |name| {
                let tags: BTreeSet<String> = fields.all(name).map(str::to_owned).collect();
                tags.into_iter().collect()
            };
            BulkAction::Tag { add: all("add_tags"), remove: all("remove_tags") }
        }
        BulkActionKind::Describe if removes => BulkAction::Describe { description: None },
        BulkActionKind::Describe => {
            let message = "Enter a description, or choose that it is removed.";
            let description = fields.require("description", message)?.to_owned();
            BulkAction::Describe { description: Some(description) }
        }
        BulkActionKind::Price if removes => BulkAction::Price { cents: None },
        BulkActionKind::Price => {
            BulkAction::Price { cents: Some(fields.required_amount("price")?).map(|price| price.0) }
        }
        BulkActionKind::Check => BulkAction::Check,
        BulkActionKind::Delete => BulkAction::Delete,
    })
}

fn nothing_chosen(context: &Context) -> Markup {
    let inventory = context.links.to(paths::INVENTORY);
    let advice = "Choose assets in the inventory, or all that match its filter, then what to do with them.";
    html! {
        (tables::empty("No assets are chosen", advice, Some(("Open the inventory", &inventory))))
    }
}

/// Shows what can be done with the chosen assets.
fn choice(context: &Context, inputs: &Inputs, asked: &RequestedChange) -> Markup {
    html! {
        form.stack action=(context.links.to(NEW)) {
            (asked.state.hidden()) (asked.selection.hidden())
            @let actions = text::choices(word);
            (fields::select(inputs, ACTION, "What to do with the assets", actions, ""))
            div.row { button.primary { "Go on" } (leave(context, asked)) }
        }
    }
}

const fn word(kind: BulkActionKind) -> &'static str {
    match kind {
        BulkActionKind::Move => "Move to a group",
        BulkActionKind::Tag => "Tag",
        BulkActionKind::Describe => "Describe",
        BulkActionKind::Price => "Set the price",
        BulkActionKind::Attach => "Attach to a listing",
        BulkActionKind::Check => "Check",
        BulkActionKind::Delete => "Delete",
    }
}

fn leave(context: &Context, asked: &RequestedChange) -> Markup {
    let inventory = asked.selection.on(asked.state.query()).at(&context.links.to(paths::INVENTORY));
    html! { a.button.quiet href=(inventory) { "Leave them as they are" } }
}

/// Returns what the title and the button say.
fn label(action: BulkActionKind, prepared: &Preparation) -> String {
    prepared.deletion.as_ref().map_or_else(|| phrase(action, prepared.count), deletion::title)
}

fn form(
    (context, inputs): (&Context, &Inputs),
    asked: &RequestedChange,
    action: BulkActionKind,
    prepared: &Preparation,
) -> Markup {
    if prepared.count > MAX_ASSETS {
        let reason = html! { "At most " (text::grouped(MAX_ASSETS)) " assets can be changed at once. Filter the inventory, and \
        change one part after the other." };
        return html! { (badges::warning(&reason)) div.row { (leave(context, asked)) } };
    }
    let is_possible = match action {
        BulkActionKind::Attach => !prepared.listings.is_empty(),
        BulkActionKind::Check => prepared.credits.0 >= prepared.run_price.0,
        BulkActionKind::Delete => prepared.deletion.as_ref().is_some_and(|found| found.deleted.count > 0),
        _ => true,
    };
    let class = if action == BulkActionKind::Delete { "danger" } else { "primary" };
    let content = html! {
        (asked.state.hidden()) (asked.selection.hidden())
        input type="hidden" name=(ACTION) value=(action.as_str());
        input type="hidden" name=(NUMBER) value=(prepared.count);
        (parameters((context, inputs), action, prepared))
        @if action.edits_field() {
            (assets::table(context, action, &prepared.first, (prepared.count, &Domains(prepared.domains.clone()))))
        }
        @if prepared.count > MAX_PER_TRANSACTION {
            p.note { "This is done in the background. You see how far it is, and can cancel it." }
        }
        div.row {
            @if action.edits_field() {
                button.primary name=(review::REVIEW) value="yes" { "Review the change" }
            } @else if is_possible { button class=(class) { (label(action, prepared)) } }
            (leave(context, asked))
        }
    };
    fields::form(context, NEW, &content)
}

/// Shows the fields of an action, and its warnings.
fn parameters(
    (context, inputs): (&Context, &Inputs),
    action: BulkActionKind,
    prepared: &Preparation,
) -> Markup {
    let locked = html! { p.note { "Values that were set by the API, or read from linked data, are locked and stay as they are." } };
    let removed =
        |text: &str| fields::checkboxes(inputs, "clear", "Or", [("yes", text.to_owned())], |_| false);
    match action {
        BulkActionKind::Move => {
            let groups = prepared.groups.iter().map(|group| (group.id, group.name.clone()));
            // Rows that are dragged onto a group name it.
            let dragged_to = context.query.get("to_group").unwrap_or_default();
            fields::select(inputs, "to_group", "To the group", groups, dragged_to)
        }
        BulkActionKind::Attach if prepared.listings.is_empty() => {
            let reason = html! { "Your team has no listing whose assets can be changed: none is a draft, or ready. Make one first, \
            under “Listings”." };
            badges::warning(&reason)
        }
        BulkActionKind::Attach => {
            let listings = prepared.listings.iter().map(|listing| match listing.title.trim() {
                title if is_blank(title) => (listing.id, "Untitled".to_owned()),
                title => (listing.id, title.to_owned()),
            });
            html! {
                (fields::select(inputs, "to_listing", "To the listing", listings, ""))
                p.note { "Assets that lack something are skipped, and you see which." }
            }
        }
        BulkActionKind::Tag => html! {
            (tags(inputs, "add_tags", "Add these tags", &prepared.domains))
            (tags(inputs, "remove_tags", "Remove these tags", &prepared.domains))
            (locked)
        },
        BulkActionKind::Describe => html! {
            (Field::lines("description", "Description of each asset").hint(html! { "Replaces the descriptions that they have." })
                .show(inputs))
            (removed("Remove their descriptions"))
            (locked)
        },
        BulkActionKind::Price => html! {
            (Field::decimal("price", "Asking price of each asset, USD")
                .hint(html! { (asset_prices::MEANING) }).show(inputs))
            (removed("Remove their prices"))
            (locked)
        },
        BulkActionKind::Check => cost(prepared),
        BulkActionKind::Delete => html! {
            @if let Some(found) = &prepared.deletion { (deletion::consequences(context, found)) }
        },
    }
}

fn tags(inputs: &Inputs, name: &str, legend: &str, domains: &[Label]) -> Markup {
    let values = domains.iter().map(|domain| (domain.slug.as_str(), domain.label.clone()));
    fields::checkboxes(inputs, name, legend, values, |_| false)
}

/// Shows the cost of quality runs.
fn cost(prepared: &Preparation) -> Markup {
    let price = prepared.run_price;
    let total = i64::try_from(prepared.count).ok().and_then(|count| price.0.checked_mul(count));
    let total = Cents(total.unwrap_or(i64::MAX));
    html! {
        (tables::facts(&[
            ("Price of a check", html! { (text::money(price)) }),
            ("For all assets, at most", html! { b { (text::money(total)) } }),
            ("Your credits", html! { (text::money(prepared.credits)) }),
        ]))
        @if prepared.credits.0 < total.0 {
            (badges::warning(html! {
                @if prepared.credits.0 < price.0 { "Your credits do not suffice for a check. Buy credits first." }
                @else { "Your credits do not suffice for all of them. The checks stop when they are used up." }
            }))
        }
        p.note { "Assets without linked data, or whose check is in progress, are skipped and cost nothing." }
    }
}
