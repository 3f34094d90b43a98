//! The `marketplace offer` and `marketplace purchase` commands.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    CommandError, CommandResult, GlobalOptions,
    amounts::{amount, parse_amount},
    operator::{Client, OperatorOptions, body_of, names, parse_value},
    print_line,
};
use crate::{
    domain::{
        money::Cents,
        offers::OfferStatus,
        purchases::{PayWith, PurchaseKind, PurchaseStatus},
    },
    string_enum::StringEnum,
};

/// Manage offers: bids of buyers on listings.
#[derive(Debug, Subcommand)]
pub enum OfferCommand {
    /// Bid on a listing for a buyer, and print the ID of the offer.
    #[command(after_help = "Example:\n  marketplace offer create \"Beta Labs\" \"Billing core\" 4200")]
    Create {
        /// ID or name of the buyer.
        team: String,
        /// ID or title of the listing.
        listing: String,
        /// Amount in US dollars, before fees.
        #[arg(value_parser = parse_amount)]
        amount: Cents,
        /// How the buyer pays if the offer is accepted: credits or invoice.
        #[arg(long, default_value = "credits", value_parser = parse_value::<PayWith>)]
        pay_with: PayWith,
    },
    /// List offers, newest first.
    #[command(after_help = "Example:\n  marketplace offer list --status submitted")]
    List {
        /// ID or name of the buyer.
        #[arg(long)]
        buyer: Option<String>,
        /// ID or name of the vendor.
        #[arg(long)]
        vendor: Option<String>,
        /// ID or title of the listing.
        #[arg(long)]
        listing: Option<String>,
        /// Status of the offers.
        #[arg(long, value_parser = parse_value::<OfferStatus>)]
        status: Option<OfferStatus>,
    },
    /// Show an offer.
    #[command(after_help = "Example:\n  marketplace offer show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(OneDeal),
    /// Change the amount of an offer, or how the buyer pays.
    #[command(
        after_help = "Example:\n  marketplace offer edit 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 --amount 4500"
    )]
    Edit {
        /// ID of the offer.
        id: Uuid,
        /// New amount in US dollars, before fees.
        #[arg(long, value_parser = parse_amount, required_unless_present = "pay_with")]
        amount: Option<Cents>,
        /// How the buyer pays if the offer is accepted: credits or invoice.
        #[arg(long, value_parser = parse_value::<PayWith>)]
        pay_with: Option<PayWith>,
    },
    /// Accept an offer for the vendor. This purchases the listing for the buyer, for the amount of the offer.
    #[command(after_help = "Example:\n  marketplace offer accept 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Accept(OneDeal),
    /// Decline an offer for the vendor.
    #[command(after_help = "Example:\n  marketplace offer decline 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Decline(OneDeal),
    /// Withdraw an offer for the buyer.
    #[command(after_help = "Example:\n  marketplace offer withdraw 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Withdraw(OneDeal),
}

/// Manage purchases.
#[derive(Debug, Subcommand)]
pub enum PurchaseCommand {
    /// Buy a listing for a team, and print the ID of the purchase.
    #[command(
        after_help = "Examples:\n  marketplace purchase create \"Beta Labs\" \"Billing core\"\n  marketplace purchase create \"Beta Labs\" \"Billing core\" --kind sample"
    )]
    Create {
        /// ID or name of the buyer.
        team: String,
        /// ID or title of the listing.
        listing: String,
        /// What is bought: full or sample.
        #[arg(long, default_value = "full", value_parser = parse_value::<PurchaseKind>)]
        kind: PurchaseKind,
        /// ID or title of an asset, to buy only some assets of the listing. Repeat the option for several.
        #[arg(long = "asset", value_name = "ASSET")]
        assets: Vec<String>,
        /// How the buyer pays: credits or invoice.
        #[arg(long, default_value = "credits", value_parser = parse_value::<PayWith>)]
        pay_with: PayWith,
    },
    /// List purchases, newest first.
    #[command(after_help = "Example:\n  marketplace purchase list --status pending")]
    List {
        /// ID or name of the buyer.
        #[arg(long)]
        buyer: Option<String>,
        /// ID or name of the vendor.
        #[arg(long)]
        vendor: Option<String>,
        /// ID or title of the listing.
        #[arg(long)]
        listing: Option<String>,
        /// Status of the purchases.
        #[arg(long, value_parser = parse_value::<PurchaseStatus>)]
        status: Option<PurchaseStatus>,
    },
    /// Show a purchase.
    #[command(after_help = "Example:\n  marketplace purchase show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(OneDeal),
    /// Complete a purchase whose invoice was paid.
    #[command(after_help = "Example:\n  marketplace purchase complete 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Complete(OneDeal),
    /// Cancel a purchase that is not paid.
    #[command(after_help = "Example:\n  marketplace purchase cancel 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Cancel(OneDeal),
    /// Refund a purchase.
    #[command(after_help = "Example:\n  marketplace purchase refund 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Refund(OneDeal),
}

/// An offer or a purchase.
#[derive(Debug, Args)]
pub struct OneDeal {
    /// The ID, as printed by the list.
    id: Uuid,
}

const OFFERS: Deals = Deals {
    path: "/offers",
    columns: &["id", "status", "amount", "listing_id", "created_at", "expires_at", "team"],
    all_columns: &[
        "id",
        "team_id",
        "team",
        "vendor_team_id",
        "vendor",
        "listing_id",
        "amount",
        "currency",
        "pay_with",
        "status",
        "purchase_id",
        "created_at",
        "expires_at",
        "decided_at",
    ],
};

