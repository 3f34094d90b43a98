//! The `marketplace asset` command.

use clap::Subcommand;
use serde_json::json;

use super::{
    CommandResult, GlobalOptions,
    operator::{OperatorOptions, names, parse_value},
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
    },
    /// Show an asset.
    #[command(after_help = "Example:\n  marketplace asset show \"Billing core\"")]
    Show {
        /// ID or title of the asset.
        asset: String,
    },
}

/// The fields that lists show.
const COLUMNS: [&str; 6] = ["id", "kind", "stage", "created_at", "team", "title"];

/// The fields of one asset.
const ALL_COLUMNS: [&str; 14] = [
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
];

impl AssetCommand {
    pub(super) fn run(&self, options: &OperatorOptions, global: &GlobalOptions) -> CommandResult {
        let client = &options.connect(global, false)?;
        match self {
            AssetCommand::List { team, kind, stage, listing } => {
                let listing = listing.as_ref().map(|listing| names::listing(client, listing)).transpose()?;
                let filters = [
                    ("team_id", names::optional_team(client, team.as_ref())?),
                    ("kind", json!(kind.map(StringEnum::as_str))),
                    ("stage", json!(stage.map(StringEnum::as_str))),
                    ("listing_id", json!(listing)),
                ];
                client.print_list(&COLUMNS, client.list("/assets", &filters, None)?)
            }
            AssetCommand::Show { asset } => {
                client.print_record(&ALL_COLUMNS, client.get(&names::ASSETS.path(client, asset)?)?)
            }
        }
    }
}
