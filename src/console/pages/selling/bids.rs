//! The bids on listings of the team: the list, one of them, and the questions before one is accepted or declined. They never say
//! who bids.

use super::{hold_text, refund_rule};
use crate::{
    console::{
        pages::bids::{FILTERS, status_words},
        parts::fees,
        prelude::*,
        wording,
    },
    domain::{offers::OfferStatus, purchases::PurchaseStatus},
    operations::offers,
    store::records::team_lists::offers::ReceivedOffer,
};

/// The list.
pub struct ReceivedBids;

impl List<Vendor> for ReceivedBids {
    const PATH: &'static str = paths::OFFERS;
    const TITLE: &'static str = "Bids on your listings";
    const FILE_NAME: &'static str = "received-bids";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Bids"));
    const BUDGET: Budget = Budget::Sales;

    type Row = ReceivedOffer;

    fn columns() -> Vec<Column<ReceivedOffer>> {
        vec![
            Column::link("Listing", |row| path(row.id), |row| row.listing_title.clone()),
            Column::badge("Status", |row| status_words(row.status)),
            Column::money("Bid, USD", |row| row.amount),
            Column::optional_money("Listed price, USD", |row| row.listing_price),
            Column::day("Made", |row| row.created_at),
            Column::optional_day("Answer by", |row| row.expires_at),
            Column::ids_in_file(|row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = FILTERS;

    fn load(reader: &Reader, vendor: &Vendor, request: &ListRequest) -> Result<TeamPage<ReceivedOffer>> {
        team_records::page(reader, vendor, &request.record_filters(), request.page)
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

/// A bid.
pub struct ReceivedBid;

impl Page<Vendor> for ReceivedBid {
    const PATH: &'static str = "/selling/bids/{bid_id}";
    const TITLE: &'static str = "Bid on a listing";
    const BUDGET: Budget = Budget::Sales;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, vendor: &Vendor| {
            let found = find(&reader.check_context(), vendor, id)?;
            Ok((found, notifications::list_about(reader, vendor, &[id], about::LIMIT)?))
        };
        let ((bid, refusal), notifications) = visit.read(read).await?;
        let bid = &bid;
        let is_open = bid.status == OfferStatus::Submitted;
        let body = html! {
            (state(&visit.context, bid, refusal.as_deref()))
            div.two {
                (facts(&visit.context, bid))
                @if is_open || is_sold(bid) {
                    section.stack aria-labelledby="yields" { h2 #yields { "What you earn" } (yields(&visit.context, bid)) }
                }
            }
            (about::section(&visit.context, &notifications))
        };
        let content = Content::new(format!("Bid of {}", text::money(bid.amount)), body)
            .with_note(html! { bdi.long { (bid.listing_title) } })
            .with_parent("Bids", paths::OFFERS)
            .narrow();
        if !is_open {
            return Ok(content.into());
        }
        let link = |verb: &str| visit.links.to(&format!("{}/{verb}", path(id)));
        let actions = html! {
            a.button href=(link("decline")) { "Decline…" }
            @if refusal.is_none() { a.button.primary href=(link("accept")) { "Accept…" } }
        };
        Ok(content.with_actions(actions).into())
    }
}

/// A bid, and why it cannot be accepted now; `None` if it can, or if it was decided.
type Received = (ReceivedOffer, Option<String>);

fn find(context: &CheckContext, vendor: &Vendor, id: Uuid) -> Result<Received> {
    let refusal = offers::why_not_acceptable(context, vendor, id)?;
    Ok((team_records::find(context.rows, vendor, id)?, refusal.map(|reason| wording::humanize(&reason))))
}

/// Whether a bid was accepted, and its sale was neither canceled nor refunded.
fn is_sold(bid: &ReceivedOffer) -> bool {
    bid.status == OfferStatus::Accepted && bid.purchase_status.is_none_or(PurchaseStatus::is_in_effect)
}

/// Returns what the vendor earns with a bid: after the present fee, or after that of the acceptance.
fn yields(context: &Context, bid: &ReceivedOffer) -> Markup {
    match bid.platform_fee {
        Some(fee) => fees::sum_with_fee("Bid", bid.amount, fee),
        None => fees::sum(context, "Bid", bid.amount),
    }
}

/// Returns what the state of a bid means. `refusal` says why it cannot be accepted.
fn state(context: &Context, bid: &ReceivedOffer, refusal: Option<&str>) -> Markup {
    match bid.status {
        OfferStatus::Submitted => {
            let expires =
                html! { @if let Some(until) = bid.expires_at { " It expires " (text::moment(until)) "." } };
            match refusal {
                Some(reason) => {
                    badges::warning(html! { b { "You cannot accept it now. " } (reason) (expires) })
                }
                None => badges::pending(html! { "It waits for your answer." (expires) }),
            }
        }
        OfferStatus::Accepted => accepted(context, bid),
        OfferStatus::Declined => badges::neutral("This bid was declined."),
        OfferStatus::Withdrawn => badges::neutral("The bid was withdrawn."),
        OfferStatus::Expired => badges::neutral("This bid expired before you answered it."),
    }
}

/// Returns what became of an accepted bid.
fn accepted(context: &Context, bid: &ReceivedOffer) -> Markup {
    let sale = html! {
        @if let Some(sale) = bid.sale { a href=(context.links.to(&super::sales::path(sale))) { "Open the sale" } }
        @else { "The sale appears here when the market has the payment." }
    };
    match bid.purchase_status {
        Some(PurchaseStatus::Cancelled) => {
            badges::neutral("You accepted this bid, but the sale was canceled before it was paid.")
        }
        Some(PurchaseStatus::Refunded) => badges::warning(
            html! { "You accepted this bid, and the market refunded the sale later. " (sale) },
        ),
        _ => badges::success(html! { "You accepted this bid. " (sale) }),
    }
}

fn facts(context: &Context, bid: &ReceivedOffer) -> Markup {
    let mut facts = vec![
        ("Status", badges::of(status_words(bid.status))),
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
    facts.extend(bid.decided_at.map(|time| (status_words(bid.status).1, text::moment(time))));
    facts.push(("ID", html! { span.mono.long { (bid.id) } }));
    html! { div.stack { (tables::facts(&facts)) p.note { "The market does not say who bids." } } }
}

/// The question before a bid is accepted.
pub struct AcceptBid;

/// The question before a bid is declined.
pub struct DeclineBid;

impl ConfirmationPage<Vendor, Received> for AcceptBid {
    const BUDGET: Budget = Budget::Sales;

    const QUESTION: Question<Vendor, Received> = Question {
        path: "/selling/bids/{bid_id}/accept",
        title: "Accept a bid",
        change: ("accept_offer", "offer"),
        notice: Notice::OfferAccepted,
        find,
        ask: |context, (bid, refusal)| {
            let hold_days = context.market().settings().payouts.hold_days;
            let lost = html! {
                p {
                    "You sell " b.long { bdi { (bid.listing_title) } } " for " (text::money(bid.amount)) ". This cannot be undone."
                }
                (fees::sum(context, "Bid", bid.amount))
                p {
                    "The sale is complete when the market has the payment. Your earnings are on hold for "
                    (hold_text(hold_days)) " after that."
                }
                (refund_rule(context))
            };
            let mut confirmation = ask(bid, "Accept", ("primary", lost));
            if let Some(reason) = refusal
                && confirmation.prompt.is_ok()
            {
                confirmation.prompt = Err(html! { b { "You cannot accept this bid now. " } (reason) });
            }
            confirmation
        },
        perform: |writer, vendor, id| offers::accept(writer, vendor, Actor::Team, id).map(drop),
        next: path,
    };
}

impl ConfirmationPage<Vendor, Received> for DeclineBid {
    const BUDGET: Budget = Budget::Sales;

    const QUESTION: Question<Vendor, Received> = Question {
        path: "/selling/bids/{bid_id}/decline",
        title: "Decline a bid",
        change: ("decline_offer", "offer"),
        notice: Notice::OfferDeclined,
        ask: |_, (bid, _)| {
            let lost = html! {
                p {
                    "You can no longer accept this bid for " b.long { bdi { (bid.listing_title) } } ". The bidder is notified, and can \
                     make another one as long as the listing accepts bids."
                }
            };
            ask(bid, "Decline", ("danger primary", lost))
        },
        perform: |writer, vendor, id| offers::decline(writer, vendor, Actor::Team, id),
        ..AcceptBid::QUESTION
    };
}

/// Returns the question before a bid is answered.
fn ask(bid: &ReceivedOffer, verb: &str, (class, lost): (&'static str, Markup)) -> Confirmation {
    let (amount, path) = (text::money(bid.amount), path(bid.id));
    let label = format!("{verb} the bid of {amount}");
    Confirmation {
        page: Content::new(format!("{label}?"), Markup::default())
            .with_parent("Bids", paths::OFFERS)
            .with_parent(amount, &path),
        prompt: match bid.status {
            OfferStatus::Submitted => Ok((lost, class, label)),
            status => Err(
                html! { "This bid can no longer be answered. Its status: " (badges::of(status_words(status))) },
            ),
        },
        leave: ("Back to the bid", path),
    }
}
