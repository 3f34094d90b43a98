//! Entries of the ledger, with their postings.

use crate::{
    domain::ledger::{AccountKind, EntryType},
    rest::operator_api::prelude::*,
    store::records::ledger::LEDGER_ENTRIES,
};

/// A change of an account by a ledger entry.
#[derive(Debug, Object, Serialize, Deserialize)]
pub struct Posting {
    /// The account: `credits` or `earnings` of a team, `platform`, `payments` for money from outside the marketplace, or
    /// `payouts` for money that leaves it.
    pub account: EnumValue<AccountKind>,
    /// ID of the team that owns the account; null for the accounts of the platform.
    pub team_id: Option<Uuid>,
    /// Change of its balance; negative if the money leaves the account.
    pub amount: Money,
}

/// An entry of the ledger. Its postings sum to zero.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "LedgerEntry")]
pub struct LedgerEntryOut {
    /// ID of the entry.
    pub id: Uuid,
    /// Why the money moved. Bought credits and charges of quality runs are an `adjustment`; what a buyer pays with
    /// credits is part of the sale.
    pub entry_type: EnumValue<EntryType>,
    /// Description, which the teams see.
    pub description: String,
    /// ID of the purchase that was paid or refunded; null if the entry belongs to none.
    pub purchase_id: Option<Uuid>,
    /// ID of the purchase of credits; null if the entry belongs to none.
    pub credit_purchase_id: Option<Uuid>,
    /// ID of the withdrawal that the entry posts, or posts back because it failed; null if the entry belongs to none.
    pub withdrawal_id: Option<Uuid>,
    /// Changes of accounts, at most one for each account.
    pub postings: Vec<Posting>,
    /// Currency of the amounts.
    pub currency: EnumValue<Currency>,
    /// Time of the entry.
    pub created_at: UtcTime,
    /// Time from which earnings of the entry can be used.
    pub available_at: UtcTime,
}

resource!(LedgerEntryOut: Uuid, LEDGER_ENTRIES, "ledger_entry", id);

page_of! {
    /// A page of ledger entries.
    LedgerEntryPage, LedgerEntryOut
}

/// What the list of ledger entries can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct LedgerEntryFilters {
    /// ID of a team whose accounts the entry changes.
    team_id: Option<Uuid>,
    /// Why the money moved.
    entry_type: Option<EnumValue<EntryType>>,
    /// ID of the purchase that was paid or refunded.
    purchase_id: Option<Uuid>,
}

#[routes(prefix = "/operator/v1", tag = Money)]
impl LedgerEntriesApi {
    /// List ledger entries
    ///
    /// Returns the entries of the ledger with their postings, newest first. The ledger is append-only, and the sum over
    /// all accounts is always zero.
    #[get(
        "/ledger-entries",
        routes::list(&[
            "entry_type=withdrawal&limit=2",
            "team_id=d16976a0-9c51-5248-afa1-7e0552589e1a&entry_type=sale",
            "purchase_id=00000000-0000-0000-0000-000000000000",
        ]),
    )]
    async fn list_ledger_entries(
        call: Call<Operator>,
        query: Params<ListQuery<LedgerEntryFilters>>,
    ) -> JsonResult<LedgerEntryPage> {
        pages::list(call, query).await
    }

    /// Get a ledger entry
    ///
    /// Returns an entry of the ledger with its postings.
    #[get("/ledger-entries/{entry_id}", routes::get("ledger_entries"))]
    async fn get_ledger_entry(call: Call<Operator>, entry_id: Path<Uuid>) -> JsonResult<LedgerEntryOut> {
        resources::get(call, entry_id.0).await
    }
}
