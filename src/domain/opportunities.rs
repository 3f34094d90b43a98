//! What buyers ask for, and vendors' bids on it.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::{
    assets::Kind,
    teams::TeamNumber,
    time::Timestamp,
    vocabulary::{Vocabulary, vocabulary},
};

vocabulary! {
    /// Where an opportunity stands.
    OpportunityStatus {
        /// Being written.
        Draft = "draft",
        /// Open to answers.
        Published = "published",
        /// Ended.
        Closed = "closed",
        /// Called off.
        Cancelled = "cancelled",
    }
}

vocabulary! {
    /// What a budget is for.
    BudgetUnit {
        /// One task.
        PerTask = "per_task",
        /// Everything.
        Total = "total",
    }
}

vocabulary! {
    /// Which vendors may see an opportunity.
    VisibilityMode {
        /// Every vendor.
        AllVendors = "all_vendors",
        /// Every vendor but the excluded ones.
        AllExcept = "all_except",
    }
}

vocabulary! {
    /// Where a project bid stands.
    BidStatus {
        /// Waiting for the buyer.
        Submitted = "submitted",
        /// Taken by the buyer.
        Accepted = "accepted",
        /// Refused by the buyer.
        Declined = "declined",
        /// Taken back by the vendor.
        Withdrawn = "withdrawn",
        /// Handed over.
        Delivered = "delivered",
        /// Accepted as done.
        Completed = "completed",
    }
}

vocabulary! {
    /// An order of opportunities. Ties are broken by date, newer first.
    OpportunityOrder {
        /// The soonest deadline first, those without one last.
        Deadline = "deadline",
        /// The newest first.
        Recent = "recent",
        /// By title, regardless of case.
        Title = "title",
        /// The lowest budget first, those without one last.
        BudgetLow = "budget_low",
        /// The highest budget first, those without one last.
        BudgetHigh = "budget_high",
    }
}

/// Something that a buyer asks for: listings, or custom task work.
#[derive(Clone, Debug)]
pub struct Opportunity {
    /// Its row number.
    pub number: i64,
    /// Its id.
    pub id: Uuid,
    /// Whether it asks for custom task work.
    pub is_project: bool,
    /// The buyer.
    pub owner: TeamNumber,
    /// The buyer's id.
    pub owner_id: Uuid,
    /// The buyer's name.
    pub owner_name: String,
    /// Where the buyer's picture is.
    pub owner_avatar_url: Option<String>,
    /// Its title.
    pub title: String,
    /// What is looked for.
    pub description: String,
    /// Where it stands.
    pub status: OpportunityStatus,
    /// Asset kinds that would do.
    pub accepted_asset_types: Vec<Kind>,
    /// Budget, tags and overview.
    pub metadata: BTreeMap<String, Value>,
    /// Who may see it.
    pub visibility: VisibilityMode,
    /// Teams that may not.
    pub excluded: Vec<Uuid>,
    /// When it was posted.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When answers are due.
    pub deadline: Option<Timestamp>,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// When bids are evaluated.
    pub evaluation_date: Option<Timestamp>,
}

/// A vendor's bid on custom task work.
#[derive(Clone, Debug)]
pub struct Bid {
    /// Its id.
    pub id: Uuid,
    /// The project opportunity.
    pub opportunity_id: Uuid,
    /// The vendor.
    pub team_id: Uuid,
    /// Tasks offered.
    pub num_tasks: u32,
    /// Where it stands.
    pub status: BidStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Files that came with it.
    pub attachments: Vec<Value>,
    /// When the work was done.
    pub completed_at: Option<Timestamp>,
    /// Days that the vendor expects to need.
    pub expected_timeline_days: Option<u32>,
    /// What the platform did, oldest first.
    pub platform_events: Vec<Value>,
    /// What the vendor did, oldest first.
    pub vendor_events: Vec<Value>,
    /// Tasksets that were delivered, by id and name.
    pub delivery_tasksets: Vec<(Uuid, String)>,
}

/// What a vendor looks for among open opportunities.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Words, each of which must be somewhere in the title, the overview, the tags or the buyer's name.
    pub text: String,
    /// Tags, any of them.
    pub tags: Vec<String>,
    /// Asset kinds, any of them.
    pub asset_types: Vec<String>,
    /// The most that the lowest budget may be, in US dollars.
    pub max_budget: Option<f64>,
    /// What the budget is for.
    pub budget_unit: Option<BudgetUnit>,
}

impl Opportunity {
    /// Whether a vendor may look at it by its id: published and cancelled ones, that do not exclude its team.
    pub fn is_shown_to(&self, team: Uuid) -> bool {
        matches!(self.status, OpportunityStatus::Published | OpportunityStatus::Cancelled)
            && self.admits(team)
    }

    /// Whether a team is not excluded.
    pub fn admits(&self, team: Uuid) -> bool {
        self.visibility == VisibilityMode::AllVendors || !self.excluded.contains(&team)
    }

    /// Free labels.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.metadata.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// The lowest budget in US dollars.
    pub fn budget_min(&self) -> Option<f64> {
        self.metadata.get("budget_min").and_then(Value::as_f64)
    }

    /// The highest budget in US dollars.
    fn budget_max(&self) -> Option<f64> {
        self.metadata.get("budget_max").and_then(Value::as_f64).or_else(|| self.budget_min())
    }

    /// Whether all the words are somewhere in it, regardless of case.
    pub fn holds(&self, text: &str) -> bool {
        let overview = self.metadata.get("overview").and_then(Value::as_str).unwrap_or_default();
        let tags: Vec<&str> = self.tags().collect();
        let all =
            [self.title.as_str(), overview, &tags.join(" "), &self.owner_name].join("\n").to_lowercase();
        text.to_lowercase().split_whitespace().all(|word| all.contains(word))
    }

    /// Whether it is what a vendor looks for, the words apart.
    pub fn fits(&self, wanted: &Wanted) -> bool {
        let kinds = || self.accepted_asset_types.iter().map(|kind| kind.word());
        let unit = self.metadata.get("budget_unit").and_then(Value::as_str);
        (wanted.tags.is_empty() || self.tags().any(|tag| wanted.tags.iter().any(|wanted| wanted == tag)))
            && (wanted.asset_types.is_empty()
                || kinds().any(|kind| wanted.asset_types.iter().any(|w| w == kind)))
            && wanted.max_budget.is_none_or(|most| self.budget_min().is_some_and(|least| least <= most))
            && wanted.budget_unit.is_none_or(|wanted| unit == Some(wanted.word()))
    }
}

impl OpportunityOrder {
    /// Puts opportunities, which come newest first, into this order.
    pub fn sort(self, opportunities: &mut [Opportunity]) {
        // Values that are not there come last: `false` is less than `true`.
        let amount = |amount: Option<f64>| (amount.is_none(), amount.unwrap_or_default());
        let compare = |a: (bool, f64), b: (bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        match self {
            OpportunityOrder::Recent => {}
            OpportunityOrder::Deadline => {
                opportunities.sort_by_key(|one| (one.deadline.is_none(), one.deadline));
            }
            OpportunityOrder::Title => opportunities.sort_by_cached_key(|one| one.title.to_lowercase()),
            OpportunityOrder::BudgetLow => {
                opportunities.sort_by(|a, b| compare(amount(a.budget_min()), amount(b.budget_min())));
            }
            OpportunityOrder::BudgetHigh => opportunities.sort_by(|a, b| {
                let most = |one: &Opportunity| amount(one.budget_max().map(|most| -most));
                compare(most(a), most(b))
            }),
        }
    }
}
