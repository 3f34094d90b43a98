//! Where the vendor's share of a refund comes from.

use crate::{
    domain::{
        due_steps::StepKind, money::Cents, row_ids::LedgerEntryRowId, teams::TeamRowId, time::Timestamp,
    },
    error::{Error, Result, StateCode},
    market::{Reader, Writer},
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

impl RefundSource {
    /// Returns the source of a refund that takes nothing from the vendor.
    pub const fn nothing(moment: Moment) -> RefundSource {
        RefundSource { hold: None, available_at: moment.now, cents: Cents(0) }
    }
}

/// The records, and the time at which the sources are chosen.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    rows: &'a store::Reader<'a>,
    now: Timestamp,
    is_past: bool,
}

impl<'a> Moment<'a> {
    /// Returns the moment of an operation.
    pub fn of_writer(writer: &'a Writer) -> Moment<'a> {
        Moment { rows: writer.rows, now: writer.now, is_past: writer.is_past() }
    }

    /// Returns the present, to see what an operation would do.
    pub const fn of_reader(reader: &'a Reader) -> Moment<'a> {
        Moment { rows: reader.rows, now: reader.now, is_past: false }
    }

    /// Returns the records.
    pub const fn rows(&self) -> &'a store::Reader<'a> {
        self.rows
    }
}

/// Chooses the sources of a share: the hold of the sale, then available earnings, then the holds that end last. Holds
/// and earnings are those at the time of the operation, even if the holds have ended since.
pub fn choose(
    moment: Moment,
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
            let available_at = hold.map_or(moment.now, |hold| hold.available_at);
            sources.push(RefundSource { hold: hold.map(|hold| hold.entry), available_at, cents });
        }
    };
    if let Some(own) = find_hold(moment, sale)? {
        take(&mut needed, Some(&own), own.remaining);
    }
    if needed.0 > 0 {
        take(&mut needed, None, available_at(moment, vendor)?);
    }
    let mut before = None;
    while needed.0 > 0
        && let Some(hold) = find_last_hold(moment, vendor, before)?
    {
        before = Some((hold.available_at, hold.entry));
        if hold.entry != sale {
            take(&mut needed, Some(&hold), hold.remaining);
        }
    }
    if needed.0 > 0 || !are_unspent(moment, vendor, &sources)? {
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

/// Returns the available earnings of a vendor that an operation can take, 0 if they are negative. An operation in the past may
/// only take an amount that is also left after all later operations.
pub fn available(writer: &Writer, vendor: TeamRowId) -> Result<Cents> {
    available_at(Moment::of_writer(writer), vendor)
}

fn available_at(moment: Moment, vendor: TeamRowId) -> Result<Cents> {
    let available = if moment.is_past {
        store::wallet::min_available_since(moment.rows, vendor, moment.now)?
    } else {
        store::wallet::balances(moment.rows, vendor)?.available
    };
    Ok(available.max(Cents(0)))
}

fn find_hold(moment: Moment, entry: LedgerEntryRowId) -> Result<Option<EarningsHold>> {
    if moment.is_past {
        store::earnings_holds::find_at(moment.rows, entry, moment.now)
    } else {
        store::earnings_holds::find(moment.rows, entry)
    }
}

/// Returns the hold of a vendor that ends last before a place in this order.
fn find_last_hold(
    moment: Moment,
    vendor: TeamRowId,
    before: Option<(Timestamp, LedgerEntryRowId)>,
) -> Result<Option<EarningsHold>> {
    if moment.is_past {
        store::earnings_holds::find_last_at(moment.rows, vendor, before, moment.now)
    } else {
        store::earnings_holds::find_last(moment.rows, vendor, before)
    }
}

/// Whether no operation after this time has used the amount that it takes.
fn are_unspent(moment: Moment, vendor: TeamRowId, sources: &[RefundSource]) -> Result<bool> {
    if !moment.is_past {
        return Ok(true);
    }
    for source in sources {
        let until = sources.iter().filter(|other| other.available_at <= source.available_at);
        let taken: i64 = until.map(|other| other.cents.0).sum();
        if store::wallet::min_available_since(moment.rows, vendor, source.available_at)?.0 < taken {
            return Ok(false);
        }
    }
    Ok(true)
}
