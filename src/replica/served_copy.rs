//! A copy of the database that is served: its market, and the server of that.

use std::{path::Path, sync::Arc};

use poem::{Response, endpoint::BoxEndpoint};
use tokio::sync::watch;

use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    domain::commit_position::CommitPosition,
    error::Result,
    market::{self, DATABASE_FILE, Market, OpenError, OpenMode, OpenOptions, Reader},
    mcp::{App, WatchedServer},
    operations, rest,
    store::{self, Durability, FollowedFile, Follower},
    web::{
        monitoring::{Monitor, ReplicaState},
        positions::Positions,
        sealing::Sealer,
    },
};

/// A copy of the database, and the server of its market.
pub(super) struct ServedCopy {
    pub(super) market: Market,
    pub(super) file: Arc<FollowedFile>,
    pub(super) endpoint: BoxEndpoint<'static, Response>,
    pub(super) monitor: Arc<Monitor>,
    pub(super) positions: Positions,
    pub(super) sealer: Sealer,
    /// The position that the copy and its index have reached.
    reached: watch::Sender<Option<CommitPosition>>,
    /// Dropped with the copy, which ends its streams.
    pub(super) end: watch::Sender<()>,
}

impl ServedCopy {
    /// Opens the copy in a directory, which a follower keeps current.
    pub(super) fn open(
        directory: &Path,
        follower: Follower,
        settings: &Settings,
        (app, base_url): (&App, &str),
    ) -> std::result::Result<ServedCopy, OpenError> {
        let file = Arc::new(FollowedFile::open(&directory.join(DATABASE_FILE), follower)?);
        let options = OpenOptions {
            data_dir: directory.to_owned(),
            settings: settings.clone(),
            clock: Arc::new(Clock::System),
            entropy: Entropy::System,
            durability: Durability::Full,
            mode: OpenMode::Replica,
            renderer: rest::RENDERER,
            run_step: operations::due_steps::run_step,
            program: market::this_program(),
        };
        let market = Market::open_replica(options, Arc::clone(&file))?;
        let secret = market.position_secret().ok_or(OpenError::NoPositions)?;
        let positions = Positions::new(secret, market.blob_secret());
        let sealer = Sealer::new(secret);
        let WatchedServer { endpoint, monitor } = app.watched(market.clone(), base_url, None);
        let (reached, end) = (watch::Sender::default(), watch::Sender::default());
        Ok(ServedCopy { market, file, endpoint, monitor, positions, sealer, reached, end })
    }

    /// Picks up the updates of the copy, also in the index, and records whether it has the schema of this program: if not, nothing is
    /// answered from it, and the index stays as it is.
    pub(super) fn pick_up_updates(&self, state: &ReplicaState) -> Result<()> {
        let read = |reader: &Reader| {
            Ok((reader.rows.commit_position()?, store::market_facts::is_schema_current(reader.rows)?))
        };
        // The index may contain later updates, too, but not fewer.
        let (position, is_current) = self.market.read_blocking(read)?;
        if !is_current && !state.is_outdated() {
            tracing::error!(
                "the primary has another version of the program, so this replica answers nothing itself; install that version here"
            );
        }
        state.set_outdated(!is_current);
        if is_current {
            self.market.pick_up_changes()?;
            self.reached.send_if_modified(|reached| reached.replace(position) != Some(position));
        }
        Ok(())
    }

    /// Whether the copy has what a primary at this position had.
    pub(super) fn has_reached(&self, position: CommitPosition) -> bool {
        self.reached.borrow().is_some_and(|own| own.includes(position))
    }

    /// Waits until the copy has what a primary at this position had.
    pub(super) async fn wait_for(&self, position: CommitPosition) {
        let has_reached =
            |reached: &Option<CommitPosition>| reached.is_some_and(|own| own.includes(position));
        // The sender lives as long as the copy.
        let _ = self.reached.subscribe().wait_for(has_reached).await;
    }
}
