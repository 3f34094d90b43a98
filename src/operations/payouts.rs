//! How teams are paid: free text that a team can write and replace but never read, so that a stolen key does not reveal account
//! numbers. Each change is announced to the team, and the team's withdrawals wait for some days after it.

use super::{access::Vendor, notifications};
use crate::{
    domain::{
        events::{EventData, TeamPayoutSetupData},
        notifications::NotificationType,
        teams::{Team, TeamRowId},
        texts,
        time::Timestamp,
        written,
    },
    error::{Error, Problem, Result},
    market::{CheckContext, Reader, Writer},
    request_problems::check_text,
    store,
};

/// Maximum number of characters of a payout setup.
pub const MAX_LENGTH: usize = 2_000;

/// What a team may know of its payout setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayoutState {
    /// Whether there is one.
    pub is_set: bool,
    /// When it was changed the last time; `None` if never, or longer ago than this is recorded.
    pub changed_at: Option<Timestamp>,
    /// Until when the team cannot request withdrawals because of the change; `None` if it can now.
    pub waits_until: Option<Timestamp>,
}

/// Returns what the team may know of its payout setup.
pub fn state(reader: &Reader, vendor: &Vendor) -> Result<PayoutState> {
    state_at(&reader.check_context(), vendor.team_row_id())
}

fn state_at(context: &CheckContext, team: TeamRowId) -> Result<PayoutState> {
    let (is_set, changed_at) = store::teams::find_payout_change(context.rows, team)?;
    let delay = i64::from(context.settings.payouts.change_delay_days);
    let waits_until = changed_at.map(|at| at.plus_days(delay)).filter(|until| context.now < *until);
    Ok(PayoutState { is_set, changed_at, waits_until })
}

/// Writes, or replaces, how the team is paid. It counts as a change even if the text is the same: otherwise, the answer would tell
/// whether somebody has guessed it.
pub fn set(writer: &mut Writer, vendor: &Vendor, text: &str) -> Result<()> {
    replace(writer, vendor.team(), Some(check(text)?))
}

/// Returns the text of a payout setup as it is stored. Fails if it cannot be one.
pub fn check(text: &str) -> Result<&str> {
    check_text(&["payout_setup"], text, texts::NOTE)?;
    parse(Some(text))?.ok_or_else(|| {
        let message = "State how the market pays your team.";
        Error::invalid(Problem::body(&["payout_setup"], "value_error", message))
    })
}

/// Fails unless the team may request a withdrawal now: it is stated how the team is paid, and that was not changed in the last
/// days.
pub(super) fn check_withdrawal(context: &CheckContext, vendor: &Vendor) -> Result<()> {
    let state = state_at(context, vendor.team_row_id())?;
    let message = match state {
        PayoutState { is_set: false, .. } => {
            "The market does not know how to pay your team. State that in the settings first.".to_owned()
        }
        PayoutState { waits_until: Some(until), .. } => format!(
            "Your team's payout details were changed recently. For safety, withdrawals can be requested again from {} on.",
            written::moment_text(until)
        ),
        _ => return Ok(()),
    };
    Err(Error::Conflict(message))
}

/// Returns the text of a payout setup without surrounding white space; `None` if nothing is left.
pub(super) fn parse(text: Option<&str>) -> Result<Option<&str>> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let length = text.map_or(0, |text| text.chars().count());
    if length > MAX_LENGTH {
        let rule = format!("The payout setup has {length} characters. It can have at most {MAX_LENGTH}.");
        return Err(Error::invalid(Problem::body(&["payout_setup"], "string_too_long", rule)));
    }
    Ok(text)
}

/// Stores how a team is paid, and announces the change. The event and the notification do not contain the text.
pub(super) fn replace(writer: &mut Writer, team: &Team, text: Option<&str>) -> Result<()> {
    store::teams::set_payout_setup(writer.rows, team.row_id, text, writer.now)?;
    let data = TeamPayoutSetupData { team_id: team.id, is_set: text.is_some() };
    writer.emit(Some(team.row_id), team.id, &EventData::TeamPayoutSetupChanged(data))?;
    let wait = match writer.settings.payouts.change_delay_days {
        0 => String::new(),
        days => {
            let days = written::counted(days.into(), "day", "days");
            format!(" Your team can request withdrawals again in {days}.")
        }
    };
    let message = format!(
        "How the market pays your team was changed. If you do not expect this, tell the market at once, and revoke the keys that \
         could have been used.{wait}"
    );
    let title = "Payout details changed";
    notifications::send(
        writer,
        team.row_id,
        NotificationType::PayoutSetupChanged,
        (title, &message),
        "/settings/payout",
    )
}
