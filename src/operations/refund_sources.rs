//! Where the vendor's share of a refund comes from.

use crate::{
    domain::{
        due_steps::StepKind, money::Cents, row_ids::LedgerEntryRowId, teams::TeamRowId, time::Timestamp,
    },
    error::{Error, Result, StateCode},
    market::Writer,
    store::{self, earnings_holds::EarningsHold},
};

/// A part of the vendor's share of a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefundSource {
    /// The entry of the sale whose hold is reduced; `None` if the part comes from available earnings.
    pub hold: Option<LedgerEntryRowId>,
    /// Time at which the hold ends; that of the refund for available earnings.
    pub available_at: Timestamp,
    /// The amount; more than zero.
    pub cents: Cents,
}

/// Chooses the sources of a share: the hold of the sale, then available earnings, then the holds that end last. Holds
/// and earnings are those at the time of the operation, even if the holds have ended since.
pub fn choose(
    writer: &Writer,
    vendor: TeamRowId,
    sale: LedgerEntryRowId,
    share: Cents,
) -> Result<Vec<RefundSource>> {
    let mut sources = Vec::new();
    let mut needed = share;
    let mut take = |needed: &mut Cents, hold: Option<&EarningsHold>, cents: Cents| {
        let cents = cents.min(*needed);
        if cents.0 > 0 {
            needed.0 -= cents.0;
            let available_at = hold.map_or(writer.now, |hold| hold.available_at);
            sources.push(RefundSource { hold: hold.map(|hold| hold.entry), available_at, cents });
        }
    };
    if let Some(own) = find_hold(writer, sale)? {
        take(&mut needed, Some(&own), own.remaining);
    }
    if needed.0 > 0 {
        take(&mut needed, None, available(writer, vendor)?);
    }
    let mut before = None;
    while needed.0 > 0
        && let Some(hold) = find_last_hold(writer, vendor, before)?
    {
        before = Some((hold.available_at, hold.entry));
        if hold.entry != sale {
            take(&mut needed, Some(&hold), hold.remaining);
        }
    }
    if needed.0 > 0 || !are_unspent(writer, vendor, &sources)? {
        let message = format!(
            "The refund takes {share} US dollars from the vendor, which has less in pending and available earnings. \
             Wait until the vendor has earned more."
        );
        return Err(Error::InvalidState(StateCode::InsufficientEarnings, message));
    }
    Ok(sources)
}

/// Takes an amount from a hold. Returns whether it has not ended. The step of a hold that is used up is canceled.
pub fn reduce_hold(writer: &Writer, entry: LedgerEntryRowId, cents: Cents) -> Result<bool> {
    let Some(hold) = store::earnings_holds::find(writer.rows, entry)? else { return Ok(false) };
    if cents == hold.remaining {
        store::earnings_holds::delete(writer.rows, entry)?;
        writer.unschedule(StepKind::HoldEnds, entry)?;
    } else {
        store::earnings_holds::reduce(writer.rows, entry, cents)?;
    }
    Ok(true)
}

/// Returns the available earnings of a vendor that an operation can take, 0 if they are negative. An operation of the
/// past may only take what is also left after everything that happened since.
pub fn available(writer: &Writer, vendor: TeamRowId) -> Result<Cents> {
    let available = if writer.is_past() {
        store::wallet::min_available_since(writer.rows, vendor, writer.now)?
    } else {
        store::wallet::balances(writer.rows, vendor)?.available
    };
    Ok(available.max(Cents(0)))
}

fn find_hold(writer: &Writer, entry: LedgerEntryRowId) -> Result<Option<EarningsHold>> {
    if writer.is_past() {
        store::earnings_holds::find_at(writer.rows, entry, writer.now)
    } else {
        store::earnings_holds::find(writer.rows, entry)
    }
}

/// Returns the hold of a vendor that ends last before a place in this order.
fn find_last_hold(
    writer: &Writer,
    vendor: TeamRowId,
    before: Option<(Timestamp, LedgerEntryRowId)>,
) -> Result<Option<EarningsHold>> {
    if writer.is_past() {
        store::earnings_holds::find_last_at(writer.rows, vendor, before, writer.now)
    } else {
        store::earnings_holds::find_last(writer.rows, vendor, before)
    }
}

/// Whether nothing that happened after the time of the operation has used what it takes.
fn are_unspent(writer: &Writer, vendor: TeamRowId, sources: &[RefundSource]) -> Result<bool> {
    if !writer.is_past() {
        return Ok(true);
    }
    for source in sources {
        let until = sources.iter().filter(|other| other.available_at <= source.available_at);
        let taken: i64 = until.map(|other| other.cents.0).sum();
        if store::wallet::min_available_since(writer.rows, vendor, source.available_at)?.0 < taken {
            return Ok(false);
        }
    }
    Ok(true)
}
