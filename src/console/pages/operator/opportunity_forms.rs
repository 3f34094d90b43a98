//! Forms for the fields of an opportunity: a new draft, and a change.

use super::prelude::*;
use crate::{
    console::pages::opportunities::compose::{blank, change_to, read},
    domain::{
        opportunities::{BudgetUnit, Opportunity, OpportunityKind, OpportunityStatus},
        opportunity_fields::OpportunityFields,
        opportunity_lifecycle::OpportunityOperation,
    },
    operations::opportunities,
};

const TITLE: Input = Input::Required(&Input::Line("title", "Title", ""));
const OVERVIEW: Input = Input::Line("overview", "In one sentence", "It can be left out.");
const DESCRIPTION: Input = Input::Lines("description", "Description", "Markdown works.");
const KINDS: Input =
    Input::Several("accepted_asset_types", "Accepted kinds of assets (none: any kind)", kinds::choices);
const FROM: Input = Input::Amount("budget_min", "Budget from, USD", "");
const UP_TO: Input = Input::Amount("budget_max", "Budget up to, USD", "");
const UNIT: Input = Input::Options("budget_unit", "The budget is", text::word_choices::<BudgetUnit>);
const TAGS: Input = Input::Words("tags", "Tags", "With commas between them.");
const DEADLINE: Input =
    Input::Day("deadline", "Deadline", "Vendors can respond until the end of this day (UTC).");
const EVALUATION: Input =
    Input::Day("evaluation_date", "Day of the evaluation", "Not before the deadline. It can be left out.");

const LISTING_INPUTS: &[Input] = &[TITLE, OVERVIEW, DESCRIPTION, KINDS, FROM, UP_TO, UNIT, TAGS, DEADLINE];

const PROJECT_INPUTS: &[Input] =
    &[TITLE, OVERVIEW, DESCRIPTION, KINDS, FROM, UP_TO, UNIT, TAGS, DEADLINE, EVALUATION];

/// Returns how operators draft an opportunity for a buyer.
pub const fn new<R: Resource, const PROJECT: bool>() -> Step {
    Step {
        label: if PROJECT { "Draft a project" } else { "Draft an opportunity" },
        question: "In the name of the buyer. It is a draft, which nobody else sees until it is published.",
        inputs: if PROJECT {
            &[
                inputs::TEAM,
                TITLE,
                OVERVIEW,
                DESCRIPTION,
                KINDS,
                FROM,
                UP_TO,
                UNIT,
                TAGS,
                DEADLINE,
                EVALUATION,
            ]
        } else {
            &[inputs::TEAM, TITLE, OVERVIEW, DESCRIPTION, KINDS, FROM, UP_TO, UNIT, TAGS, DEADLINE]
        },
        operation: if PROJECT { "create_project_opportunity" } else { "create_opportunity" },
        perform: |writer, operator, _, fields| {
            let buyer = operator.platform().buyer(inputs::team(writer, fields)?)?;
            let kind = kind::<PROJECT>();
            let (id, written) = (writer.new_id(kind.collection()), read(fields, kind, &blank())?);
            let made = opportunities::create(writer, &buyer, Actor::Team, (id, kind), &written)?;
            Ok(Some(resources::path_of::<R>(&made.id.to_string())))
        },
        ..Step::DEFAULT
    }
}

/// Returns how operators change a draft for its buyer.
pub const fn change<const PROJECT: bool>() -> Step {
    Step {
        name: "change",
        label: "Change the draft",
        question: "In the name of the buyer. Which vendors are excluded stays as it is.",
        inputs: if PROJECT { PROJECT_INPUTS } else { LISTING_INPUTS },
        obstacle: |record| refused(record, OpportunityOperation::Update, "Only a draft can be changed."),
        operation: if PROJECT { "update_project_opportunity" } else { "update_opportunity" },
        perform: |writer, operator, record, fields| {
            as_owner::<PROJECT>(writer, operator, record, |writer, owner, actor, (id, kind)| {
                let before = OpportunityFields::from(&opportunities::find_own(writer.rows, owner, id, kind)?);
                let written = read(fields, kind, &before)?;
                let written = OpportunityFields {
                    visibility: before.visibility,
                    excluded_team_ids: before.excluded_team_ids,
                    ..written
                };
                opportunities::update(writer, owner, actor, (id, kind), change_to(written))
            })
        },
        ..Step::DEFAULT
    }
}

/// Returns the kind of opportunity.
pub const fn kind<const PROJECT: bool>() -> OpportunityKind {
    if PROJECT { OpportunityKind::Project } else { OpportunityKind::Listing }
}

/// Returns why the state of an opportunity refuses an operation.
pub fn refused(
    record: &AnyRecord,
    operation: OpportunityOperation,
    reason: &'static str,
) -> Option<&'static str> {
    resources::refused::<OpportunityStatus>(record, "status", operation, reason)
}

/// Does something in the name of the buyer, who may have lost the role.
pub fn as_owner<const PROJECT: bool>(
    writer: &mut Writer,
    operator: &ActingOperator,
    record: &AnyRecord,
    operation: impl FnOnce(&mut Writer, &Buyer, Actor, (Uuid, OpportunityKind)) -> Result<Opportunity>,
) -> Result<Option<String>> {
    let owner = inputs::former_buyer(writer, operator, record, "team_id")?;
    operation(writer, &owner, Actor::Team, (id_of(record)?, kind::<PROJECT>())).map(|_| None)
}
