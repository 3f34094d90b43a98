//! The `marketplace estimation` command.

use super::{operator::names::ASSETS, prelude::*};
use crate::domain::{
    assets::{Kind, RepositoryChannel},
    estimations::EstimationStatus,
};

/// Request and look at estimations: what a repository would be worth.
#[derive(Debug, Subcommand)]
pub enum EstimationCommand {
    /// Request an estimation of a repository for a vendor, and print its ID. A running server performs it.
    #[command(after_help = "Example:\n  marketplace estimation create \"Acme Data\" acme/billing")]
    Create {
        /// ID or name of the vendor.
        team: String,
        /// Full name of the repository, such as acme/billing.
        repository: String,
        /// Where the repository is.
        #[arg(long, default_value = "github", value_parser = parse_value::<RepositoryChannel>)]
        channel: RepositoryChannel,
        /// Kind of asset that it would become.
        #[arg(long, default_value = "codebase", value_parser = parse_value::<Kind>)]
        kind: Kind,
        /// ID or title of the asset that the repository belongs to.
        #[arg(long)]
        asset: Option<String>,
    },
    /// List estimations, newest first.
    #[command(after_help = "Example:\n  marketplace estimation list --team \"Acme Data\" --status estimated")]
    List {
        /// ID or name of the vendor.
        #[arg(long)]
        team: Option<String>,
        /// Status of the estimations.
        #[arg(long, value_parser = parse_value::<EstimationStatus>)]
        status: Option<EstimationStatus>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an estimation.
    #[command(after_help = "Example:\n  marketplace estimation show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show {
        /// ID of the estimation, as printed by `estimation list`.
        #[arg(value_parser = parse_id)]
        id: Uuid,
    },
}

const ESTIMATIONS: Records = Records::new(
    "/estimations",
    "id status quote_low quote_high created_at team repo_full_name",
    "id team_id team sku channel repo_full_name name status quote_low quote_high currency \
     failure_message inventory_asset_id created_by created_at completed_at",
);

impl ApiCommand for EstimationCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            EstimationCommand::Create { team, repository, channel, kind, asset } => {
                let body = body_of([
                    ("team_id", TEAMS.id(client, team)?.into()),
                    ("sku", json!(kind)),
                    ("channel", json!(channel)),
                    ("repo_full_name", json!(repository)),
                    ("inventory_asset_id", ASSETS.optional_id(client, asset.as_ref())?),
                ]);
                ESTIMATIONS.create(client, &body)
            }
            EstimationCommand::List { team, status, limit } => {
                let team = TEAMS.optional_id(client, team.as_ref())?;
                let filters = [("team_id", team), ("status", json!(status))];
                ESTIMATIONS.list(client, &filters, *limit)
            }
            EstimationCommand::Show { id } => ESTIMATIONS.show(client, id),
        }
    }
}
