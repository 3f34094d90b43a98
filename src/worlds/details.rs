//! Data about a world, apart from its market.

use std::time::Duration;

use uuid::Uuid;

use super::new_world::NewWorld;
use crate::{clock::Clock, domain::time::Timestamp};

/// Data about a world, apart from its market.
#[derive(Clone, Debug)]
pub struct WorldDetails {
    /// ID of the world. A later world with the same name has another ID.
    pub id: Uuid,
    /// Name of the world, which its paths contain.
    pub name: String,
    /// The parameters that created the world.
    pub origin: NewWorld,
    /// System time at which the world expires; `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// Port of the world; `None` if it has no port of its own.
    pub port: Option<u16>,
}

impl WorldDetails {
    /// Returns the remaining time to live by the system clock, which may be set; `None` if the world does not expire.
    pub fn time_left(&self) -> Option<Duration> {
        let micros = self.expires_at?.0 - Clock::System.now().0;
        Some(Duration::from_micros(micros.try_into().unwrap_or_default()))
    }
}
