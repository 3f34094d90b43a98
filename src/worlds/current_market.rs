//! The market that a world has now, which a reset replaces.

use std::{
    any::Any,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use tokio::sync::watch;

use super::{
    error::WorldResult,
    faults::Faults,
    opener::Opener,
    settings::{GivenSettings, WorldSettings},
    template::Template,
};
use crate::{clock::SimulatedClock, market::Market};

/// The market that a world has now.
pub(super) struct CurrentMarket {
    pub market: Market,
    /// The source that the market was copied from.
    pub template: Template,
    /// The settings that differ from those of other worlds.
    pub given_settings: GivenSettings,
    /// Number of resets so far.
    pub resets: u64,
    /// The server of the market; see [`World::attached`](super::World::attached).
    pub attachment: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Dropped with the market, which its receivers notice.
    pub end: watch::Sender<()>,
}

impl CurrentMarket {
    /// Opens a copy of a template in a directory that does not exist.
    pub(super) fn open(
        opener: &Opener,
        template: &Template,
        settings: &WorldSettings,
        directory: PathBuf,
        (resets, faults): (u64, &Arc<Faults>),
    ) -> WorldResult<CurrentMarket> {
        template.copy_to(&directory)?;
        let clock = SimulatedClock::new(template.clock());
        let market = opener.open_world(template.index()?, directory, settings.resolved.clone(), clock)?;
        market.set_host_check(faults.host_check(&market));
        let (template, given_settings) = (template.clone(), Arc::clone(&settings.given));
        Ok(CurrentMarket {
            market,
            template,
            given_settings,
            resets,
            attachment: OnceLock::new(),
            end: watch::Sender::default(),
        })
    }
}
