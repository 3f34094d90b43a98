//! Vendors' bids on project opportunities.

use crate::{
    domain::{
        collections::Collection,
        opportunities::{Attachment, Bid, BidEvent, BidStatus, OpportunityKind},
        project_bids::BidFields,
        teams::Team,
    },
    operations::{access::Buyer, project_bids},
    rest::{operator_api::prelude::*, shapes::strings::FileName},
    store::{self, records::project_bids::PROJECT_BIDS},
};

/// A vendor's bid on a project opportunity.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "ProjectBid")]
pub struct ProjectBidOut {
    /// ID of the bid.
    pub id: Uuid,
    /// ID of the project opportunity.
    pub opportunity_id: Uuid,
    /// ID of the vendor team.
    pub team_id: Uuid,
    /// ID of the buyer team that posted the project opportunity.
    pub buyer_id: Uuid,
    /// State of the bid.
    pub status: EnumValue<BidStatus>,
    /// Number of tasks that the vendor offers.
    pub num_tasks: u32,
    /// Number of days that the vendor expects to need; null if the vendor has not said.
    pub expected_timeline_days: Option<u32>,
    /// Files that the vendor attached to the bid.
    pub attachments: Vec<AttachmentOut>,
    /// Tasksets that the vendor delivered.
    pub delivered_tasksets: Vec<DeliveredTaskset>,
    /// What happened to the bid on the side of the platform and the buyer, oldest first.
    pub platform_events: Vec<BidActivity>,
    /// What the vendor did, oldest first.
    pub vendor_events: Vec<BidActivity>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest change.
    pub updated_at: UtcTime,
    /// Time at which the delivery was accepted; null if it was not.
    pub completed_at: Option<UtcTime>,
}

/// A file that a vendor attached to a bid.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "BidAttachment")]
pub struct AttachmentOut {
    /// Name of the file.
    pub file_name: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
}

/// A taskset that was delivered.
#[derive(Debug, Object, Serialize, Deserialize)]
pub struct DeliveredTaskset {
    /// ID of the taskset.
    pub id: Uuid,
    /// Name of the taskset.
    pub name: String,
}

/// Something that happened to a bid.
#[derive(Debug, Object, Serialize, Deserialize)]
#[serde(from = "BidEvent")]
pub struct BidActivity {
    /// Time of the event.
    pub at: UtcTime,
    /// What happened, in words.
    pub event: String,
}

impl From<BidEvent> for BidActivity {
    fn from(event: BidEvent) -> BidActivity {
        BidActivity { at: event.at.into(), event: event.event }
    }
}

resource!(ProjectBidOut: Uuid, PROJECT_BIDS, "project_bid", id, team_id);

page_of! {
    /// A page of project bids.
    ProjectBidPage, ProjectBidOut
}

/// What the list of project bids can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct ProjectBidFilters {
    /// ID of the vendor team.
    team_id: Option<Uuid>,
    /// ID of the buyer team that posted the project opportunity.
    buyer_id: Option<Uuid>,
    /// ID of the project opportunity.
    opportunity_id: Option<Uuid>,
    /// State of the bid.
    status: Option<EnumValue<BidStatus>>,
}

/// A bid to submit.
#[derive(Debug, Object)]
pub struct ProjectBidIn {
    /// ID of the vendor team.
    team_id: MaybeInvalid<Uuid>,
    /// ID of the project opportunity, which must be published and visible to the vendor.
    opportunity_id: MaybeInvalid<Uuid>,
    /// Number of tasks that the vendor offers.
    #[oai(validator(minimum(value = "1"), maximum(value = "1000000")))]
    num_tasks: MaybeInvalid<i64>,
    /// Number of days that the vendor expects to need; null or absent if the vendor does not say.
    #[oai(validator(minimum(value = "1"), maximum(value = "3650")))]
    expected_timeline_days: Option<i64>,
    /// Files that the vendor attaches. Only their names and sizes are stored.
    #[oai(default, validator(max_items = 20))]
    attachments: Vec<MaybeInvalid<AttachmentIn>>,
}