const PURCHASES: Deals = Deals {
    path: "/purchases",
    columns: &["id", "kind", "status", "total", "listing_id", "created_at", "team"],
    all_columns: &[
        "id",
        "team_id",
        "team",
        "vendor_team_id",
        "vendor",
        "listing_id",
        "kind",
        "status",
        "pay_with",
        "price",
        "buyer_fee",
        "platform_fee",
        "total",
        "net",
        "currency",
        "scope",
        "asset_count",
        "offer_id",
        "created_at",
        "expires_at",
        "paid_at",
        "cancelled_at",
        "refunded_at",
    ],
};

/// Offers, or purchases.
struct Deals {
    path: &'static str,
    columns: &'static [&'static str],
    all_columns: &'static [&'static str],
}

impl Deals {
    fn list(
        &self,
        client: &Client,
        [buyer, vendor]: [&Option<String>; 2],
        listing: Option<&String>,
        status: Option<&'static str>,
    ) -> CommandResult {
        let listing = listing.map(|listing| names::listing(client, listing)).transpose()?;
        let filters = [
            ("team_id", names::optional_team(client, buyer.as_ref())?),
            ("vendor_team_id", names::optional_team(client, vendor.as_ref())?),
            ("listing_id", json!(listing)),
            ("status", json!(status)),
        ];
        client.print_list(self.columns, client.list(self.path, &filters, None)?)
    }

    fn show(&self, client: &Client, deal: &OneDeal) -> CommandResult {
        client.print_record(self.all_columns, client.get(&format!("{}/{}", self.path, deal.id))?)
    }

    /// Performs a transition, and prints the status after it.
    fn change(&self, client: &Client, deal: &OneDeal, verb: &str) -> CommandResult {
        let changed = client.post(&format!("{}/{}/{verb}", self.path, deal.id), &Value::Null)?;
        client.print(&changed, |changed| {
            print_line(changed["status"].as_str().unwrap_or_default());
            if let Some(purchase) = changed["purchase_id"].as_str() {
                eprintln!("the purchase is {purchase}");
            }
        });
        Ok(())
    }
}

impl OfferCommand {
    pub(super) fn run(&self, options: &OperatorOptions, global: &GlobalOptions) -> CommandResult {
        let client = &options.connect(global, false)?;
        match self {
            OfferCommand::Create { team, listing, amount: cents, pay_with } => {
                let body = json!({
                    "team_id": names::team(client, team)?,
                    "listing_id": names::listing(client, listing)?,
                    "amount": amount(Some(*cents)),
                    "pay_with": pay_with.as_str(),
                });
                client.print_id(&client.post(OFFERS.path, &body)?);
                Ok(())
            }
            OfferCommand::List { buyer, vendor, listing, status } => {
                let status = status.map(StringEnum::as_str);
                OFFERS.list(client, [buyer, vendor], listing.as_ref(), status)
            }
            OfferCommand::Show(offer) => OFFERS.show(client, offer),
            OfferCommand::Edit { id, amount: cents, pay_with } => {
                let pay_with = json!(pay_with.map(StringEnum::as_str));
                let body = body_of([("amount", amount(*cents)), ("pay_with", pay_with)]);
                let changed = client.patch(&format!("{}/{id}", OFFERS.path), &body)?;
                client.print_record(OFFERS.all_columns, changed)
            }
            OfferCommand::Accept(offer) => OFFERS.change(client, offer, "accept"),
            OfferCommand::Decline(offer) => OFFERS.change(client, offer, "decline"),
            OfferCommand::Withdraw(offer) => OFFERS.change(client, offer, "withdraw"),
        }
    }
}

impl PurchaseCommand {
    pub(super) fn run(&self, options: &OperatorOptions, global: &GlobalOptions) -> Result<(), CommandError> {
        let client = &options.connect(global, false)?;
        match self {
            PurchaseCommand::Create { team, listing, kind, assets, pay_with } => {
                let assets = names::assets(client, assets)?;
                let assets = if assets.is_empty() { Value::Null } else { json!(assets) };
                let body = body_of([
                    ("team_id", names::team(client, team)?.into()),
                    ("listing_id", names::listing(client, listing)?.into()),
                    ("kind", kind.as_str().into()),
                    ("asset_ids", assets),
                    ("pay_with", pay_with.as_str().into()),
                ]);
                let created = client.post(PURCHASES.path, &body)?;
                client.print_id(&created);
                eprintln!("the purchase is {}", created["status"].as_str().unwrap_or_default());
                Ok(())
            }
            PurchaseCommand::List { buyer, vendor, listing, status } => {
                let status = status.map(StringEnum::as_str);
                PURCHASES.list(client, [buyer, vendor], listing.as_ref(), status)
            }
            PurchaseCommand::Show(purchase) => PURCHASES.show(client, purchase),
            PurchaseCommand::Complete(purchase) => PURCHASES.change(client, purchase, "complete"),
            PurchaseCommand::Cancel(purchase) => PURCHASES.change(client, purchase, "cancel"),
            PurchaseCommand::Refund(purchase) => PURCHASES.change(client, purchase, "refund"),
        }
    }
}
