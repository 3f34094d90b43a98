//! The form of an opportunity: for a new draft, and for one that is edited.

use std::collections::HashMap;

use super::{below, find_own, kind_word, why_not};
use crate::{
    console::{forms::field_of, parts::fields::Choice, prelude::*, resources::words},
    domain::{
        assets::Kind,
        changes::Change as FieldChange,
        opportunities::{BudgetUnit, OpportunityKind, OpportunityMetadata, VisibilityMode},
        opportunity_fields::{OpportunityChange, OpportunityFields},
        opportunity_lifecycle::OpportunityOperation,
    },
    error::Problem,
    operations::opportunities,
};

/// Field of the query and of the form with the kind of a new opportunity.
const KIND: &str = "kind";

/// The page on which an opportunity is written.
pub struct NewOpportunity;

impl Page<Buyer> for NewOpportunity {
    const PATH: &'static str = "/opportunities/new";
    const TITLE: &'static str = "Write an opportunity";

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let content = match kind(visit.query.get(KIND)) {
            Some(kind) => {
                let path = format!("{}?{KIND}={}", NewOpportunity::PATH, kind_name(kind));
                let leave = ("Choose another kind", NewOpportunity::PATH);
                let body =
                    form(&visit.context, kind, &blank(), &HashMap::new(), (&path, "Save the draft", leave));
                let title = match kind {
                    OpportunityKind::Listing => "Write a listing request",
                    OpportunityKind::Project => "Write a project",
                };
                Content::new(title, body).with_note(
                    html! { "It is saved as a draft, which nobody else sees until you publish it." },
                )
            }
            None => Content::new(Self::TITLE, choose(&visit.context))
                .with_note(html! { "Say what you are looking for. Vendors answer once you publish it." }),
        };
        Ok(content.with_parent("Opportunities", paths::OPPORTUNITIES).narrow().into())
    }
}

impl FormPage<Buyer> for NewOpportunity {
    async fn submit(visit: &Visit<Buyer>, fields: &Fields) -> Result<Answer> {
        let kind = kind(visit.query.get(KIND)).ok_or_else(|| Error::not_found("page"))?;
        let written = read(fields, kind, &blank())?;
        let change = Change::new("create_opportunity", "team", visit.access.team().id);
        let id = changes::perform(visit, fields, change, move |writer, buyer| {
            let id = writer.new_id(kind.collection());
            opportunities::create(writer, buyer, Actor::Team, (id, kind), &written).map(|created| created.id)
        });
        Ok(Answer::done(&paths::opportunity(id.await?), Notice::Saved))
    }
}

/// The page on which a draft is edited.
pub struct EditOpportunity;

impl Page<Buyer> for EditOpportunity {
    const PATH: &'static str = "/opportunities/{id}/edit";
    const TITLE: &'static str = "Edit an opportunity";

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let own = find_own(visit, 0).await?;
        let opportunity = &own.opportunity;
        let path = paths::opportunity(opportunity.id);
        let body = match why_not(opportunity, OpportunityOperation::Update, visit.now()) {
            Some(reason) => badges::warning(html! { "It cannot be edited now. " (reason) }),
            None => {
                let edit = format!("{path}/edit");
                let sent = (edit.as_str(), "Save the draft", ("Leave it as it is", path.as_str()));
                let before = OpportunityFields::from(opportunity);
                form(&visit.context, opportunity.kind, &before, &own.vendors, sent)
            }
        };
        Ok(below(opportunity, Content::new(format!("Edit {}", opportunity.title), body)).into())
    }
}

impl FormPage<Buyer> for EditOpportunity {
    async fn submit(visit: &Visit<Buyer>, fields: &Fields) -> Result<Answer> {
        let opportunity = find_own(visit, 0).await?.opportunity;
        let (id, kind, sent) = (opportunity.id, opportunity.kind, fields.clone());
        let written = change_to(read(fields, kind, &OpportunityFields::from(&opportunity))?);
        let change = Change::new("update_opportunity", "opportunity", id);
        let update = changes::perform(visit, fields, change, move |writer, buyer| {
            let before = opportunities::find_own(writer.rows, buyer, id, kind)?;
            Seen::of(&OpportunityFields::from(&before)).check(&sent)?;
            opportunities::update(writer, buyer, Actor::Team, (id, kind), written).map(drop)
        });
        update.await?;
        Ok(Answer::done(&paths::opportunity(id), Notice::Saved))
    }
}

/// Returns the kind of a new opportunity.
fn kind(name: Option<&str>) -> Option<OpportunityKind> {
    OpportunityKind::ALL.iter().copied().find(|kind| name == Some(kind_name(*kind)))
}

