//! Common parts of the pages for purchases and bids: the quote with its amounts and terms, and words for payments.

use crate::{
    console::{
        parts::{
            fields::Choice,
            listing_view::{Delivery, description_only},
        },
        prelude::*,
        wording,
    },
    domain::purchases::{PayWith, PurchaseKind, PurchaseStatus, ScopeMode},
    operations::{
        listing_deals::{ListingDeals, MAX_FIRST_ASSETS},
        quotes::Quote,
    },
};

/// Field with the way of payment.
pub const PAY_WITH: &str = "pay_with";

/// Field of the form that signs: the digest of the quote that was shown.
pub const QUOTE: &str = "quote";

/// Field of the button that shows the amounts and the terms of the selection, and signs nothing.
const UPDATE: &str = "update";

/// Field of the form that signs: the checkbox.
const ACCEPT: &str = "accept";

/// Returns a quote, or why it was refused. Fails if it failed for another reason than a rule of the deal.
pub fn or_refusal(quote: Result<Quote>) -> Result<std::result::Result<Quote, Error>> {
    match quote {
        Ok(quote) => Ok(Ok(quote)),
        Err(error @ (Error::Conflict(_) | Error::InvalidState(..) | Error::Invalid(_))) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// Returns why a quote was refused, in a sentence.
pub fn reason(refused: &Error) -> String {
    match refused {
        Error::Invalid(problems) => {
            let problems: Vec<String> = problems.iter().map(|problem| problem.msg.clone()).collect();
            problems.join(" ")
        }
        other => for_team(&other.message()),
    }
}

/// Says that the team has the data of a listing, which a team buys once; `None` if it has not.
pub fn has_bought(deals: &ListingDeals) -> Option<&'static str> {
    let mut standing = deals.purchases.iter().filter(|purchase| purchase.status.is_in_effect());
    standing.find(|purchase| purchase.kind.is_of_data()).map(|purchase| {
        match (purchase.status, purchase.scope) {
            (PurchaseStatus::Pending, _) => "Your team has ordered this listing.",
            (_, ScopeMode::Selection) => "Your team has bought assets of this listing, which it can do once.",
            _ => "Your team has bought this listing.",
        }
    })
}

/// Returns a reason in words for the team.
pub fn for_team(reason: &str) -> String {
    wording::for_own_team(&wording::humanize(reason))
}

/// Returns the way of payment with this name.
pub fn pay_with(name: Option<&str>) -> PayWith {
    name.and_then(PayWith::parse).unwrap_or(PayWith::Credits)
}

/// Returns the word for a way of payment.
pub const fn payment(pay_with: PayWith) -> &'static str {
    match pay_with {
        PayWith::Credits => "Credits",
        PayWith::Invoice => "Invoice",
    }
}

/// Returns the words for a purchase and what it covers.
pub const fn kind(kind: PurchaseKind, scope: ScopeMode) -> &'static str {
    match kind {
        PurchaseKind::AcceptedBid => "Accepted bid, all assets",
        PurchaseKind::Sample => covered(ScopeMode::Sample),
        PurchaseKind::Full => covered(scope),
    }
}

/// Returns the words for the assets that a purchase covers.
pub const fn covered(scope: ScopeMode) -> &'static str {
    match scope {
        ScopeMode::All => "All assets",
        ScopeMode::Sample => "Sample",
        ScopeMode::Selection => "Selected assets",
    }
}

/// Returns the word for a kind of purchases.
pub const fn kind_word(kind: PurchaseKind) -> &'static str {
    match kind {
        PurchaseKind::Full => "Purchase",
        PurchaseKind::Sample => "Sample",
        PurchaseKind::AcceptedBid => "Accepted bid",
    }
}

/// Returns the kinds of purchases with their words, for a choice.
pub fn kinds() -> Vec<(&'static str, String)> {
    text::choices(kind_word)
}

/// Returns the choices of how to pay. `credits` is the team's balance, if it is known.
pub fn payments(context: &Context, credits: Option<Cents>, when_paid: &str) -> Vec<Choice> {
    let available =
        credits.map(|credits| format!("{} available. ", text::money(credits))).unwrap_or_default();
    let days = u64::from(context.market().settings().purchases.pending_days);
    let choice = |pay_with: PayWith, note: String| Choice {
        value: pay_with.as_str().to_owned(),
        text: payment(pay_with).to_owned(),
        note,
        amount: None,
    };
    vec![
        choice(PayWith::Credits, format!("{available}{when_paid}")),
        choice(
            PayWith::Invoice,
            format!(
                "You have {} to pay. The delivery starts when the market has your payment",
                text::counted(days, "day", "days")
            ),
        ),
    ]
}

/// Returns the amounts of a quote.
pub fn amounts(context: &Context, quote: &Quote) -> Markup {
    let percent = text::fee(context.market().settings().fees.buyer_percent);
    let credits = quote.pay_with == PayWith::Credits;
    html! {
        dl.facts.sum {
            dt { "Price" } dd { (text::money(quote.price)) }
            dt { "Buyer fee, " (percent) } dd { (text::money(quote.buyer_fee)) }
            dt.total { "Total, USD" } dd.total { (text::money(quote.total)) }
            @if credits {
                dt { "Credits now" } dd { (text::money(quote.credits)) }
                @match quote.credits_left {
                    Some(left) => { dt { "Credits after" } dd { (text::money(left)) } }
                    None => { dt { "You lack" } dd.bad { (text::optional_money(quote.shortfall)) } }
                }
            }
        }
    }
}

