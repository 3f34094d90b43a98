//! Bids of all buyers on listings.

use super::prelude::*;
use crate::{
    console::wording,
    domain::{
        offers::{MAX_AMOUNT, OfferStatus},
        purchases::PayWith,
    },
    operations::offers::{self, OfferInput},
    store::records::offers::OFFERS,
};

/// The resource.
pub struct Bids;

/// How a buyer pays.
const PAY_WITH: Input =
    Input::Options("pay_with", "Payment, if the bid is accepted", text::word_choices::<PayWith>);

const AMOUNT: Input = Input::Required(&Input::Amount("amount", "Amount, USD", "Before fees."));

/// What an operator agrees to who decides about a bid.
const STATED: &[&str] = &["listing_id", "team_id", "amount", "pay_with"];

/// Why a bid that was decided cannot be changed any more.
fn decided(record: &AnyRecord) -> Option<&'static str> {
    (record.text("status") != "submitted").then_some("This bid has been decided.")
}

impl Resource for Bids {
    const LIST: &'static str = "/operator/bids";
    const TITLE: &'static str = "Bids";
    const RECORDS: &'static Records = &OFFERS;
    const API: &'static str = "/operator/v1/offers";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Market.link("Bids"));
    const EMPTY: &'static str = "What buyers bid on listings appears here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Bid", Id),
        RecordField::listed("listing_id", "Listing", Record(LISTINGS)),
        RecordField::listed("team_id", "Buyer", Record(TEAMS)),
        RecordField::listed("vendor_team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("amount", "Amount, USD", Money),
        RecordField::listed("pay_with", "Payment", Word),
        RecordField::listed("status", "Status", State),
        RecordField::listed("created_at", "Made", Moment),
        RecordField::detail("purchase_id", "Purchase", Record("/operator/purchases")),
        RecordField::detail("updated_at", "Changed", Moment),
        RecordField::detail("expires_at", "Expires", Moment),
        RecordField::detail("decided_at", "Decided", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<OfferStatus>),
        ListFilter::text("team_id", "Buyer, by name or ID"),
        ListFilter::text("vendor_team_id", "Vendor, by name or ID"),
        ListFilter::text("listing_id", "Listing, by title or ID"),
    ];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Make a bid",
        question: "You bid in the name of a buyer, who can have one bid on a listing. The vendor is notified. No money is taken.",
        inputs: &[
            inputs::TEAM,
            Input::Required(&Input::Line(
                "listing_id",
                "ID of the listing",
                "It must be in the catalog, and accept bids.",
            )),
            AMOUNT,
            PAY_WITH,
        ],
        operation: "create_offer",
        perform: |writer, operator, _, fields| {
            let buyer = operator.platform().buyer(inputs::team(writer, fields)?)?;
            let listing = resources::id(fields, "listing_id")?;
            let (amount, pay_with) = (
                fields.required_amount_of_at_most("amount", MAX_AMOUNT)?,
                resources::choice(fields, "pay_with")?,
            );
            let input = OfferInput { listing, amount, pay_with };
            let id = offers::submit(writer, &buyer, Actor::Team, &input)?;
            Ok(Some(resources::path_of::<Bids>(&id.to_string())))
        },
        ..Step::DEFAULT
    });

    const STEPS: &'static [Step] = &[
        Step {
            name: "accept",
            label: "Accept",
            question: "You accept it in the name of the vendor. It becomes a purchase: completed at once if the buyer pays with \
                       credits and has enough, otherwise it waits for payment until the invoice is paid.",
            states: STATED,
            obstacle: decided,
            preview: Some(preview_acceptance),
            is_final: true,
            operation: "accept_offer",
            perform: |writer, operator, record, _| {
                let vendor = vendor(writer, operator, record)?;
                offers::accept(writer, &vendor, Actor::Team, id_of(record)?).map(|_| None)
            },
            ..Step::DEFAULT
        },
        Step {
            name: "decline",
            label: "Decline",
            question: "You decline it in the name of the vendor. The buyer is notified.",
            states: STATED,
            obstacle: decided,
            is_final: true,
            operation: "decline_offer",
            perform: |writer, operator, record, _| {
                let vendor = vendor(writer, operator, record)?;
                offers::decline(writer, &vendor, Actor::Team, id_of(record)?).map(|()| None)
            },
            ..Step::DEFAULT
        },
        Step {
            name: "change",
            label: "Change",
            question: "You change it in the name of the buyer. It keeps its ID, and expires at the same time.",
            inputs: &[AMOUNT, PAY_WITH],
            obstacle: decided,
            operation: "update_offer",
            perform: |writer, operator, record, fields| {
                let buyer = operator.platform().buyer(inputs::team_in(writer, record, "team_id")?)?;
                let (amount, pay_with) = (
                    fields.required_amount_of_at_most("amount", MAX_AMOUNT)?,
                    resources::choice(fields, "pay_with")?,
                );
                offers::change(writer, &buyer, Actor::Team, id_of(record)?, Some(amount), Some(pay_with))?;
                Ok(None)
            },
            ..Step::DEFAULT
        },
        Step {
            name: "withdraw",
            label: "Withdraw",
            question: "You withdraw it in the name of the buyer.",
            states: STATED,
            obstacle: decided,
            is_final: true,
            operation: "withdraw_offer",
            perform: |writer, operator, record, _| {
                let buyer = inputs::former_buyer(writer, operator, record, "team_id")?;
                offers::withdraw(writer, &buyer, Actor::Team, id_of(record)?).map(|()| None)
            },
            ..Step::DEFAULT
        },
    ];
}

fn vendor(writer: &Writer, operator: &ActingOperator, record: &AnyRecord) -> Result<Vendor> {
    operator.platform().vendor_of_listing(writer.rows, listing_of(record)?)
}

fn listing_of(record: &AnyRecord) -> Result<Uuid> {
    record.id("listing_id").ok_or_else(|| Error::internal("a bid without its listing"))
}

/// Says why a bid cannot be accepted now.
fn preview_acceptance(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    let refusal = match platform.vendor_of_listing(reader.rows, listing_of(record)?) {
        Ok(vendor) => offers::why_not_acceptable(&reader.check_context(), &vendor, id_of(record)?)?,
        // The vendor is closed, and so is the bid.
        Err(Error::Conflict(reason)) => Some(reason),
        Err(error) => return Err(error),
    };
    Ok(match refusal {
        Some(reason) => Previewed::refused(move |_| badges::warning(wording::humanize(&reason))),
        None => Previewed::new(|_| Markup::default()),
    })
}
