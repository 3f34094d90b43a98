//! Credits that teams buy, and pay for outside the marketplace.

use super::{KEYS, TEAMS, id_of, inputs, money_previews};
use crate::{
    console::{
        prelude::*,
        resources::{
            self, Input, Named, Resource, Shown,
            Shows::{Id, Moment, Money, Record, State},
            Step,
        },
    },
    domain::{credit_purchases::CreditPurchaseStatus, listings::Actor},
    operations::credit_purchases,
    store::records::{Records, any_record::AnyRecord, credit_purchases::CREDIT_PURCHASES},
};

/// The resource.
pub struct CreditPurchases;

fn decided(record: &AnyRecord) -> Option<&'static str> {
    (record.text("status") != "pending").then_some("Only a pending request can be decided.")
}

impl Resource for CreditPurchases {
    const LIST: &'static str = "/operator/credit-purchases";
    const TITLE: &'static str = "Credit purchases";
    const RECORDS: &'static Records = &CREDIT_PURCHASES;
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::Money, label: "Credit purchases" });
    const EMPTY: &'static str = "Credits that teams buy or request appear here.";

    const SHOWN: &'static [Shown] = &[
        Shown::listed("id", "ID", Id),
        Shown::listed("team_id", "Team", Record(TEAMS)),
        Shown::listed("amount", "Amount, USD", Money),
        Shown::listed("status", "Status", State),
        Shown::listed("created_at", "Requested", Moment),
        Shown::listed("decided_at", "Decided", Moment),
        Shown::detail("key_id", "Requested with the key", Record(KEYS)),
        Shown::detail("ledger_entry_id", "Ledger entry", Record("/operator/ledger")),
        Shown::detail("completed_at", "Credits added", Moment),
    ];

    fn filters() -> Vec<ListFilter> {
        vec![
            ListFilter {
                name: "status",
                label: "Status",
                values: text::word_choices::<CreditPurchaseStatus>,
            },
            ListFilter { name: "team_id", label: "Team, by name or ID", values: Vec::new },
        ]
    }

    const NAMED: Named = Named::Kind("Credit purchase");

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
        ..Step::PLAIN
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
            ..Step::PLAIN
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
            ..Step::PLAIN
        },
    ];
}
