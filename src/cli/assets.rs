//! The `marketplace asset` command.

use super::{
    operator::names::{ASSETS, LISTINGS},
    prelude::*,
};
use crate::domain::{assets::Kind, stages::Stage};

/// Look at assets: what teams can list.
#[derive(Debug, Subcommand)]
pub enum AssetCommand {
    /// List assets, newest first.
    #[command(after_help = "Example:\n  marketplace asset list --team \"Acme Data\" --stage complete")]
    List {
        /// ID or name of the team.
        #[arg(long)]
        team: Option<String>,
        /// Kind of the assets.
        #[arg(long, value_parser = parse_value::<Kind>)]
        kind: Option<Kind>,
        /// Stage of the assets: incomplete, proposed, or complete. Only complete ones can be listed.
        #[arg(long, value_parser = parse_value::<Stage>)]
        stage: Option<Stage>,
        /// ID or title of a listing with the assets.
        #[arg(long)]
        listing: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an asset.
    #[command(after_help = "Example:\n  marketplace asset show \"Billing core\"")]
    Show {
        /// ID or title of the asset.
        asset: String,
    },
}

impl ApiCommand for AssetCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            AssetCommand::List { team, kind, stage, listing, limit } => {
                let filters = [
                    ("team_id", TEAMS.optional_id(client, team.as_ref())?),
                    ("kind", json!(kind)),
                    ("stage", json!(stage)),
                    ("listing_id", LISTINGS.optional_id(client, listing.as_ref())?),
                ];
                ASSETS.list(client, &filters, *limit)
            }
            AssetCommand::Show { asset } => ASSETS.show(client, asset),
        }
    }
}
