//! Who may use a world: operators of the server, and those of the world itself.

use std::sync::Arc;

use poem::Request;

use crate::{
    domain::principals::Principal,
    error::{Error, Result},
    market::Requester,
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
pub struct WorldOperator(ActingOperator);

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

    async fn admit(_: &ServedMarket, authenticated: Authenticated, _: &Request) -> Result<WorldOperator> {
        ActingOperator::authorize(authenticated).map(WorldOperator)
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

impl PrincipalProof for WorldOperator {
    fn principal(&self) -> Principal {
        self.0.principal()
    }

    fn requester(&self) -> Requester {
        self.0.requester()
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
    let world = path_params::first(request).and_then(|name| find(served.sandbox()?.worlds(), &name));
    match world {
        Some(world) => auth::authenticate(&world.market(), request).await.map_err(|_| refused),
        None => Err(refused),
    }
}
