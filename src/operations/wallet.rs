//! Wallets: balances of a team, corrections of its credits, and conversions of its earnings. Credits are bought in
//! `credit_purchases`, and earnings are withdrawn in `withdrawals`.

use uuid::Uuid;

use super::{
    access::{Member, Platform, Vendor},
    ledger::{self, PostedEntry},
};
use crate::{
    domain::{
        events::{EventData, WalletData},
        ledger::{Account, Transfer},
        listings::Actor,
        money::{CURRENCY, Cents, MAX_AMOUNT},
        teams::{Team, TeamRowId},
        texts,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, wallet::Balances},
};

/// A change of a team's credits that was posted.
#[derive(Clone, Copy, Debug)]
pub struct PostedChange {
    /// ID of the ledger entry.
    pub entry: Uuid,
    /// The balances of the team after it.
    pub balances: Balances,
}

/// Returns the balances of the team's wallet.
pub fn balances(reader: &Reader, member: &Member) -> Result<Balances> {
    store::wallet::balances(reader.rows, member.team_row_id())
}

/// Returns the balances of any team's wallet.
pub fn balances_of(reader: &Reader, _platform: Platform, team: &Team) -> Result<Balances> {
    store::wallet::balances(reader.rows, team.row_id)
}

/// Gives credits to a team, or deducts them if the amount is negative. The description says why,
/// see [`texts::NOTE`]. A deduction cannot make the credits negative.
pub fn adjust(
    writer: &mut Writer,
    _platform: Platform,
    actor: Actor,
    team: &Team,
    amount: Cents,
    description: &str,
) -> Result<PostedChange> {
    check_adjustment(amount, description)?;
    let transfer = Transfer::adjustment(team.row_id, amount);
    let posted = ledger::post_transfer(writer, &transfer, description)?;
    let balances = record_adjustment(writer, team.row_id, actor, &posted, &transfer, description)?;
    Ok(PostedChange { entry: posted.id, balances })
}

/// Checks the amount and the description of an adjustment.
pub fn check_adjustment(amount: Cents, description: &str) -> Result<()> {
    let mut problems = Vec::new();
    if amount.0 == 0 || amount.0.unsigned_abs() > MAX_AMOUNT.0.unsigned_abs() {
        let rule = format!(
            "The amount must be at least 0.01 and at most {MAX_AMOUNT} US dollars, or the same below zero to \
             deduct credits."
        );
        problems.push(Problem::body(&["amount"], "value_error", rule));
    }
    problems.extend(texts::find_problem(&["description"], description, texts::NOTE));
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

/// Records that an entry is an adjustment, and emits its event. Returns the balances after it.
pub fn record_adjustment(
    writer: &Writer,
    team: TeamRowId,
    actor: Actor,
    posted: &PostedEntry,
    transfer: &Transfer,
    description: &str,
) -> Result<Balances> {
    let amount = transfer.change_of(Account::Credits(team));
    store::adjustments::insert(writer.rows, posted.row_id, team, amount)?;
    record(writer, team, actor, posted, transfer, description, None)
}

/// Converts available earnings of a team into credits, without a fee.
pub fn convert(writer: &mut Writer, vendor: &Vendor, actor: Actor, amount: Cents) -> Result<PostedChange> {
    check_amount(amount, MAX_AMOUNT)?;
    let (team, description) = (vendor.team_row_id(), "Conversion of earnings into credits");
    let transfer = Transfer::conversion(team, amount);
    let posted = ledger::post_transfer(writer, &transfer, description)?;
    let balances = record(writer, team, actor, &posted, &transfer, description, None)?;
    Ok(PostedChange { entry: posted.id, balances })
}

/// Returns the balances before a conversion or a withdrawal of earnings. Fails if the amount is not possible for either.
pub fn before_use_of_earnings(reader: &Reader, vendor: &Vendor, amount: Cents) -> Result<Balances> {
    check_amount(amount, MAX_AMOUNT)?;
    let balances = store::wallet::balances(reader.rows, vendor.team_row_id())?;
    ledger::check_earnings(amount, balances.available.max(Cents(0)))?;
    Ok(balances)
}

/// Checks an amount that a team bids, buys, converts, or withdraws: it is at least one cent.
pub fn check_amount(amount: Cents, max: Cents) -> Result<()> {
    let (kind, rule) = if amount.0 < 1 {
        ("greater_than_equal", "The amount must be at least 0.01 US dollars.".to_owned())
    } else if amount > max {
        ("less_than_equal", format!("The amount can be at most {max} US dollars."))
    } else {
        return Ok(());
    };
    Err(Error::invalid(Problem::body(&["amount"], kind, rule)))
}

/// Emits the event of an entry that changes the credits of a team, and belongs to no purchase of a listing.
/// Returns the balances after it.
pub fn record(
    writer: &Writer,
    team: TeamRowId,
    actor: Actor,
    posted: &PostedEntry,
    transfer: &Transfer,
    description: &str,
    credit_purchase: Option<Uuid>,
) -> Result<Balances> {
    let balances = store::wallet::balances(writer.rows, team)?;
    let amount = transfer.change_of(Account::Credits(team));
    let data = WalletData {
        actor,
        ledger_entry_id: posted.id,
        entry_type: transfer.entry_type,
        credit_purchase_id: credit_purchase,
        amount: amount.to_string(),
        currency: CURRENCY,
        description: description.to_owned(),
        balances: balances.into(),
    };
    let event = match (transfer.entry_type.uses_earnings(), amount.0 < 0) {
        (true, _) => EventData::WalletConverted(data),
        (false, false) => EventData::WalletCredited(data),
        (false, true) => EventData::WalletDebited(data),
    };
    writer.emit(Some(team), store::teams::find_id(writer.rows, team)?, &event)?;
    Ok(balances)
}
