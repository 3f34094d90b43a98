//! The form of a listing.

use super::{field_names, sample, subject::Subject};
use crate::{
    console::{
        parts::{asset_prices, fees, listing_view, markdown},
        prelude::*,
    },
    domain::{
        listings::DeliveryMethod,
        money::MAX_AMOUNT,
        taxonomy::{InventoryTag, Label},
        texts,
        typed_numbers::parse_amount,
    },
    operations::{listing_edits, taxonomy},
    store::listings::ListingFields,
};

/// Field of the button that shows how the texts look, without saving them.
pub(super) const PREVIEW: &str = "preview";

/// Field with the revision of the listing that the form showed.
pub(super) const REVISION: &str = "revision";

/// The domains and tags of the market.
pub(super) struct Taxonomy {
    domains: Vec<Label>,
    tags: Vec<InventoryTag>,
}

impl Taxonomy {
    /// Reads the domains and tags.
    pub(super) fn read(reader: &Reader, vendor: &Vendor) -> Result<Taxonomy> {
        let team = vendor.authenticated().ok_or_else(|| Error::internal("a visit without a key"))?;
        Ok(Taxonomy {
            domains: taxonomy::domains(reader, team)?,
            tags: taxonomy::inventory_tags(reader, team)?,
        })
    }

    /// Returns the slugs that are domains of listings.
    pub(super) fn known_domains(&self, slugs: &[String]) -> Vec<String> {
        let is_known = |slug: &&String| self.domains.iter().any(|domain| domain.slug == **slug);
        slugs.iter().filter(is_known).cloned().collect()
    }
}

/// Shows the form, and below it how the texts look if that is asked for.
pub(super) fn form(context: &Context, inputs: &Inputs, subject: &Subject<'_>, taxonomy: &Taxonomy) -> Markup {
    let leave = subject
        .edited
        .map_or_else(|| paths::OWN_LISTINGS.to_owned(), |edited| paths::own_listing(edited.listing.id));
    let current = subject.edited.map(|edited| listing_edits::revision(&edited.fields));
    let of_all = subject.edited.and_then(|edited| edited.price_of_all);
    let preview = format!("{}#preview", context.links.to(&context.path));
    let content = html! {
        @if let Some(asset) = subject.asset {
            input type="hidden" name=(paths::LISTED_ASSET) value=(asset.id);
            p { "The listing gets the asset " b.long { bdi { (sample::title(asset)) } } ". You can attach others after saving." }
        }
        @if let Some(current) = &current { input type="hidden" name=(REVISION) value=(current); }
        (tables::section("texts", "Text", &html! { @match subject.locked {
            Some(reason) => { (locked_texts(context, subject, reason)) (kept_texts(inputs)) }
            None => (text_fields(inputs, subject.fields, taxonomy)),
        } }))
        (tables::section("prices", "Price", &price_fields(context, inputs, subject.fields, of_all)))
        (tables::section("conditions", "Terms and delivery", &term_fields(inputs, subject.fields)))
        (tables::section("sample-section", "Sample", &sample_fields(context, inputs, subject)))
        div.row {
            button.primary { "Save" }
            button name=(PREVIEW) value="yes" formnovalidate formaction=(preview) { "Preview the text" }
            a.button.quiet href=(context.links.to(&leave)) { "Leave without saving" }
        }
    };
    html! {
        @if let (Some(current), Some(edited)) = (&current, subject.edited) {
            (changed_meanwhile(inputs, current, &edited.fields))
        }
        (fields::form_with_class(context, &context.path, "stack wide", &content))
        @if inputs.typed().is_some_and(|typed| typed.is_checked(PREVIEW)) { (preview_of(inputs, subject)) }
    }
}

fn locked_texts(context: &Context, subject: &Subject<'_>, reason: &str) -> Markup {
    html! {
        p { (reason) }
        (tables::facts(&[("Title", html! { bdi.long { (subject.fields.title) } })]))
        @if let Some(edited) = subject.edited {
            p.row {
                a href=(context.links.to(&paths::own_listing(edited.listing.id))) { "Go to the listing to take it out of the catalog" }
                a href=(context.links.to(&paths::preview_listing(edited.listing.id))) { "Read the texts" }
            }
        }
    }
}

