//! The bids on listings of the team: the list, one of them, and the questions before one is accepted or declined. They never say
//! who bids.

use super::{file_time, hold_text};
use crate::{
    console::{
        pages::bids::{badge, word},
        parts::about,
        prelude::*,
    },
    domain::{
        listings::{Actor, CatalogStatus},
        offers::OfferStatus,
        purchases::Charges,
    },
    operations::{notifications, offers, proposed_sales, team_records},
    store::records::{Filters, pages::TeamPage, team_lists::offers::ReceivedOffer},
    string_enum::StringEnum,
};

/// The list.
pub struct ReceivedBids;

impl List for ReceivedBids {
    const PATH: &'static str = paths::OFFERS;
    const TITLE: &'static str = "Bids on your listings";
    const FILE_NAME: &'static str = "received-bids";
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::Selling, label: "Bids" });
    const BUDGET: Budget = Budget::Sales;

    type Access = Vendor;
    type Row = ReceivedOffer;

    fn columns() -> Vec<Column<ReceivedOffer>> {
        vec![
            Column::new(
                Head::text("Listing"),
                |context, row| {
                    html! { a.long href=(context.links.to(&path(row.id))) { bdi { (row.listing_title) } } }
                },
                |row| row.listing_title.clone(),
            ),
            Column::new(Head::text("Status"), |_, row| badge(row.status), |row| word(row.status).to_owned()),
            Column::money("Bid, USD", |row| row.amount),
            Column::new(
                Head::number("Listed price, USD"),
                |_, row| html! { (text::optional_money(row.listing_price)) },
                |row| row.listing_price.map(|price| price.to_string()).unwrap_or_default(),
            ),
            Column::day("Made", |row| row.created_at),
            Column::new(
                Head::number("Answer by"),
                |_, row| text::optional_day(row.expires_at),
                |row| file_time(row.expires_at),
            ),
        ]
    }

    fn filters() -> Vec<ListFilter> {
        let statuses =
            || OfferStatus::ALL.iter().map(|status| (status.as_str(), word(*status).to_owned())).collect();
        vec![
            ListFilter { name: "text", label: "Listing contains", values: Vec::new },
            ListFilter { name: "status", label: "Status", values: statuses },
        ]
    }

    fn load(reader: &Reader, vendor: &Vendor, asked: &Asked) -> Result<TeamPage<ReceivedOffer>> {
        let chosen = asked.filters.pairs();
        let filters = chosen.fold(Filters::default(), |filters, (name, value)| filters.with(name, value));
        team_records::page(reader, vendor, &filters, asked.page)
    }

    fn empty(context: &Context) -> Markup {
        let advice =
            "Buyers can bid on published listings that accept bids. You decide whether to accept one.";
        tables::empty("No bids yet", advice, Some(("Your listings", &context.links.to(paths::OWN_LISTINGS))))
    }
}

/// Returns the path of a bid.
pub fn path(id: Uuid) -> String {
    format!("{}/{id}", paths::OFFERS)
}

fn accept_path(id: Uuid) -> String {
    format!("{}/accept", path(id))
}

fn decline_path(id: Uuid) -> String {
    format!("{}/decline", path(id))
}

/// A bid, and what it would yield now.
struct Decision {
    bid: ReceivedOffer,
    charges: Charges,
    hold_days: u32,
}