const fn kind_name(kind: OpportunityKind) -> &'static str {
    match kind {
        OpportunityKind::Listing => "listing_request",
        OpportunityKind::Project => "project",
    }
}

fn choose(context: &Context) -> Markup {
    let choice = |kind: OpportunityKind, note: &str| Choice {
        value: kind_name(kind).to_owned(),
        text: kind_word(kind).to_owned(),
        note: note.to_owned(),
        amount: None,
    };
    let choices = [
        choice(
            OpportunityKind::Listing,
            "You want to buy data that a vendor may have. Vendors who see it publish listings that fit.",
        ),
        choice(
            OpportunityKind::Project,
            "You want tasks that are made for you. Vendors bid with a number of tasks and days, you accept bids, and they deliver.",
        ),
    ];
    html! {
        form.stack action=(context.links.to(NewOpportunity::PATH)) {
            (fields::choices(&context.inputs, KIND, "What do you ask for?", &choices, kind_name(OpportunityKind::Listing)))
            div.row {
                button.primary { "Continue" }
                a.button.quiet href=(context.links.to(paths::OPPORTUNITIES)) { "Back to the opportunities" }
            }
        }
    }
}

/// The fields of a new opportunity.
pub fn blank() -> OpportunityFields {
    OpportunityFields {
        title: String::new(),
        description: String::new(),
        accepted_asset_types: Vec::new(),
        metadata: OpportunityMetadata::default(),
        visibility: VisibilityMode::AllVendors,
        excluded_team_ids: Vec::new(),
        deadline: None,
        evaluation_date: None,
    }
}

/// Shows the form. `sent` is the path that it is sent to, the label of its button, and where leaving it leads.
fn form(
    context: &Context,
    kind: OpportunityKind,
    before: &OpportunityFields,
    vendors: &HashMap<Uuid, String>,
    sent: (&str, &str, (&str, &str)),
) -> Markup {
    let inputs = &context.inputs;
    let OpportunityFields { title, description, metadata, deadline, .. } = before;
    let day = |time: Option<Timestamp>| time.map(|time| time.day().to_string()).unwrap_or_default();
    let title = Field::text("title", "Title").value(title).required().at_most(200);
    let overview = Field::text("overview", "In one sentence")
        .hint(html! { "Vendors read it in lists. It can be left out." })
        .value(metadata.overview.clone().unwrap_or_default())
        .at_most(500);
    let description = Field::lines("description", "Description")
        .hint(html! { "What you need it for, what it must have, and what does not fit. Markdown works." })
        .value(description);
    let tags = Field::text("tags", "Tags")
        .hint(html! { "Words that vendors search for, with commas between them. At most 20." })
        .value(metadata.tags.join(", "));
    let until = Field::day("deadline", "Deadline")
        .hint(html! { "Vendors can respond until the end of this day, UTC. Leave it empty for no deadline." })
        .value(day(*deadline));
    let evaluation = Field::day("evaluation_date", "Day of the evaluation")
        .hint(html! { "When you look at the bids: not before the deadline. It can be left out." })
        .value(day(before.evaluation_date));
    let content = html! {
        (Seen::of(before).edited(inputs))
        (title.show(inputs)) (overview.show(inputs)) (description.show(inputs))
        (kind_boxes(context, &before.accepted_asset_types))
        (budget_fields(context, metadata))
        (tags.show(inputs)) (until.show(inputs))
        @if kind == OpportunityKind::Project { (evaluation.show(inputs)) }
        @if !before.excluded_team_ids.is_empty() { (excluded_boxes(context, &before.excluded_team_ids, vendors)) }
        (fields::buttons(context, sent.1, sent.2))
    };
    fields::form(context, sent.0, &content)
}

fn kind_boxes(context: &Context, chosen: &[Kind]) -> Markup {
    let values = text::choices(kinds::plural);
    let is_checked = |value: &str| chosen.iter().any(|kind| kind.as_str() == value);
    let legend = "Accepted kinds of data (none checked: any kind)";
    fields::checkboxes(&context.inputs, "accepted_asset_types", legend, values, is_checked)
}

fn excluded_boxes(context: &Context, excluded: &[Uuid], vendors: &HashMap<Uuid, String>) -> Markup {
    let values = excluded.iter().map(|id| (*id, super::vendors::name(vendors, *id)));
    fields::checkboxes(&context.inputs, "excluded_team_ids", "Excluded vendors", values, |_| true)
}

