//! Lists of the records of a team, for the team. Each kind of record states which proof is needed to read it.

use std::collections::HashMap;

use uuid::Uuid;

use super::access::{Buyer, Member, TeamProof, Vendor};
use crate::{
    domain::{ledger::AccountKind, money::Cents, row_ids::LedgerEntryRowId},
    error::{Error, Result},
    market::Reader,
    store::{
        self,
        bulk_changes::BulkChange,
        notifications::Notification,
        records::{
            Filters,
            grants::GrantRecord,
            keys::TeamKeyRecord,
            pages::{TeamPage, TeamPageRequest},
            team_lists::{
                TeamRecord,
                credit_purchases::TeamCreditPurchase,
                estimations::TeamEstimation,
                offers::{ReceivedOffer, TeamOffer},
                opportunities::TeamOpportunity,
                project_bids::TeamProjectBid,
                purchases::TeamPurchase,
                quality_runs::TeamRun,
                sales::TeamSale,
                wallet_entries::{self, AccountEntry, CreditEntry, EarningsEntry},
                webhook_deliveries::TeamDelivery,
                withdrawals::TeamWithdrawal,
            },
        },
        webhooks::Webhook,
    },
    string_enum::StringEnum,
};

/// A record of a team that the team can list.
pub trait ProtectedRecord: TeamRecord {
    /// The proof that is needed to read it.
    type Proof: TeamProof;
}

macro_rules! protected_records {
    ($($record:ty: $proof:ty),+ $(,)?) => {
        $(impl ProtectedRecord for $record {
            type Proof = $proof;
        })+
    };
}

protected_records! {
    BulkChange: Vendor,
    TeamPurchase: Buyer,
    TeamOffer: Buyer,
    ReceivedOffer: Vendor,
    TeamSale: Vendor,
    TeamOpportunity: Buyer,
    TeamProjectBid: Vendor,
    TeamEstimation: Vendor,
    TeamRun: Vendor,
    CreditEntry: Member,
    EarningsEntry: Member,
    TeamCreditPurchase: Member,
    TeamWithdrawal: Member,
    Notification: Member,
    Webhook: Member,
    TeamDelivery: Member,
    TeamKeyRecord: Member,
    GrantRecord: Member,
}

/// Returns the team's record with this ID.
pub fn find<R: ProtectedRecord>(rows: &store::Reader, proof: &R::Proof, id: Uuid) -> Result<R> {
    let found = R::LIST.find(rows, proof.team_row_id(), id)?;
    found.ok_or_else(|| Error::not_found(R::LIST.records.name))
}

/// Returns a page of the team's records that the filters allow, newest first.
pub fn page<R: ProtectedRecord>(
    reader: &Reader,
    proof: &R::Proof,
    filters: &Filters,
    request: TeamPageRequest,
) -> Result<TeamPage<R>> {
    R::LIST.page(reader.rows, proof.team_row_id(), reader.now, filters, request)
}

/// An entry in an account of the team, with the balance of the account after it.
#[derive(Clone, Debug)]
pub struct WalletLine {
    /// The entry.
    pub entry: AccountEntry,
    /// The balance after it.
    pub balance: Cents,
}

/// Returns a page of the entries in the account of the team's credits, newest first. Four statements at most.
pub fn credits_page(
    reader: &Reader,
    member: &Member,
    filters: &Filters,
    request: TeamPageRequest,
) -> Result<TeamPage<WalletLine>> {
    let found = page::<CreditEntry>(reader, member, filters, request)?;
    let balance = store::wallet::balances(reader.rows, member.team_row_id())?.credits;
    let entries = found.map(|row| row.0);
    with_balances(reader, member, AccountKind::Credits, balance, entries)
}

/// Returns a page of the entries in the account of the team's earnings, newest first. The balances are those on hold with
/// those that are available. Four statements at most.
pub fn earnings_page(
    reader: &Reader,
    member: &Member,
    filters: &Filters,
    request: TeamPageRequest,
) -> Result<TeamPage<WalletLine>> {
    let found = page::<EarningsEntry>(reader, member, filters, request)?;
    let balances = store::wallet::balances(reader.rows, member.team_row_id())?;
    let balance = Cents(balances.pending.0 + balances.available.0);
    let entries = found.map(|row| row.0);
    with_balances(reader, member, AccountKind::Earnings, balance, entries)
}

fn with_balances(
    reader: &Reader,
    member: &Member,
    account: AccountKind,
    balance: Cents,
    page: TeamPage<AccountEntry>,
) -> Result<TeamPage<WalletLine>> {
    let entries: Vec<LedgerEntryRowId> = page.rows.iter().map(|entry| entry.row_id).collect();
    let team = member.team_row_id();
    let since: HashMap<LedgerEntryRowId, Cents> =
        wallet_entries::changes_since(reader.rows, team, account.as_str(), &entries)?;
    Ok(page.map(|entry| {
        let change = since.get(&entry.row_id).copied().unwrap_or_default();
        WalletLine { balance: Cents(balance.0 - change.0), entry }
    }))
}
