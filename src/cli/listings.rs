//! The `marketplace listing` command.

use super::{
    amounts::{amount, parse_amount},
    operator::names::{ASSETS, LISTINGS},
    prelude::*,
};
use crate::domain::{listings::LifecycleStage, money::Cents};

/// Manage listings. The platform decides about them, and acts in the name of their teams.
#[derive(Debug, Subcommand)]
pub enum ListingCommand {
    /// Create a draft of a listing with assets of a team, and print its ID.
    #[command(
        after_help = "Example:\n  marketplace listing create \"Acme Data\" --title \"Billing core\" \\\n    --description \"Invoicing for utilities\" --price 4900 --asset \"Billing core\""
    )]
    Create(NewListing),
    /// List listings, newest first.
    #[command(
        after_help = "Examples:\n  marketplace listing list --stage review\n  marketplace listing list --team \"Acme Data\""
    )]
    List {
        /// ID or name of the team that sells them.
        #[arg(long)]
        team: Option<String>,
        /// Stage of the listings: draft, review, ready, active, or archived.
        #[arg(long, value_parser = parse_value::<LifecycleStage>)]
        stage: Option<LifecycleStage>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a listing.
    #[command(after_help = "Example:\n  marketplace listing show \"Billing core\"")]
    Show(OneListing),
    /// Change the texts, the prices, or the conditions of a listing. New texts return an approved listing to draft.
    #[command(
        after_help = "Examples:\n  marketplace listing edit \"Billing core\" --price 5200 --accepts-bids true\n  marketplace listing edit \"Billing core\" --title \"Billing core 2\""
    )]
    Edit(ListingChanges),
    /// List what happened to a listing.
    #[command(after_help = "Example:\n  marketplace listing history \"Billing core\"")]
    History {
        #[command(flatten)]
        of: OneListing,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Attach assets to a listing.
    #[command(after_help = "Example:\n  marketplace listing attach \"Billing core\" \"Billing history\"")]
    Attach {
        /// ID or title of the listing.
        listing: String,
        /// IDs or titles of the assets.
        #[arg(required = true, value_name = "ASSET")]
        assets: Vec<String>,
    },
    /// Detach an asset from a listing.
    #[command(after_help = "Example:\n  marketplace listing detach \"Billing core\" \"Billing history\"")]
    Detach {
        /// ID or title of the listing.
        listing: String,
        /// ID or title of the asset.
        asset: String,
    },
    /// Submit a draft for review. It needs a description, a price, and an asset. If the team has enough credits,
    /// this also starts a quality run, which a running server performs.
    #[command(after_help = "Example:\n  marketplace listing submit \"Billing core\"")]
    Submit(OneListing),
    /// Withdraw a listing from review.
    #[command(after_help = "Example:\n  marketplace listing withdraw \"Billing core\"")]
    Withdraw(OneListing),
    /// Approve a listing that was submitted.
    #[command(after_help = "Example:\n  marketplace listing approve \"Billing core\"")]
    Approve(OneListing),
    /// Return a submitted listing to its vendor, with what has to change.
    #[command(
        after_help = "Example:\n  marketplace listing request-changes \"Billing core\" --note \"Add a license.\""
    )]
    RequestChanges(Decision),
    /// Reject a submitted listing, with the reason.
    #[command(
        after_help = "Example:\n  marketplace listing reject \"Billing core\" --note \"The data is not the vendor's.\""
    )]
    Reject(Decision),
    /// Publish an approved listing in the catalog.
    #[command(after_help = "Example:\n  marketplace listing publish \"Billing core\"")]
    Publish(OneListing),
    /// Remove a listing from the catalog.
    #[command(after_help = "Example:\n  marketplace listing unpublish \"Billing core\"")]
    Unpublish(OneListing),
    /// Archive a listing. Its offers are declined.
    #[command(after_help = "Example:\n  marketplace listing archive \"Billing core\"")]
    Archive(OneListing),
    /// Restore a listing from the archive.
    #[command(after_help = "Example:\n  marketplace listing restore \"Billing core\"")]
    Restore(OneListing),
    /// Certify a listing.
    #[command(after_help = "Example:\n  marketplace listing certify \"Billing core\"")]
    Certify(OneListing),
    /// Revoke the certification of a listing.
    #[command(after_help = "Example:\n  marketplace listing revoke \"Billing core\"")]
    Revoke(OneListing),
    /// Give a listing a place among the featured listings.
    #[command(after_help = "Example:\n  marketplace listing feature \"Billing core\" --place 1")]
    Feature {
        /// ID or title of the listing.
        listing: String,
        /// The place, from 1. Two listings never share one.
        #[arg(long, default_value_t = 1)]
        place: u32,
    },
    /// Take a listing from the featured listings.
    #[command(after_help = "Example:\n  marketplace listing unfeature \"Billing core\"")]
    Unfeature(OneListing),
    /// Start a quality run of a listing with all its assets, as on submission. A running server performs it.
    #[command(after_help = "Example:\n  marketplace listing check \"Billing core\"")]
    Check(OneListing),
}