/// A file that is attached to a bid.
#[derive(Debug, Object)]
pub struct AttachmentIn {
    /// Name of the file, without directories.
    file_name: MaybeInvalid<FileName>,
    /// Size of the file in bytes.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000000000000")))]
    size_bytes: MaybeInvalid<i64>,
}

/// A delivery.
#[derive(Debug, Object)]
pub struct Delivery {
    /// IDs of the delivered tasksets, which belong to the vendor.
    #[oai(validator(min_items = 1, max_items = 100))]
    delivery_taskset_ids: Vec<MaybeInvalid<Uuid>>,
}

#[routes(prefix = "/operator/v1", tag = Opportunities)]
impl ProjectBidsApi {
    /// List project bids
    ///
    /// Returns the bids of all vendors on project opportunities, newest first.
    #[get(
        "/project-bids",
        routes::list(&["status=accepted&limit=2", "opportunity_id=00000000-0000-0000-0000-000000000000"]),
    )]
    async fn list_project_bids(
        call: Call<Operator>,
        query: Params<ListQuery<ProjectBidFilters>>,
    ) -> JsonResult<ProjectBidPage> {
        pages::list(call, query).await
    }

    /// Submit a project bid
    ///
    /// Submits a bid of a vendor on a project opportunity that takes bids. A vendor has at most one bid on it that was
    /// neither declined nor withdrawn. A bid moves no money.
    #[post("/project-bids", routes::create(Actor::Team, &[EventType::ProjectBidSubmitted]))]
    async fn create_project_bid(
        change: Change,
        #[example(json!({
                    "team_id": DEMO_TEAM, "opportunity_id": "014f3739-58c5-5b9a-9473-a7a17932040b",
                    "num_tasks": 40, "expected_timeline_days": 21,
                }))]
        body: Body<ProjectBidIn>,
    ) -> JsonResult<ProjectBidOut, 201> {
        changes::post_body(change, body, submit).await
    }

    /// Get a project bid
    ///
    /// Returns a bid with its activity.
    #[get("/project-bids/{project_bid_id}", routes::get("project_bids"))]
    async fn get_project_bid(
        call: Call<Operator>,
        /// ID of the bid.
        project_bid_id: Path<Uuid>,
    ) -> JsonResult<ProjectBidOut> {
        resources::get(call, project_bid_id.0).await
    }

    /// Withdraw a project bid
    ///
    /// Withdraws a submitted bid, as its vendor.
    #[post(
        "/project-bids/{project_bid_id}/withdraw",
        routes::transition("project_bids", Actor::Team, &[EventType::ProjectBidWithdrawn]),
    )]
    async fn withdraw_project_bid(
        change: Change,
        /// ID of the bid.
        project_bid_id: Path<Uuid>,
    ) -> JsonResult<ProjectBidOut> {
        changes::transition(change, project_bid_id, |writer, platform, actor, id| {
            let vendor = vendor(writer, platform, id)?;
            project_bids::withdraw(writer, &vendor, actor, id)
        })
        .await
    }

    /// Accept a project bid
    ///
    /// Accepts a submitted bid, as the buyer, and notifies the vendor. Other bids stay as they are. Those on a canceled
    /// project opportunity cannot be accepted.
    #[post(
        "/project-bids/{project_bid_id}/accept",
        routes::transition("project_bids", Actor::Team, &[EventType::ProjectBidAccepted]),
    )]
    async fn accept_project_bid(
        change: Change,
        /// ID of the bid.
        project_bid_id: Path<Uuid>,
    ) -> JsonResult<ProjectBidOut> {
        as_buyer(change, project_bid_id, project_bids::accept).await
    }

    /// Decline a project bid
    ///
    /// Declines a submitted bid, as the buyer, and notifies the vendor.
    #[post(
        "/project-bids/{project_bid_id}/decline",
        routes::transition("project_bids", Actor::Team, &[EventType::ProjectBidDeclined]),
    )]
    async fn decline_project_bid(
        change: Change,
        /// ID of the bid.
        project_bid_id: Path<Uuid>,
    ) -> JsonResult<ProjectBidOut> {
        as_buyer(change, project_bid_id, project_bids::decline).await
    }

    /// Deliver the work of a project bid
    ///
    /// Delivers tasksets of the vendor for an accepted bid.
    #[post(
        "/project-bids/{project_bid_id}/deliver",
        routes::transition("project_bids", Actor::Team, &[EventType::ProjectBidDelivered]),
    )]
    async fn deliver_project_bid(
        change: Change,
        /// ID of the bid.
        project_bid_id: Path<Uuid>,
        #[example(json!({
            "delivery_taskset_ids": ["37015791-0563-5418-ad9d-8ea4f26f8602"],
        }))]
        body: Body<Delivery>,
    ) -> JsonResult<ProjectBidOut> {
        changes::post_body(change, body, move |writer, platform, body: Delivery| {
            let vendor = vendor(writer, platform, project_bid_id.0)?;
            let ids = MaybeInvalid::all(body.delivery_taskset_ids, |id| id)?;
            project_bids::deliver(writer, &vendor, Actor::Team, project_bid_id.0, &ids).map(|bid| bid.id)
        })
        .await
    }

    /// Complete a project bid
    ///
    /// Accepts the delivery of a bid, as the buyer. No money moves.
    #[post(
        "/project-bids/{project_bid_id}/complete",
        routes::transition("project_bids", Actor::Team, &[EventType::ProjectBidCompleted]),
    )]
    async fn complete_project_bid(
        change: Change,
        /// ID of the bid.
        project_bid_id: Path<Uuid>,
    ) -> JsonResult<ProjectBidOut> {
        as_buyer(change, project_bid_id, project_bids::complete).await
    }
}

