//! Opportunities that buyers post, for listings and for projects.

use super::{
    opportunity_forms::{self, as_owner, refused},
    prelude::*,
};
use crate::{
    console::pages::opportunities::budget,
    domain::{
        opportunities::{BudgetUnit, OpportunityMetadata, OpportunityStatus},
        opportunity_lifecycle::OpportunityOperation,
    },
    operations::opportunities,
    store::records::opportunities::{OPPORTUNITIES as OPPORTUNITY_RECORDS, PROJECT_OPPORTUNITIES},
};

/// Opportunities for listings.
pub struct Opportunities;

/// Project opportunities.
pub struct Projects;

const FIELDS: &[RecordField] = &[
    RecordField::listed("title", "Title", Plain),
    RecordField::listed("team_id", "Buyer", Record(TEAMS)),
    RecordField::listed("status", "Status", State),
    RecordField::listed("open", "Takes answers", Flag),
    RecordField::listed("budget", "Budget, USD", Plain),
    RecordField::listed("deadline", "Deadline", Deadline),
    RecordField::listed("created_at", "Created", Moment),
    RecordField::detail("overview", "In one sentence", Plain),
    RecordField::detail("description", "Description, in the words of the buyer", Text),
    RecordField::detail("accepted_asset_types", "Kinds of assets", Words),
    RecordField::detail("tags", "Tags", Many),
    RecordField::detail("visibility_mode", "Vendors who see it", Word),
    RecordField::detail("excluded_team_ids", "Excluded vendors", Linked(TEAMS)),
    RecordField::detail("evaluation_date", "Bids are evaluated", Deadline),
    RecordField::detail("updated_at", "Changed", Moment),
    RecordField::detail("closed_at", "Closed", Moment),
    RecordField::detail("id", "ID", Id),
];

const FILTERS: &[ListFilter] = &[
    ListFilter::choice("status", "Status", text::word_choices::<OpportunityStatus>),
    ListFilter::text("team_id", "Buyer, by name or ID"),
];

/// Adds whether vendors can respond now, and the budget in words.
fn derive_columns(record: &mut AnyRecord, now: Timestamp) {
    let status = OpportunityStatus::parse(record.text("status"));
    let is_open = status.is_some_and(|status| status.is_open(record.time("deadline"), now));
    record.set("open", Value::Integer(is_open.into()));
    let dollars = |name: &str| match record.get(name) {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::Missing | Value::Text(_) | Value::Id(_) => None,
    };
    let metadata = OpportunityMetadata {
        budget_min: dollars("budget_min"),
        budget_max: dollars("budget_max"),
        budget_unit: BudgetUnit::parse(record.text("budget_unit")),
        ..OpportunityMetadata::default()
    };
    if metadata.budget_min.or(metadata.budget_max).is_some() {
        record.set("budget", Value::Text(budget(&metadata)));
    }
}

impl Resource for Opportunities {
    const LIST: &'static str = OPPORTUNITIES;
    const TITLE: &'static str = "Opportunities";
    const RECORDS: &'static Records = &OPPORTUNITY_RECORDS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Market.link("Opportunities"));
    const EMPTY: &'static str = "What buyers look for, and want to buy as a listing, appears here.";
    const TABS: &'static [(&'static str, &'static str)] = OPPORTUNITY_TABS;
    const FIELDS: &'static [RecordField] = FIELDS;
    const STEPS: &'static [Step] = &steps::<false>();
    const NEW: Option<&'static Step> = Some(&opportunity_forms::new::<Opportunities, false>());

    const FILTERS: &'static [ListFilter] = FILTERS;

    const DERIVED_COLUMNS: DeriveColumns = derive_columns;
}

impl Resource for Projects {
    const LIST: &'static str = PROJECTS;
    const TITLE: &'static str = "Projects";
    const RECORDS: &'static Records = &PROJECT_OPPORTUNITIES;
    const EMPTY: &'static str = "What buyers want to have made for them appears here.";
    const TABS: &'static [(&'static str, &'static str)] = OPPORTUNITY_TABS;
    const FIELDS: &'static [RecordField] = FIELDS;
    const STEPS: &'static [Step] = &steps::<true>();
    const NEW: Option<&'static Step> = Some(&opportunity_forms::new::<Projects, true>());

    const FILTERS: &'static [ListFilter] = FILTERS;

    const DERIVED_COLUMNS: DeriveColumns = derive_columns;

