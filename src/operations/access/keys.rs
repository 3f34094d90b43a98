//! Proofs of a valid API key: of any kind, of a team, or of an operator. A session is a key that was sent earlier.

use std::sync::Arc;

use uuid::Uuid;

use super::platform::Platform;
use crate::{
    domain::{
        principals::{KeyOwner, KeyScope, OperatorAct, OperatorKey, Principal},
        row_ids::KeyRowId,
        teams::Team,
    },
    error::{Error, Result},
    market::{CachedKey, Market, Reader, Requester, UsedKey},
    store,
};

/// Proof of a valid API key of any kind.
#[derive(Clone, Debug)]
pub struct Authenticated {
    owner: KeyOwner,
    used_key: Option<UsedKey>,
    requester: Requester,
}

/// Proof of a valid API key of a team.
#[derive(Clone, Debug)]
pub struct AuthenticatedTeam {
    team: Arc<Team>,
    used_key: Option<UsedKey>,
    requester: Requester,
}

/// Proof of a valid operator key, with which an operator reads.
#[derive(Clone, Debug)]
pub struct Operator {
    key: OperatorKey,
    used_key: Option<UsedKey>,
    requester: Requester,
}

/// Proof of a valid operator key that permits changes.
#[derive(Clone, Debug)]
pub struct ActingOperator(Operator);

/// Proof of a valid operator key that permits reading payments, and perhaps nothing else.
#[derive(Clone, Debug)]
pub struct PaymentReader(Operator);

/// Proof of a valid operator key that permits reporting how payments ended, and perhaps nothing else.
#[derive(Clone, Debug)]
pub struct PaymentOperator(Operator);

impl Authenticated {
    /// Authenticates an API key of a program. A cached key costs no database read. `requester` is the client that sent
    /// the key; what the proof permits is done on behalf of the key's principal. Fails if the key is only for signing in.
    pub async fn authenticate(market: &Market, requester: Requester, key: &str) -> Result<Authenticated> {
        let now = market.clock().now();
        let key = match market.key_cache().get_cached(key, now) {
            Some(cached) => cached?,
            None => {
                let (keys, key) = (market.clone(), key.to_owned());
                let load = move |reader: &Reader| keys.key_cache().load(reader.rows, &key, reader.now);
                market.read_inline(requester.clone(), load).await?
            }
        };
        if !key.permits_api() {
            return Err(Error::ApiScopeRequired);
        }
        Ok(Authenticated::of_key(market, requester, &key, None))
    }

    /// Returns the proof for a valid key, used in this session or by itself.
    pub(super) fn of_key(
        market: &Market,
        requester: Requester,
        key: &CachedKey,
        session: Option<Uuid>,
    ) -> Authenticated {
        let used_key = UsedKey { row_id: key.row_id(), id: key.id(), session };
        let requester = requester.into_principal(market.id(), key.owner.principal());
        let requester = requester.with_key(market.id(), used_key);
        Authenticated { owner: key.owner.clone(), used_key: Some(used_key), requester }
    }

    /// Returns the proof for a request of a command on the data directory, which acts as an operator without a key. Code
    /// that serves requests of others must not call it, which a test of the layers checks.
    pub fn of_local_command(request_id: &str) -> Authenticated {
        let owner = KeyOwner::Operator(OperatorKey::LOCAL_COMMAND);
        Authenticated { owner, used_key: None, requester: Requester::process().with_request_id(request_id) }
    }

    /// Returns who the key acts for.
    pub fn principal(&self) -> Principal {
        self.owner.principal()
    }

    /// Returns the key; `None` for a command on the data directory.
    pub const fn used_key(&self) -> Option<UsedKey> {
        self.used_key
    }

    /// Returns the team that the key belongs to; `None` for a key of an operator.
    pub const fn team(&self) -> Option<&Arc<Team>> {
        match &self.owner {
            KeyOwner::Team(team) => Some(team),
            KeyOwner::Operator(_) => None,
        }
    }

