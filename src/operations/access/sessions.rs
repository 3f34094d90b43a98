//! Sessions of people who have signed in to the web app. A person sends a key once, and the browser then sends the token of the
//! session. A session ends with its key.
//!
//! Their times are those of the machine, and their tokens are random in every market: the clock of a market can stand still,
//! and its secrets can be predictable, but a person signs in to this machine. Writing a session changes nothing else.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Authenticated;
use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    domain::{
        principals::KeyOwner,
        sessions::{MAX_SESSIONS_PER_KEY, SessionLimits, SessionPreferences},
        time::Timestamp,
    },
    error::{Error, ErrorChain, Result},
    market::{CachedKey, Market, Reader, Requester},
    store::{
        self,
        sessions::{NewSession, SessionRow},
    },
};

/// The secret that identifies a session: 32 random bytes in base64url. Only its digest is stored.
#[derive(Clone)]
pub struct SessionToken(String);

impl SessionToken {
    fn generate() -> SessionToken {
        SessionToken(URL_SAFE_NO_PAD.encode(Entropy::System.random_secret()))
    }

    /// Returns the token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Does not reveal the token.
impl std::fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionToken")
    }
}

/// A session that has not ended.
#[derive(Clone, Debug)]
pub struct Session {
    /// ID of the session. It is not secret.
    pub id: Uuid,
    /// ID of its key.
    pub key: Uuid,
    /// Name of the key.
    pub key_name: String,
    /// Time at which the person signed in.
    pub created_at: Timestamp,
    /// Time of the last use, with a resolution of one minute.
    pub last_used_at: Timestamp,
    /// Time at which the session ends if it is not used again.
    pub expires_at: Timestamp,
    /// What the person has chosen.
    pub preferences: SessionPreferences,
}

impl Session {
    fn new(row: SessionRow, limits: SessionLimits) -> Session {
        let SessionRow { id, key, key_name, created_at, last_used_at, preferences } = row;
        let expires_at = limits.expiry(created_at, last_used_at);
        Session { id, key, key_name, created_at, last_used_at, expires_at, preferences }
    }
}

/// Returns the time of the machine.
fn now() -> Timestamp {
    Clock::System.now()
}

/// Returns how long sessions last.
pub const fn limits(settings: &Settings) -> SessionLimits {
    let console = &settings.console;
    SessionLimits { hours: console.session_hours, idle_minutes: console.session_idle_minutes }
}

/// Returns the digest under which a session is stored; `None` if the text is not a token.
fn digest(token: &str) -> Option<[u8; 32]> {
    let bytes: [u8; 32] = URL_SAFE_NO_PAD.decode(token).ok()?.try_into().ok()?;
    Some(Sha256::digest(bytes).into())
}

/// Starts a session with an API key that permits it: [`Error::ConsoleScopeRequired`] otherwise, [`Error::Forbidden`] if it is the
/// key of an operator, and [`Error::Unauthorized`] if the key is invalid. If the key has many sessions, the oldest one ends. `requester` is the client
/// that sent the key. Must be called on a thread that may block.
pub fn start(market: &Market, requester: Requester, key: &str) -> Result<(SessionToken, Session)> {
    let (key, key_name) = market.read_blocking_for(requester, |reader| {
        let key = market.key_cache().load(reader.rows, key, reader.now)?;
        match key.owner {
            _ if key.permits_console() => {}
            KeyOwner::Team(_) => return Err(Error::ConsoleScopeRequired),
            KeyOwner::Operator(_) => {
                let message =
                    "This operator key is not for signing in. Use one whose scope is `all` or `read`.";
                return Err(Error::Forbidden(message.to_owned()));
            }
        }
        let name = store::keys::find(reader.rows, key.id())?.map(|found| found.name);
        Ok((key, name.unwrap_or_default()))
    })?;
    market.ensure_space(0)?;
    let (token, limits, created_at) = (SessionToken::generate(), limits(market.settings()), now());
    let digest = digest(token.as_str()).ok_or_else(|| Error::internal("a new token is no token"))?;
    let preferences = SessionPreferences::default();
    let new = NewSession { id: Uuid::new_v4(), digest, key: key.row_id(), created_at, preferences };
    market.write_sessions(|rows| {
        // Recorded before expired sessions are deleted, since a noted use can keep a session from having ended.
        for (id, at) in market.key_cache().noted_session_uses() {
            store::sessions::record_use(rows, id, at.min(created_at), created_at)?;
        }
        let (creation, last_use) = limits.earliest(created_at);
        store::sessions::delete_expired(rows, creation, last_use)?;
        store::sessions::delete_oldest(rows, key.row_id(), MAX_SESSIONS_PER_KEY - 1)?;
        store::sessions::insert(rows, &new)
    })?;
    let row =
        SessionRow { id: new.id, key: key.id(), key_name, created_at, last_used_at: created_at, preferences };
    Ok((token, Session::new(row, limits)))
}