/// A listing.
#[derive(Debug, Args)]
pub struct OneListing {
    /// ID or title of the listing.
    listing: String,
}

/// A decision that is explained to the vendor.
#[derive(Debug, Args)]
pub struct Decision {
    /// ID or title of the listing.
    listing: String,
    /// What the vendor has to know.
    #[arg(long, value_name = "TEXT")]
    note: String,
}

/// A listing to create.
#[derive(Debug, Args)]
pub struct NewListing {
    /// ID or name of the team that sells it.
    team: String,
    /// Title of the listing.
    #[arg(long)]
    title: String,
    /// What buyers should know about the data.
    #[arg(long, default_value = "")]
    description: String,
    /// Price in US dollars, such as 4900 or 99.50.
    #[arg(long, value_parser = parse_amount)]
    price: Option<Cents>,
    /// Price of a sample in US dollars. 0 offers a free sample [default: no sample]
    #[arg(long, value_parser = parse_amount)]
    sample_price: Option<Cents>,
    /// ID or title of an asset that the sample has: its README and license, its first 20 small files, and its first 10
    /// tasks. Repeat the option for several. A listing that offers a sample needs one to be submitted.
    #[arg(long = "sample-asset", value_name = "ASSET")]
    sample_assets: Vec<String>,
    /// Let buyers bid.
    #[arg(long)]
    accepts_bids: bool,
    /// Sell the listing once, exclusively.
    #[arg(long)]
    exclusive: bool,
    /// License and conditions.
    #[arg(long, default_value = "")]
    terms: String,
    /// ID or title of an asset to attach, as printed by `asset list`. Repeat the option for several.
    #[arg(long = "asset", value_name = "ASSET")]
    assets: Vec<String>,
}

/// What to change about a listing.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new(CHANGE_GROUP).required(true).multiple(true))]
pub struct ListingChanges {
    /// ID or title of the listing.
    listing: String,
    /// New title.
    #[arg(long, group = CHANGE_GROUP)]
    title: Option<String>,
    /// New description.
    #[arg(long, group = CHANGE_GROUP)]
    description: Option<String>,
    /// New price in US dollars.
    #[arg(long, value_parser = parse_amount, group = CHANGE_GROUP)]
    price: Option<Cents>,
    /// Remove the price, so that the listing can only be bid on.
    #[arg(long, conflicts_with = "price", group = CHANGE_GROUP)]
    no_price: bool,
    /// New price of a sample in US dollars. 0 offers a free sample.
    #[arg(long, value_parser = parse_amount, group = CHANGE_GROUP)]
    sample_price: Option<Cents>,
    /// ID or title of an asset that the sample has. Repeat the option for several. Other assets are removed from it.
    #[arg(long = "sample-asset", value_name = "ASSET", group = CHANGE_GROUP)]
    sample_assets: Vec<String>,
    /// Offer no sample.
    #[arg(long, conflicts_with = "sample_price", group = CHANGE_GROUP)]
    no_sample: bool,
    /// Whether buyers can bid.
    #[arg(long, value_name = "BOOL", group = CHANGE_GROUP)]
    accepts_bids: Option<bool>,
    /// Whether the listing is sold once, exclusively.
    #[arg(long, value_name = "BOOL", group = CHANGE_GROUP)]
    exclusive: Option<bool>,
    /// New license and conditions.
    #[arg(long, group = CHANGE_GROUP)]
    terms: Option<String>,
}

/// The fields of an entry of a history.
const HISTORY_COLUMNS: &str = "occurred_at actor event_type from_status to_status";

impl NewListing {
    fn body(&self, client: &Client) -> Result<Value, CommandError> {
        let team = TEAMS.id(client, &self.team)?;
        Ok(body_of([
            ("team_id", team.into()),
            ("title", json!(self.title.trim())),
            ("description", json!(self.description)),
            ("price", amount(self.price)),
            ("sample_price", amount(self.sample_price)),
            ("sample", sample(client, &self.sample_assets)?),
            ("accepts_bids", json!(self.accepts_bids)),
            ("exclusive", json!(self.exclusive)),
            ("terms", json!(self.terms)),
            ("asset_ids", json!(ASSETS.ids(client, &self.assets)?)),
        ]))
    }
}

/// Returns the sample in a body: the default of these assets.
fn sample(client: &Client, assets: &[String]) -> Result<Value, CommandError> {
    let ids = ASSETS.ids(client, assets)?;
    Ok(ids.iter().map(|id| json!({"asset_id": id})).collect())
}

