//! Who may use a world: operators of the server, and those of the world itself.

use std::sync::{Arc, Weak};

use poem::Request;

use crate::{
    domain::principals::Principal,
    error::{Error, Result},
    market::{Market, Requester, UsedKey, WorkOwner},
    operations::access::{ActingOperator, Authenticated, Operator, PrincipalProof},
    web::{
        auth::{self, Policy, required_access::RequiredAccess},
        path_params,
        served_market::ServedMarket,
    },
    worlds::{World, Worlds},
};

/// Requires an operator key of the server, or of the world that the first path parameter names.
pub struct WorldReader(Operator);

/// Like [`WorldReader`], for a key that permits changes.
pub struct WorldOperator {
    operator: ActingOperator,
    principal: Principal,
    /// The IDs of the world and of the key; empty if there is no such world.
    caller: String,
    /// The world of the key, and the key; `None` for a key of the server.
    key_of_world: Option<(Weak<World>, UsedKey)>,
}

/// Requires an operator key that permits changes, of the server, or of the world of the snapshot that the first path parameter
/// names.
pub struct SnapshotOperator(());

impl Policy for WorldReader {
    const REQUIRED: RequiredAccess = RequiredAccess::Operator;

    async fn identify(served: &ServedMarket, request: &Request) -> Result<Authenticated> {
        identify(served, request, Worlds::find).await
    }

    async fn admit(_: &ServedMarket, authenticated: Authenticated, _: &Request) -> Result<WorldReader> {
        Operator::authorize(authenticated).map(WorldReader)
    }
}

impl Policy for WorldOperator {
    const REQUIRED: RequiredAccess = RequiredAccess::ActingOperator;

    async fn identify(served: &ServedMarket, request: &Request) -> Result<Authenticated> {
        identify(served, request, Worlds::find).await
    }

    async fn admit(
        served: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> Result<WorldOperator> {
        let (key, owner) = (authenticated.key_id().unwrap_or_default(), authenticated.requester().owner());
        let used_key = authenticated.used_key();
        let operator = ActingOperator::authorize(authenticated)?;
        let world = find_world(served, request, Worlds::find);
        let caller = world.as_ref().map(|world| format!(" {} {key}", world.details().id)).unwrap_or_default();
        let is_of_world = matches!(owner, WorkOwner::Principal(market, _) if market != served.market().id());
        let world = world.filter(|_| is_of_world);
        let creator = world.as_ref().and_then(|world| world.details().origin.creator);
        let principal = creator.map_or(operator.principal(), Principal::Operator);
        let key_of_world = world.as_ref().map(Arc::downgrade).zip(used_key);
        Ok(WorldOperator { operator, principal, caller, key_of_world })
    }
}

impl Policy for SnapshotOperator {
    const REQUIRED: RequiredAccess = RequiredAccess::ActingOperator;

    async fn identify(served: &ServedMarket, request: &Request) -> Result<Authenticated> {
        identify(served, request, Worlds::find_world_of_snapshot).await
    }

    async fn admit(_: &ServedMarket, authenticated: Authenticated, _: &Request) -> Result<SnapshotOperator> {
        ActingOperator::authorize(authenticated).map(|_| SnapshotOperator(()))
    }
}

impl WorldReader {
    /// Returns the principal: the operator key.
    pub const fn principal(&self) -> Principal {
        self.0.principal()
    }
}

/// Rows of the server refer only to its own keys, so what it stores for a key of a world counts for the key that created the
/// world. It belongs to one world: a later world with the same name is another one.
impl PrincipalProof for WorldOperator {
    fn principal(&self) -> Principal {
        self.principal
    }

    fn requester(&self) -> Requester {
        self.operator.requester()
    }

    fn caller(&self) -> String {
        self.caller.clone()
    }

    fn check_key(&self, market: &Market) -> Result<()> {
        let Some((world, key)) = &self.key_of_world else { return market.check_key(&self.requester()) };
        // Of a world that has ended, there is nothing to change.
        let Some(world) = world.upgrade() else { return Ok(()) };
        // After a reset or an import, it is another market, which may lack the key.
        let market = world.market();
        market.check_key(&self.requester().with_key(market.id(), *key))
    }
}

/// Authenticates a key of the server, or else of the world that `find` finds by the first path parameter. Principals of a world
/// have no budgets at the server, whose principals they could be mistaken for; the requests count for the client address.
async fn identify(
    served: &ServedMarket,
    request: &Request,
    find: fn(&Worlds, &str) -> Option<Arc<World>>,
) -> Result<Authenticated> {
    let refused = match auth::identify(served, request).await {
        Err(error @ Error::Unauthorized(_)) => error,
        result => return result,
    };
    match find_world(served, request, find) {
        Some(world) => auth::authenticate(&world.market(), request).await.map_err(|_| refused),
        None => Err(refused),
    }
}

/// Returns what `find` finds by the first path parameter.
fn find_world(
    served: &ServedMarket,
    request: &Request,
    find: fn(&Worlds, &str) -> Option<Arc<World>>,
) -> Option<Arc<World>> {
    path_params::first(request).and_then(|name| find(served.sandbox()?.worlds(), &name))
}