/// Shows texts that were typed while they could be changed, which the form has no fields for any longer.
pub(super) fn kept_texts(inputs: &Inputs) -> Markup {
    let texts = [("Title", "title"), ("Description", "description"), ("Terms", "terms")];
    let typed = inputs.typed().filter(|typed| typed.is_checked(field_names::HAS_TEXTS));
    let kept: Vec<(&str, &str)> = typed
        .into_iter()
        .flat_map(|typed| texts.iter().filter_map(|(label, name)| Some((*label, typed.get(name)?))))
        .collect();
    html! { @if !kept.is_empty() {
        h3 { "What you typed" }
        p.note { "It is not saved. Copy it from here." }
        @for (label, text) in kept { label { (label) textarea readonly { "\n" (text) } } }
    } }
}

fn text_fields(inputs: &Inputs, fields: &ListingFields, taxonomy: &Taxonomy) -> Markup {
    let title = Field::text("title", "Title")
        .hint(html! { "Buyers see this line in search." })
        .value(&fields.title)
        .required()
        .at_most(texts::TITLE.max);
    let description = Field::lines("description", "Description")
        .hint(html! { "Say what it is, where it comes from, and what is missing. Markdown works: see it with “Preview the text” below." })
        .value(&fields.description);
    let domains = taxonomy.domains.iter().map(|domain| (domain.slug.as_str(), domain.label.clone()));
    let is_known = |slug: &&String| taxonomy.domains.iter().any(|domain| domain.slug == **slug);
    let others = fields.domain_tags.iter().filter(|slug| !is_known(slug));
    let domains: Vec<(&str, String)> =
        domains.chain(others.map(|slug| (slug.as_str(), text::words(slug)))).collect();
    html! {
        input type="hidden" name=(field_names::HAS_TEXTS) value="yes";
        (title.show(inputs)) (description.show(inputs))
        (fields::checkboxes(inputs, "domain_tags", "Domains", domains, |slug| fields.domain_tags.iter().any(|tag| tag == slug)))
        (tag_boxes(inputs, fields, taxonomy))
    }
}

/// Shows the inventory tags by category. Categories with a choice are open.
fn tag_boxes(inputs: &Inputs, fields: &ListingFields, taxonomy: &Taxonomy) -> Markup {
    let mut categories: Vec<&str> = Vec::new();
    for tag in &taxonomy.tags {
        if !categories.contains(&tag.category.as_str()) {
            categories.push(&tag.category);
        }
    }
    let is_chosen =
        |tag: &InventoryTag| inputs.is_chosen("tag_slugs", &tag.slug, fields.tag_slugs.contains(&tag.slug));
    let unknown: Vec<&String> =
        fields.tag_slugs.iter().filter(|slug| taxonomy.tags.iter().all(|tag| tag.slug != **slug)).collect();
    inputs.add_label("tag_slugs", "Tags");
    let problem = inputs.problem("tag_slugs");
    html! {
        fieldset.stack.tight #tag_slugs aria-describedby=[problem.as_ref().map(|_| "tag_slugs-p")] {
            legend { b { "Tags" } }
            @if let Some(problem) = problem { p.problem #tag_slugs-p { (icons::icon("bad")) span { (problem) } } }
            @for slug in unknown {
                label.tick {
                    input type="checkbox" name="tag_slugs" value=(slug) checked[inputs.is_chosen("tag_slugs", slug, true)];
                    span { (text::words(slug)) }
                }
            }
            @for category in categories {
                @let tags: Vec<&InventoryTag> = taxonomy.tags.iter().filter(|tag| tag.category == category).collect();
                @let chosen = tags.iter().filter(|tag| is_chosen(tag)).count();
                details open[chosen > 0] {
                    summary { (text::words(category)) @if chosen > 0 { " " span.note { (chosen) " chosen" } } }
                    div.stack.tight { @for tag in tags {
                        label.tick {
                            input type="checkbox" name="tag_slugs" value=(tag.slug) checked[is_chosen(tag)];
                            span { (tag.label) @if !tag.description.is_empty() { br; span.note { (tag.description) } } }
                        }
                    } }
                }
            }
        }
    }
}

