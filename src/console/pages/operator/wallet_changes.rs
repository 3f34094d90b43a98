//! Changes that only concern wallets: corrections of credits, and conversions of earnings into credits.

use super::{money_previews, prelude::*};
use crate::{
    domain::typed_numbers::parse_amount,
    operations::wallet,
    store::records::ledger::{ADJUSTMENTS, CONVERSIONS},
};

/// Corrections of credits by the platform.
pub struct Adjustments;

/// Conversions of available earnings into credits.
pub struct Conversions;

const FIELDS: &[RecordField] = &[
    RecordField::listed("id", "ID", Id),
    RecordField::listed("team_id", "Team", Record(TEAMS)),
    RecordField::listed("amount", "Credits, USD", Money),
    RecordField::listed("description", "Description", Plain),
    RecordField::listed("created_at", "Time", Moment),
];

const FILTERS: &[ListFilter] = &[ListFilter::text("team_id", "Team, by name or ID")];

fn links(record: &AnyRecord) -> Vec<(&'static str, String)> {
    vec![("Ledger entry with its postings", format!("/operator/ledger/{}", Adjustments::key_of(record)))]
}

/// Returns the amount of a correction, which is negative if credits are deducted.
fn signed_amount(fields: &Fields) -> Result<Cents> {
    const MESSAGE: &str = "Enter an amount in US dollars, for example 12.50, or -12.50 to deduct credits.";
    let parse = |text: &str| match text.strip_prefix(['-', '−']) {
        Some(deducted) => parse_amount(deducted.trim()).map(|amount| Cents(-amount.0)),
        None => parse_amount(text),
    };
    let amount = fields.parsed("amount", MESSAGE, parse)?;
    amount.ok_or_else(|| invalid("amount", MESSAGE))
}

impl Resource for Adjustments {
    const LIST: &'static str = "/operator/adjustments";
    const TITLE: &'static str = "Adjustments";
    const RECORDS: &'static Records = &ADJUSTMENTS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Adjustments"));
    const EMPTY: &'static str = "Corrections of credits by the market appear here.";
    const FIELDS: &'static [RecordField] = FIELDS;

    const FILTERS: &'static [ListFilter] = FILTERS;

    const RECORD_TITLE: RecordTitle = RecordTitle::Kind("Adjustment");

    const LINKS: Links = links;

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Adjust credits",
        question: "You give credits to a team at the expense of the market, or deduct them. To undo it, make the opposite one.",
        inputs: &[
            inputs::TEAM,
            Input::Required(&Input::Line(
                "amount",
                "Amount, USD",
                "With a minus sign in front to deduct credits, for example -12.50.",
            )),
            Input::Required(&Input::Line("description", "What it is for", "The team sees it.")),
        ],
        confirms: Some(|reader, platform, _, fields| {
            money_previews::adjustment(reader, platform, fields, signed_amount(fields)?)
        }),
        operation: "create_adjustment",
        perform: |writer, operator, _, fields| {
            let team = inputs::team(writer, fields)?;
            let (amount, description) = (signed_amount(fields)?, resources::typed(fields, "description"));
            let platform = operator.platform();
            let made = wallet::adjust(writer, platform, Actor::Platform, &team, amount, description)?;
            Ok(Some(resources::path_of::<Adjustments>(&made.entry.to_string())))
        },
        ..Step::DEFAULT
    });
}

impl Resource for Conversions {
    const LIST: &'static str = "/operator/conversions";
    const TITLE: &'static str = "Conversions";
    const RECORDS: &'static Records = &CONVERSIONS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Conversions"));
    const EMPTY: &'static str = "Earnings that vendors turn into credits appear here.";
    const FIELDS: &'static [RecordField] = FIELDS;

    const FILTERS: &'static [ListFilter] = FILTERS;

    const RECORD_TITLE: RecordTitle = RecordTitle::Kind("Conversion");

    const LINKS: Links = links;

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Convert earnings",
        question: "You convert available earnings of a vendor into credits, in its name. There is no fee, and no way back.",
        inputs: &[
            inputs::TEAM,
            Input::Required(&Input::Amount("amount", "Amount, USD", "At most the available earnings.")),
        ],
        confirms: Some(|reader, platform, _, fields| money_previews::conversion(reader, platform, fields)),
        is_final: true,
        operation: "create_conversion",
        perform: |writer, operator, _, fields| {
            let vendor = operator.platform().vendor(inputs::team(writer, fields)?)?;
            let made = wallet::convert(writer, &vendor, Actor::Team, fields.required_amount("amount")?)?;
            Ok(Some(resources::path_of::<Conversions>(&made.entry.to_string())))
        },
        ..Step::DEFAULT
    });
}
