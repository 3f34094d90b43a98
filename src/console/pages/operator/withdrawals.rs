//! Withdrawals of earnings, which the market pays outside the marketplace.

use super::{money_previews, prelude::*};
use crate::{
    domain::withdrawals::WithdrawalStatus, operations::withdrawals, store::records::withdrawals::WITHDRAWALS,
};

/// The resource.
pub struct Withdrawals;

fn decided(record: &AnyRecord) -> Option<&'static str> {
    (record.text("status") != "requested").then_some("It has been paid, or has failed.")
}

impl Resource for Withdrawals {
    const LIST: &'static str = "/operator/withdrawals";
    const TITLE: &'static str = "Withdrawals";
    const RECORDS: &'static Records = &WITHDRAWALS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Withdrawals"));
    const EMPTY: &'static str = "Earnings that vendors withdraw appear here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "ID", Id),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("amount", "Amount, USD", Money),
        RecordField::listed("status", "Status", State),
        RecordField::listed("requested_at", "Requested", Moment),
        RecordField::listed("decided_at", "Decided", Moment),
        RecordField::detail("ledger_entry_id", "Ledger entry", Record("/operator/ledger")),
        RecordField::detail(
            "reversal_entry_id",
            "Ledger entry that posts it back",
            Record("/operator/ledger"),
        ),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<WithdrawalStatus>),
        ListFilter::text("team_id", "Vendor, by name or ID"),
    ];

    const RECORD_TITLE: RecordTitle = RecordTitle::Kind("Withdrawal");

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Request a withdrawal",
        question: "You request it in the name of a vendor. The amount leaves its available earnings at once. Pay it outside the \
                   marketplace, then mark it as paid.",
        inputs: &[
            inputs::TEAM,
            Input::Required(&Input::Amount("amount", "Amount, USD", "At most the available earnings.")),
        ],
        confirms: Some(|reader, platform, _, fields| money_previews::withdrawal(reader, platform, fields)),
        operation: "create_withdrawal",
        perform: |writer, operator, _, fields| {
            let vendor = operator.platform().vendor_even_if_closed(inputs::team(writer, fields)?);
            let made = withdrawals::create(writer, &vendor, Actor::Team, fields.required_amount("amount")?)?;
            Ok(Some(resources::path_of::<Withdrawals>(&made.id.to_string())))
        },
        ..Step::DEFAULT
    });

    const STEPS: &'static [Step] = &[
        Step {
            name: "paid",
            label: "Mark as paid",
            question: "The money was sent to the vendor, outside the marketplace. This cannot be undone.",
            obstacle: decided,
            preview: Some(money_previews::of_paid_withdrawal),
            operation: "mark_withdrawal_paid",
            perform: |writer, operator, record, _| {
                withdrawals::mark_paid(writer, operator.platform(), Actor::Platform, id_of(record)?)
                    .map(|_| None)
            },
            ..Step::DEFAULT
        },
        Step {
            name: "failed",
            label: "Mark as failed",
            question: "It could not be paid. The amount is posted back to the available earnings of the vendor. This cannot be undone.",
            obstacle: decided,
            preview: Some(money_previews::of_failed_withdrawal),
            is_final: true,
            operation: "mark_withdrawal_failed",
            perform: |writer, operator, record, _| {
                withdrawals::mark_failed(writer, operator.platform(), Actor::Platform, id_of(record)?)
                    .map(|_| None)
            },
            ..Step::DEFAULT
        },
    ];

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let payee = money_previews::payee(reader, platform, record)?;
        Ok(Some(Box::new(move |_| payee)))
    }
}
