//! What is known of a world besides its market.

use std::time::Duration;

use uuid::Uuid;

use super::new_world::NewWorld;
use crate::{clock::Clock, domain::time::Timestamp};

/// What is known of a world besides its market.
#[derive(Clone, Debug)]
pub struct WorldDetails {
    /// ID of the world. Another world with the same name has another one.
    pub id: Uuid,
    /// Name of the world, which is part of the paths of the world.
    pub name: String,
    /// What it was made from.
    pub origin: NewWorld,
    /// Time of the machine at which it ends; `None` if it does not end by itself.
    pub expires_at: Option<Timestamp>,
    /// Port that only this world has; `None` if it has none.
    pub port: Option<u16>,
}

impl WorldDetails {
    /// Returns how long the world still exists by the clock of the machine, which may be set; `None` if it does not end by
    /// itself.
    pub fn time_left(&self) -> Option<Duration> {
        let micros = self.expires_at?.0 - Clock::System.now().0;
        Some(Duration::from_micros(micros.try_into().unwrap_or_default()))
    }
}