    /// Returns the requester of the principal's reads and writes.
    pub fn requester(&self) -> Requester {
        self.requester.clone()
    }
}

/// What proofs say about the key that they were made with.
macro_rules! used_key {
    ($($name:ident),+) => {
        $(
            impl $name {
                /// Returns the ID of the key, which is not secret; `None` for a command on the data directory.
                pub fn key_id(&self) -> Option<Uuid> {
                    self.used_key.map(|key| key.id)
                }

                /// Returns the row ID of the key; `None` for a command on the data directory.
                pub fn key_row_id(&self) -> Option<KeyRowId> {
                    self.used_key.map(|key| key.row_id)
                }

                /// Returns the ID of the session; `None` if the request has the key itself.
                pub fn session(&self) -> Option<Uuid> {
                    self.used_key.and_then(|key| key.session)
                }
            }
        )+
    };
}

used_key!(Authenticated, AuthenticatedTeam, Operator);

impl From<AuthenticatedTeam> for Authenticated {
    fn from(AuthenticatedTeam { team, used_key, requester }: AuthenticatedTeam) -> Authenticated {
        Authenticated { owner: KeyOwner::Team(team), used_key, requester }
    }
}

impl AuthenticatedTeam {
    /// Checks that the key belongs to a team.
    pub fn authorize(authenticated: Authenticated) -> Result<AuthenticatedTeam> {
        let Authenticated { owner, used_key, requester } = authenticated;
        match owner {
            KeyOwner::Team(team) => Ok(AuthenticatedTeam { team, used_key, requester }),
            KeyOwner::Operator(_) => Err(Error::TeamKeyRequired),
        }
    }

    /// Authenticates an API key, and checks that it belongs to a team.
    pub async fn authenticate(market: &Market, requester: Requester, key: &str) -> Result<AuthenticatedTeam> {
        AuthenticatedTeam::authorize(Authenticated::authenticate(market, requester, key).await?)
    }

    /// Returns the team that the key belongs to.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// Returns the requester of the team's reads and writes.
    pub fn requester(&self) -> Requester {
        self.requester.clone()
    }
}

impl Operator {
    /// Checks that the key is an operator key that permits reading.
    pub fn authorize(authenticated: Authenticated) -> Result<Operator> {
        Operator::authorize_to(OperatorAct::Read, authenticated)
    }

    /// Checks that the key is an operator key that permits an act.
    fn authorize_to(act: OperatorAct, authenticated: Authenticated) -> Result<Operator> {
        let Authenticated { owner, used_key, requester } = authenticated;
        match owner {
            KeyOwner::Operator(key) if key.scope.permits(act) => Ok(Operator { key, used_key, requester }),
            KeyOwner::Operator(key) => Err(Error::Forbidden(lacking_scope(key.scope, act))),
            KeyOwner::Team(_) => Err(Error::OperatorRequired),
        }
    }

    /// Returns the principal: the operator key.
    pub const fn principal(&self) -> Principal {
        Principal::Operator(self.key.row_id)
    }

    /// Checks that the key has neither expired nor been revoked since it was authenticated, for work that takes
    /// longer than a request. It does not count as a use of the key.
    pub fn check_still_valid(&self, reader: &Reader) -> Result<()> {
        let key = store::keys::find_by_row_id(reader.rows, self.key.row_id)?;
        match key {
            Some(key) if key.status(reader.now).is_valid() => Ok(()),
            _ => Err(Error::Unauthorized(
                "This API key was revoked or has expired. Use another operator key.".to_owned(),
            )),
        }
    }

    /// Returns the requester of the operator's reads and writes.
    pub fn requester(&self) -> Requester {
        self.requester.clone()
    }
}

impl ActingOperator {
    /// Checks that the key is an operator key that permits changes.
    pub fn authorize(authenticated: Authenticated) -> Result<ActingOperator> {
        Operator::authorize_to(OperatorAct::Change, authenticated).map(ActingOperator)
    }

