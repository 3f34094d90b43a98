//! The `marketplace quality-run` command.

use super::{
    operator::names::{ASSETS, LISTINGS},
    prelude::*,
};
use crate::domain::quality_runs::RunStatus;

/// Manage quality runs, and see their results.
#[derive(Debug, Subcommand)]
pub enum QualityRunCommand {
    /// Start a quality run of a listing or of an asset, and print its ID. Its team pays for it. A running server performs
    /// it.
    #[command(
        after_help = "Examples:\n  marketplace quality-run create --listing \"Billing core\"\n  marketplace quality-run create --asset \"Billing history\""
    )]
    Create(Subject),
    /// List quality runs, newest first.
    #[command(after_help = "Example:\n  marketplace quality-run list --status completed --limit 20")]
    List {
        /// ID or name of the team that owns what is checked.
        #[arg(long)]
        team: Option<String>,
        /// ID or title of the listing that is checked.
        #[arg(long)]
        listing: Option<String>,
        /// ID or title of the asset that is checked by itself.
        #[arg(long)]
        asset: Option<String>,
        /// Status of the runs.
        #[arg(long, value_parser = parse_value::<RunStatus>)]
        status: Option<RunStatus>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a quality run, with the result of each check.
    #[command(after_help = "Example:\n  marketplace quality-run show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(OneRun),
    /// Cancel a quality run that has not ended. The charge is returned unless the checks have begun.
    #[command(after_help = "Example:\n  marketplace quality-run cancel 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Cancel(OneRun),
}

/// What to check.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Subject {
    /// ID or title of the listing to check, with all its assets.
    #[arg(long)]
    listing: Option<String>,
    /// ID or title of the asset to check, whose data must be linked.
    #[arg(long)]
    asset: Option<String>,
}

/// A quality run.
#[derive(Debug, Args)]
pub struct OneRun {
    /// ID of the quality run, as printed by `quality-run list`.
    #[arg(value_parser = parse_id)]
    id: Uuid,
}

const RUNS: Records = Records::new(
    "/quality-runs",
    "id status passed run_number started_at listing_id asset_id team",
    "id team_id team listing_id asset_id run_number status passed triggered_by charge currency \
     review_feedback error started_at completed_at",
);

/// The fields of a check.
const CHECK_COLUMNS: &str = "status key mandatory asset_kind asset_id message";

impl ApiCommand for QualityRunCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            QualityRunCommand::Create(Subject { listing, asset }) => {
                RUNS.create(client, &body_of(subject_ids(client, listing.as_ref(), asset.as_ref())?))?;
                print_note(format_args!("started a quality run; a running server performs it"));
                Ok(())
            }
            QualityRunCommand::List { team, listing, asset, status, limit } => {
                let [listing, asset] = subject_ids(client, listing.as_ref(), asset.as_ref())?;
                let team = ("team_id", TEAMS.optional_id(client, team.as_ref())?);
                let status = ("status", json!(status));
                RUNS.list(client, &[team, listing, asset, status], *limit)
            }
            QualityRunCommand::Show(run) => RUNS.show_with_rows(client, run.id, ("checks", CHECK_COLUMNS)),
            QualityRunCommand::Cancel(run) => RUNS.perform(client, run.id, "cancel"),
        }
    }
}

/// Returns the IDs of what is checked.
fn subject_ids(
    client: &Client,
    listing: Option<&String>,
    asset: Option<&String>,
) -> Result<[(&'static str, Value); 2], CommandError> {
    Ok([
        ("listing_id", LISTINGS.optional_id(client, listing)?),
        ("asset_id", ASSETS.optional_id(client, asset)?),
    ])
}
