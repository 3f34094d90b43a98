//! Opportunities and project bids as both sides see them.

use std::collections::BTreeMap;

use poem_openapi::Object;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::UtcTime;
use crate::{
    domain::{
        assets::Kind,
        opportunities::{Bid, BidStatus, Opportunity, OpportunityStatus},
    },
    rest::vocabulary::Word,
};

/// What every view of an opportunity has.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityCore {
    /// Its id.
    pub id: Uuid,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub status: Word<OpportunityStatus>,
    /// The buyer team that posted it.
    pub owner_id: Uuid,
    /// When it was posted.
    pub created_at: UtcTime,
    /// When it was last changed.
    pub updated_at: UtcTime,
    /// Asset kinds that would do; empty for any.
    pub accepted_asset_types: Vec<Word<Kind>>,
    /// When it was closed; null while it is not.
    pub closed_at: Option<UtcTime>,
    /// When answers are due; null where there is no such day.
    pub deadline: Option<UtcTime>,
    /// What is looked for.
    pub description: String,
    /// Loose facts: `budget_min`, `budget_max`, `budget_unit` (`per_task` or `total`), `currency`, `tags` and `overview`.
    pub metadata: BTreeMap<String, Value>,
}

impl From<&Opportunity> for OpportunityCore {
    fn from(opportunity: &Opportunity) -> OpportunityCore {
        OpportunityCore {
            id: opportunity.id,
            title: opportunity.title.clone(),
            status: Word(opportunity.status),
            owner_id: opportunity.owner_id,
            created_at: opportunity.created_at.into(),
            updated_at: opportunity.updated_at.into(),
            accepted_asset_types: opportunity.accepted_asset_types.iter().copied().map(Word).collect(),
            closed_at: opportunity.closed_at.map(UtcTime),
            deadline: opportunity.deadline.map(UtcTime),
            description: opportunity.description.clone(),
            metadata: opportunity.metadata.clone(),
        }
    }
}

/// A vendor's bid on a project opportunity.
#[derive(Debug, Object, Serialize)]
pub struct ProjectBid {
    /// Its id.
    pub id: Uuid,
    /// The project opportunity.
    pub opportunity_id: Uuid,
    /// The vendor team.
    pub team_id: Uuid,
    /// Tasks offered.
    pub num_tasks: u32,
    /// Where it stands.
    pub status: Word<BidStatus>,
    /// When it was made.
    pub created_at: UtcTime,
    /// When it was last changed.
    pub updated_at: UtcTime,
    /// Files that came with it.
    pub attachments: Vec<Value>,
    /// When the work was done; null before that.
    pub completed_at: Option<UtcTime>,
    /// Tasksets that were delivered.
    pub delivery_taskset_ids: Vec<Uuid>,
    /// Their names, by their ids.
    pub delivery_taskset_names: BTreeMap<String, String>,
    /// Days that the vendor expects to need; null where it has not said.
    pub expected_timeline_days: Option<u32>,
}

impl From<&Bid> for ProjectBid {
    fn from(bid: &Bid) -> ProjectBid {
        ProjectBid {
            id: bid.id,
            opportunity_id: bid.opportunity_id,
            team_id: bid.team_id,
            num_tasks: bid.num_tasks,
            status: Word(bid.status),
            created_at: bid.created_at.into(),
            updated_at: bid.updated_at.into(),
            attachments: bid.attachments.clone(),
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