/// Returns the proof for the token of a session, and the session; `None` if there is no such session, or if it has ended, also
/// because its key has. `requester` is the client that sent the token.
pub async fn authenticate(
    market: &Market,
    requester: Requester,
    token: &str,
) -> Result<Option<(Authenticated, Session)>> {
    let Some(digest) = digest(token) else { return Ok(None) };
    let (sessions, limits, now) = (market.clone(), limits(market.settings()), now());
    let find = move |reader: &Reader| find(&sessions, reader, &digest, limits, now);
    let Some((mut session, key)) = market.read_inline(requester.clone(), find).await? else {
        return Ok(None);
    };
    if limits.records_use(session.last_used_at, now) {
        record_use(market, session.id, now).await;
        session.last_used_at = now;
        session.expires_at = limits.expiry(session.created_at, now);
    }
    Ok(Some((Authenticated::of_key(market, requester, &key, Some(session.id)), session)))
}

/// Records a use of a session. In a world, it is recorded before the next request. Elsewhere, it is only noted: the request would
/// otherwise wait for the disk while it occupies a slot for reads.
async fn record_use(market: &Market, id: Uuid, now: Timestamp) {
    if !market.is_world() {
        return market.key_cache().note_session_use(id, now);
    }
    let record =
        move |market: &Market| market.write_sessions(|rows| store::sessions::record_use(rows, id, now, now));
    if let Err(error) = market.spawn_blocking(record).await {
        // The next request tries again.
        tracing::warn!(cause = %ErrorChain(&error), "the use of a session could not be recorded");
    }
}

/// Returns a stored session with its last use, which may be noted but not recorded yet. As in [`store::sessions::record_use`], the
/// noted time counts if it is later, or if the stored time is in the future.
fn current(market: &Market, row: SessionRow, limits: SessionLimits, now: Timestamp) -> Session {
    let stored = row.last_used_at;
    let noted = market.key_cache().pending_session_use(row.id);
    let last_used_at = noted.filter(|noted| stored < *noted || stored > now).unwrap_or(stored);
    Session::new(SessionRow { last_used_at, ..row }, limits)
}

/// Returns a session that has not ended, and its valid key.
fn find(
    market: &Market,
    reader: &Reader,
    digest: &[u8; 32],
    limits: SessionLimits,
    now: Timestamp,
) -> Result<Option<(Session, std::sync::Arc<CachedKey>)>> {
    let Some((row, owner, validity)) = store::sessions::find_by_digest(reader.rows, digest)? else {
        return Ok(None);
    };
    let session = current(market, row, limits, now);
    if session.expires_at <= now {
        return Ok(None);
    }
    match market.key_cache().check(owner, validity, reader.now) {
        Ok(key) => Ok(Some((session, key))),
        Err(Error::Unauthorized(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ends the session with this token, if there is one. Must be called on a thread that may block.
pub fn end(market: &Market, token: &str) -> Result<()> {
    let Some(digest) = digest(token) else { return Ok(()) };
    market.write_sessions(|rows| store::sessions::delete_by_digest(rows, &digest))
}

/// Returns the sessions that have not ended, the last one first: those of all keys of the team, or those of the operator key.
pub fn list(market: &Market, reader: &Reader, authenticated: &Authenticated) -> Result<Vec<Session>> {
    let rows = match (authenticated.team(), authenticated.key_row_id()) {
        (Some(team), _) => store::sessions::list_of_team(reader.rows, team.row_id)?,
        (None, Some(key)) => store::sessions::list_of_key(reader.rows, key)?,
        (None, None) => Vec::new(),
    };
    let (limits, now) = (limits(reader.settings), now());
    let sessions = rows.into_iter().map(|row| current(market, row, limits, now));
    Ok(sessions.filter(|session| session.expires_at > now).collect())
}

/// Ends a session that [`list`] returns. Fails if it returns none with this ID. Must be called on a thread that may block.
pub fn revoke(market: &Market, authenticated: &Authenticated, id: Uuid) -> Result<()> {
    let sessions =
        market.read_blocking_for(authenticated.requester(), |reader| list(market, reader, authenticated))?;
    if !sessions.iter().any(|session| session.id == id) {
        return Err(Error::not_found("session"));
    }
    market.write_sessions(|rows| store::sessions::delete(rows, id)).map(drop)
}

/// Ends all sessions that [`list`] returns except the one of the proof. Returns their number. Must be called on a thread that
/// may block.
pub fn revoke_others(market: &Market, authenticated: &Authenticated) -> Result<u64> {
    let sessions =
        market.read_blocking_for(authenticated.requester(), |reader| list(market, reader, authenticated))?;
    let others: Vec<Uuid> = sessions
        .into_iter()
        .map(|session| session.id)
        .filter(|id| Some(*id) != authenticated.session())
        .collect();
    market.write_sessions(|rows| {
        others.iter().try_for_each(|id| store::sessions::delete(rows, *id).map(drop))
    })?;
    Ok(others.len() as u64)
}

/// Changes what the person has chosen for a session. Must be called on a thread that may block.
pub fn set_preferences(market: &Market, session: &Session, preferences: SessionPreferences) -> Result<()> {
    market.write_sessions(|rows| store::sessions::update_preferences(rows, session.id, &preferences))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_32_bytes_in_base64url_are_a_token() {
        let token = SessionToken::generate();
        assert_eq!(token.as_str().len(), 43);
        assert!(digest(token.as_str()).is_some());
        assert_ne!(digest(token.as_str()), digest(SessionToken::generate().as_str()));
        let longer = format!("{}AAAA", token.as_str());
        for text in ["", "mkt_demo_vendor", &token.as_str()[1..], &longer] {
            assert_eq!(digest(text), None, "{text}");
        }
        assert!(!format!("{token:?}").contains(token.as_str()));
    }
}
