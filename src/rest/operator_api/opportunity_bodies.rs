//! Common parts of opportunities and project opportunities in the operator API: fields, filters, and bodies.

use poem_openapi::types::MaybeUndefined;
use serde::Deserializer;

use crate::{
    domain::{
        assets::Kind,
        money::Cents,
        opportunities::{
            BudgetUnit, Opportunity, OpportunityKind, OpportunityMetadata, OpportunityStatus, VisibilityMode,
        },
        opportunity_fields::{OpportunityChange, OpportunityFields},
    },
    error::LocSegment,
    operations::{access::Buyer, opportunities},
    rest::{
        arguments::request_body::into_change,
        operator_api::prelude::*,
        shapes::{
            RequestTime,
            strings::{FreeTag, MultilineText, Overview, Title},
        },
    },
    store,
};

/// What the lists of opportunities can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityFilters {
    /// ID of the buyer team.
    team_id: Option<Uuid>,
    /// State of the opportunity.
    status: Option<EnumValue<OpportunityStatus>>,
}

/// The query of the lists of opportunities.
pub type OpportunityQuery = ListQuery<OpportunityFilters>;

/// Teams to exclude from an opportunity.
#[derive(Debug, Object)]
pub struct TeamExclusion {
    /// IDs of the teams, in addition to those that are excluded already. At most 100 in all.
    #[oai(validator(min_items = 1, max_items = 100))]
    team_ids: Vec<MaybeInvalid<Uuid>>,
}

impl TeamExclusion {
    /// Returns the IDs of the teams.
    pub fn into_team_ids(self) -> Result<Vec<Uuid>> {
        references::distinct("team_ids", MaybeInvalid::all(self.team_ids, |id| id)?)
    }
}

/// An opportunity to create, as a draft.
#[derive(Debug, Object)]
pub struct OpportunityIn {
    /// ID of the buyer team that posts it.
    team_id: MaybeInvalid<Uuid>,
    /// Title.
    title: MaybeInvalid<Title>,
    /// What the buyer is looking for; empty if absent.
    description: Option<MultilineText>,
    /// Asset kinds that the buyer accepts; any kind if empty.
    #[oai(default, validator(max_items = 8))]
    accepted_asset_types: Vec<MaybeInvalid<EnumValue<Kind>>>,
    /// Minimum budget in US dollars, up to one billion; null or absent if none is named.
    budget_min: Option<Amount>,
    /// Maximum budget in US dollars, up to one billion; null or absent if none is named.
    budget_max: Option<Amount>,
    /// Whether the budget is per task or in total; null or absent if that is not said.
    budget_unit: Option<EnumValue<BudgetUnit>>,
    /// Free-form tags.
    #[oai(default, validator(max_items = 20))]
    tags: Vec<MaybeInvalid<FreeTag>>,
    /// The request in one sentence; null or absent if there is none.
    overview: Option<Overview>,
    /// Which vendors may see it; all if absent.
    visibility_mode: Option<EnumValue<VisibilityMode>>,
    /// IDs of the teams that may not see it, with the visibility mode `all_except`.
    #[oai(default, validator(max_items = 100))]
    excluded_team_ids: Vec<MaybeInvalid<Uuid>>,
    /// Time by which vendors must respond, in the future; null or absent if there is no deadline.
    deadline: Option<RequestTime>,
}

impl OpportunityIn {
    /// Returns the ID of the team, and the fields.
    pub fn into_parts(self) -> Result<(Uuid, OpportunityFields)> {
        let amount = |amount: Option<Amount>| amount.map(|amount| amount.0.dollars());
        let fields = OpportunityFields {
            title: self.title.into_valid()?.into(),
            description: self.description.map(String::from).unwrap_or_default(),
            accepted_asset_types: MaybeInvalid::all(self.accepted_asset_types, |kind| kind.0)?,
            metadata: OpportunityMetadata {
                budget_min: amount(self.budget_min),
                budget_max: amount(self.budget_max),
                budget_unit: self.budget_unit.map(|unit| unit.0),
                tags: MaybeInvalid::all(self.tags, String::from)?,
                overview: self.overview.map(String::from),
            },
            visibility: self.visibility_mode.map_or(VisibilityMode::AllVendors, |mode| mode.0),
            excluded_team_ids: MaybeInvalid::all(self.excluded_team_ids, |id| id)?,
            deadline: self.deadline.map(|at| at.0),
            evaluation_date: None,
        };
        Ok((self.team_id.into_valid()?, fields))
    }
}

