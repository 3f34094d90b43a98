//! Opportunities that buyers publish, and vendors' bids on project opportunities.

use marketplace_text::{continues_word, equality_key, search_key};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    assets::Kind,
    collections::Collection,
    row_ids::{OpportunityRowId, ProjectBidRowId},
    teams::TeamRowId,
    time::Timestamp,
};
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// What a buyer requests in an opportunity.
    OpportunityKind {
        /// Listings.
        Listing = "listing",
        /// Custom task work.
        Project = "project",
    }
}

string_enum! {
    /// The status of an opportunity.
    OpportunityStatus {
        /// Not published yet.
        Draft = "draft",
        /// Open to responses from vendors.
        Published = "published",
        /// Closed to responses.
        Closed = "closed",
        /// Canceled by the buyer.
        Cancelled = "cancelled",
    }
}

string_enum! {
    /// The unit of a budget.
    BudgetUnit {
        /// The budget is per task.
        PerTask = "per_task",
        /// The budget is for the whole opportunity.
        Total = "total",
    }
}

string_enum! {
    /// The vendors that can see an opportunity.
    VisibilityMode {
        /// All vendors.
        AllVendors = "all_vendors",
        /// All vendors except the excluded ones.
        AllExcept = "all_except",
    }
}

string_enum! {
    /// The status of a project bid.
    BidStatus {
        /// Waiting for the buyer's decision.
        Submitted = "submitted",
        /// Accepted by the buyer.
        Accepted = "accepted",
        /// Declined by the buyer.
        Declined = "declined",
        /// Withdrawn by the vendor.
        Withdrawn = "withdrawn",
        /// Delivered by the vendor.
        Delivered = "delivered",
        /// Delivery accepted by the buyer.
        Completed = "completed",
    }
}

string_enum! {
    /// A sort order of opportunities. Ties are ordered by date, newest first.
    OpportunityOrder {
        /// Earliest deadline first; opportunities without a deadline last.
        Deadline = "deadline",
        /// Newest first.
        Recent = "recent",
        /// Title, case-insensitive.
        Title = "title",
        /// Lowest budget first; opportunities without a budget last.
        BudgetLow = "budget_low",
        /// Highest budget first; opportunities without a budget last.
        BudgetHigh = "budget_high",
    }
}

/// A buyer's request for listings or, as a project, for custom task work.
#[derive(Clone, Debug)]
pub struct Opportunity {
    /// Row ID of the opportunity.
    pub row_id: OpportunityRowId,
    /// ID of the opportunity (UUID).
    pub id: Uuid,
    /// What the buyer requests.
    pub kind: OpportunityKind,
    /// Row ID of the buyer's team.
    pub owner_row_id: TeamRowId,
    /// ID of the buyer's team (UUID).
    pub owner_id: Uuid,
    /// Name of the buyer's team.
    pub owner_name: String,
    /// URL of the buyer's avatar image.
    pub owner_avatar_url: Option<String>,
    /// Title of the opportunity.
    pub title: String,
    /// Description of what the buyer is looking for.
    pub description: String,
    /// Status of the opportunity.
    pub status: OpportunityStatus,
    /// Asset kinds that the buyer accepts.
    pub accepted_asset_types: Vec<Kind>,
    /// Budget, tags, and overview.
    pub metadata: OpportunityMetadata,
    /// The vendors that can see the opportunity.
    pub visibility: VisibilityMode,
    /// IDs of the excluded teams, if `visibility` is [`VisibilityMode::AllExcept`].
    pub excluded: Vec<Uuid>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Deadline for responses.
    pub deadline: Option<Timestamp>,
    /// Time of closing; `None` if not closed.
    pub closed_at: Option<Timestamp>,
    /// Time at which the buyer evaluates bids.
    pub evaluation_date: Option<Timestamp>,
}

/// Optional facts about an opportunity. Stored as JSON with these names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpportunityMetadata {
    /// Minimum budget in US dollars.
    pub budget_min: Option<f64>,
    /// Maximum budget in US dollars.
    pub budget_max: Option<f64>,
    /// Whether the budget is per task or in total.
    pub budget_unit: Option<BudgetUnit>,
    /// Free-form tags.
    pub tags: Vec<String>,
    /// The request in one sentence.
    pub overview: Option<String>,
}

/// A file that a vendor attached to a bid. Stored as JSON with these names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attachment {
    /// Name of the file.
    pub file_name: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
}

/// An event in the life of a bid. Stored as JSON with these names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BidEvent {
    /// Time of the event.
    pub at: Timestamp,
    /// What happened.
    pub event: String,
}

/// A vendor's bid on a project opportunity.
#[derive(Clone, Debug)]
pub struct Bid {
    /// Row ID of the bid.
    pub row_id: ProjectBidRowId,
    /// ID of the bid.
    pub id: Uuid,
    /// ID of the project opportunity.
    pub opportunity_id: Uuid,
    /// Row ID of the vendor's team.
    pub team_row_id: TeamRowId,
    /// ID of the vendor's team.
    pub team_id: Uuid,
    /// Number of tasks that the vendor offers.
    pub num_tasks: u32,
    /// Status of the bid.
    pub status: BidStatus,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Files that the vendor attached.
    pub attachments: Vec<Attachment>,
    /// Time at which the work was completed.
    pub completed_at: Option<Timestamp>,
    /// Number of days that the vendor expects to need.
    pub expected_timeline_days: Option<u32>,
    /// Actions of the platform, oldest first.
    pub platform_events: Vec<BidEvent>,
    /// Actions of the vendor, oldest first.
    pub vendor_events: Vec<BidEvent>,
    /// Delivered tasksets: ID and name.
    pub delivery_tasksets: Vec<(Uuid, String)>,
}