/// Returns the typed or the stored price.
fn typed_amount(inputs: &Inputs, name: &str, stored: Option<Cents>) -> Option<Cents> {
    parse_amount(inputs.value(name, &text::plain_amount(stored)))
}

/// Shows what the vendor earns at the typed or the stored price.
fn earned(context: &Context, inputs: &Inputs, name: &str, stored: Option<Cents>) -> Markup {
    html! { p.note { @match typed_amount(inputs, name, stored).filter(|price| (Cents(1)..=MAX_AMOUNT).contains(price)) {
        Some(price) => (fees::sentence(context, price)),
        None => { "The market keeps " (fees::share(context)) " of each price as its fee. You earn the rest." }
    } } }
}

/// Shows the fields of the price. `of_all` is what all assets cost if a buyer selects them one by one.
fn price_fields(context: &Context, inputs: &Inputs, fields: &ListingFields, of_all: Option<Cents>) -> Markup {
    let price = Field::decimal("price", "Buy-now price, USD")
        .hint(html! { "For example 27000. A listing needs one to be submitted." })
        .value(text::plain_amount(fields.price));
    html! {
        (price.show(inputs))
        (earned(context, inputs, "price", fields.price))
        p.note {
            "Buyers can also buy single assets at the asking prices of these assets, unless you sell the listing exclusively. They \
             never pay more than the price of the listing."
        }
        (asset_prices::remarks(
            of_all,
            typed_amount(inputs, "sample_price", fields.sample_price),
            typed_amount(inputs, "price", fields.price),
        ))
        (option(inputs, "accepts_bids", ("Accept bids", "You never see who bids. Each bid waits for your decision."), fields.accepts_bids))
        (option(
            inputs,
            "exclusive",
            ("Sell it exclusively", "It is sold once, to one team. All of its assets must be codebases that were not sold before."),
            fields.is_exclusive,
        ))
    }
}

/// Returns a checkbox that need not be checked, with a note.
fn option(inputs: &Inputs, name: &str, (label, note): (&str, &str), is_checked: bool) -> Markup {
    html! {
        label.tick {
            input type="checkbox" id=(name) name=(name) value="yes" checked[inputs.is_chosen(name, "yes", is_checked)];
            span { (label) br; span.note { (note) } }
        }
    }
}

fn term_fields(inputs: &Inputs, fields: &ListingFields) -> Markup {
    let terms = Field::lines("terms", "Terms")
        .hint(html! { "Say what a buyer may do, and for how long. Every buyer signs this text. Markdown works." })
        .value(&fields.terms);
    let methods = text::choices(method_word);
    let methods = [("", "Not stated".to_owned())].into_iter().chain(methods);
    let (method, days) = fields.delivery.unzip();
    let days = days.map_or_else(|| "0".to_owned(), |days| days.to_string());
    let from = fields.available_from.map(|at| at.day().to_string()).unwrap_or_default();
    html! {
        (terms.show(inputs))
        div.two {
            (fields::select(inputs, "delivery_method", "Delivery", methods, method.map_or("", DeliveryMethod::as_str)))
            (Field::integer("delivery_days", "Days until delivery")
                .hint(html! { "Needed if you state how you deliver. 0 means at once." })
                .value(days)
                .show(inputs))
            (Field::day("available_from", "Available from")
                .hint(html! { "Leave it empty if you can deliver now." })
                .value(from)
                .show(inputs))
        }
    }
}

