//! What worlds are forked from.

use std::sync::Arc;

use uuid::Uuid;

use super::{settings::GivenSettings, template::Template, world::World};
use crate::domain::time::Timestamp;

/// A state of a world that worlds can be forked from.
#[derive(Debug)]
pub struct Snapshot {
    /// Name of the snapshot.
    pub name: String,
    /// Name of the world that it was made from.
    pub world: String,
    /// ID of that world. A later one with the same name has another one.
    pub(super) world_id: Uuid,
    pub(super) template: Template,
    pub(super) settings: GivenSettings,
}

impl Snapshot {
    /// Returns the time at which worlds that are forked from it begin.
    pub const fn now(&self) -> Timestamp {
        self.template.clock().now
    }
}

/// What a world is forked from.
pub(super) enum Source {
    Demo,
    Empty,
    Market,
    World(Arc<World>),
    Snapshot(Arc<Snapshot>),
    /// A state that was exported, with its settings.
    State(Box<Template>, GivenSettings),
}

impl Source {
    /// Returns the settings that worlds that are forked from it begin with.
    pub(super) fn settings(&self) -> GivenSettings {
        match self {
            Source::Demo | Source::Empty | Source::Market => Arc::default(),
            Source::World(world) => world.given_settings(),
            Source::Snapshot(snapshot) => Arc::clone(&snapshot.settings),
            Source::State(_, settings) => Arc::clone(settings),
        }
    }
}