/// Says of how many assets of a listing the market has no data, and how the vendor delivers them; nothing if it has data of all.
pub fn without_data(deals: &ListingDeals) -> Markup {
    let (without, all) = (deals.without_data, deals.first_assets);
    let by_vendor = deals.delivery.map(Delivery::from).and_then(Delivery::by_vendor);
    html! { @if without > 0 {
        (badges::warning(html! {
            b { @if all == 1 { (description_only(None)) } @else {
                "Description only: the market has no data of " (text::grouped(without)) " of the "
                @if all >= u64::from(MAX_FIRST_ASSETS) { "first " }
                (text::grouped(all)) " assets."
            } }
            @if let Some(by_vendor) = by_vendor { " " (by_vendor) }
        }))
    } }
}

/// Returns the section with the terms that one signs.
pub fn terms(quote: &Quote) -> Markup {
    let note = "The market stores this text with its digest when the purchase is complete. You and the market can read it later; \
                it is never changed.";
    html! {
        section.stack aria-labelledby="terms" {
            h2 #terms { "What you sign" }
            div.panel { (agreement(&quote.terms)) p.note { (note) } }
        }
    }
}

/// Returns the text of an agreement, as it is.
pub fn agreement(text: &str) -> Markup {
    html! { pre.agreement dir="auto" { (text) } }
}

/// Returns the hidden field with the digest of a quote, and the checkbox that signs its terms. After a refusal, the terms may
/// have changed, so they have to be signed again.
pub fn signature(context: &Context, quote: &Quote) -> Markup {
    let unsigned = Inputs::default();
    let is_unsigned = context.inputs.problem(ACCEPT).is_some();
    let inputs = if is_unsigned { &context.inputs } else { &unsigned };
    let team = context.team().map_or("my team", |team| team.name.as_str());
    html! {
        input type="hidden" name=(QUOTE) value=(quote.digest);
        (fields::tick(inputs, ACCEPT, &html! { "I sign this agreement for " bdi { (team) } "." }))
    }
}

/// Returns the digest of the quote that a form signs. Fails if the box is not checked. A form without a quote has no checkbox,
/// and its digest matches no quote.
pub fn signed_digest(fields: &Fields) -> Result<String> {
    if fields.has(QUOTE) {
        fields.require(ACCEPT, "Check this box to sign the agreement.")?;
    }
    Ok(fields.get(QUOTE).unwrap_or_default().to_owned())
}

/// Returns the button that shows the amounts and the terms of the selection. Scripts press it when a choice changes.
pub fn update_button(label: &str, is_primary: bool) -> Markup {
    html! { button.primary[is_primary] name=(UPDATE) value="yes" formnovalidate data-update { (label) } }
}

/// Returns the page with the chosen values of these fields in its address, if the form was sent with that button.
pub fn updated(fields: &Fields, path: &str, names: &[&str]) -> Option<Answer> {
    fields.is_checked(UPDATE).then(|| {
        let chosen = fields.values().pairs().filter(|(name, _)| names.contains(name));
        let query = chosen.fold(Query::default(), |query, (name, value)| query.and(name, value));
        Answer::Redirect(query.at(path))
    })
}

/// Returns where to pay invoices.
pub fn where_to_pay(context: &Context) -> Markup {
    let settings = &context.market().settings().console;
    let lines: Vec<&str> = settings.invoice_text.trim().lines().collect();
    html! {
        @if lines.is_empty() {
            p {
                "The market tells you where to pay."
                @if !settings.contact.is_empty() { " " a href=(settings.contact) { "Contact the market" } "." }
            }
        } @else {
            p.long { @for (index, line) in lines.iter().enumerate() { @if index > 0 { br; } (line) } }
        }
    }
}

/// Returns links to the team's purchases of a listing that are in effect, and to its open bid.
pub fn owned(context: &Context, deals: &ListingDeals) -> Markup {
    let standing = deals.purchases.iter().filter(|purchase| purchase.status.is_in_effect());
    html! {
        @for purchase in standing {
            li { a href=(context.links.to(&paths::purchase(purchase.id))) {
                "Open your purchase: " (kind(purchase.kind, purchase.scope)) ", ordered " (text::day(purchase.created_at))
            } }
        }
        @if let Some(bid) = &deals.bid {
            li { a href=(context.links.to(&paths::bid(bid.id))) { "Open your bid of " (text::money(bid.amount)) } }
        }
    }
}

/// Returns why a deal is not possible, with a way out: the team's existing purchase or bid, or another way to buy.
pub fn refusal(context: &Context, deals: &ListingDeals, listing: Uuid, reason: &str) -> Markup {
    html! {
        (badges::warning(reason))
        ul.stack.tight {
            (owned(context, deals))
            @if deals.bid_possible.is_possible() {
                li { a href=(context.links.to(&paths::make_bid(listing))) { "Make a bid" } }
            }
            @if deals.whole.is_possible() || deals.sample.is_possible() {
                li { a href=(context.links.to(&paths::buy(listing))) { "See what you can buy of this listing" } }
            }
            li { a href=(context.links.to(paths::CATALOG)) { "Search the catalog" } }
        }
    }
}

/// Returns the purchased content and the way of payment, as short facts above the amounts.
pub fn summary(what: &str, quote: &Quote) -> Markup {
    tables::facts(&[
        ("You buy", html! { (what) }),
        ("From", html! { bdi.long { (quote.vendor) } }),
        ("You pay with", html! { (payment(quote.pay_with)) }),
    ])
}