fn budget_fields(context: &Context, metadata: &OpportunityMetadata) -> Markup {
    let inputs = &context.inputs;
    let amount = |dollars: Option<f64>| {
        dollars.and_then(Cents::from_dollars).map(|amount| amount.to_string()).unwrap_or_default()
    };
    let units = [
        ("", "Not stated".to_owned()),
        ("total", "In total".to_owned()),
        ("per_task", "Per task".to_owned()),
    ];
    let unit = metadata.budget_unit.map_or("", BudgetUnit::as_str);
    html! {
        div.row.even {
            (Field::decimal("budget_min", "Budget from, USD").value(amount(metadata.budget_min)).show(inputs))
            (Field::decimal("budget_max", "Budget up to, USD").value(amount(metadata.budget_max)).show(inputs))
            (fields::select(inputs, "budget_unit", "The budget is", units, unit))
        }
    }
}

/// Reads the form, with all of its problems. `before` has the values that it showed.
pub fn read(fields: &Fields, kind: OpportunityKind, before: &OpportunityFields) -> Result<OpportunityFields> {
    let mut problems = Vec::new();
    let title = collect(fields.require("title", "Enter a title.").map(str::to_owned), &mut problems)?;
    let minimum = collect(fields.amount("budget_min"), &mut problems)?.flatten();
    let maximum = collect(fields.amount("budget_max"), &mut problems)?.flatten();
    let deadline = collect(fields.end_of_day("deadline", before.deadline), &mut problems)?.flatten();
    let evaluation =
        collect(fields.end_of_day("evaluation_date", before.evaluation_date), &mut problems)?.flatten();
    let excluded = before.excluded_team_ids.iter().copied();
    let is_kept = |id: &Uuid| fields.all("excluded_team_ids").any(|kept| kept == id.to_string());
    let excluded: Vec<Uuid> = excluded.filter(is_kept).collect();
    let metadata = OpportunityMetadata {
        budget_min: minimum.map(Cents::dollars),
        budget_max: maximum.map(Cents::dollars),
        budget_unit: fields.get("budget_unit").and_then(BudgetUnit::parse),
        tags: words(fields, "tags"),
        overview: fields.get("overview").map(str::to_owned),
    };
    let is_project = kind == OpportunityKind::Project;
    let written = OpportunityFields {
        title: title.unwrap_or_default(),
        description: fields.get("description").unwrap_or_default().to_owned(),
        accepted_asset_types: fields.all("accepted_asset_types").filter_map(Kind::parse).collect(),
        metadata,
        visibility: if excluded.is_empty() { VisibilityMode::AllVendors } else { VisibilityMode::AllExcept },
        excluded_team_ids: excluded,
        deadline,
        evaluation_date: evaluation.filter(|_| is_project),
    };
    // All problems are shown at once, including problems of fields that could be read.
    for found in written.find_problems(kind).into_vec() {
        if problems.iter().all(|known: &Problem| field_of(known) != field_of(&found)) {
            problems.push(found);
        }
    }
    if problems.is_empty() { Ok(written) } else { Err(Error::Invalid(problems)) }
}

/// Returns the change that sets all fields of a draft.
pub fn change_to(fields: OpportunityFields) -> OpportunityChange {
    let time = |time: Option<Timestamp>| time.map_or(FieldChange::Clear, FieldChange::Set);
    OpportunityChange {
        title: Some(fields.title),
        description: Some(fields.description),
        accepted_asset_types: Some(fields.accepted_asset_types),
        metadata: Some(fields.metadata),
        visibility: Some(fields.visibility),
        excluded_team_ids: Some(fields.excluded_team_ids),
        deadline: time(fields.deadline),
        evaluation_date: time(fields.evaluation_date),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn form(text: &'static str) -> Fields {
        Fields::parse(&Bytes::from_static(text.as_bytes())).unwrap()
    }

    #[test]
    fn all_problems_of_a_form_are_found() {
        let fields = form("title=&budget_min=x&deadline=soon&overview=a%0Ab");
        let Err(Error::Invalid(problems)) = read(&fields, OpportunityKind::Listing, &blank()) else {
            panic!("the form is invalid")
        };
        let names: Vec<_> = problems.iter().filter_map(field_of).collect();
        assert_eq!(names, ["title", "budget_min", "deadline", "overview"]);
    }

    #[test]
    fn form_becomes_fields() {
        let fields =
            form("title=Maps&tags=a,+b,&budget_max=20,000&deadline=2026-03-31&accepted_asset_types=codebase");
        let read = read(&fields, OpportunityKind::Listing, &blank()).unwrap();
        assert_eq!(
            (read.metadata.tags, read.metadata.budget_max),
            (vec!["a".to_owned(), "b".to_owned()], Some(20_000.0))
        );
        assert_eq!(read.accepted_asset_types, [Kind::Codebase]);
        assert_eq!(read.deadline, Timestamp::parse("2026-03-31T23:59:59Z"));
    }
}
