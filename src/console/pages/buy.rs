//! The page on which a listing, its sample, or some of its assets are bought. The address contains the selection.
//! The form names the terms that the page shows by their digest.

use super::deals::{self, PAY_WITH};
use crate::{
    console::{
        parts::{evidence, fields::Choice, samples as samples_shown},
        prelude::*,
    },
    domain::purchases::{MAX_SELECTED_ASSETS, PayWith, PurchaseStatus, ScopeMode},
    error::Problem,
    operations::{
        listing_deals::{self, ListingDeals, Offered},
        quotes::{self, Part, Quote, Wanted},
        samples::{self, SampleContent},
        selections,
    },
    store::listing_assets::SelectableAsset,
};

/// Field with what is bought.
const SCOPE: &str = "scope";

/// Field with the IDs of selected assets.
const ASSET: &str = "asset";

/// The page.
pub struct Buy;

impl Page<Buyer> for Buy {
    const PATH: &'static str = "/listings/{listing_id}/buy";
    const TITLE: &'static str = "Check and buy";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let listing = visit.id(0)?;
        let from_query = Fields::of_query(&visit.query);
        let chosen = Chosen::of(visit.inputs.typed().unwrap_or(&from_query));
        let facts = visit.read(move |reader, buyer| Facts::read(reader, buyer, listing, chosen)).await?;
        Ok(content(visit, listing, &facts).into())
    }
}

impl FormPage<Buyer> for Buy {
    async fn submit(visit: &Visit<Buyer>, fields: &Fields) -> Result<Answer> {
        let listing = visit.id(0)?;
        if let Some(page) = deals::updated(fields, &paths::buy(listing), &[SCOPE, PAY_WITH, ASSET]) {
            return Ok(page);
        }
        let chosen = Chosen::of(fields);
        let wanted = chosen.wanted(chosen.scope.unwrap_or(ScopeMode::All))?;
        let digest = deals::signed_digest(fields)?;
        let change = Change::new("buy_listing", "listing", listing);
        let bought = changes::perform(visit, fields, change, move |writer, buyer| {
            let purchase = quotes::buy(writer, buyer, Actor::Team, listing, &wanted, &digest)?;
            Ok((purchase.id, purchase.status))
        });
        let (id, status): (Uuid, PurchaseStatus) = bought.await?;
        let notice = if status == PurchaseStatus::Pending { Notice::Ordered } else { Notice::Bought };
        Ok(Answer::done(&paths::purchase(id), notice))
    }
}

/// What is chosen on the page.
struct Chosen {
    scope: Option<ScopeMode>,
    pay_with: PayWith,
    assets: Vec<Uuid>,
}

impl Chosen {
    fn of(fields: &Fields) -> Chosen {
        Chosen {
            scope: fields.get(SCOPE).and_then(ScopeMode::parse),
            pay_with: deals::pay_with(fields.get(PAY_WITH)),
            assets: fields.all(ASSET).filter_map(|id| Uuid::try_parse(id).ok()).collect(),
        }
    }

    fn wanted(&self, scope: ScopeMode) -> Result<Wanted> {
        let part = match scope {
            ScopeMode::All => Part::Whole,
            ScopeMode::Sample => Part::Sample,
            ScopeMode::Selection => Part::Selection(self.selection()?),
        };
        Ok(Wanted { part, pay_with: self.pay_with })
    }

    fn selection(&self) -> Result<Vec<Uuid>> {
        let message = match self.assets.len() {
            0 => "Choose at least one asset, then update the amounts.".to_owned(),
            count if count > MAX_SELECTED_ASSETS => {
                format!("Choose at most {MAX_SELECTED_ASSETS} assets, or buy all of them.")
            }
            _ => return Ok(self.assets.clone()),
        };
        Err(Error::invalid(Problem::body(&[ASSET], "value_error", message)))
    }
}

/// What the page shows.
struct Facts {
    deals: ListingDeals,
    chosen: Chosen,
    scope: ScopeMode,
    selectable: Vec<SelectableAsset>,
    /// The content of the sample, if the sample is chosen.
    sample: Vec<SampleContent>,
    quote: std::result::Result<Quote, Error>,
}

impl Facts {
    fn read(reader: &Reader, buyer: &Buyer, listing: Uuid, chosen: Chosen) -> Result<Facts> {
        let deals = listing_deals::find(reader, buyer, listing)?;
        let scope = chosen.scope.unwrap_or_else(|| first_possible(&deals));
        let selects = scope == ScopeMode::Selection && deals.selection.is_possible();
        let selectable =
            if selects { selections::list_selectable(reader, buyer, listing)? } else { Vec::new() };
        let quote = match chosen.wanted(scope) {
            Ok(wanted) => deals::or_refusal(quotes::quote(reader, buyer, listing, &wanted))?,
            Err(error) => Err(error),
        };
        let buys_sample = scope == ScopeMode::Sample && deals.sample.is_possible();
        let sample = if buys_sample { samples::offered(reader, buyer, listing)? } else { Vec::new() };
        Ok(Facts { deals, chosen, scope, selectable, sample, quote })
    }

