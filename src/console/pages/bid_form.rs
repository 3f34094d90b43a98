//! The page on which a bid on a listing is made, or an open one is changed. The amount is in the address; bidding it
//! takes the terms that the page shows, which are named by their digest.

use super::deals::{self, PAY_WITH};
use crate::{
    console::prelude::*,
    domain::{offers::MAX_AMOUNT, purchases::PayWith},
    operations::{
        listing_deals::{self, ListingDeals, Offered},
        offers::OfferInput,
        quotes::{self, Quote},
    },
    store::{offers::SubmittedOffer, records::team_lists::offers::TeamOffer},
};

/// Field with the amount.
const AMOUNT: &str = "amount";

/// Field of the form that changes a bid: its ID.
const BID: &str = "bid";

/// Returns the path of the page for this bid.
pub fn path_with(listing: Uuid, amount: Cents, pay_with: PayWith) -> String {
    format!("{}?{AMOUNT}={amount}&{PAY_WITH}={}", paths::make_bid(listing), pay_with.as_str())
}

/// The page.
pub struct BidForm;

impl Page<Buyer> for BidForm {
    const PATH: &'static str = "/listings/{listing_id}/bid";
    const TITLE: &'static str = "Make a bid";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let listing = visit.id(0)?;
        let from_query = Fields::of_query(&visit.query);
        let typed = visit.inputs.typed().unwrap_or(&from_query).clone();
        let asked = TypedBid::of(&typed);
        let facts = visit.read(move |reader, buyer| Facts::read(reader, buyer, listing, asked)).await?;
        let (facts, problem) = facts.without_problem();
        let refused = problem.map(|problem| Inputs::refused(typed, &problem));
        let is_sent = visit.inputs.problem(AMOUNT).is_some();
        let inputs = if is_sent { Some(&visit.inputs) } else { refused.as_ref() };
        Ok(content(visit, listing, &facts, inputs).into())
    }
}

impl FormPage<Buyer> for BidForm {
    async fn submit(visit: &Visit<Buyer>, fields: &Fields) -> Result<Answer> {
        let listing = visit.id(0)?;
        let (amount, pay_with) =
            (fields.required_amount_of_at_most(AMOUNT, MAX_AMOUNT)?, deals::pay_with(fields.get(PAY_WITH)));
        if let Some(page) = deals::updated(fields, &paths::make_bid(listing), &[AMOUNT, PAY_WITH]) {
            return Ok(page);
        }
        let digest = deals::signed_digest(fields)?;
        let (id, notice) = match fields.get(BID).and_then(|id| Uuid::try_parse(id).ok()) {
            Some(bid) => {
                let change = Change::new("change_offer", "offer", bid);
                let sent = fields.clone();
                let changed = changes::perform(visit, fields, change, move |writer, buyer| {
                    let open: TeamOffer = team_records::find(writer.rows, buyer, bid)?;
                    seen(open.amount, open.pay_with).check(&sent)?;
                    quotes::change_bid(writer, buyer, Actor::Team, bid, (amount, pay_with), &digest)
                });
                changed.await?;
                (bid, Notice::BidChanged)
            }
            None => {
                let change = Change::new("make_offer", "listing", listing);
                let made = changes::perform(visit, fields, change, move |writer, buyer| {
                    let input = OfferInput { listing, amount, pay_with };
                    quotes::bid(writer, buyer, Actor::Team, &input, &digest)
                });
                (made.await?, Notice::BidMade)
            }
        };
        Ok(Answer::done(&paths::bid(id), notice))
    }
}

/// Identifies the open bid that the page shows.
fn seen(amount: Cents, pay_with: PayWith) -> Seen {
    Seen::of(&(amount, pay_with))
}

/// The typed values: an amount, if there is one, and a way of payment.
struct TypedBid {
    amount: Option<Result<Cents>>,
    pay_with: PayWith,
}

impl TypedBid {
    fn of(fields: &Fields) -> TypedBid {
        TypedBid {
            amount: fields.amount_of_at_most(AMOUNT, MAX_AMOUNT).transpose(),
            pay_with: deals::pay_with(fields.get(PAY_WITH)),
        }
    }
}

