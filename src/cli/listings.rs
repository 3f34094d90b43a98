//! The `marketplace listing` command.

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::{CommandResult, GlobalOptions, amounts::parse_amount, print_line};
use crate::{
    domain::{
        listing_lifecycle::ListingState,
        listings::Actor,
        money::Cents,
        samples::{SampledAsset, Selection},
    },
    error::{Error, Result},
    market::{Market, Writer},
    operations::{self, access::Platform, listing_lifecycle},
    store::listings::ListingFields,
    string_enum::StringEnum,
};

/// Manage listings. The platform acts in the name of their teams.
#[derive(Debug, Subcommand)]
pub enum ListingCommand {
    /// Create a draft of a listing with assets of a team, and print its ID.
    #[command(
        after_help = "Example:\n  marketplace listing create \"Acme Data\" --title \"Billing core\" \\\n    --description \"Invoicing for utilities\" --price 4900 --asset 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11"
    )]
    Create(NewListing),
    /// Submit a draft for review. It needs a description, a price, and an asset. If the team has enough credits,
    /// this also starts a quality run, which a running server performs.
    #[command(after_help = "Example:\n  marketplace listing submit 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Submit {
        /// ID of the listing.
        id: Uuid,
    },
    /// Approve a listing that was submitted.
    #[command(after_help = "Example:\n  marketplace listing approve 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Approve {
        /// ID of the listing.
        id: Uuid,
    },
    /// Publish an approved listing in the catalog.
    #[command(after_help = "Example:\n  marketplace listing publish 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Publish {
        /// ID of the listing.
        id: Uuid,
    },
    /// Start a quality run of a listing with all its assets, as on submission. A running server performs it.
    #[command(after_help = "Example:\n  marketplace listing check 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Check {
        /// ID of the listing.
        id: Uuid,
    },
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
    /// ID of an asset that the sample has: its README and license, its first 20 small files, and its first 10 tasks.
    /// Repeat the option for several. A listing that offers a sample needs one to be submitted.
    #[arg(long = "sample-asset", value_name = "ID")]
    sample_assets: Vec<Uuid>,
    /// Let buyers bid.
    #[arg(long)]
    accepts_bids: bool,
    /// License and conditions.
    #[arg(long, default_value = "")]
    terms: String,
    /// ID of an asset to attach. Repeat the option for several.
    #[arg(long = "asset", value_name = "ID")]
    assets: Vec<Uuid>,
}

impl NewListing {
    fn create(&self, market: &Market) -> Result<Uuid> {
        let sampled = |asset_id: &Uuid| SampledAsset { asset_id: *asset_id, selection: Selection::default() };
        let sample: Vec<SampledAsset> = self.sample_assets.iter().map(sampled).collect();
        let fields = ListingFields {
            title: self.title.trim(),
            description: &self.description,
            domain_tags: &[],
            tag_slugs: &[],
            price: self.price,
            sample_price: self.sample_price,
            sample: &sample,
            accepts_bids: self.accepts_bids,
            is_exclusive: false,
            terms: &self.terms,
            delivery: None,
            available_from: None,
        };
        market.write_blocking(|writer| {
            let team = operations::teams::resolve(writer.rows, &self.team)?;
            let vendor = Platform::of_process().vendor(team)?;
            operations::listing_drafts::create(writer, &vendor, Actor::Team, &fields, &self.assets)
        })
    }
}

impl ListingCommand {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        let platform = Platform::of_process();
        match self {
            ListingCommand::Create(listing) => {
                print_line(listing.create(&market)?);
                eprintln!("created a draft; `marketplace listing submit` sends it to review");
            }
            ListingCommand::Submit { id } => {
                let submitted = change(&market, *id, |writer| {
                    let vendor = platform.vendor_of_listing(writer.rows, *id)?;
                    listing_lifecycle::submit(writer, &vendor, Actor::Team, *id)
                })?;
                print_stage(submitted.state);
                match submitted.run {
                    Some(run) => {
                        eprintln!("started quality run {}; a running server performs it", run.run_number);
                    }
                    None => eprintln!("started no quality run, since the team has too few credits"),
                }
            }
            ListingCommand::Approve { id } => {
                let approve =
                    |writer: &mut Writer| listing_lifecycle::approve(writer, platform, Actor::Platform, *id);
                print_stage(change(&market, *id, approve)?);
            }
            ListingCommand::Publish { id } => {
                print_stage(change(&market, *id, |writer| {
                    let vendor = platform.vendor_of_listing(writer.rows, *id)?;
                    listing_lifecycle::publish(writer, &vendor, Actor::Team, *id)
                })?);
            }
            ListingCommand::Check { id } => {
                let started =
                    change(&market, *id, |writer| listing_lifecycle::start_run(writer, platform, *id))?;
                print_line(started.run_id);
                eprintln!(
                    "started quality run {} of the listing; a running server performs it",
                    started.run_number
                );
            }
        }
        Ok(())
    }
}

/// Runs an operation on a listing. The error for an unknown one names the ID.
fn change<T>(market: &Market, id: Uuid, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
    market.write_blocking(work).map_err(|error| match error {
        Error::NotFound(what) => Error::not_found(format!("{what} {id}")),
        other => other,
    })
}

/// Prints the lifecycle stage of a listing.
fn print_stage(state: ListingState) {
    print_line(state.status.stage().as_str());
}