    /// Returns what can be bought: each part with its name.
    fn parts(&self) -> [(ScopeMode, &'static str, &Offered); 3] {
        [
            (ScopeMode::All, "All assets", &self.deals.whole),
            (ScopeMode::Sample, "The sample", &self.deals.sample),
            (ScopeMode::Selection, "Selected assets", &self.deals.selection),
        ]
    }
}

fn first_possible(deals: &ListingDeals) -> ScopeMode {
    let is_sample = !deals.whole.is_possible() && deals.sample.is_possible();
    if is_sample { ScopeMode::Sample } else { ScopeMode::All }
}

fn content(context: &Context, listing: Uuid, facts: &Facts) -> Content {
    let title = &facts.deals.title;
    // One form, so that the button at the end sends what is chosen. The purchase is always the one that the amounts are about.
    let form = html! {
        div.stack.wide {
            (choosing(context, facts))
            @if let Ok(quote) = &facts.quote { (deals::terms(quote)) }
        }
        aside.panel aria-label="Amounts" { (decision(context, listing, facts)) }
    };
    let body = fields::form_with_class(context, &paths::buy(listing), "decide", &form);
    Content::new("Check and buy", body)
        .with_note(html! { "Nothing is charged until you press the button at the end." })
        .with_parent("Catalog", paths::CATALOG)
        .with_parent(title, paths::listing(listing))
        .narrow()
        .with_request(format!("/v2/listings/browse/{listing}"))
}

/// Returns what chooses what is bought, and how it is paid.
fn choosing(context: &Context, facts: &Facts) -> Markup {
    let inputs = &context.inputs;
    // With one asset, there is nothing to choose. If the address of the page chooses it, the page still shows the choice.
    let is_offered = |scope| {
        scope != ScopeMode::Selection || facts.deals.has_choice || facts.scope == ScopeMode::Selection
    };
    let parts = facts.parts().into_iter().filter(|(scope, ..)| is_offered(*scope));
    let possible: Vec<Choice> = parts.filter_map(choice).collect();
    let credits = facts.quote.as_ref().ok().map(|quote| quote.credits);
    html! {
        section.stack aria-labelledby="what" {
            h2 #what { "What you buy" }
            p.long { b { bdi { (facts.deals.title) } } }
            (evidence(&facts.deals))
            @if facts.scope != ScopeMode::Sample { (deals::without_data(&facts.deals)) }
            @if facts.deals.is_exclusive && facts.scope != ScopeMode::Sample {
                p { "This is an exclusive sale: the listing then leaves the catalog, and its codebases are not sold again." }
            }
            @if facts.scope == ScopeMode::Selection {
                p { "Your team can buy assets of a listing once: what you leave out now cannot be added later." }
            }
            @if !facts.sample.is_empty() { p { "The sample has " b { (samples_shown::total(&facts.sample)) } "." } }
            (refused_parts(facts))
            @if facts.quote.is_ok() { ul.stack.tight { (deals::owned(context, &facts.deals)) } }
        }
        @if !possible.is_empty() {
            div.stack.wide {
                div data-apply { (fields::choices(inputs, SCOPE, "Scope", &possible, facts.scope.as_str())) }
                @if facts.scope == ScopeMode::Selection { (selection(context, facts)) }
                section.stack aria-labelledby="pay" {
                    h2 #pay { "How you pay" }
                    div data-apply {
                        (fields::choices(
                            inputs,
                            PAY_WITH,
                            "Payment",
                            &deals::payments(context, credits, "The purchase completes at once"),
                            facts.chosen.pay_with.as_str(),
                        ))
                    }
                }
                div.row {
                    (deals::update_button("Update amounts", false))
                    span.note { "The amounts and the terms follow what you choose." }
                }
            }
        }
    }
}

/// Shows the findings of the market, since nobody should sign without knowing them.
fn evidence(deals: &ListingDeals) -> Markup {
    let (passed, required) = evidence::required(&deals.checks);
    html! {
        p.row {
            @match deals.certified_at {
                Some(at) => { (badges::certified("Certified by the market")) span.note { (text::day(at)) } }
                None => (badges::badge(Tone::Neutral, "Not certified by the market"))
            }
            @if passed < required {
                (badges::badge(Tone::Warning, &evidence::not_passed_text(passed, required)))
            } @else if required > 0 { span.note { (evidence::required_text(passed, required)) } }
        }
    }
}

fn choice((scope, name, offered): (ScopeMode, &str, &Offered)) -> Option<Choice> {
    let Offered::Now(price) = offered else { return None };
    let note = match scope {
        ScopeMode::All => "Everything in the listing",
        ScopeMode::Sample => "A small part, to look at before you buy the rest",
        ScopeMode::Selection => "Choose below which ones; they cost at most what all assets cost",
    };
    Some(Choice {
        value: scope.as_str().to_owned(),
        text: name.to_owned(),
        note: note.to_owned(),
        amount: price.map(text::money),
    })
}

/// Returns why the other parts cannot be bought, unless this reason is already shown beside the amounts.
fn refused_parts(facts: &Facts) -> Markup {
    let shown = facts.quote.as_ref().err().map(deals::reason);
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (_, name, offered) in facts.parts() {
        let Offered::Refused(reason) = offered else { continue };
        let reason = deals::for_team(reason);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    html! {
        @for (reason, names) in &reasons { @if shown.as_ref() != Some(reason) {
            p.note { (names.join(", ")) ": " (reason) }
        } }
    }
}

fn selection(context: &Context, facts: &Facts) -> Markup {
    let assets = &facts.selectable;
    let values = assets.iter().map(|asset| {
        let (kind, _) = kinds::words(asset.kind);
        let note = if asset.has_data { "" } else { ", description only" };
        (asset.id, format!("{}, {kind}, {}{note}", asset.title, text::money(asset.price)))
    });
    let is_checked = |id: &str| facts.chosen.assets.iter().any(|asset| asset.to_string() == id);
    if assets.is_empty() {
        return html! { p { "No asset of this listing has a price of its own, so they are only sold together." } };
    }
    html! {
        (fields::required_checkboxes(&context.inputs, ASSET, "Assets", values, is_checked))
        p.note {
            "Assets without a price of their own are only sold with all the others."
            @if assets.len() >= MAX_SELECTED_ASSETS { " These are the first " (assets.len()) "." }
        }
    }
}

/// Returns the amounts with the button that buys, or why it cannot be bought and what helps.
fn decision(context: &Context, listing: Uuid, facts: &Facts) -> Markup {
    let back = html! { a.button.quiet.full href=(context.links.to(&paths::listing(listing))) { "Back to the listing" } };
    let quote = match &facts.quote {
        Ok(quote) => quote,
        Err(refused) => {
            return html! {
                h2 { "Amounts" }
                @if matches!(refused, Error::Invalid(_)) { (badges::neutral(html! { (deals::reason(refused)) })) }
                @else { (deals::refusal(context, &facts.deals, listing, &deals::reason(refused))) }
                (back)
            };
        }
    };
    html! {
        h2 { "Amounts" }
        (deals::summary(&bought(quote), quote))
        (deals::amounts(context, quote))
        @match quote.shortfall {
            Some(shortfall) => {
                button.primary.big.full type="button" aria-disabled="true" { (act(quote)) }
                (badges::warning(html! {
                    "Your team lacks " b { (text::money(shortfall)) } ". Request credits and come back, or pay with an invoice."
                }))
                a.button.full href=(context.links.to(paths::BUY_CREDITS)) { "Request credits" }
            }
            None => (buying(context, quote)),
        }
        (back)
        p.note { "Pressing twice buys once. A refund is the market's decision and ends your right to use the data." }
    }
}

fn bought(quote: &Quote) -> String {
    match quote.scope {
        ScopeMode::All => format!("All assets, {}", text::grouped(quote.asset_count)),
        ScopeMode::Sample => "The sample".to_owned(),
        ScopeMode::Selection => text::counted(quote.asset_count, "selected asset", "selected assets"),
    }
}

/// Returns what the button does.
fn act(quote: &Quote) -> String {
    match (quote.scope, quote.total) {
        (ScopeMode::Sample, Cents(0)) => "Get the free sample".to_owned(),
        (_, total) if quote.completes_at_once => format!("Buy for {}", text::money(total)),
        (_, total) => format!("Order for {}", text::money(total)),
    }
}

/// Returns the end of the form: the signature, and the button that buys.
fn buying(context: &Context, quote: &Quote) -> Markup {
    html! {
        div.stack {
            (deals::signature(context, quote))
            button.primary.big.full { (act(quote)) }
        }
        @if !quote.completes_at_once {
            div.stack.tight {
                p.note { "You have " (text::counted(u64::from(quote.pending_days), "day", "days")) " to pay this invoice:" }
                (deals::where_to_pay(context))
            }
        }
    }
}
