//! Opportunities and project bids, as both vendors and buyers see them.

use std::collections::BTreeMap;

use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

use super::UtcTime;
use crate::{
    domain::{
        assets::Kind,
        money::CURRENCY,
        opportunities::{Bid, BidStatus, BudgetUnit, Opportunity, OpportunityMetadata, OpportunityStatus},
    },
    web::enum_value::EnumValue,
};

/// Optional facts about an opportunity.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "OpportunityMetadata")]
pub struct OpportunityMetadataOut {
    /// Minimum budget in US dollars; null if the buyer has not named one.
    pub budget_min: Option<f64>,
    /// Maximum budget in US dollars; null if the buyer has not named one.
    pub budget_max: Option<f64>,
    /// Whether the budget is per task or in total; null if the buyer has not said.
    pub budget_unit: Option<EnumValue<BudgetUnit>>,
    /// Currency of the budget. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// Free-form tags.
    pub tags: Vec<String>,
    /// The request in one sentence; null if there is none.
    pub overview: Option<String>,
}

impl From<&OpportunityMetadata> for OpportunityMetadataOut {
    fn from(metadata: &OpportunityMetadata) -> OpportunityMetadataOut {
        OpportunityMetadataOut {
            budget_min: metadata.budget_min,
            budget_max: metadata.budget_max,
            budget_unit: metadata.budget_unit.map(EnumValue),
            currency: CURRENCY.to_owned(),
            tags: metadata.tags.clone(),
            overview: metadata.overview.clone(),
        }
    }
}

/// The fields that every view of an opportunity has.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityCore {
    /// ID of the opportunity.
    pub id: Uuid,
    /// Title of the opportunity.
    pub title: String,
    /// State of the opportunity.
    pub status: EnumValue<OpportunityStatus>,
    /// ID of the buyer team that posted the opportunity.
    pub owner_id: Uuid,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest change.
    pub updated_at: UtcTime,
    /// Asset kinds that the buyer accepts; empty if any kind is accepted.
    pub accepted_asset_types: Vec<EnumValue<Kind>>,
    /// Time at which the opportunity was closed; null if it is not closed.
    pub closed_at: Option<UtcTime>,
    /// Time by which vendors must respond; null if there is no deadline.
    pub deadline: Option<UtcTime>,
    /// What the buyer is looking for.
    pub description: String,
    /// Budget, tags, and overview.
    pub metadata: OpportunityMetadataOut,
}

impl From<&Opportunity> for OpportunityCore {
    fn from(opportunity: &Opportunity) -> OpportunityCore {
        OpportunityCore {
            id: opportunity.id,
            title: opportunity.title.clone(),
            status: EnumValue(opportunity.status),
            owner_id: opportunity.owner_id,
            created_at: opportunity.created_at.into(),
            updated_at: opportunity.updated_at.into(),
            accepted_asset_types: opportunity.accepted_asset_types.iter().copied().map(EnumValue).collect(),
            closed_at: opportunity.closed_at.map(UtcTime),
            deadline: opportunity.deadline.map(UtcTime),
            description: opportunity.description.clone(),
            metadata: (&opportunity.metadata).into(),
        }
    }
}

/// A file that a vendor attached to a bid.
#[derive(Debug, Object, Serialize)]
pub struct BidAttachment {
    /// Name of the file.
    pub file_name: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
}

/// A vendor's bid on a project opportunity.
#[derive(Debug, Object, Serialize)]
pub struct ProjectBid {
    /// ID of the bid.
    pub id: Uuid,
    /// ID of the project opportunity.
    pub opportunity_id: Uuid,
    /// ID of the vendor team.
    pub team_id: Uuid,
    /// Number of tasks that the vendor offers.
    pub num_tasks: u32,
    /// State of the bid.
    pub status: EnumValue<BidStatus>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest change.
    pub updated_at: UtcTime,
    /// Files that the vendor attached to the bid.
    pub attachments: Vec<BidAttachment>,
    /// Time at which the work was completed; null if it is not completed.
    pub completed_at: Option<UtcTime>,
    /// IDs of the tasksets that the vendor delivered. Tasksets can be read only as parts of listings.
    pub delivery_taskset_ids: Vec<Uuid>,
    /// Names of the delivered tasksets, by ID.
    pub delivery_taskset_names: BTreeMap<String, String>,
    /// Number of days that the vendor expects to need; null if the vendor has not said.
    pub expected_timeline_days: Option<u32>,
}

impl From<&Bid> for ProjectBid {
    fn from(bid: &Bid) -> ProjectBid {
        ProjectBid {
            id: bid.id,
            opportunity_id: bid.opportunity_id,
            team_id: bid.team_id,
            num_tasks: bid.num_tasks,
            status: EnumValue(bid.status),
            created_at: bid.created_at.into(),
            updated_at: bid.updated_at.into(),
            attachments: bid
                .attachments
                .iter()
                .map(|file| BidAttachment { file_name: file.file_name.clone(), size_bytes: file.size_bytes })
                .collect(),
            completed_at: bid.completed_at.map(UtcTime),
            delivery_taskset_ids: bid.delivery_tasksets.iter().map(|(id, _)| *id).collect(),
            delivery_taskset_names: bid
                .delivery_tasksets
                .iter()
                .map(|(id, name)| (id.to_string(), name.clone()))
                .collect(),
            expected_timeline_days: bid.expected_timeline_days,
        }
    }
}