/// Submits a bid.
fn submit(writer: &mut Writer, platform: Platform, body: ProjectBidIn) -> Result<Uuid> {
    let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
    let opportunity = body.opportunity_id.into_valid()?;
    if store::opportunities::find(writer.rows, opportunity, OpportunityKind::Project)?.is_none() {
        return Err(references::unknown("opportunity_id", "project opportunity"));
    }
    let mut attachments = Vec::new();
    for attachment in body.attachments {
        let AttachmentIn { file_name, size_bytes } = attachment.into_valid()?;
        let size_bytes = size_bytes.into_valid()?.unsigned_abs();
        attachments.push(Attachment { file_name: file_name.into_valid()?.into(), size_bytes });
    }
    let fields = BidFields {
        num_tasks: body.num_tasks.into_valid()? as u32,
        expected_timeline_days: body.expected_timeline_days.map(|days| days as u32),
        attachments,
    };
    let (vendor, id) = (platform.vendor(team)?, writer.new_id(Collection::ProjectBids));
    match project_bids::submit(writer, &vendor, Actor::Team, id, opportunity, &fields) {
        Err(Error::NotFound(_)) => {
            let message = "The vendor cannot see the project opportunity: it is a draft or closed, or excludes the team.";
            Err(Error::Conflict(message.to_owned()))
        }
        submitted => submitted.map(|bid| bid.id),
    }
}

/// Returns the proof to act in the name of the vendor of a bid.
fn vendor(writer: &Writer, platform: Platform, bid: Uuid) -> Result<Vendor> {
    let bid: ProjectBidOut = records::find(writer.rows, platform, &bid)?;
    platform.vendor(existing_team(writer, bid.team_id)?)
}

/// Performs a transition of a bid in the name of the buyer, who has begun it with the project opportunity, and may be closed.
async fn as_buyer(
    change: Change,
    bid_id: Path<Uuid>,
    operation: fn(&mut Writer, &Buyer, Actor, Uuid) -> Result<Bid>,
) -> JsonResult<ProjectBidOut> {
    changes::transition(change, bid_id, move |writer, platform, actor, id| {
        let record: ProjectBidOut = records::find(writer.rows, platform, &id)?;
        let buyer = platform.buyer_even_if_closed(existing_team(writer, record.buyer_id)?);
        operation(writer, &buyer, actor, id)
    })
    .await
}

fn existing_team(writer: &Writer, id: Uuid) -> Result<Team> {
    store::teams::find(writer.rows, id)?.ok_or_else(|| Error::internal("the team of a bid does not exist"))
}
