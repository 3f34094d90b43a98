//! The `marketplace asset` command.

use clap::Subcommand;
use serde_json::json;

use super::{
    CommandResult,
    operator::{ApiCommand, Client, ListLimit, Records, names, parse_value},
};
use crate::{
    domain::{assets::Kind, stages::Stage},
    string_enum::StringEnum,
};

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

const ASSETS: Records = Records {
    path: "/assets",
    columns: &["id", "kind", "stage", "created_at", "team", "title"],
    all_columns: &[
        "id",
        "team_id",
        "team",
        "title",
        "description",
        "kind",
        "stage",
        "missing",
        "price",
        "currency",
        "exclusivity",
        "repository",
        "listing_ids",
        "created_at",
    ],
};

impl ApiCommand for AssetCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            AssetCommand::List { team, kind, stage, listing, limit } => {
                let listing = listing.as_ref().map(|listing| names::listing(client, listing)).transpose()?;
                let filters = [
                    ("team_id", names::optional_team(client, team.as_ref())?),
                    ("kind", json!(kind.map(StringEnum::as_str))),
                    ("stage", json!(stage.map(StringEnum::as_str))),
                    ("listing_id", json!(listing)),
                ];
                ASSETS.list(client, &filters, *limit)
            }
            AssetCommand::Show { asset } => ASSETS.show(client, &names::ASSETS.id(client, asset)?),
        }
    }
}
