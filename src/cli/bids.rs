//! The `marketplace bid` command.

use super::{
    operator::names::{PROJECT_OPPORTUNITIES, TASKSETS},
    prelude::*,
};
use crate::domain::opportunities::BidStatus;

/// Manage project bids: bids of vendors on project opportunities.
#[derive(Debug, Subcommand)]
pub enum BidCommand {
    /// Bid on a project opportunity for a vendor, and print the ID of the bid.
    #[command(
        after_help = "Example:\n  marketplace bid create \"Acme Data\" \"Clinic front desk simulator\" --tasks 400 --days 30"
    )]
    Create {
        /// ID or name of the vendor.
        team: String,
        /// ID or title of the project opportunity.
        opportunity: String,
        /// Number of tasks that the vendor offers.
        #[arg(long)]
        tasks: u32,
        /// Number of days that the vendor expects to need.
        #[arg(long)]
        days: Option<u32>,
    },
    /// List project bids, newest first.
    #[command(after_help = "Example:\n  marketplace bid list --status submitted")]
    List {
        /// ID or name of the vendor.
        #[arg(long)]
        vendor: Option<String>,
        /// ID or name of the buyer.
        #[arg(long)]
        buyer: Option<String>,
        /// ID or title of the project opportunity.
        #[arg(long)]
        opportunity: Option<String>,
        /// Status of the bids.
        #[arg(long, value_parser = parse_value::<BidStatus>)]
        status: Option<BidStatus>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a project bid.
    #[command(after_help = "Example:\n  marketplace bid show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(OneBid),
    /// Accept a project bid for the buyer.
    #[command(after_help = "Example:\n  marketplace bid accept 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Accept(OneBid),
    /// Decline a project bid for the buyer.
    #[command(after_help = "Example:\n  marketplace bid decline 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Decline(OneBid),
    /// Withdraw a project bid for the vendor.
    #[command(after_help = "Example:\n  marketplace bid withdraw 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Withdraw(OneBid),
    /// Deliver tasksets of the vendor for an accepted bid.
    #[command(
        after_help = "Example:\n  marketplace bid deliver 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 \"Court forms\""
    )]
    Deliver {
        #[command(flatten)]
        bid: OneBid,
        /// IDs or names of the tasksets.
        #[arg(required = true, value_name = "TASKSET")]
        tasksets: Vec<String>,
    },
    /// Complete a bid that was delivered, for the buyer.
    #[command(after_help = "Example:\n  marketplace bid complete 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Complete(OneBid),
}

/// A project bid.
#[derive(Debug, Args)]
pub struct OneBid {
    /// ID of the bid, as printed by `bid list`.
    #[arg(value_parser = parse_id)]
    id: Uuid,
}

const BIDS: Records = Records::new(
    "/project-bids",
    "id status num_tasks expected_timeline_days opportunity_id created_at team",
    "id opportunity_id team_id team buyer_id buyer status num_tasks expected_timeline_days created_at \
     updated_at completed_at",
);

impl ApiCommand for BidCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            BidCommand::Create { team, opportunity, tasks, days } => {
                let body = body_of([
                    ("team_id", TEAMS.id(client, team)?.into()),
                    ("opportunity_id", PROJECT_OPPORTUNITIES.id(client, opportunity)?.into()),
                    ("num_tasks", json!(tasks)),
                    ("expected_timeline_days", json!(days)),
                ]);
                BIDS.create(client, &body)
            }
            BidCommand::List { vendor, buyer, opportunity, status, limit } => {
                let filters = [
                    ("team_id", TEAMS.optional_id(client, vendor.as_ref())?),
                    ("buyer_id", TEAMS.optional_id(client, buyer.as_ref())?),
                    ("opportunity_id", PROJECT_OPPORTUNITIES.optional_id(client, opportunity.as_ref())?),
                    ("status", json!(status)),
                ];
                BIDS.list(client, &filters, *limit)
            }
            BidCommand::Show(bid) => BIDS.show(client, bid.id),
            BidCommand::Accept(bid) => BIDS.perform(client, bid.id, "accept"),
            BidCommand::Decline(bid) => BIDS.perform(client, bid.id, "decline"),
            BidCommand::Withdraw(bid) => BIDS.perform(client, bid.id, "withdraw"),
            BidCommand::Deliver { bid, tasksets } => {
                let body = json!({"delivery_taskset_ids": TASKSETS.ids(client, tasksets)?});
                BIDS.change(client, bid.id, "deliver", &body).map(drop)
            }
            BidCommand::Complete(bid) => BIDS.perform(client, bid.id, "complete"),
        }
    }
}