/// What the page shows.
struct Facts {
    deals: ListingDeals,
    /// What the form of the amount shows.
    amount: Option<Cents>,
    pay_with: PayWith,
    /// The quote of the amount, or why it was refused; `None` until an amount is asked for.
    quote: Option<std::result::Result<Quote, Error>>,
}

impl Facts {
    fn read(reader: &Reader, buyer: &Buyer, listing: Uuid, asked: TypedBid) -> Result<Facts> {
        let deals = listing_deals::find(reader, buyer, listing)?;
        let bid = deals.bid;
        let quote = match asked.amount {
            Some(Ok(amount)) => Some(deals::or_refusal(match bid {
                Some(bid) => quotes::quote_change(reader, buyer, bid.id, amount, asked.pay_with),
                None => quotes::quote_bid(
                    reader,
                    buyer,
                    &OfferInput { listing, amount, pay_with: asked.pay_with },
                ),
            })?),
            Some(Err(error)) => Some(Err(error)),
            None => None,
        };
        let is_asked = quote.is_some();
        let typed = quote.as_ref().and_then(|quote| quote.as_ref().ok()).map(|quote| quote.price);
        Ok(Facts {
            amount: typed.or_else(|| bid.map(|bid| bid.amount)),
            pay_with: bid.filter(|_| !is_asked).map_or(asked.pay_with, |bid| bid.pay_with),
            deals,
            quote,
        })
    }

    /// Takes the problem with the amount out of the facts, which stands at its field.
    fn without_problem(self) -> (Facts, Option<Error>) {
        match self.quote {
            Some(Err(error @ Error::Invalid(_))) => (Facts { quote: None, ..self }, Some(error)),
            quote => (Facts { quote, ..self }, None),
        }
    }

    /// Returns why the team can neither bid nor change its open bid.
    fn refusal(&self) -> Option<String> {
        match (&self.quote, &self.deals.bid, &self.deals.bid_possible) {
            (Some(Err(refused)), ..) => Some(deals::reason(refused)),
            (_, None, Offered::Refused(reason)) => Some(deals::for_team(reason)),
            _ => None,
        }
    }
}

fn content(context: &Context, listing: Uuid, facts: &Facts, inputs: Option<&Inputs>) -> Content {
    let quote = facts.quote.as_ref().and_then(|quote| quote.as_ref().ok());
    let is_change = facts.deals.bid.is_some();
    let refusal = facts.refusal();
    // One form, so that the button at the end sends what is typed. The bid is always the one that the amounts are about.
    let form = html! {
        div.stack.wide {
            (listed(context, facts))
            (deals::without_data(&facts.deals))
            @if refusal.is_none() { (asking(context, facts, inputs)) }
            @if let Some(quote) = quote { (deals::terms(quote)) }
        }
        aside.panel aria-label="Amounts" {
            h2 { "Amounts" }
            @match (&refusal, quote) {
                (Some(reason), _) => (deals::refusal(context, &facts.deals, listing, reason)),
                (None, Some(quote)) => (bidding(context, listing, facts, quote)),
                (None, None) => p { "Enter an amount to see what you would pay, and the terms." },
            }
            a.button.quiet.full href=(context.links.to(&paths::listing(listing))) { "Back to the listing" }
            p.note { "A bid takes no money, and no credits are put aside. The vendor does not learn who bids." }
        }
    };
    let body = fields::form_with_class(context, &paths::make_bid(listing), "decide", &form);
    let title = if is_change { "Change your bid" } else { "Make a bid" };
    let content = Content { refusal: inputs.map(badges::refusal), ..Content::new(title, body) };
    content
        .with_note(html! { "Nothing is sent until you press the button at the end." })
        .with_parent("Catalog", paths::CATALOG)
        .with_parent(&facts.deals.title, paths::listing(listing))
        .narrow()
        .with_request("/v2/listings/browse/offers")
}

