//! Entries of the ledger: every movement of money is posted here, with the stored balances and the holds of
//! earnings. The postings come from [`crate::domain::ledger`].

use std::collections::{HashMap, hash_map::Entry};

use uuid::Uuid;

use super::{
    access::Platform,
    refund_sources::{self, Moment, RefundSource},
};
use crate::{
    domain::{
        collections::Collection,
        due_steps::StepKind,
        events::{AvailableEarningsData, EventData},
        ledger::{Account, SaleTerms, Transfer},
        money::{CURRENCY, Cents},
        purchases::PurchaseKind,
        row_ids::{LedgerEntryRowId, PurchaseRowId},
        teams::TeamRowId,
    },
    error::{Error, Result, StateCode},
    market::{Reader, Writer},
    store::{
        self,
        earnings_holds::EarningsHold,
        ledger::{EntryPosting, NewEntry},
    },
};

/// Maximum number of entries in a list.
pub const MAX_ENTRIES: usize = 1_000;

/// A ledger entry that was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostedEntry {
    /// Row ID of the entry.
    pub row_id: LedgerEntryRowId,
    /// ID of the entry.
    pub id: Uuid,
}

/// A posting with the balance of its account after it.
#[derive(Clone, Debug)]
pub struct PostingLine {
    /// The posting, with its entry.
    pub posting: EntryPosting,
    /// The balance of the account after it.
    pub balance: Cents,
}

/// A paid purchase whose money is to be posted. The amounts were fixed when the purchase was created.
#[derive(Clone, Copy, Debug)]
pub struct SaleToPost<'a> {
    /// The purchase. It has no entries yet.
    pub purchase: PurchaseRowId,
    /// Title of the listing, for the descriptions of the entries.
    pub title: &'a str,
    /// Who pays whom, how much, and from where.
    pub terms: SaleTerms,
}

/// Posts the money of a purchase that is paid now: the entry of the sale, and that of the platform fee.
///
/// With [`PaymentSource::Credits`](crate::domain::ledger::PaymentSource), price and buyer fee are deducted from
/// the buyer's credits; if they do not suffice, the error is [`StateCode::InsufficientCredits`] and nothing was
/// written. With `PaymentSource::Invoice`, they come from the external account `payments`.
///
/// The vendor's net earnings are pending until the setting `payouts.hold_days` has passed. A free purchase has
/// no entries. Returns the entry of the sale.
pub fn post_sale(writer: &Writer, sale: &SaleToPost) -> Result<Option<LedgerEntryRowId>> {
    let SaleToPost { purchase, title, terms } = sale;
    let (payment, fee) = (Transfer::sale(terms), Transfer::platform_fee(terms));
    if payment.postings.is_empty() && fee.postings.is_empty() {
        return Ok(None);
    }
    let cost = payment.change_of(Account::Credits(terms.buyer));
    if cost.0 < 0 && !has_credits(writer, terms.buyer, Cents(-cost.0))? {
        return Err(insufficient_credits(Cents(-cost.0)));
    }
    let available_at = writer.now.plus_days(i64::from(writer.settings.payouts.hold_days));
    let is_held = available_at > writer.now;
    let vendor = Account::Earnings(terms.vendor);
    let insert = |transfer: &Transfer, description: String| {
        let entry = NewEntry {
            id: writer.new_id(Collection::LedgerEntries),
            description: &description,
            purchase: Some(*purchase),
            transfer,
            pending: if is_held { transfer.change_of(vendor) } else { Cents(0) },
            created_at: writer.now,
            available_at,
        };
        store::ledger::insert(writer.rows, &entry)
    };
    let entry = insert(&payment, sale_description(terms.kind, title))?;
    if !fee.postings.is_empty() {
        insert(&fee, format!("Platform fee for \u{201c}{title}\u{201d}"))?;
    }
    let remaining = Cents(payment.change_of(vendor).0 + fee.change_of(vendor).0);
    if is_held && remaining.0 > 0 {
        let hold = EarningsHold { entry, team: terms.vendor, remaining, available_at };
        store::earnings_holds::insert(writer.rows, &hold)?;
        writer.schedule(StepKind::HoldEnds, entry, available_at)?;
    }
    Ok(Some(entry))
}

fn sale_description(kind: PurchaseKind, title: &str) -> String {
    match kind {
        PurchaseKind::Full => format!("Sale of \u{201c}{title}\u{201d}"),
        PurchaseKind::Sample => format!("Sample of \u{201c}{title}\u{201d}"),
        PurchaseKind::AcceptedBid => format!("Accepted bid on \u{201c}{title}\u{201d}"),
    }
}

