//! Withdrawals of available earnings: requested by a team, and paid by the platform outside the marketplace.

use uuid::Uuid;

use super::{
    access::{Platform, Vendor},
    ledger::{self, PostedEntry},
    payouts, wallet,
};
use crate::{
    domain::{
        collections::Collection,
        events::{EventData, WithdrawalData},
        ledger::Transfer,
        listings::Actor,
        money::{CURRENCY, Cents, MAX_AMOUNT},
        state_machine::StateMachine,
        teams::TeamRowId,
        withdrawals::{WithdrawalOperation, WithdrawalStatus},
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store::{self, wallet::Balances, withdrawals::Withdrawal},
};

/// Requests a withdrawal. The amount leaves the available earnings of the team at once.
pub fn create(writer: &mut Writer, vendor: &Vendor, actor: Actor, amount: Cents) -> Result<Withdrawal> {
    wallet::check_amount(amount, MAX_AMOUNT)?;
    let team = vendor.team_row_id();
    let transfer = Transfer::withdrawal(team, amount);
    let posted = ledger::post_transfer(writer, &transfer, "Withdrawal of earnings")?;
    record_request(writer, team, actor, writer.new_id(Collection::Withdrawals), amount, &posted)
}

/// Requests a withdrawal, for the team itself. The team must have a payout setup that was not changed in the last
/// `payouts.change_delay_days` days.
pub fn request(writer: &mut Writer, vendor: &Vendor, amount: Cents) -> Result<Withdrawal> {
    payouts::check_withdrawal(&writer.check_context(), vendor)?;
    create(writer, vendor, Actor::Team, amount)
}

/// Returns the balances before a withdrawal. Fails like [`request`].
pub fn before_request(reader: &Reader, vendor: &Vendor, amount: Cents) -> Result<Balances> {
    payouts::check_withdrawal(&reader.check_context(), vendor)?;
    wallet::before_use_of_earnings(reader, vendor, amount)
}

/// Stores a withdrawal whose ledger entry is posted.
pub fn record_request(
    writer: &Writer,
    team: TeamRowId,
    actor: Actor,
    id: Uuid,
    amount: Cents,
    posted: &PostedEntry,
) -> Result<Withdrawal> {
    store::withdrawals::insert(writer.rows, id, team, amount, posted.row_id, writer.now)?;
    let requested = find_stored(writer, id)?;
    emit(writer, &requested, actor, Some(posted.id))?;
    Ok(requested)
}

/// Returns the withdrawal with this ID, of any team.
pub fn find(rows: &store::Reader, _platform: Platform, id: Uuid) -> Result<Withdrawal> {
    store::withdrawals::find(rows, id)?.ok_or_else(|| Error::not_found("withdrawal"))
}

/// Records that a requested withdrawal was paid.
pub fn mark_paid(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<Withdrawal> {
    decide(writer, platform, actor, id, WithdrawalOperation::Pay)
}

/// Records that a requested withdrawal could not be paid. The amount returns to the team's available earnings.
pub fn mark_failed(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<Withdrawal> {
    decide(writer, platform, actor, id, WithdrawalOperation::Fail)
}

fn decide(
    writer: &Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    operation: WithdrawalOperation,
) -> Result<Withdrawal> {
    let Withdrawal { row_id, team, amount, status: from, .. } = find(writer.rows, platform, id)?;
    let status = from.check(operation)?;
    let reversal = if status == WithdrawalStatus::Failed {
        let transfer = Transfer::withdrawal_reversal(team, amount);
        Some(ledger::post_transfer(writer, &transfer, "Failed withdrawal of earnings")?)
    } else {
        None
    };
    let entry = reversal.as_ref().map(|posted| posted.row_id);
    store::withdrawals::decide(writer.rows, row_id, status, entry, writer.now)?;
    let decided = find_stored(writer, id)?;
    emit(writer, &decided, actor, reversal.map(|posted| posted.id))?;
    Ok(decided)
}

fn find_stored(writer: &Writer, id: Uuid) -> Result<Withdrawal> {
    store::withdrawals::find(writer.rows, id)?.ok_or_else(|| Error::internal("the withdrawal was not stored"))
}

/// Emits the event of a withdrawal that was requested or decided, with the entry that was posted.
fn emit(writer: &Writer, withdrawal: &Withdrawal, actor: Actor, entry: Option<Uuid>) -> Result<()> {
    let data = WithdrawalData {
        withdrawal_id: withdrawal.id,
        actor,
        status: withdrawal.status,
        ledger_entry_id: entry,
        amount: withdrawal.amount.to_string(),
        currency: CURRENCY,
        balances: store::wallet::balances(writer.rows, withdrawal.team)?.into(),
    };
    let event = match withdrawal.status {
        WithdrawalStatus::Requested => EventData::WithdrawalRequested(data),
        WithdrawalStatus::Paid => EventData::WithdrawalPaid(data),
        WithdrawalStatus::Failed => EventData::WithdrawalFailed(data),
    };
    writer.emit(Some(withdrawal.team), withdrawal.id, &event)
}