/// Returns what the listing costs, and the open bid.
fn listed(context: &Context, facts: &Facts) -> Markup {
    let price = match facts.deals.price {
        Some(price) => text::money(price),
        None => "None, the listing is sold by bids only".to_owned(),
    };
    let mut known = vec![
        ("Listing", html! { b.long { bdi { (facts.deals.title) } } }),
        ("Listed price", html! { (price) }),
    ];
    if let Some(bid) = &facts.deals.bid {
        known.push(("Your open bid", open_bid(context, bid)));
    }
    tables::facts(&known)
}

fn open_bid(context: &Context, bid: &SubmittedOffer) -> Markup {
    html! {
        a href=(context.links.to(&paths::bid(bid.id))) { (text::money(bid.amount)) }
        " · " (deals::payment(bid.pay_with))
        @if let Some(expires) = bid.expires_at { " · expires " (text::moment(expires)) }
    }
}

/// Returns what asks for the amount, and how it is paid.
fn asking(context: &Context, facts: &Facts, inputs: Option<&Inputs>) -> Markup {
    let fresh = Inputs::default();
    let inputs = inputs.unwrap_or(&fresh);
    let amount = facts.amount.map(|amount| amount.to_string()).unwrap_or_default();
    let hint = html! { "Before the buyer fee. The bid is for all assets." };
    let credits = facts.quote.as_ref().and_then(|quote| quote.as_ref().ok()).map(|quote| quote.credits);
    let when_paid =
        "If the vendor accepts, the purchase completes at once. With too few credits it waits for an invoice";
    html! {
        div.stack.wide {
            section.stack aria-labelledby="bid" {
                h2 #bid { "Your bid" }
                (Field::decimal(AMOUNT, "Amount, USD").hint(hint).value(amount).required().show(inputs))
            }
            section.stack aria-labelledby="pay" {
                h2 #pay { "How you pay if the vendor accepts" }
                (fields::choices(
                    inputs,
                    PAY_WITH,
                    "Payment",
                    &deals::payments(context, credits, when_paid),
                    facts.pay_with.as_str(),
                ))
            }
            div.row { (deals::update_button("Show amounts and terms", facts.quote.is_none())) }
        }
    }
}

/// Warns about a bid that is higher than the price of the listing.
fn above_the_price(context: &Context, listing: Uuid, deals: &ListingDeals, bid: Cents) -> Markup {
    html! { @if let Some(price) = deals.price.filter(|price| bid > *price) {
        (badges::warning(html! {
            b { "Your bid is above the price of " (text::money(price)) ". " }
            @if deals.whole.is_possible() {
                a href=(context.links.to(&paths::buy(listing))) { "You can buy the listing now for that price." }
            }
        }))
    } }
}

/// Returns the amounts of the bid, and the end of the form: the signature, and the button that sends it.
fn bidding(context: &Context, listing: Uuid, facts: &Facts, quote: &Quote) -> Markup {
    let bid = facts.deals.bid.as_ref();
    let days = u64::from(context.market().settings().offers.expire_days);
    let verb = match bid {
        Some(bid) if (bid.amount, bid.pay_with) == (quote.price, quote.pay_with) => "Confirm the bid of",
        Some(_) => "Change the bid to",
        None => "Bid",
    };
    html! {
        (deals::summary("All assets, if the vendor accepts", quote))
        (deals::amounts(context, quote))
        (above_the_price(context, listing, &facts.deals, quote.price))
        @if let Some(shortfall) = quote.shortfall {
            (badges::warning(html! {
                "Your team lacks " b { (text::money(shortfall)) } " now. If it still does when the vendor accepts, the purchase \
                 waits for the payment of an invoice. "
                a href=(context.links.to(paths::BUY_CREDITS)) { "Request credits" }
            }))
        }
        @match bid.and_then(|bid| bid.expires_at) {
            Some(expires) => p { "Your bid still expires " (text::moment(expires)) ", unless the vendor decides before." },
            None => p { "Your bid expires after " (text::counted(days, "day", "days")) ", unless the vendor decides before. \
                         Until then you can change or withdraw it." },
        }
        div.stack {
            @if let Some(bid) = bid {
                input type="hidden" name=(BID) value=(bid.id);
                (seen(bid.amount, bid.pay_with).asked())
            }
            (deals::signature(context, quote))
            button.primary.big.full { (verb) " " (text::money(quote.price)) }
        }
    }
}
