//! Credits that teams buy, and pay for outside the marketplace.

use super::{money_previews, prelude::*};
use crate::{
    console::pages::wallet::credit_purchases as requests, domain::credit_purchases::CreditPurchaseStatus,
    operations::credit_purchases, store::records::credit_purchases::CREDIT_PURCHASES,
};

/// The resource.
pub struct CreditPurchases;

fn status_look(status: &str) -> (Tone, String) {
    let (tone, word) =
        CreditPurchaseStatus::parse(status).map_or((Tone::Neutral, text::MISSING), requests::state);
    (tone, word.to_owned())
}

fn decided(record: &AnyRecord) -> Option<&'static str> {
    (record.text("status") != "pending").then_some("Only a request that waits for payment can be decided.")
}

impl Resource for CreditPurchases {
    const LIST: &'static str = "/operator/credit-purchases";
    const TITLE: &'static str = "Requests for credits";
    const RECORDS: &'static Records = &CREDIT_PURCHASES;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Requests for credits"));
    const EMPTY: &'static str = "Credits that teams buy or request appear here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "ID", Id),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("amount", "Amount, USD", Money),
        RecordField::listed("status", "Status", Badge(status_look)),
        RecordField::listed("created_at", "Requested", Moment),
        RecordField::listed("decided_at", "Decided", Moment),
        RecordField::detail("key_id", "Requested with the key", Record(KEYS)),
        RecordField::detail("ledger_entry_id", "Ledger entry", Record("/operator/ledger")),
        RecordField::detail("completed_at", "Credits added", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", requests::states),
        ListFilter::text("team_id", "Team, by name or ID"),
    ];

    const RECORD_TITLE: RecordTitle = RecordTitle::Kind("Request for credits");

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Add bought credits",
        question: "A team has bought credits, and has paid for them outside the marketplace. They can be spent at once.",
        inputs: &[
            inputs::TEAM,
            Input::Required(&Input::Amount(
                "amount",
                "Amount, USD",
                "What was paid, and the credits that are added.",
            )),
        ],
        confirms: Some(|reader, platform, _, fields| {
            money_previews::bought_credits(reader, platform, fields)
        }),
        operation: "create_credit_purchase",
        perform: |writer, operator, _, fields| {
            let member = operator.platform().member(inputs::team(writer, fields)?)?;
            let amount = fields.required_amount("amount")?;
            let made = credit_purchases::create(writer, &member, Actor::Team, amount)?;
            Ok(Some(resources::path_of::<CreditPurchases>(&made.id.to_string())))
        },
        ..Step::DEFAULT
    });

    const STEPS: &'static [Step] = &[
        Step {
            name: "complete",
            label: "Complete",
            question: "The payment has arrived. The credits are added, and the team can spend them at once.",
            obstacle: decided,
            preview: Some(money_previews::of_credit_purchase),
            operation: "complete_credit_purchase",
            perform: |writer, operator, record, _| {
                credit_purchases::complete(writer, operator.platform(), Actor::Platform, id_of(record)?)
                    .map(|_| None)
            },
            ..Step::DEFAULT
        },
        Step {
            name: "reject",
            label: "Reject",
            question: "No credits are added. The team can request them again.",
            obstacle: decided,
            preview: Some(money_previews::of_credit_purchase),
            is_final: true,
            operation: "reject_credit_purchase",
            perform: |writer, operator, record, _| {
                credit_purchases::reject(writer, operator.platform(), Actor::Platform, id_of(record)?)
                    .map(|_| None)
            },
            ..Step::DEFAULT
        },
    ];
}