impl ListingChanges {
    fn body(&self, client: &Client) -> Result<Value, CommandError> {
        let sample = match self.sample_assets.as_slice() {
            [] => Value::Null,
            assets => sample(client, assets)?,
        };
        let mut body = body_of([
            ("title", json!(self.title)),
            ("description", json!(self.description)),
            ("price", amount(self.price)),
            ("sample_price", amount(self.sample_price)),
            ("sample", sample),
            ("accepts_bids", json!(self.accepts_bids)),
            ("exclusive", json!(self.exclusive)),
            ("terms", json!(self.terms)),
        ]);
        for (is_removed, field) in [(self.no_price, "price"), (self.no_sample, "sample_price")] {
            if is_removed {
                body[field] = Value::Null;
            }
        }
        Ok(body)
    }
}

impl ApiCommand for ListingCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            ListingCommand::Create(listing) => {
                LISTINGS.create(client, &listing.body(client)?)?;
                print_note(format_args!("created a draft; `marketplace listing submit` sends it to review"));
                Ok(())
            }
            ListingCommand::List { team, stage, limit } => {
                let team = TEAMS.optional_id(client, team.as_ref())?;
                let filters = [("team_id", team), ("stage", json!(stage))];
                LISTINGS.list(client, &filters, *limit)
            }
            ListingCommand::Show(of) => LISTINGS.show(client, &of.listing),
            ListingCommand::Edit(changes) => LISTINGS.edit(client, &changes.listing, &changes.body(client)?),
            ListingCommand::History { of, limit } => {
                let history = client.list(
                    &format!("{}/history", LISTINGS.path_of(client, &of.listing)?),
                    &[],
                    limit.rows(),
                )?;
                client.print_list(HISTORY_COLUMNS, history)
            }
            ListingCommand::Attach { listing, assets } => {
                change(client, listing, "attach", &json!({"asset_ids": ASSETS.ids(client, assets)?}))
            }
            ListingCommand::Detach { listing, asset } => {
                change(client, listing, "detach", &json!({"asset_id": ASSETS.id(client, asset)?}))
            }
            ListingCommand::Submit(of) => submit(client, of),
            ListingCommand::Withdraw(of) => LISTINGS.perform(client, &of.listing, "withdraw"),
            ListingCommand::Approve(of) => LISTINGS.perform(client, &of.listing, "approve"),
            ListingCommand::RequestChanges(decision) => decide(client, decision, "request-changes"),
            ListingCommand::Reject(decision) => decide(client, decision, "reject"),
            ListingCommand::Publish(of) => LISTINGS.perform(client, &of.listing, "publish"),
            ListingCommand::Unpublish(of) => LISTINGS.perform(client, &of.listing, "unpublish"),
            ListingCommand::Archive(of) => LISTINGS.perform(client, &of.listing, "archive"),
            ListingCommand::Restore(of) => LISTINGS.perform(client, &of.listing, "restore"),
            ListingCommand::Certify(of) => LISTINGS.perform(client, &of.listing, "certify"),
            ListingCommand::Revoke(of) => LISTINGS.perform(client, &of.listing, "revoke"),
            ListingCommand::Feature { listing, place } => {
                change(client, listing, "feature", &json!({"place": place}))
            }
            ListingCommand::Unfeature(of) => LISTINGS.perform(client, &of.listing, "unfeature"),
            ListingCommand::Check(of) => {
                let id = LISTINGS.id(client, &of.listing)?;
                client.print_id(&client.post("/quality-runs", &json!({"listing_id": id}))?);
                print_note(format_args!(
                    "started a quality run of the listing; a running server performs it"
                ));
                Ok(())
            }
        }
    }
}

/// Submits a listing, and says whether that started a quality run.
fn submit(client: &Client, of: &OneListing) -> CommandResult {
    let id = &LISTINGS.id(client, &of.listing)?;
    let run_before = LISTINGS.get(client, id)?["latest_quality_run_id"].take();
    let submitted = LISTINGS.change(client, id, "submit", &Value::Null)?;
    if submitted["latest_quality_run_id"] == run_before {
        print_note(format_args!("started no quality run, since the team has too few credits"));
    } else {
        print_note(format_args!("started a quality run; a running server performs it"));
    }
    Ok(())
}

/// Performs a decision with a note.
fn decide(client: &Client, decision: &Decision, verb: &str) -> CommandResult {
    change(client, &decision.listing, verb, &json!({"note": decision.note}))
}

/// Performs a transition, and prints the lifecycle stage after it.
fn change(client: &Client, listing: &str, verb: &str, body: &Value) -> CommandResult {
    LISTINGS.change(client, listing, verb, body).map(drop)
}