/// A project opportunity to create, as a draft.
#[derive(Debug, Object)]
pub struct ProjectOpportunityIn {
    /// The fields of both kinds of opportunities.
    #[oai(flatten)]
    opportunity: OpportunityIn,
    /// Time at which bids are evaluated, not before the deadline; null if none is set.
    evaluation_date: Option<RequestTime>,
}

impl ProjectOpportunityIn {
    /// Returns the ID of the team, and the fields.
    pub fn into_parts(self) -> Result<(Uuid, OpportunityFields)> {
        let (team, fields) = self.opportunity.into_parts()?;
        Ok((team, OpportunityFields { evaluation_date: self.evaluation_date.map(|at| at.0), ..fields }))
    }
}

/// Changes to an opportunity. Fields that are absent stay as they are. Once it is published, only its deadline can
/// change.
#[derive(Debug, Object)]
pub struct OpportunityPatch {
    /// New title.
    title: Omittable<Title>,
    /// New description of what the buyer is looking for.
    description: Omittable<MultilineText>,
    /// New list of the asset kinds that the buyer accepts; any kind if empty.
    #[oai(validator(max_items = 8))]
    accepted_asset_types: Omittable<Vec<MaybeInvalid<EnumValue<Kind>>>>,
    /// New minimum budget in US dollars; null for none.
    budget_min: MaybeUndefined<Amount>,
    /// New maximum budget in US dollars; null for none.
    budget_max: MaybeUndefined<Amount>,
    /// Whether the budget is per task or in total; null to not say.
    budget_unit: MaybeUndefined<EnumValue<BudgetUnit>>,
    /// New free-form tags.
    #[oai(validator(max_items = 20))]
    tags: Omittable<Vec<MaybeInvalid<FreeTag>>>,
    /// New request in one sentence; null for none.
    overview: MaybeUndefined<Overview>,
    /// Which vendors may see it.
    visibility_mode: Omittable<EnumValue<VisibilityMode>>,
    /// New list of the IDs of the teams that may not see it.
    #[oai(validator(max_items = 100))]
    excluded_team_ids: Omittable<Vec<MaybeInvalid<Uuid>>>,
    /// New time by which vendors must respond, in the future; null for no deadline. Once published, it can only
    /// be moved to a later time.
    deadline: MaybeUndefined<RequestTime>,
}

impl OpportunityPatch {
    /// Returns the changes to an opportunity.
    pub fn changes_to(self, found: &Opportunity) -> Result<OpportunityChange> {
        let mut metadata = found.metadata.clone();
        let amount = |amount: Amount| amount.0.dollars();
        into_change(self.budget_min).map(amount).apply(&mut metadata.budget_min);
        into_change(self.budget_max).map(amount).apply(&mut metadata.budget_max);
        into_change(self.budget_unit).map(|unit| unit.0).apply(&mut metadata.budget_unit);
        into_change(self.overview).map(String::from).apply(&mut metadata.overview);
        if let Some(tags) = self.tags.0 {
            metadata.tags = MaybeInvalid::all(tags, String::from)?;
        }
        let (kinds, teams) = (self.accepted_asset_types.0, self.excluded_team_ids.0);
        Ok(OpportunityChange {
            title: self.title.0.map(String::from),
            description: self.description.0.map(String::from),
            accepted_asset_types: kinds.map(|kinds| MaybeInvalid::all(kinds, |kind| kind.0)).transpose()?,
            metadata: Some(metadata).filter(|metadata| *metadata != found.metadata),
            visibility: self.visibility_mode.0.map(|mode| mode.0),
            excluded_team_ids: teams.map(|teams| MaybeInvalid::all(teams, |id| id)).transpose()?,
            deadline: into_change(self.deadline).map(|at| at.0),
            ..OpportunityChange::default()
        })
    }
}