/// An entry that a refund posts.
#[derive(Clone, Debug)]
pub struct RefundPart {
    /// What it moves.
    pub transfer: Transfer,
    /// The source of the vendor's share; with an amount of zero if the vendor earned nothing.
    pub source: RefundSource,
}

/// Returns the entries that the refund of a purchase would post now. A purchase without entries has no refund either.
pub(super) fn preview_refund(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<RefundPart>> {
    plan_refund(Moment::of_reader(reader), purchase)
}

fn plan_refund(moment: Moment, purchase: PurchaseRowId) -> Result<Vec<RefundPart>> {
    let transfer = Transfer::refund(&store::ledger::list_purchase_postings(moment.rows(), purchase)?);
    if transfer.postings.is_empty() {
        return Ok(Vec::new());
    }
    let Some(sale) = store::ledger::find_sale_entry(moment.rows(), purchase)? else { return Ok(Vec::new()) };
    let share = transfer.postings.iter().find_map(|posting| match posting.account {
        Account::Earnings(vendor) if posting.cents.0 < 0 => Some((vendor, Cents(-posting.cents.0))),
        _ => None,
    });
    let sources = match share {
        Some((vendor, share)) => refund_sources::choose(moment, vendor, sale, share)?,
        None => Vec::new(),
    };
    let shares: Vec<Cents> = sources.iter().map(|source| source.cents).collect();
    let sources = if sources.is_empty() { vec![RefundSource::nothing(moment)] } else { sources };
    let parts = sources.into_iter().zip(transfer.split_refund(&shares));
    Ok(parts.map(|(source, transfer)| RefundPart { transfer, source }).collect())
}

/// Posts the refund of a purchase: undoes all of its postings, so the money returns to where it came from.
///
/// The vendor's share comes from the hold of this sale if that has not ended; the rest from available earnings, and then from
/// the holds that end last. Each source has its own entry, so that for each date of release, the earnings match the holds. If
/// all sources do not cover the share, the error is [`StateCode::InsufficientEarnings`] and nothing was written. A purchase
/// without entries has no refund either.
pub fn post_refund(writer: &Writer, purchase: PurchaseRowId, title: &str) -> Result<()> {
    let parts = plan_refund(Moment::of_writer(writer), purchase)?;
    if parts.is_empty() {
        return Ok(());
    }
    let id = writer.new_id(Collection::LedgerEntries);
    for (number, RefundPart { transfer, source }) in (0_u64..).zip(parts) {
        let (is_held, hold) = match source.hold {
            Some(hold) => (refund_sources::reduce_hold(writer, hold, source.cents)?, Some(hold)),
            None => (false, None),
        };
        let entry = NewEntry {
            id: if number == 0 { id } else { Uuid::new_v5(&id, &number.to_be_bytes()) },
            description: &format!("Refund of \u{201c}{title}\u{201d}"),
            purchase: Some(purchase),
            transfer: &transfer,
            pending: if is_held { Cents(-source.cents.0) } else { Cents(0) },
            created_at: writer.now,
            available_at: source.available_at,
        };
        let refund = store::ledger::insert(writer.rows, &entry)?;
        if let Some(hold) = hold {
            store::earnings_holds::insert_use(writer.rows, hold, refund, source.cents)?;
        }
    }
    Ok(())
}

/// Whether a team has at least this amount of credits.
pub fn has_credits(writer: &Writer, team: TeamRowId, amount: Cents) -> Result<bool> {
    Ok(spendable_credits(writer, team)? >= amount)
}

/// Returns the credits that a team can spend. An operation in the past may only take an amount that is also left after all
/// later operations.
fn spendable_credits(writer: &Writer, team: TeamRowId) -> Result<Cents> {
    if writer.is_past() {
        return store::wallet::min_credits_since(writer.rows, team, writer.now);
    }
    Ok(store::wallet::balances(writer.rows, team)?.credits)
}

/// Ends the hold of a sale: its remaining earnings become available. Does nothing if the hold has ended. This is
/// the due step [`StepKind::HoldEnds`], and nothing else ends a hold.
pub fn end_hold(writer: &Writer, entry: LedgerEntryRowId) -> Result<()> {
    let Some(hold) = store::earnings_holds::find(writer.rows, entry)? else { return Ok(()) };
    store::earnings_holds::delete(writer.rows, entry)?;
    store::wallet::release(writer.rows, hold.team, hold.remaining)?;
    let (ledger_entry_id, purchase_id) = store::ledger::find_ids(writer.rows, entry)?;
    let data = AvailableEarningsData {
        ledger_entry_id,
        purchase_id,
        amount: hold.remaining.to_string(),
        currency: CURRENCY,
        balances: store::wallet::balances(writer.rows, hold.team)?.into(),
    };
    writer.emit(Some(hold.team), ledger_entry_id, &EventData::EarningsAvailable(data))
}

/// Posts an entry that belongs to no purchase, and that is available at once. Checks first that no balance
/// becomes negative: otherwise the error is [`StateCode::InsufficientCredits`] or
/// [`StateCode::InsufficientEarnings`], and nothing was written.
pub fn post_transfer(writer: &Writer, transfer: &Transfer, description: &str) -> Result<PostedEntry> {
    let id = writer.new_id(Collection::LedgerEntries);
    post_transfer_with_id(writer, id, transfer, description)
}

/// Like [`post_transfer`], with the ID of the entry.
pub fn post_transfer_with_id(
    writer: &Writer,
    id: Uuid,
    transfer: &Transfer,
    description: &str,
) -> Result<PostedEntry> {
    for change in transfer.balance_changes(Cents(0)) {
        if change.credits.0 < 0 && spendable_credits(writer, change.team)?.0 + change.credits.0 < 0 {
            return Err(insufficient_credits(Cents(-change.credits.0)));
        }
        if change.available.0 >= 0 {
            continue;
        }
        let mut available = refund_sources::available(writer, change.team)?;
        if writer.is_past() {
            // If a history comes in several sets, the stored balance can be lower than it was at that time.
            let stored = store::wallet::balances(writer.rows, change.team)?.available;
            available = available.min(stored.max(Cents(0)));
        }
        check_earnings(Cents(-change.available.0), available)?;
    }
    let entry = NewEntry {
        id,
        description,
        purchase: None,
        transfer,
        pending: Cents(0),
        created_at: writer.now,
        available_at: writer.now,
    };
    Ok(PostedEntry { row_id: store::ledger::insert(writer.rows, &entry)?, id })
}

/// Fails if an amount is more than the available earnings of a team.
pub(super) fn check_earnings(amount: Cents, available: Cents) -> Result<()> {
    if amount <= available {
        return Ok(());
    }
    let advice = if available > Cents(0) {
        format!(". Choose at most {available} US dollars; pending")
    } else {
        ", of which there are none. Pending".to_owned()
    };
    let message = format!(
        "{amount} US dollars are more than the available earnings{advice} earnings become available when their hold \
         ends."
    );
    Err(Error::InvalidState(StateCode::InsufficientEarnings, message))
}

/// Returns the error for a team that has fewer credits than something costs. It does not say how many it has,
/// since others may see the message.
pub fn insufficient_credits(cost: Cents) -> Error {
    let message = format!(
        "This costs {cost} US dollars in credits, but the wallet has less. Buy credits, or convert earnings."
    );
    Error::InvalidState(StateCode::InsufficientCredits, message)
}

/// Returns the postings of the newest entries, newest first, each with the balance after it: of all entries, or
/// those to the accounts of a team. Returns those of at most [`MAX_ENTRIES`] entries.
pub fn list_newest(
    reader: &Reader,
    _platform: Platform,
    team: Option<TeamRowId>,
    limit: usize,
) -> Result<Vec<PostingLine>> {
    let postings = store::ledger::list_newest(reader.rows, team, limit.min(MAX_ENTRIES))?;
    let platform_balances = store::wallet::platform_balances(reader.rows)?;
    let mut balances: HashMap<Account, Cents> = platform_balances
        .into_iter()
        .filter_map(|(kind, cents)| Some((Account::new(kind, None)?, cents)))
        .collect();
    let mut lines = Vec::with_capacity(postings.len());
    for posting in postings {
        let account = posting.posting.account;
        let balance = match balances.entry(account) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(current_balance(reader, account)?),
        };
        let line = PostingLine { balance: *balance, posting };
        balance.0 -= line.posting.posting.cents.0;
        lines.push(line);
    }
    Ok(lines)
}

/// Returns the balance of an account of a team. Its earnings are those on hold and those available.
fn current_balance(reader: &Reader, account: Account) -> Result<Cents> {
    let Some(team) = account.team() else { return Ok(Cents(0)) };
    let balances = store::wallet::balances(reader.rows, team)?;
    Ok(match account {
        Account::Credits(_) => balances.credits,
        _ => Cents(balances.pending.0 + balances.available.0),
    })
}
