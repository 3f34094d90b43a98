//! The `marketplace offer` and `marketplace purchase` commands.

use super::{
    amounts::{EndedPayment, amount, parse_amount},
    operator::names::{ASSETS, LISTINGS},
    prelude::*,
};
use crate::domain::{
    money::Cents,
    offers::OfferStatus,
    purchases::{PayWith, PurchaseKind, PurchaseStatus},
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
        #[command(flatten)]
        of: DealFilters,
        /// Status of the offers.
        #[arg(long, value_parser = parse_value::<OfferStatus>)]
        status: Option<OfferStatus>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an offer.
    #[command(after_help = "Example:\n  marketplace offer show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(DealId),
    /// Change the amount of an offer, or how the buyer pays.
    #[command(
        after_help = "Example:\n  marketplace offer edit 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 --amount 4500"
    )]
    Edit {
        /// ID of the offer.
        #[arg(value_parser = parse_id)]
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
    Accept(DealId),
    /// Decline an offer for the vendor.
    #[command(after_help = "Example:\n  marketplace offer decline 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Decline(DealId),
    /// Withdraw an offer for the buyer.
    #[command(after_help = "Example:\n  marketplace offer withdraw 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Withdraw(DealId),
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
        #[command(flatten)]
        of: DealFilters,
        /// Status of the purchases.
        #[arg(long, value_parser = parse_value::<PurchaseStatus>)]
        status: Option<PurchaseStatus>,
        /// What was bought: full or sample.
        #[arg(long, value_parser = parse_value::<PurchaseKind>)]
        kind: Option<PurchaseKind>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a purchase.
    #[command(after_help = "Example:\n  marketplace purchase show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(DealId),
    /// Print the agreement of a completed purchase.
    #[command(after_help = "Example:\n  marketplace purchase agreement 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Agreement(DealId),
    /// Complete a purchase whose invoice was paid.
    #[command(after_help = "Example:\n  marketplace purchase complete 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Complete(EndedPayment),
    /// Cancel a purchase that is not paid.
    #[command(after_help = "Example:\n  marketplace purchase cancel 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Cancel(EndedPayment),
    /// Refund a purchase.
    #[command(after_help = "Example:\n  marketplace purchase refund 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Refund(DealId),
}

/// An offer or a purchase.
#[derive(Debug, Args)]
pub struct DealId {
    /// The ID, as printed by the list.
    #[arg(value_parser = parse_id)]
    id: Uuid,
}

const OFFERS: Records = Records::new(
    "/offers",
    "id status amount listing_id created_at expires_at team",
    "id team_id team vendor_team_id vendor listing_id amount currency pay_with status purchase_id \
     created_at expires_at decided_at",
);

const PURCHASES: Records = Records::new(
    "/purchases",
    "id kind status total listing_id created_at team",
    "id team_id team vendor_team_id vendor listing_id kind status pay_with price buyer_fee \
     platform_fee total net currency scope asset_count offer_id created_at expires_at paid_at \
     cancelled_at refunded_at",
);

/// The filters that lists of offers and of purchases have.
#[derive(Debug, Args)]
pub struct DealFilters {
    /// ID or name of the buyer.
    #[arg(long)]
    buyer: Option<String>,
    /// ID or name of the vendor.
    #[arg(long)]
    vendor: Option<String>,
    /// ID or title of the listing.
    #[arg(long)]
    listing: Option<String>,
}

impl DealFilters {
    /// Returns the query parameters, with a status.
    fn to_query(&self, client: &Client, status: Value) -> Result<[(&'static str, Value); 4], CommandError> {
        Ok([
            ("team_id", TEAMS.optional_id(client, self.buyer.as_ref())?),
            ("vendor_team_id", TEAMS.optional_id(client, self.vendor.as_ref())?),
            ("listing_id", LISTINGS.optional_id(client, self.listing.as_ref())?),
            ("status", status),
        ])
    }
}

/// Performs a transition, and prints the status after it.
fn change(deals: &Records, client: &Client, deal: &DealId, verb: &str) -> CommandResult {
    let changed = deals.change(client, deal.id, verb, &Value::Null)?;
    if let Some(purchase) = changed["purchase_id"].as_str().filter(|_| !client.prints_json()) {
        print_note(format_args!("the purchase is {purchase}"));
    }
    Ok(())
}

impl ApiCommand for OfferCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            OfferCommand::Create { team, listing, amount: cents, pay_with } => {
                let body = json!({
                    "team_id": TEAMS.id(client, team)?,
                    "listing_id": LISTINGS.id(client, listing)?,
                    "amount": amount(Some(*cents)),
                    "pay_with": pay_with,
                });
                OFFERS.create(client, &body)
            }
            OfferCommand::List { of, status, limit } => {
                OFFERS.list(client, &of.to_query(client, json!(status))?, *limit)
            }
            OfferCommand::Show(offer) => OFFERS.show(client, offer.id),
            OfferCommand::Edit { id, amount: cents, pay_with } => {
                let body = body_of([("amount", amount(*cents)), ("pay_with", json!(pay_with))]);
                OFFERS.edit(client, id, &body)
            }
            OfferCommand::Accept(offer) => change(&OFFERS, client, offer, "accept"),
            OfferCommand::Decline(offer) => change(&OFFERS, client, offer, "decline"),
            OfferCommand::Withdraw(offer) => change(&OFFERS, client, offer, "withdraw"),
        }
    }
}

impl ApiCommand for PurchaseCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            PurchaseCommand::Create { team, listing, kind, assets, pay_with } => {
                let assets = ASSETS.ids(client, assets)?;
                let assets = if assets.is_empty() { Value::Null } else { json!(assets) };
                let body = body_of([
                    ("team_id", TEAMS.id(client, team)?.into()),
                    ("listing_id", LISTINGS.id(client, listing)?.into()),
                    ("kind", json!(kind)),
                    ("asset_ids", assets),
                    ("pay_with", json!(pay_with)),
                ]);
                let created = client.post(PURCHASES.path, &body)?;
                client.print_id(&created);
                print_note(format_args!(
                    "the purchase is {}",
                    created["status"].as_str().unwrap_or_default()
                ));
                Ok(())
            }
            PurchaseCommand::List { of, status, kind, limit } => {
                let mut filters = of.to_query(client, json!(status))?.to_vec();
                filters.push(("kind", json!(kind)));
                PURCHASES.list(client, &filters, *limit)
            }
            PurchaseCommand::Show(purchase) => PURCHASES.show(client, purchase.id),
            PurchaseCommand::Agreement(purchase) => {
                let agreement = client.get(&format!("{}/{}/agreement", PURCHASES.path, purchase.id))?;
                client.print_record("purchase_id,sha256,created_at,text", agreement)
            }
            PurchaseCommand::Complete(payment) => payment.report(client, &PURCHASES, "complete"),
            PurchaseCommand::Cancel(payment) => payment.report(client, &PURCHASES, "cancel"),
            PurchaseCommand::Refund(purchase) => change(&PURCHASES, client, purchase, "refund"),
        }
    }
}