/// Changes to a project opportunity. Fields that are absent stay as they are. Once it is published, only its
/// deadline can change.
#[derive(Debug, Object)]
pub struct ProjectOpportunityPatch {
    /// The fields of both kinds of opportunities.
    #[oai(flatten)]
    opportunity: OpportunityPatch,
    /// Time at which bids are evaluated, not before the deadline; null if none is set.
    evaluation_date: MaybeUndefined<RequestTime>,
}

impl ProjectOpportunityPatch {
    /// Returns the changes to a project opportunity.
    pub fn changes_to(self, found: &Opportunity) -> Result<OpportunityChange> {
        let evaluation_date = into_change(self.evaluation_date).map(|at| at.0);
        Ok(OpportunityChange { evaluation_date, ..self.opportunity.changes_to(found)? })
    }
}

/// Reads an amount that is stored in dollars.
pub fn read_dollars<'de, D: Deserializer<'de>>(column: D) -> std::result::Result<Option<Money>, D::Error> {
    let dollars = Option::<f64>::deserialize(column)?;
    Ok(dollars.and_then(Cents::from_dollars).map(Money))
}

/// Creates a draft in the name of the team with this ID. Returns the ID of the draft.
pub fn create(
    writer: &mut Writer,
    platform: Platform,
    kind: OpportunityKind,
    (team, fields): (Uuid, OpportunityFields),
) -> Result<Uuid> {
    let team = references::team(writer.rows, "team_id", team)?;
    let buyer = references::buyer(platform, team)?;
    let id = writer.new_id(kind.collection());
    flatten_metadata(opportunities::create(writer, &buyer, Actor::Team, (id, kind), &fields))
        .map(|created| created.id)
}

/// Makes the changes that `changes_to` returns for an opportunity, in the name of its owner.
pub fn update(
    writer: &mut Writer,
    platform: Platform,
    (id, kind): (Uuid, OpportunityKind),
    changes_to: impl FnOnce(&Opportunity) -> Result<OpportunityChange>,
) -> Result<()> {
    let found = find(writer, id, kind)?;
    let change = changes_to(&found)?;
    let owner = former_buyer(writer, platform, &found)?;
    flatten_metadata(opportunities::update(writer, &owner, Actor::Team, (id, kind), change)).map(drop)
}

/// Moves problems with the metadata to the fields of the body, which has no such object.
fn flatten_metadata<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Invalid(mut problems) => {
            for problem in &mut problems {
                if problem.loc.get(1) == Some(&LocSegment::Name("metadata".to_owned())) {
                    problem.loc.remove(1);
                }
            }
            Error::Invalid(problems)
        }
        other => other,
    })
}

/// Returns the opportunity with this ID, of this kind.
fn find(writer: &Writer, id: Uuid, kind: OpportunityKind) -> Result<Opportunity> {
    let found = store::opportunities::find(writer.rows, id, kind)?;
    found.ok_or_else(|| {
        Error::not_found(match kind {
            OpportunityKind::Listing => "opportunity",
            OpportunityKind::Project => "project opportunity",
        })
    })
}

/// Returns the proof to end or change, in the name of its owner, what the owner has begun.
fn former_buyer(writer: &Writer, platform: Platform, found: &Opportunity) -> Result<Buyer> {
    platform.former_buyer(store::teams::find_by_row_id(writer.rows, found.owner_row_id)?)
}

/// Publishes an opportunity in the name of its owner, who needs the buyer role and the NDA.
pub fn publish(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
) -> Result<()> {
    let found = find(writer, id, kind)?;
    let owner = references::buyer(platform, store::teams::find_by_row_id(writer.rows, found.owner_row_id)?)?;
    flatten_metadata(opportunities::publish(writer, &owner, actor, (id, kind))).map(drop)
}

/// Ends an opportunity, or excludes teams from it, in the name of its owner, who may have lost the buyer role.
pub fn as_owner(
    writer: &mut Writer,
    platform: Platform,
    (id, kind): (Uuid, OpportunityKind),
    operation: impl FnOnce(&mut Writer, &Buyer, Actor, (Uuid, OpportunityKind)) -> Result<Opportunity>,
) -> Result<Uuid> {
    let found = find(writer, id, kind)?;
    let owner = former_buyer(writer, platform, &found)?;
    operation(writer, &owner, Actor::Team, (id, kind)).map(|found| found.id)
}