const fn method_word(method: DeliveryMethod) -> &'static str {
    match method {
        DeliveryMethod::Download => "Download",
        DeliveryMethod::RepositoryTransfer => "Repository transfer",
        DeliveryMethod::BucketCopy => "Copy to the buyer's bucket",
        DeliveryMethod::PlatformAccess => "Access to the market's task tools",
    }
}

fn sample_fields(context: &Context, inputs: &Inputs, subject: &Subject<'_>) -> Markup {
    let price = Field::decimal("sample_price", "Sample price, USD")
        .hint(html! { "Leave it empty to offer no sample, or enter 0 for a free one." })
        .value(text::plain_amount(subject.fields.sample_price));
    let is_offered =
        !inputs.value("sample_price", &text::plain_amount(subject.fields.sample_price)).is_empty();
    html! {
        (price.show(inputs))
        @if is_offered { (earned(context, inputs, "sample_price", subject.fields.sample_price)) }
        (sample::section(context, inputs, subject, is_offered))
    }
}

/// Shows what somebody else changed since the form was shown; nothing if nobody did.
fn changed_meanwhile(inputs: &Inputs, current: &str, stored: &ListingFields) -> Markup {
    let Some(typed) = inputs.typed().filter(|typed| typed.get(REVISION) != Some(current)) else {
        return Markup::default();
    };
    let is_other = |name: &str, stored: &str| typed.get(name).unwrap_or_default() != as_typed(stored);
    let has_texts = typed.is_checked(field_names::HAS_TEXTS);
    let texts = [("title", "Title", &stored.title), ("description", "Description", &stored.description)];
    let terms = [("terms", "Terms", &stored.terms)];
    let others: Vec<(&str, &String)> = texts
        .into_iter()
        .filter(|_| has_texts)
        .chain(terms)
        .filter(|(name, _, stored)| is_other(name, stored))
        .map(|(_, label, stored)| (label, stored))
        .collect();
    let delivery =
        stored.delivery.map(|(method, expected_days)| listing_view::Delivery { method, expected_days });
    let delivery = delivery.map_or_else(|| "Not stated".to_owned(), listing_view::Delivery::text);
    let yes_or_no = |is_so: bool| html! { @if is_so { "yes" } @else { "no" } };
    badges::warning(html! {
        p { b { "This listing was changed after you opened it." } }
        p { "The form below keeps what you typed. Saving it again replaces what the listing says now:" }
        (tables::facts(&[
            ("Price", html! { (text::optional_money(stored.price)) }),
            ("Sample", html! { (listing_view::sample_price_text(stored.sample_price)) }),
            ("Bids accepted", yes_or_no(stored.accepts_bids)),
            ("Exclusive sale", yes_or_no(stored.is_exclusive)),
            ("Delivery", html! { (delivery) }),
        ]))
        @for (label, stored) in others {
            details { summary { (label) " now" } p.long { bdi { @if stored.is_empty() { "Nothing" } @else { (stored) } } } }
        }
    })
}

/// Shows how the texts look that were typed, which are not saved.
fn preview_of(inputs: &Inputs, subject: &Subject<'_>) -> Markup {
    let fields = subject.fields;
    let texts = match subject.locked {
        Some(_) => (fields.title.as_str(), fields.description.as_str()),
        None => (inputs.value("title", ""), inputs.value("description", "")),
    };
    let terms = inputs.value("terms", "");
    let max = texts::DESCRIPTION.max;
    let prose = |words: &str| {
        html! { div.prose.long {
            @if is_blank(words) { p.note { "You wrote nothing here." } }
            @else if words.chars().nth(max).is_some() { p.note { "This text is too long: at most " (text::grouped(max as u64)) " characters." } }
            @else { (markdown::render(words)) }
        } }
    };
    tables::section(
        "preview",
        "Preview",
        &html! {
            p.note { "This is how buyers see what you typed. It is not saved yet." }
            h3 { @if is_blank(texts.0) { "Without a title" } @else { bdi.long { (texts.0) } } }
            (prose(texts.1))
            h3 { "Terms" }
            (prose(terms))
        },
    )
}