    /// Returns the principal: the operator key.
    pub const fn principal(&self) -> Principal {
        self.0.principal()
    }

    /// Returns the requester of the operator's reads and writes.
    pub fn requester(&self) -> Requester {
        self.0.requester()
    }
}

impl PaymentReader {
    /// Checks that the key is an operator key that permits reading payments.
    pub fn authorize(authenticated: Authenticated) -> Result<PaymentReader> {
        Operator::authorize_to(OperatorAct::ReadPayments, authenticated).map(PaymentReader)
    }
}

impl PaymentOperator {
    /// Checks that the key is an operator key that permits reporting how payments ended.
    pub fn authorize(authenticated: Authenticated) -> Result<PaymentOperator> {
        Operator::authorize_to(OperatorAct::DecidePayments, authenticated).map(PaymentOperator)
    }

    /// Whether the amount of each payment must be stated.
    pub const fn must_state_amounts(&self) -> bool {
        self.0.key.scope.requires_amounts()
    }
}

/// A proof of access that names its principal, for requests that change something: added records count for the
/// principal, and requests that the principal repeats are recognized.
pub trait PrincipalProof: Send + 'static {
    /// Returns the principal.
    fn principal(&self) -> Principal;

    /// Returns the requester of the principal's reads and writes.
    fn requester(&self) -> Requester;

    /// Returns what distinguishes the caller from others whose requests count for the same principal; empty if there are none.
    fn caller(&self) -> String {
        String::new()
    }

    /// Fails if the key has ended since the request was authenticated. `market` is the one that is served. Runs on the current
    /// thread, which must not serve requests.
    fn check_key(&self, market: &Market) -> Result<()> {
        market.check_key(&self.requester())
    }
}

/// A proof with which an operator reads.
pub trait ReadingProof: Send + 'static {
    /// Returns the proof that the operator decides for the platform.
    fn platform(&self) -> Platform;

    /// Returns the requester of the operator's reads.
    fn requester(&self) -> Requester;
}

/// A proof with which an operator changes something.
pub trait ActingProof: PrincipalProof {
    /// Returns the proof that the operator decides for the platform.
    fn platform(&self) -> Platform;

    /// Returns the row ID of the key, and the ID of the session that it was used for; none for a command on the data directory.
    fn used_key(&self) -> (Option<KeyRowId>, Option<Uuid>);
}

impl ReadingProof for Operator {
    fn platform(&self) -> Platform {
        self.platform()
    }

    fn requester(&self) -> Requester {
        self.requester()
    }
}

impl ReadingProof for PaymentReader {
    fn platform(&self) -> Platform {
        self.0.platform()
    }

    fn requester(&self) -> Requester {
        self.0.requester()
    }
}

macro_rules! acting_proofs {
    ($($name:ident),+) => {
        $(
            impl PrincipalProof for $name {
                fn principal(&self) -> Principal {
                    self.0.principal()
                }

                fn requester(&self) -> Requester {
                    self.0.requester()
                }
            }

            impl ActingProof for $name {
                fn platform(&self) -> Platform {
                    self.0.platform()
                }

                fn used_key(&self) -> (Option<KeyRowId>, Option<Uuid>) {
                    (self.0.key_row_id(), self.0.session())
                }
            }
        )+
    };
}

acting_proofs!(ActingOperator, PaymentOperator);

/// Returns the message for a key whose scope does not permit an act.
fn lacking_scope(scope: KeyScope, act: OperatorAct) -> String {
    let may = match scope {
        KeyScope::Read => "may only read",
        KeyScope::All | KeyScope::Payments => "is only for payments",
    };
    let needed = if act == OperatorAct::Read { "`all` or `read`" } else { "`all`" };
    format!("This operator key {may}. Use one whose scope is {needed}.")
}
