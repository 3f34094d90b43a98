//! Snapshots: named states of worlds that other worlds can be forked from.

use std::sync::Arc;

use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;

use super::{
    access::{SnapshotOperator, WorldOperator, WorldReader},
    worlds::{post, read},
};
use crate::{
    error::{Code, Error},
    operations::access::Operator,
    rest::{
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        limits::Budget,
        problem::ApiError,
        request_body::{Body, MaybeInvalid},
        route::{Call, Contract, Link, Path, RouteAttributes, Target, routes},
        shapes::{UtcTime, strings::WorldName},
    },
    worlds::Snapshot,
};

/// A snapshot of a world.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Snapshot")]
pub struct SnapshotOut {
    /// Name of the snapshot, for `from` of new worlds.
    pub name: String,
    /// Name of the world that it was made from.
    pub world: String,
    /// Time of the world when it was made, at which worlds that are forked from it begin.
    pub now: UtcTime,
}

/// Snapshots of worlds.
#[derive(Debug, Object, Serialize)]
pub struct SnapshotList {
    /// The snapshots, in the order of their names.
    pub items: Vec<SnapshotOut>,
}

/// A snapshot to make.
#[derive(Debug, Object)]
pub struct SnapshotIn {
    /// Name of the snapshot, which neither another snapshot nor a world may have.
    name: MaybeInvalid<WorldName>,
}

impl SnapshotOut {
    fn new(snapshot: &Snapshot) -> SnapshotOut {
        SnapshotOut { name: snapshot.name.clone(), world: snapshot.world.clone(), now: snapshot.now().into() }
    }
}

impl SnapshotList {
    fn new(snapshots: &[Arc<Snapshot>], is_listed: impl Fn(&Snapshot) -> bool) -> SnapshotList {
        let listed = snapshots.iter().filter(|snapshot| is_listed(snapshot));
        SnapshotList { items: listed.map(|snapshot| SnapshotOut::new(snapshot)).collect() }
    }
}

routes! {
    /// `GET /sandbox/v1/worlds/{world}/snapshots`
    ListWorldSnapshots: WorldReader =
        read("list_world_snapshots", Target::World).with_links(&[Link::new("/items/0/name", "delete_snapshot", "snapshot")]);
    /// `POST /sandbox/v1/worlds/{world}/snapshots`
    CreateSnapshot: WorldOperator =
        post("create_snapshot", Target::World, Some(|| json!({"name": "after-review"})))
            .with_links(&[Link::new("/name", "delete_snapshot", "snapshot")]).with_conflicts(&[Code::TooManyWorlds]);
    /// `GET /sandbox/v1/snapshots`
    ListSnapshots: Operator = read("list_snapshots", Target::None);
    /// `DELETE /sandbox/v1/snapshots/{snapshot}`
    DeleteSnapshot: SnapshotOperator =
        RouteAttributes::delete("delete_snapshot", Budget::Other, Contract::new(Target::Snapshot));
}

pub struct SnapshotsApi;

#[OpenApi(prefix_path = "/sandbox/v1", tag = "crate::rest::tags::Tag::Worlds")]
impl SnapshotsApi {
    /// List the snapshots of a world
    ///
    /// Returns the snapshots that were made from worlds with this name.
    #[oai(path = "/worlds/:world/snapshots", method = "get", operation_id = "list_world_snapshots")]
    async fn list_of_world(
        &self,
        call: Call<ListWorldSnapshots>,
        /// Name of the world.
        world: Path<String>,
    ) -> JsonResult<SnapshotList> {
        let sandbox = call.served.require_sandbox()?;
        let read = move || {
            let world = sandbox.worlds().require(&world.0)?;
            let is_of_world = |snapshot: &Snapshot| snapshot.world == world.name();
            Ok(SnapshotList::new(&sandbox.worlds().snapshots(), is_of_world))
        };
        Json::of_blocking(&call.served, read).await
    }

    /// Make a snapshot of a world
    ///
    /// Keeps the state of the world under a name, so that other worlds can be forked from it. It stays when the world ends. A
    /// world can have `sandbox.max_snapshots_per_world` of them.
    #[oai(path = "/worlds/:world/snapshots", method = "post", operation_id = "create_snapshot")]
    async fn create(
        &self,
        call: Call<CreateSnapshot>,
        idempotent: Idempotent,
        /// Name of the world.
        world: Path<String>,
        body: Body<SnapshotIn>,
    ) -> JsonResult<SnapshotOut, 201> {
        let sandbox = call.served.require_sandbox()?;
        let world = sandbox.worlds().require(&world.0)?;
        let Body { value, source } = body;
        let turn = world.admit().await?;
        let work = move |_: &WorldOperator| {
            let _turn = turn;
            let name = value.name.into_valid()?;
            Ok(SnapshotOut::new(&*sandbox.worlds().create_snapshot(&world, &name.0)?))
        };
        idempotent.run(&call.served, call.access, source, work).await
    }

    /// List all snapshots
    ///
    /// Returns the snapshots of all worlds, also of those that have ended.
    #[oai(path = "/snapshots", method = "get", operation_id = "list_snapshots")]
    async fn list(&self, call: Call<ListSnapshots>) -> JsonResult<SnapshotList> {
        let sandbox = call.served.require_sandbox()?;
        let read = move || Ok(SnapshotList::new(&sandbox.worlds().snapshots(), |_| true));
        Json::of_blocking(&call.served, read).await
    }

    /// Delete a snapshot
    ///
    /// Deletes the snapshot. Worlds that were forked from it stay. Besides those of the server, the operator keys of the world
    /// that it was made from can do so while that world exists.
    #[oai(path = "/snapshots/:snapshot", method = "delete", operation_id = "delete_snapshot")]
    async fn delete(
        &self,
        call: Call<DeleteSnapshot>,
        /// Name of the snapshot.
        snapshot: Path<String>,
    ) -> std::result::Result<NoContent, ApiError> {
        let sandbox = call.served.require_sandbox()?;
        let delete = move |_: &_| {
            let is_deleted = sandbox.worlds().delete_snapshot(&snapshot.0);
            if is_deleted { Ok(NoContent) } else { Err(Error::not_found("snapshot")) }
        };
        call.served.market().spawn_blocking(delete).await.map_err(ApiError)
    }
}