/// A vendor's filter on published opportunities.
#[derive(Clone, Debug, Default)]
pub struct OpportunityFilter {
    /// Search terms. Each term must occur in the title, the overview, the tags, or the buyer's name.
    pub text: String,
    /// Tags, at least one of which must match. Empty for any tags.
    pub tags: Vec<String>,
    /// Asset kinds, at least one of which must be accepted. Empty for any kinds.
    pub asset_types: Vec<String>,
    /// Upper bound of the minimum budget, in US dollars.
    pub max_budget: Option<f64>,
    /// The unit of the budget.
    pub budget_unit: Option<BudgetUnit>,
}

/// The keys by which the texts of a filter are compared. They are made once for all opportunities, since that takes longer than
/// comparing them.
#[derive(Clone, Debug)]
pub struct FilterKeys {
    text: String,
    tags: Vec<String>,
}

impl OpportunityFilter {
    /// Returns the keys of the search terms and of the tags.
    pub fn keys(&self) -> FilterKeys {
        FilterKeys {
            text: search_key(&self.text),
            tags: self.tags.iter().map(|tag| equality_key(tag)).collect(),
        }
    }
}

impl OpportunityKind {
    /// Returns the collection of the opportunities of this kind.
    pub const fn collection(self) -> Collection {
        match self {
            OpportunityKind::Listing => Collection::Opportunities,
            OpportunityKind::Project => Collection::ProjectOpportunities,
        }
    }
}

impl OpportunityStatus {
    /// Whether vendors can respond at `now`: it is published, and its deadline has not passed.
    pub fn is_open(self, deadline: Option<Timestamp>, now: Timestamp) -> bool {
        self == OpportunityStatus::Published && deadline.is_none_or(|deadline| deadline > now)
    }
}

impl Opportunity {
    /// Whether the team can get the opportunity by ID: published or canceled, and not excluding the team.
    pub fn is_visible_to(&self, team: Uuid) -> bool {
        matches!(self.status, OpportunityStatus::Published | OpportunityStatus::Cancelled)
            && self.allows_team(team)
    }

    /// Whether the team is not excluded.
    pub fn allows_team(&self, team: Uuid) -> bool {
        self.visibility == VisibilityMode::AllVendors || !self.excluded.contains(&team)
    }

    /// Whether vendors can respond at `now`.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.status.is_open(self.deadline, now)
    }

    /// Returns the tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.metadata.tags.iter().map(String::as_str)
    }

    /// Returns the maximum budget in US dollars, or the minimum if there is no maximum.
    fn budget_max(&self) -> Option<f64> {
        self.metadata.budget_max.or(self.metadata.budget_min)
    }

    /// Whether all search terms of a filter with these keys occur in the opportunity, regardless of case and accents. Other
    /// characters of a word count only if the opportunity contains the word with them: `C++` does not match C, but `demand,`
    /// matches demand.
    pub fn contains_terms(&self, FilterKeys { text, .. }: &FilterKeys) -> bool {
        if !text.contains(continues_word) {
            return true;
        }
        let overview = self.metadata.overview.as_deref().unwrap_or_default();
        let tags: Vec<&str> = self.tags().collect();
        let searchable_text =
            search_key(&[self.title.as_str(), overview, &tags.join(" "), &self.owner_name].join("\n"));
        text.split_whitespace().all(|word| {
            let mut parts = word.split(|char| !continues_word(char));
            searchable_text.contains(word) || parts.all(|part| searchable_text.contains(part))
        })
    }

    /// Whether the opportunity matches all criteria of a filter with these keys, except the search terms.
    pub fn matches(&self, filter: &OpportunityFilter, FilterKeys { tags, .. }: &FilterKeys) -> bool {
        let kinds = || self.accepted_asset_types.iter().map(|kind| kind.as_str());
        (tags.is_empty() || self.tags().any(|tag| tags.contains(&equality_key(tag))))
            && (filter.asset_types.is_empty()
                || kinds().any(|kind| filter.asset_types.iter().any(|filter| filter == kind)))
            && filter.max_budget.is_none_or(|max| self.metadata.budget_min.is_some_and(|min| min <= max))
            && filter.budget_unit.is_none_or(|filter| self.metadata.budget_unit == Some(filter))
    }
}

impl OpportunityOrder {
    /// Sorts opportunities that are ordered newest first.
    pub fn sort(self, opportunities: &mut [Opportunity]) {
        // Missing values come last: `false` sorts before `true`.
        let amount = |amount: Option<f64>| (amount.is_none(), amount.unwrap_or_default());
        let compare = |a: (bool, f64), b: (bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        match self {
            OpportunityOrder::Recent => {}
            OpportunityOrder::Deadline => {
                opportunities
                    .sort_by_key(|opportunity| (opportunity.deadline.is_none(), opportunity.deadline));
            }
            OpportunityOrder::Title => {
                opportunities.sort_by_cached_key(|opportunity| equality_key(&opportunity.title));
            }
            OpportunityOrder::BudgetLow => {
                opportunities
                    .sort_by(|a, b| compare(amount(a.metadata.budget_min), amount(b.metadata.budget_min)));
            }
            OpportunityOrder::BudgetHigh => opportunities.sort_by(|a, b| {
                let negated_budget =
                    |opportunity: &Opportunity| amount(opportunity.budget_max().map(|budget| -budget));
                compare(negated_budget(a), negated_budget(b))
            }),
        }
    }
}
