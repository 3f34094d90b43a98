//! The bids of the team: the list, one of them, and the question before one is withdrawn.

use super::{bid_form, deals};
use crate::{
    console::prelude::*,
    domain::{
        offers::OfferStatus,
        purchases::{PayWith, PurchaseStatus},
    },
    operations::offers::{self, Obstacle},
    store::records::team_lists::offers::TeamOffer,
};

/// The list.
pub struct Bids;

impl List<Buyer> for Bids {
    const PATH: &'static str = paths::BIDS;
    const TITLE: &'static str = "Bids";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Buying.link("Bids"));
    const BUDGET: Budget = Budget::Purchases;

    type Row = TeamOffer;

    fn columns() -> Vec<Column<TeamOffer>> {
        vec![
            Column::link("Listing", |row| paths::bid(row.id), |row| row.listing_title.clone()),
            Column::badge("Status", |row| status_words(row.status)),
            Column::money("Bid, USD", |row| row.amount),
            Column::optional_money("Listed price, USD", |row| row.listing_price),
            Column::words("Payment", |row| deals::payment(row.pay_with).to_owned()),
            Column::day("Made", |row| row.created_at),
            Column::optional_day("Expires", |row| row.expires_at),
            Column::ids_in_file(|row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = FILTERS;

    fn load(reader: &Reader, buyer: &Buyer, request: &ListRequest) -> Result<TeamPage<TeamOffer>> {
        team_records::page(reader, buyer, &request.record_filters(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        let advice = "Vendors say in the catalog whether they accept bids. Open such a listing to make one.";
        tables::empty("No bids yet", advice, Some(("Search the catalog", &context.links.to(paths::CATALOG))))
    }

    fn finish(_: &Context, content: Content) -> Content {
        content.with_request("/v2/listings/browse/offers")
    }
}

/// A bid.
pub struct Bid;

impl Page<Buyer> for Bid {
    const PATH: &'static str = "/bids/{bid_id}";
    const TITLE: &'static str = "Bid";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = visit.read(move |reader, buyer| {
            let bid = team_records::find::<TeamOffer>(reader.rows, buyer, id)?;
            let notifications = notifications::list_about(reader, buyer, &[id], about::LIMIT)?;
            Ok((bid, offers::find_obstacle(reader, buyer, id)?, notifications))
        });
        let (bid, obstacle, notifications) = read.await?;
        let next_step = match obstacle {
            Some(obstacle) => obstructed(visit, &bid, obstacle),
            None => next_step(visit, &bid),
        };
        let body = html! { (next_step) (facts(visit, &bid)) (about::section(visit, &notifications)) };
        let content = Content::new(format!("Your bid of {}", text::money(bid.amount)), body)
            .with_note(html! { bdi.long { (bid.listing_title) } })
            .with_parent("Bids", paths::BIDS)
            .narrow()
            .with_request("/v2/listings/browse/offers");
        Ok(match actions(visit, &bid, obstacle) {
            Some(actions) => content.with_actions(actions).into(),
            None => content.into(),
        })
    }
}

fn actions(context: &Context, bid: &TeamOffer, obstacle: Option<Obstacle>) -> Option<Markup> {
    let link = |path: String| context.links.to(&path);
    let is_changeable = matches!(obstacle, None | Some(Obstacle::Unconfirmed));
    match (bid.status, bid.purchase) {
        (OfferStatus::Submitted, _) => Some(html! {
            a.button.danger href=(link(format!("{}/withdraw", paths::bid(bid.id)))) { "Withdraw…" }
            @if is_changeable { a.button.primary href=(link(paths::make_bid(bid.listing))) { "Change the bid" } }
        }),
        (_, Some(purchase)) => Some(html! {
            a.button.primary href=(link(paths::purchase(purchase))) { "Open the purchase" }
        }),
        _ => None,
    }
}

/// Says why the vendor cannot accept the bid now, what helps, and when the bid expires unless it is useless anyway.
fn obstructed(context: &Context, bid: &TeamOffer, obstacle: Obstacle) -> Markup {
    let expires = bid.expires_at.filter(|_| !matches!(obstacle, Obstacle::Bought(_)));
    let text = html! {
        (why_not_acceptable(context, bid.listing, (bid.amount, bid.pay_with), obstacle))
        @if let Some(expires) = expires { " Your bid expires " (text::moment(expires)) "." }
    };
    match obstacle {
        Obstacle::NotInCatalog | Obstacle::NotForSale => badges::pending(text),
        Obstacle::Bought(_) | Obstacle::Unconfirmed => badges::warning(text),
    }
}

/// Says why the vendor cannot accept a bid on a listing now, and what helps.
pub(super) fn why_not_acceptable(
    context: &Context,
    listing: Uuid,
    (amount, pay_with): (Cents, PayWith),
    obstacle: Obstacle,
) -> Markup {
    html! { @match obstacle {
        Obstacle::NotInCatalog => {
            "The listing is not in the catalog now, so the vendor cannot accept your bid before it is there again. Until then, you \
             can only withdraw it."
        }
        Obstacle::Bought(purchase) => {
            "Your team has bought this listing since, so the vendor cannot accept your bid. Withdraw it. "
            a href=(context.links.to(&paths::purchase(purchase))) { "Open the purchase" }
        }
        Obstacle::NotForSale => {
            "The listing cannot be sold now, because of another sale of its assets, so the vendor cannot accept your bid. You can \
             only withdraw it."
        }
        Obstacle::Unconfirmed => {
            "What you signed has changed since, such as the terms or the assets of the listing. The vendor can only accept your \
             bid after you have confirmed it. "
            a href=(context.links.to(&bid_form::path_with(listing, amount, pay_with))) { "See the present terms" }
            "."
        }
    } }
}

/// Returns what the state of a bid means, and what can be done.
fn next_step(context: &Context, bid: &TeamOffer) -> Markup {
    let again = html! {
        @if bid.takes_bids {
            " The listing takes bids. "
            a href=(context.links.to(&paths::listing(bid.listing))) { "Open the listing" }
        } @else { " The listing takes no bids now." }
    };
    match bid.status {
        OfferStatus::Submitted => badges::pending(html! {
            "The vendor has not decided yet."
            @if let Some(expires) = bid.expires_at { " Your bid expires " (text::moment(expires)) "." }
        }),
        OfferStatus::Accepted if bid.purchase_status == Some(PurchaseStatus::Cancelled) => badges::neutral(
            html! { "The vendor accepted your bid, but the purchase was canceled before it was paid." (again) },
        ),
        OfferStatus::Accepted => badges::success(html! {
            "The vendor accepted your bid. "
            @if let Some(purchase) = bid.purchase { a href=(context.links.to(&paths::purchase(purchase))) { "Open the purchase" } }
        }),
        OfferStatus::Declined => badges::neutral(html! { "The bid was declined." (again) }),
        OfferStatus::Withdrawn => badges::neutral(html! { "You withdrew this bid." (again) }),
        OfferStatus::Expired => badges::neutral(html! { "The vendor did not decide in time." (again) }),
    }
}

fn facts(context: &Context, bid: &TeamOffer) -> Markup {
    let mut facts = vec![
        ("Status", badges::of(status_words(bid.status))),
        ("Bid", html! { (text::money(bid.amount)) ", before the buyer fee" }),
        ("Listed price", html! { (text::optional_money(bid.listing_price)) }),
        ("Payment", html! { (deals::payment(bid.pay_with)) }),
        (
            "Listing",
            html! {
                @if bid.listing_is_visible {
                    a.long href=(context.links.to(&paths::listing(bid.listing))) { bdi { (bid.listing_title) } }
                } @else { span.long { bdi { (bid.listing_title) } } }
            },
        ),
        ("Vendor", html! { bdi.long { (bid.vendor_name) } }),
        ("Made", text::moment(bid.created_at)),
    ];
    if bid.updated_at != bid.created_at && bid.status == OfferStatus::Submitted {
        facts.push(("Changed", text::moment(bid.updated_at)));
    }
    facts.extend(bid.expires_at.map(|time| ("Expires", text::moment(time))));
    facts.extend(bid.decided_at.map(|time| (status_words(bid.status).1, text::moment(time))));
    facts.push(("ID", html! { span.mono.long { (bid.id) } }));
    tables::facts(&facts)
}

/// The question before a bid is withdrawn.
pub struct WithdrawBid;

impl ConfirmationPage<Buyer, TeamOffer> for WithdrawBid {
    const BUDGET: Budget = Budget::Purchases;

    const QUESTION: Question<Buyer, TeamOffer> = Question {
        path: "/bids/{bid_id}/withdraw",
        title: "Withdraw a bid",
        change: ("withdraw_offer", "offer"),
        notice: Notice::BidWithdrawn,
        find: |context, buyer, id| team_records::find(context.rows, buyer, id),
        ask: |_, bid| ask_withdraw(bid),
        perform: |writer, buyer, id| offers::withdraw(writer, buyer, Actor::Team, id),
        next: paths::bid,
    };
}

fn ask_withdraw(bid: &TeamOffer) -> Confirmation {
    let (amount, path) = (text::money(bid.amount), paths::bid(bid.id));
    let lost = html! {
        p { "The vendor of " b.long { bdi { (bid.listing_title) } } " can then no longer accept it. You can make another bid, as \
             long as the listing accepts bids; the vendor sees that one as new." }
    };
    let page = Content::new(format!("Withdraw your bid of {amount}?"), Markup::default());
    Confirmation {
        page: page.with_parent("Bids", paths::BIDS).with_parent(&amount, &path),
        prompt: match bid.status {
            OfferStatus::Submitted => Ok((lost, "danger primary", format!("Withdraw the bid of {amount}"))),
            status => Err(
                html! { "This bid cannot be withdrawn any more. Its status: " (badges::of(status_words(status))) },
            ),
        },
        leave: ("Back to the bid", path),
    }
}

/// The filters of lists of bids.
pub const FILTERS: &[ListFilter] = &[
    ListFilter::text("text", "Listing contains"),
    ListFilter::choice("status", "Status", || text::choices(|status| status_words(status).1)),
];

/// Returns the look and the word of the status of a bid.
pub const fn status_words(status: OfferStatus) -> (Tone, &'static str) {
    match status {
        OfferStatus::Submitted => (Tone::Waiting, "Open"),
        OfferStatus::Accepted => (Tone::Good, "Accepted"),
        OfferStatus::Declined => (Tone::Bad, "Declined"),
        OfferStatus::Withdrawn => (Tone::Neutral, "Withdrawn"),
        OfferStatus::Expired => (Tone::Neutral, "Expired"),
    }
}
