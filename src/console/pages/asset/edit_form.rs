//! The form with the fields of an asset that its vendor can set. Locked ones are shown as text, with the reason.

use super::{
    columns,
    fields_shown::{exclusivity, task_type},
    lock_reason, path,
};
use crate::{
    console::{pages::own_listings, parts::asset_prices, prelude::*},
    domain::{
        assets::{Exclusivity, Kind},
        inventory::Asset,
        stages::required_fields,
    },
    operations::asset_details::EditableAsset,
    store::listings::ListingRow,
};

/// Shows the form.
pub fn form(context: &Context, found: &EditableAsset) -> Markup {
    let asset = &found.asset;
    let form = Form { context, asset };
    let content = html! {
        (seen(asset).edited(&context.inputs))
        @if asset.kind != Kind::Task {
            (form.field("title", &asset.title, Field::text("title", "Name").required().at_most(200)))
        }
        (form.field(
            "description",
            asset.description.as_deref().unwrap_or_default(),
            Field::lines("description", "Description").hint(html! { "What it is, and what it is good for. Markdown works." }),
        ))
        (domains(&form, found))
        (form.field(
            "price_usd",
            &text::plain_amount(asset.price),
            Field::decimal("price_usd", "Asking price, USD")
                .hint(html! { (asset_prices::MEANING) " Listings have prices of their own." }),
        ))
        (live(context, found))
        @match asset.kind {
            Kind::Codebase => (codebase(&form, found.is_sold_exclusively)),
            Kind::Task => (subject(&form)),
            _ => {}
        }
        @if asset.kind != Kind::Codebase {
            (form.field(
                "notes",
                asset.notes.as_deref().unwrap_or_default(),
                Field::lines("notes", "Your notes").hint(html! { "Buyers never see them." }),
            ))
        }
        @if asset.kind != Kind::Task { (own_columns(&form)) }
        (fields::buttons(context, "Save", ("Leave it as it is", &paths::asset(asset.id))))
    };
    fields::form(context, &path(asset.id, "edit"), &content)
}

/// Identifies what the form shows of an asset. If a field is locked meanwhile, the operation refuses the change and names the
/// field.
pub fn seen(asset: &Asset) -> Seen {
    let Asset { title, description, domain_tags, other_domain, price, notes, extra_columns, .. } = asset;
    let texts = (title, description, domain_tags, other_domain, notes, extra_columns);
    Seen::of(&(texts, price, &asset.codebase, asset.task.as_ref().map(|task| task.task_type)))
}

/// Names the live listings with the asset, since buyers see a new price there at once.
fn live(context: &Context, found: &EditableAsset) -> Markup {
    let link = |listing: &ListingRow| {
        let address = context.links.to(&paths::own_listing(listing.id));
        html! { a.long href=(address) { bdi { (own_listings::title_of(&listing.title)) } } }
    };
    html! { @if !found.live.is_empty() {
        (badges::warning(html! {
            b { "It is on " (text::counted(found.live.len() as u64, "live listing", "live listings")) ". " }
            "Buyers see a new price at once: "
            @for (index, listing) in found.live.iter().take(MAX_LIVE).enumerate() {
                @if index > 0 { ", " } (link(listing))
            }
            @if found.live.len() > MAX_LIVE { ", and " (found.live.len() - MAX_LIVE) " more" }
            "."
        }))
    } }
}

/// Maximum number of live listings that are named.
const MAX_LIVE: usize = 5;

struct Form<'f> {
    context: &'f Context,
    asset: &'f Asset,
}

impl Form<'_> {
    /// Whether the asset needs a field before it can be listed.
    fn needs(&self, name: &str) -> bool {
        required_fields(self.asset.kind).iter().any(|field| field.as_str() == name)
    }

    /// Shows a field, or its value if it is locked.
    fn field(&self, name: &str, value: &str, field: Field) -> Markup {
        let label = field.label().to_owned();
        let field = field.marked(self.needs(name));
        self.open(name, &label, value, |form| field.value(value).show(&form.context.inputs))
    }

    /// Shows what `field` returns, or the value if the field is locked.
    fn open(&self, name: &str, label: &str, value: &str, field: impl FnOnce(&Self) -> Markup) -> Markup {
        match self.asset.locks.get(name) {
            Some(source) => {
                self.context.inputs.add_label(name, label);
                read_only(name, label, value, lock_reason(*source))
            }
            None => field(self),
        }
    }

    fn select(&self, name: &str, label: &str, choices: Vec<(&'static str, String)>, chosen: &str) -> Markup {
        let value = choices.iter().find(|(value, _)| *value == chosen).map(|(_, text)| text.clone());
        self.open(name, label, &value.unwrap_or_default(), |form| {
            fields::marked_select(&form.context.inputs, name, (label, form.needs(name)), choices, chosen)
        })
    }
}