impl Decision {
    fn read(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Decision> {
        let bid: ReceivedOffer = team_records::find(reader, vendor, id)?;
        let charges = proposed_sales::charges(reader.settings, bid.amount);
        Ok(Decision { bid, charges, hold_days: reader.settings.payouts.hold_days })
    }

    fn yields(&self) -> Markup {
        let Charges { price, platform_fee, .. } = self.charges;
        tables::sum(&[
            ("Bid", text::money(price)),
            ("Fee of the market", format!("−{}", text::money(platform_fee))),
            ("You earn, USD", text::money(self.charges.proceeds())),
        ])
    }
}

/// A bid.
pub struct ReceivedBid;

impl Page for ReceivedBid {
    const PATH: &'static str = "/selling/bids/{bid_id}";
    const TITLE: &'static str = "Bid on a listing";
    const BUDGET: Budget = Budget::Sales;

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, vendor: &Vendor| {
            let decision = Decision::read(reader, vendor, id)?;
            Ok((decision, notifications::list_about(reader, vendor, &[id], about::LIMIT)?))
        };
        let (decision, notifications) = visit.read(read).await?;
        let bid = &decision.bid;
        let is_open = bid.status == OfferStatus::Submitted;
        let body = html! {
            (state(&visit.context, bid))
            div.two {
                (facts(&visit.context, bid))
                @if is_open {
                    section.stack aria-labelledby="yields" { h2 #yields { "What it yields" } (decision.yields()) }
                }
            }
            (about::section(&visit.context, &notifications))
        };
        let content = Content::new(format!("Bid of {}", text::money(bid.amount)), body)
            .with_note(html! { bdi.long { (bid.listing_title) } })
            .below("Bids", paths::OFFERS)
            .narrow();
        if !is_open {
            return Ok(content.into());
        }
        let actions = html! {
            a.button href=(visit.links.to(&decline_path(id))) { "Decline…" }
            a.button.primary href=(visit.links.to(&accept_path(id))) { "Accept…" }
        };
        Ok(content.with_actions(actions).into())
    }
}

/// Returns what the state of a bid means.
fn state(context: &Context, bid: &ReceivedOffer) -> Markup {
    match bid.status {
        OfferStatus::Submitted if bid.listing_status != CatalogStatus::Published => badges::message(
            Tone::Warning,
            &html! { "The listing is not in the catalog, so you cannot accept this bid. Publish the listing again first." },
        ),
        OfferStatus::Submitted => badges::message(
            Tone::Waiting,
            &html! {
                "It waits for your answer."
                @if let Some(until) = bid.expires_at { " It expires " (text::moment(until)) "." }
            },
        ),
        OfferStatus::Accepted => badges::message(
            Tone::Good,
            &html! {
                "You accepted this bid. "
                @if let Some(sale) = bid.sale { a href=(context.links.to(&super::sales::path(sale))) { "Open the sale" } }
                @else { "The sale appears here when the market has the payment." }
            },
        ),
        OfferStatus::Declined => badges::message(Tone::Neutral, &html! { "This bid was declined." }),
        OfferStatus::Withdrawn => badges::message(Tone::Neutral, &html! { "The bid was withdrawn." }),
        OfferStatus::Expired => {
            badges::message(Tone::Neutral, &html! { "This bid expired before you answered it." })
        }
    }
}

fn facts(context: &Context, bid: &ReceivedOffer) -> Markup {
    let mut facts = vec![
        ("Status", badge(bid.status)),
        ("Bid", html! { (text::money(bid.amount)) ", before fees" }),
        ("Listed price", html! { (text::optional_money(bid.listing_price)) }),
        (
            "Listing",
            html! { a.long href=(context.links.to(&paths::own_listing(bid.listing))) { bdi { (bid.listing_title) } } },
        ),
        ("Made", text::moment(bid.created_at)),
    ];
    if bid.updated_at != bid.created_at && bid.status == OfferStatus::Submitted {
        facts.push(("Changed", text::moment(bid.updated_at)));
    }
    facts.extend(bid.expires_at.map(|time| ("Answer by", text::moment(time))));
    facts.extend(bid.decided_at.map(|time| (word(bid.status), text::moment(time))));
    facts.push(("ID", html! { span.mono.long { (bid.id) } }));
    html! { div.stack { (tables::facts(&facts)) p.note { "The market does not say who bids." } } }
}

/// The question before a bid is accepted.
pub struct AcceptBid;

impl Page for AcceptBid {
    const PATH: &'static str = "/selling/bids/{bid_id}/accept";
    const TITLE: &'static str = "Accept a bid";
    const BUDGET: Budget = Budget::Sales;

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let decision = visit.read(move |reader, vendor| Decision::read(reader, vendor, id)).await?;
        let bid = &decision.bid;
        let amount = text::money(bid.amount);
        let (label, keep) = (format!("Accept the bid of {amount}"), path(id));
        let lost = html! {
            p {
                "You sell " b.long { bdi { (bid.listing_title) } } " for " (amount) ". You cannot take this back."
            }
            (decision.yields())
            p {
                "The sale is complete when the market has the payment. Your earnings are on hold for "
                (hold_text(decision.hold_days)) " after that."
            }
        };
        let body = html! {
            @if bid.status == OfferStatus::Submitted { (fields::question(visit, &lost, ("primary", &label), &keep)) }
            @else { (decided(visit, bid)) }
        };
        Ok(question(format!("Accept the bid of {amount}?"), body, bid).into())
    }
}

impl FormPage for AcceptBid {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("accept_offer", "offer", id);
        let accepted = changes::perform(visit, fields, change, move |writer, vendor| {
            offers::accept(writer, vendor, Actor::Team, id).map(drop)
        });
        accepted.await?;
        Ok(Answer::done(&path(id), Notice::OfferAccepted))
    }
}

/// The question before a bid is declined.
pub struct DeclineBid;

impl Page for DeclineBid {
    const PATH: &'static str = "/selling/bids/{bid_id}/decline";
    const TITLE: &'static str = "Decline a bid";
    const BUDGET: Budget = Budget::Sales;

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let bid: ReceivedOffer =
            visit.read(move |reader, vendor| team_records::find(reader, vendor, id)).await?;
        let amount = text::money(bid.amount);
        let (label, keep) = (format!("Decline the bid of {amount}"), path(id));
        let lost = html! {
            p {
                "You can no longer accept this bid for " b.long { bdi { (bid.listing_title) } } ". The bidder is notified, and can \
                 make another one as long as the listing accepts bids."
            }
        };
        let body = html! {
            @if bid.status == OfferStatus::Submitted { (fields::question(visit, &lost, ("danger primary", &label), &keep)) }
            @else { (decided(visit, &bid)) }
        };
        Ok(question(format!("Decline the bid of {amount}?"), body, &bid).into())
    }
}

impl FormPage for DeclineBid {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("decline_offer", "offer", id);
        let declined = changes::perform(visit, fields, change, move |writer, vendor| {
            offers::decline(writer, vendor, Actor::Team, id)
        });
        declined.await?;
        Ok(Answer::done(&path(id), Notice::OfferDeclined))
    }
}

fn question(title: String, body: Markup, bid: &ReceivedOffer) -> Content {
    let amount = text::money(bid.amount);
    Content::new(title, body).below("Bids", paths::OFFERS).below(amount, path(bid.id)).narrow()
}

/// Says that a bid can no longer be answered.
fn decided(context: &Context, bid: &ReceivedOffer) -> Markup {
    html! {
        (fields::refusal(context))
        p { "This bid can no longer be answered. Its status: " (badge(bid.status)) }
        div.row { a.button href=(context.links.to(&path(bid.id))) { "Back to the bid" } }
    }
}
