//! Snapshots: named states of worlds that other worlds can be forked from.

use std::sync::Arc;

use super::{
    access::{SnapshotOperator, WorldOperator, WorldReader},
    worlds::{change, read},
};
use crate::{
    operations::access::Operator,
    rest::{prelude::*, route::Link, shapes::strings::WorldName},
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

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl SnapshotsApi {
    /// List the snapshots of a world
    ///
    /// Returns the snapshots that were made from worlds with this name.
    #[get(
        "/worlds/{world}/snapshots",
        read(Target::World).with_links(&[Link::new("/items/0/name", "delete_snapshot", "snapshot")]),
    )]
    async fn list_world_snapshots(
        call: Call<WorldReader>,
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
    #[post(
        "/worlds/{world}/snapshots",
        change(Target::World)
            .with_links(&[Link::new("/name", "delete_snapshot", "snapshot")])
            .with_conflicts(&[Code::TooManyWorlds]),
    )]
    async fn create_snapshot(
        call: Call<WorldOperator>,
        idempotent: Idempotent,
        /// Name of the world.
        world: Path<String>,
        #[example(json!({"name": "after-review"}))] body: Body<SnapshotIn>,
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
    #[get("/snapshots", read(Target::None))]
    async fn list_snapshots(call: Call<Operator>) -> JsonResult<SnapshotList> {
        let sandbox = call.served.require_sandbox()?;
        let read = move || Ok(SnapshotList::new(&sandbox.worlds().snapshots(), |_| true));
        Json::of_blocking(&call.served, read).await
    }

    /// Delete a snapshot
    ///
    /// Deletes the snapshot. Worlds that were forked from it stay. Besides those of the server, the operator keys of the world
    /// that it was made from can do so while that world exists.
    #[delete("/snapshots/{snapshot}", change(Target::Snapshot))]
    async fn delete_snapshot(
        call: Call<SnapshotOperator>,
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