/// Shows the value of a field that cannot be changed here. The problem with it, if there is one, is linked by its ID.
fn read_only(name: &str, label: &str, value: &str, reason: &str) -> Markup {
    html! {
        div.field id=(name) {
            b { (label) }
            p.long { @if value.is_empty() { (text::MISSING) } @else { bdi { (value) } } }
            p.note { (reason) }
        }
    }
}

fn domains(form: &Form, found: &EditableAsset) -> Markup {
    let asset = &found.asset;
    let is_chosen = |slug: &str| asset.domain_tags.iter().any(|tag| tag == slug);
    let chosen: Vec<&str> = found
        .domains
        .iter()
        .filter(|domain| is_chosen(&domain.slug))
        .map(|domain| domain.label.as_str())
        .collect();
    let boxes = |form: &Form| {
        let values = found.domains.iter().map(|domain| (domain.slug.as_str(), domain.label.clone()));
        fields::required_checkboxes(&form.context.inputs, "domain_tags", "Domains", values, is_chosen)
    };
    let words = Field::text("other_domain", "Domain in words")
        .hint(html! { "If the domains above do not have it, and you chose the other one." })
        .at_most(200);
    html! {
        (form.open("domain_tags", "Domains", &chosen.join(", "), boxes))
        @if asset.kind != Kind::Codebase {
            (form.field("other_domain", asset.other_domain.as_deref().unwrap_or_default(), words))
        }
    }
}

fn codebase(form: &Form, is_sold: bool) -> Markup {
    let codebase = &form.asset.codebase;
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    let day = |day: Option<crate::domain::time::Day>| day.map(|day| day.to_string()).unwrap_or_default();
    let numbers = [
        ("lines_of_code", "Lines of code", codebase.lines_of_code),
        ("commits", "Commits on the main branch", codebase.commits),
        ("contributors", "Contributors", codebase.contributors),
        ("merged_prs", "Merged pull requests", codebase.merged_prs),
    ];
    let mut choices = vec![("", "Not stated".to_owned())];
    choices.extend(text::choices(exclusivity));
    let ci = [("", "Not known"), ("yes", "Yes"), ("no", "No")];
    let ci = ci.into_iter().map(|(value, text)| (value, text.to_owned())).collect();
    let runs_ci = codebase.ci_on_prs.map_or("", |runs| if runs { "yes" } else { "no" });
    html! {
        @if is_sold { (read_only("exclusivity", "Exclusive sale", "Cannot be sold exclusively", "It was sold exclusively, so this stays.")) }
        @else { (form.select("exclusivity", "Exclusive sale", choices, codebase.exclusivity.map_or("", Exclusivity::as_str))) }
        @for (name, label, value) in numbers { (form.field(name, &number(value), Field::integer(name, label))) }
        div.row.even {
            (form.field("history_start", &day(codebase.history_start), Field::day("history_start", "First commit")))
            (form.field("history_end", &day(codebase.history_end), Field::day("history_end", "Last commit")))
        }
        (form.select("ci_on_prs", "Does continuous integration run on pull requests?", ci, runs_ci))
    }
}

fn subject(form: &Form) -> Markup {
    let choices = text::choices(task_type);
    let chosen = form.asset.task.as_ref().map_or("", |task| task.task_type.as_str());
    form.select("task_type", "Subject", choices, chosen)
}

fn own_columns(form: &Form) -> Markup {
    let hint = html! { "One on each line: a name, a colon, and a value, for example Ticket: AB-12. They can be left out." };
    let label = "Your own columns";
    match columns::to_lines(&form.asset.extra_columns) {
        Some(lines) => form.field("extra_columns", &lines, Field::lines("extra_columns", label).hint(hint)),
        None => {
            let value: Vec<String> = form.asset.extra_columns.keys().cloned().collect();
            read_only(
                "extra_columns",
                label,
                &value.join(", "),
                "Their values can be changed through the API only.",
            )
        }
    }
}
