//! Maintenance: while it lasts, teams can read everything but change nothing. Operators, due steps, jobs, and deliveries continue.
//!
//! It is on if an operator has switched it on (a stored row), or by the settings. Requests that have begun before are completed.

use super::access::{Authenticated, Platform};
use crate::{
    domain::{principals::PrincipalKind, texts, time::Timestamp},
    error::{Error, Result},
    market::{CheckContext, Market, Reader, Requester, Writer},
    request_problems::check_text,
    store,
};

/// Maintenance that lasts now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// Message to teams that try to change something.
    pub text: String,
    /// When an operator has switched it on; `None` if only the settings do.
    pub started_at: Option<Timestamp>,
}

/// Returns the maintenance; `None` if teams can change things. A text that an operator has written replaces the text in the
/// settings.
pub fn current(context: &CheckContext) -> Result<Option<Maintenance>> {
    let settings = &context.settings.maintenance;
    Ok(match store::maintenance::find(context.rows)? {
        Some((text, started_at)) => Some(Maintenance { text, started_at: Some(started_at) }),
        None if settings.enabled => Some(Maintenance { text: settings.text.clone(), started_at: None }),
        None => None,
    })
}

/// Switches maintenance on, or changes its text. Without a text, that of the settings is used.
pub fn start(writer: &mut Writer, _: Platform, text: Option<&str>) -> Result<()> {
    let text = match text.map(str::trim_end) {
        None => &writer.settings.maintenance.text,
        Some(text) => {
            check_text(&["text"], text, texts::ANNOUNCEMENT)?;
            text
        }
    };
    store::maintenance::set(writer.rows, text, writer.now)
}

/// Switches maintenance off. Returns whether it was on. Fails if the settings have switched it on.
pub fn end(writer: &mut Writer, _: Platform) -> Result<bool> {
    if writer.settings.maintenance.enabled {
        let message = "Maintenance is switched on in the settings of the server. Change `maintenance.enabled` there, and reload \
                       them (SIGHUP).";
        return Err(Error::Conflict(message.to_owned()));
    }
    store::maintenance::delete(writer.rows)
}

/// Fails with [`Error::Maintenance`] during maintenance, for a change by a team.
pub fn check_change(context: &CheckContext, by: PrincipalKind) -> Result<()> {
    match by {
        PrincipalKind::Operator => Ok(()),
        PrincipalKind::Team => match current(context)? {
            Some(maintenance) => Err(Error::maintenance(maintenance.text)),
            None => Ok(()),
        },
    }
}

/// Fails with [`Error::Maintenance`] during maintenance, before a request of the owner of a key changes anything.
pub async fn admit_change(market: &Market, authenticated: &Authenticated) -> Result<()> {
    admit_change_by(market, authenticated.requester(), authenticated.principal().kind()).await
}

/// Like [`admit_change`], for a request without a key, such as one to a signed URL.
pub async fn admit_change_by(market: &Market, requester: Requester, by: PrincipalKind) -> Result<()> {
    if by == PrincipalKind::Operator {
        return Ok(());
    }
    market.read_inline(requester, move |reader: &Reader| check_change(&reader.check_context(), by)).await
}
