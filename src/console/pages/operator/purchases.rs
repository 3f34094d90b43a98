//! Purchases of all buyers.

use super::{ledger::LEDGER, money_previews, prelude::*};
use crate::{
    console::{
        pages::{
            deals::{self, QUOTE},
            purchases as own_purchases,
        },
        resources::FieldFormat::Day,
    },
    domain::purchases::{PayWith, PurchaseKind, PurchaseStatus, ScopeMode},
    operations::{agreements, purchases, quotes},
    store::records::purchases::PURCHASES,
};

/// The resource.
pub struct Purchases;

fn status_look(status: &str) -> (Tone, String) {
    let (tone, word) =
        PurchaseStatus::parse(status).map_or((Tone::Neutral, text::MISSING), own_purchases::tone_and_label);
    (tone, word.to_owned())
}

fn kind_named(kind: &str) -> String {
    PurchaseKind::parse(kind).map_or(text::MISSING, deals::kind_word).to_owned()
}

fn scope_named(scope: &str) -> String {
    ScopeMode::parse(scope).map_or(text::MISSING, deals::covered).to_owned()
}

impl Resource for Purchases {
    const LIST: &'static str = "/operator/purchases";
    const TITLE: &'static str = "Purchases";
    const RELATED_OPERATIONS: &'static [&'static str] = &["get_purchase_agreement"];
    const RECORDS: &'static Records = &PURCHASES;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Purchases"));
    const EMPTY: &'static str = "What buyers buy or order appears here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Purchase", Id),
        RecordField::listed("listing_id", "Listing", Record(LISTINGS)),
        RecordField::listed("team_id", "Buyer", Record(TEAMS)),
        RecordField::listed("vendor_team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("status", "Status", Badge(status_look)),
        RecordField::listed("price", "Price, USD", Money),
        RecordField::listed("created_at", "Ordered", Day),
        RecordField::listed("paid_at", "Paid", Day),
        RecordField::detail("total", "Total, USD", Money),
        RecordField::detail("kind", "Kind", Called(kind_named)),
        RecordField::detail("pay_with", "Payment", Word),
        RecordField::detail("exclusive", "Exclusive sale", Flag),
        RecordField::detail("buyer_fee", "Buyer fee, USD", Money),
        RecordField::detail("platform_fee", "Platform fee, USD", Money),
        RecordField::detail("net", "Vendor's share, USD", Money),
        RecordField::detail("scope", "Covers", Called(scope_named)),
        RecordField::detail("asset_count", "Assets", Plain),
        RecordField::detail("offer_id", "Accepted bid", Record("/operator/bids")),
        RecordField::detail("agreement_document_id", "Agreement", Id),
        RecordField::detail("agreement_signed_at", "Agreement signed", Moment),
        RecordField::detail("expires_at", "Canceled unless paid by", Moment),
        RecordField::detail("cancelled_at", "Canceled", Moment),
        RecordField::detail("refunded_at", "Refunded", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", own_purchases::statuses),
        ListFilter::choice("kind", "Kind", deals::kinds),
        ListFilter::day("paid_from", "Paid from the day (UTC)"),
        ListFilter::day("paid_until", "Paid until the day (UTC)"),
        ListFilter::text("team_id", "Buyer, by name or ID"),
        ListFilter::text("vendor_team_id", "Vendor, by name or ID"),
        ListFilter::text("listing_id", "Listing, by title or ID"),
    ];

    const LINKS: Links =
        |record| vec![("Entries of the ledger", format!("{LEDGER}?purchase_id={}", Self::key_of(record)))];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Buy for a team",
        question: "In the name of the buyer. With credits, it is completed at once. With an invoice, it waits for payment until you complete it.",
        inputs: &[
            inputs::TEAM,
            Input::Line("listing_id", "ID of the listing", "It must be in the catalog."),
            Input::Choice("kind", "What", &[("full", "The listing"), ("sample", "Its sample")]),
            Input::Lines(
                "asset_ids",
                "IDs of assets",
                "To buy only these, one in each line. Leave it empty for all.",
            ),
            Input::Options("pay_with", "Payment", text::word_choices::<PayWith>),
        ],
        confirms: Some(|reader, platform, _, fields| money_previews::purchase(reader, platform, fields)),
        is_final: true,
        operation: "create_purchase",
        perform: |writer, operator, _, fields| {
            let buyer = operator.platform().buyer(inputs::team(writer, fields)?)?;
            let (listing, wanted) = money_previews::wanted(fields)?;
            let digest = fields.get(QUOTE).unwrap_or_default();
            let made = quotes::buy(writer, &buyer, Actor::Team, listing, &wanted, digest)?;
            Ok(Some(resources::path_of::<Purchases>(&made.id.to_string())))
        },
        ..Step::DEFAULT
    });

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let agreement = agreements::find_of_any(reader.rows, platform, id_of(record)?)?;
        Ok(Some(Box::new(move |_: &Context| {
            html! { @if let Some(agreement) = &agreement {
                (tables::section("agreement", "Agreement", &html! {
                    pre { code.long { (agreement.text) } }
                    p.note { "SHA-256 of the text: " span.mono.long { (agreement.sha256) } }
                }))
            } }
        })))
    }

    const STEPS: &'static [Step] = &[
        Step {
            name: "complete",
            label: "Complete",
            question: "The invoice was paid. The money is posted, the agreement is signed, and the vendor is notified.",
            obstacle: |record| {
                (record.text("status") != "pending")
                    .then_some("Only a purchase that waits for payment can be completed.")
            },
            preview: Some(money_previews::of_completion),
            operation: "complete_purchase",
            perform: |writer, operator, record, _| {
                purchases::complete(writer, operator.platform(), Actor::Platform, id_of(record)?)
                    .map(|_| None)
            },
            ..Step::DEFAULT
        },
        Step {
            name: "cancel",
            label: "Cancel",
            question: "The order ends without a payment. A bid that it may come from stays accepted.",
            obstacle: |record| {
                (record.text("status") != "pending")
                    .then_some("Only a purchase that waits for payment can be canceled.")
            },
            preview: Some(money_previews::of_purchase),
            is_final: true,
            operation: "cancel_purchase",
            perform: |writer, operator, record, _| {
                purchases::cancel(writer, operator.platform(), Actor::Platform, id_of(record)?).map(|()| None)
            },
            ..Step::DEFAULT
        },
        Step {
            name: "refund",
            label: "Refund",
            question: "All postings are undone: the buyer gets the total back, and the vendor's share is taken back.",
            obstacle: |record| {
                (record.text("status") != "completed").then_some("Only a completed purchase can be refunded.")
            },
            preview: Some(money_previews::of_refund),
            is_final: true,
            operation: "refund_purchase",
            perform: |writer, operator, record, _| {
                purchases::refund(writer, operator.platform(), Actor::Platform, id_of(record)?).map(|_| None)
            },
            ..Step::DEFAULT
        },
    ];
}
