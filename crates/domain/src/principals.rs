//! Principals: who a valid API key acts for. Everything that is limited or stored per caller has the
//! principal as its key: budgets, quotas, slots, memory, and the responses of repeated requests.

use std::sync::Arc;

use super::{
    row_ids::KeyRowId,
    teams::{Team, TeamRowId},
};
use crate::string_enum::string_enum;

string_enum! {
    /// A kind of API keys, and of the principals that they authenticate.
    PrincipalKind {
        /// Keys of teams. All keys of a team authenticate the same principal.
        Team = "team",
        /// Keys of operators of the marketplace. Each authenticates a principal of its own.
        Operator = "operator",
    }
}

string_enum! {
    /// Who made a change that the audit records.
    AuditActorKind {
        /// A team, with one of its keys.
        Team = "team",
        /// An operator of the marketplace, with an operator key.
        Operator = "operator",
        /// A command on the data directory, without a key.
        Command = "command",
    }
}

/// Who a valid API key acts for. Row IDs of different kinds can be equal, so the kind is part of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Principal {
    /// A team, with any of its keys.
    Team(TeamRowId),
    /// An operator of the marketplace, by the operator key.
    Operator(KeyRowId),
}

impl Principal {
    /// Returns the kind.
    pub const fn kind(self) -> PrincipalKind {
        match self {
            Principal::Team(_) => PrincipalKind::Team,
            Principal::Operator(_) => PrincipalKind::Operator,
        }
    }

    /// Returns the row ID: of the team, or of the operator key. It is unique only together with the kind.
    pub const fn row_id(self) -> i64 {
        match self {
            Principal::Team(team) => team.0,
            Principal::Operator(key) => key.0,
        }
    }
}

impl From<TeamRowId> for Principal {
    fn from(team: TeamRowId) -> Principal {
        Principal::Team(team)
    }
}

/// The owner of an API key, with the data for access control.
#[derive(Clone, Debug)]
pub enum KeyOwner {
    /// The team that the key belongs to.
    Team(Arc<Team>),
    /// An operator.
    Operator(OperatorKey),
}

string_enum! {
    /// What an operator key permits.
    KeyScope {
        /// Every operation.
        All = "all",
        /// Only operations that change nothing.
        Read = "read",
        /// Only payments: reading them, and saying how they ended, each with its amount. For programs that are connected to
        /// a payment provider.
        Payments = "payments",
    }
}

/// The kind of an operation of operators. The scopes of keys distinguish these kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorAct {
    /// Reads anything.
    Read,
    /// Changes anything.
    Change,
    /// Reads payments: purchases, purchases of credits, and withdrawals.
    ReadPayments,
    /// Reports how a payment ended.
    DecidePayments,
}

impl KeyScope {
    /// Whether a key with the scope permits an act.
    pub const fn permits(self, act: OperatorAct) -> bool {
        match self {
            KeyScope::All => true,
            KeyScope::Read => matches!(act, OperatorAct::Read | OperatorAct::ReadPayments),
            KeyScope::Payments => matches!(act, OperatorAct::ReadPayments | OperatorAct::DecidePayments),
        }
    }

    /// Whether a person can sign in to the console with a key of the scope.
    pub const fn permits_console(self) -> bool {
        self.permits(OperatorAct::Read)
    }

    /// Whether the amount of each payment must be stated with a key of the scope.
    pub const fn requires_amounts(self) -> bool {
        !self.permits(OperatorAct::Change)
    }
}

/// What access control needs to know of an operator key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorKey {
    /// Row ID of the key.
    pub row_id: KeyRowId,
    /// What the key permits.
    pub scope: KeyScope,
}

impl OperatorKey {
    /// The operator who runs a command on the data directory, which needs no key. No key has this row ID.
    pub const LOCAL_COMMAND: OperatorKey = OperatorKey { row_id: KeyRowId(0), scope: KeyScope::All };
}

impl KeyOwner {
    /// Returns the principal that the key authenticates.
    pub fn principal(&self) -> Principal {
        match self {
            KeyOwner::Team(team) => Principal::Team(team.row_id),
            KeyOwner::Operator(key) => Principal::Operator(key.row_id),
        }
    }
}