    const LINKS: Links =
        |record| vec![("Bids", format!("{PROJECT_BIDS}?opportunity_id={}", Self::key_of(record)))];
}

/// Returns the steps for opportunities of a kind.
const fn steps<const PROJECT: bool>() -> [Step; 6] {
    [
        opportunity_forms::change::<PROJECT>(),
        publish::<PROJECT>(),
        extend::<PROJECT>(),
        exclude::<PROJECT>(),
        close::<PROJECT>(),
        cancel::<PROJECT>(),
    ]
}

const fn publish<const PROJECT: bool>() -> Step {
    Step {
        name: "publish",
        label: "Publish",
        question: "In the name of the buyer. All vendors who may see it are notified.",
        obstacle: |record| refused(record, OpportunityOperation::Publish, "Only a draft can be published."),
        operation: if PROJECT { "publish_project_opportunity" } else { "publish_opportunity" },
        perform: |writer, operator, record, _| {
            as_owner::<PROJECT>(writer, operator, record, opportunities::publish)
        },
        ..Step::DEFAULT
    }
}

const fn extend<const PROJECT: bool>() -> Step {
    Step {
        name: "extend",
        label: "Move the deadline",
        question: "In the name of the buyer. A later deadline opens it again.",
        inputs: &[Input::Required(&Input::Day(
            "deadline",
            "New deadline",
            "Vendors can respond until the end of this day (UTC).",
        ))],
        obstacle: |record| {
            let reason = "Only the deadline of a published opportunity can be moved.";
            refused(record, OpportunityOperation::ExtendDeadline, reason)
        },
        operation: if PROJECT { "update_project_opportunity" } else { "update_opportunity" },
        perform: |writer, operator, record, fields| {
            fields.require("deadline", "Enter a day, for example 2027-01-31.")?;
            let deadline = fields.end_of_day("deadline", record.time("deadline"))?.unwrap_or_default();
            as_owner::<PROJECT>(writer, operator, record, |writer, owner, actor, of| {
                opportunities::extend(writer, owner, actor, of, deadline)
            })
        },
        ..Step::DEFAULT
    }
}

const fn exclude<const PROJECT: bool>() -> Step {
    Step {
        name: "exclude",
        label: "Exclude vendors",
        question: "In the name of the buyer. The vendors no longer find it, and are not told. One that was notified, or has bid, can \
                   still read it. Once it is published, this cannot be taken back.",
        inputs: &[Input::Required(&Input::Lines(
            "team_ids",
            "Vendors",
            "IDs or names of teams, one in each line.",
        ))],
        obstacle: |record| {
            let reason = "Vendors can be excluded only from a draft or a published opportunity.";
            refused(record, OpportunityOperation::Exclude, reason)
        },
        operation: if PROJECT { "exclude_from_project_opportunity" } else { "exclude_from_opportunity" },
        perform: |writer, operator, record, fields| {
            let vendors = inputs::teams(writer, fields, "team_ids")?;
            as_owner::<PROJECT>(writer, operator, record, |writer, owner, actor, of| {
                opportunities::exclude(writer, owner, actor, of, &vendors)
            })
        },
        ..Step::DEFAULT
    }
}

const fn close<const PROJECT: bool>() -> Step {
    Step {
        name: "close",
        label: "Close",
        question: "In the name of the buyer. Vendors can no longer respond. The buyer can still decide about bids.",
        obstacle: |record| {
            refused(
                record,
                OpportunityOperation::Close,
                "Only a draft or a published opportunity can be closed.",
            )
        },
        is_final: true,
        operation: if PROJECT { "close_project_opportunity" } else { "close_opportunity" },
        perform: |writer, operator, record, _| {
            as_owner::<PROJECT>(writer, operator, record, opportunities::close)
        },
        ..Step::DEFAULT
    }
}

const fn cancel<const PROJECT: bool>() -> Step {
    Step {
        name: "cancel",
        label: "Cancel",
        question: "In the name of the buyer. Vendors are told. Bids stay as they are, but cannot be accepted any more.",
        obstacle: |record| {
            refused(record, OpportunityOperation::Cancel, "Only a published opportunity can be canceled.")
        },
        is_final: true,
        operation: if PROJECT { "cancel_project_opportunity" } else { "cancel_opportunity" },
        perform: |writer, operator, record, _| {
            as_owner::<PROJECT>(writer, operator, record, opportunities::cancel)
        },
        ..Step::DEFAULT
    }
}
