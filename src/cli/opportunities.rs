//! The `marketplace opportunity` command.

use super::{
    operator::names::{OPPORTUNITIES, PROJECT_OPPORTUNITIES},
    prelude::*,
};
use crate::domain::{assets::Kind, opportunities::OpportunityStatus, time::Timestamp};

/// Manage opportunities: what buyers ask vendors for.
#[derive(Debug, Subcommand)]
pub enum OpportunityCommand {
    /// Create a draft of an opportunity for a buyer, and print its ID.
    #[command(
        after_help = "Example:\n  marketplace opportunity create \"Beta Labs\" --title \"COBOL with its history\" \\\n    --accepts codebase --deadline 2027-01-01T00:00:00Z"
    )]
    Create(NewOpportunity),
    /// List opportunities, newest first.
    #[command(after_help = "Example:\n  marketplace opportunity list --status published")]
    List {
        /// ID or name of the buyer.
        #[arg(long)]
        team: Option<String>,
        /// Status of the opportunities.
        #[arg(long, value_parser = parse_value::<OpportunityStatus>)]
        status: Option<OpportunityStatus>,
        #[command(flatten)]
        kind: OpportunityKindOption,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an opportunity.
    #[command(after_help = "Example:\n  marketplace opportunity show \"COBOL with its history\"")]
    Show(OneOpportunity),
    /// Publish an opportunity. Vendors are notified.
    #[command(after_help = "Example:\n  marketplace opportunity publish \"COBOL with its history\"")]
    Publish(OneOpportunity),
    /// Change an opportunity. Once it is published, only its deadline can be moved, to a later time.
    #[command(
        after_help = "Example:\n  marketplace opportunity edit \"COBOL with its history\" --deadline 2027-02-01T00:00:00Z"
    )]
    Edit(OpportunityChanges),
    /// Close a published opportunity.
    #[command(after_help = "Example:\n  marketplace opportunity close \"COBOL with its history\"")]
    Close(OneOpportunity),
    /// Cancel an opportunity.
    #[command(after_help = "Example:\n  marketplace opportunity cancel \"COBOL with its history\"")]
    Cancel(OneOpportunity),
    /// Exclude a team from an opportunity.
    #[command(
        after_help = "Example:\n  marketplace opportunity exclude \"COBOL with its history\" \"Acme Data\""
    )]
    Exclude {
        #[command(flatten)]
        opportunity: OneOpportunity,
        /// ID or name of the team.
        team: String,
    },
}

/// An opportunity to create.
#[derive(Debug, Args)]
pub struct NewOpportunity {
    /// ID or name of the buyer.
    team: String,
    /// Title.
    #[arg(long)]
    title: String,
    /// What the buyer is looking for.
    #[arg(long, default_value = "")]
    description: String,
    /// Kind of asset that the buyer accepts. Repeat the option for several [default: any]
    #[arg(long = "accepts", value_name = "KIND", value_parser = parse_value::<Kind>)]
    accepts: Vec<Kind>,
    /// Time by which vendors must respond, in the future and in RFC 3339 format.
    #[arg(long, value_parser = super::keys::parse_timestamp)]
    deadline: Option<Timestamp>,
    #[command(flatten)]
    kind: OpportunityKindOption,
}

/// What to change about an opportunity.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new(CHANGE_GROUP).required(true).multiple(true))]
pub struct OpportunityChanges {
    #[command(flatten)]
    opportunity: OneOpportunity,
    /// New title.
    #[arg(long, group = CHANGE_GROUP)]
    title: Option<String>,
    /// New description of what the buyer is looking for.
    #[arg(long, group = CHANGE_GROUP)]
    description: Option<String>,
    /// Kind of asset that the buyer accepts. Repeat the option for several. Other kinds are removed.
    #[arg(long = "accepts", value_name = "KIND", value_parser = parse_value::<Kind>, group = CHANGE_GROUP)]
    accepts: Vec<Kind>,
    /// New time by which vendors must respond, in the future and in RFC 3339 format.
    #[arg(long, value_parser = super::keys::parse_timestamp, group = CHANGE_GROUP)]
    deadline: Option<Timestamp>,
}

/// An opportunity.
#[derive(Debug, Args)]
pub struct OneOpportunity {
    /// ID or title of the opportunity.
    opportunity: String,
    #[command(flatten)]
    kind: OpportunityKindOption,
}

/// Which kind of opportunities is meant.
#[derive(Clone, Copy, Debug, Args)]
pub struct OpportunityKindOption {
    /// A project opportunity, on which vendors bid, instead of one for listings.
    #[arg(long)]
    project: bool,
}

impl OpportunityKindOption {
    const fn records(self) -> Records {
        if self.project { PROJECT_OPPORTUNITIES } else { OPPORTUNITIES }
    }
}

impl OpportunityChanges {
    /// Returns the body of the change.
    fn body(&self) -> Value {
        let kinds = match self.accepts.as_slice() {
            [] => Value::Null,
            kinds => json!(kinds),
        };
        body_of([
            ("title", json!(self.title)),
            ("description", json!(self.description)),
            ("accepted_asset_types", kinds),
            ("deadline", json!(self.deadline)),
        ])
    }
}

impl ApiCommand for OpportunityCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            OpportunityCommand::Create(new) => {
                let body = body_of([
                    ("team_id", TEAMS.id(client, &new.team)?.into()),
                    ("title", json!(new.title.trim())),
                    ("description", json!(new.description)),
                    ("accepted_asset_types", json!(new.accepts)),
                    ("deadline", json!(new.deadline)),
                ]);
                new.kind.records().create(client, &body)?;
                let project = if new.kind.project { " --project" } else { "" };
                print_note(format_args!(
                    "created a draft; `marketplace opportunity publish{project}` shows it to vendors"
                ));
                Ok(())
            }
            OpportunityCommand::List { team, status, kind, limit } => {
                let team = TEAMS.optional_id(client, team.as_ref())?;
                let filters = [("team_id", team), ("status", json!(status))];
                kind.records().list(client, &filters, *limit)
            }
            OpportunityCommand::Show(one) => one.kind.records().show(client, &one.opportunity),
            OpportunityCommand::Edit(changes) => {
                let one = &changes.opportunity;
                one.kind.records().edit(client, &one.opportunity, &changes.body())
            }
            OpportunityCommand::Publish(one) => change(client, one, "publish", &Value::Null),
            OpportunityCommand::Close(one) => change(client, one, "close", &Value::Null),
            OpportunityCommand::Cancel(one) => change(client, one, "cancel", &Value::Null),
            OpportunityCommand::Exclude { opportunity, team } => {
                let team = TEAMS.id(client, team)?;
                change(client, opportunity, "exclude", &json!({"team_ids": [team]}))
            }
        }
    }
}

/// Performs a transition, and prints the status after it.
fn change(client: &Client, one: &OneOpportunity, verb: &str, body: &Value) -> CommandResult {
    one.kind.records().change(client, &one.opportunity, verb, body).map(drop)
}
