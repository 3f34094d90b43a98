//! The search index as operations see it. Only here is it decided what happens when it fails.

use std::{ops::ControlFlow, sync::Arc};

use marketplace_index::{
    Error as IndexError, Facets, Match, Position, Scope, Search, SearchResults, Snapshot, catch_panics,
    cursor::ShortPosition,
};

use super::{Inner, Market};
use crate::{
    error::{Error, Result},
    search::OpenedIndex,
};

/// A snapshot of the search index. If the index fails, searches return [`Error::IndexUnavailable`], and a server rebuilds it.
pub struct SearchIndex<'a> {
    inner: &'a Inner,
    opened: Arc<OpenedIndex>,
    snapshot: Arc<Snapshot>,
}

impl Market {
    /// Returns the current snapshot of the index, for what needs no rows. Others use that of their [`Reader`](super::Reader).
    pub fn search_index(&self) -> SearchIndex<'_> {
        SearchIndex::current(&self.inner)
    }
}

impl<'a> SearchIndex<'a> {
    pub(super) fn current(inner: &'a Inner) -> SearchIndex<'a> {
        let opened = inner.index_dir.opened();
        SearchIndex { inner, snapshot: opened.snapshot(), opened }
    }

    /// Returns the number of the last change in the snapshot.
    pub fn change(&self) -> u64 {
        self.snapshot.change()
    }

    /// Returns a number that is unique among the snapshots of this process.
    pub fn generation(&self) -> u64 {
        self.snapshot.generation()
    }

    /// Returns the snapshot itself, for those who look for damage.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Whether the index is known to be damaged.
    pub fn has_failed(&self) -> bool {
        self.opened.has_failed()
    }

    /// See [`Snapshot::search`].
    pub fn search(&self, search: &Search) -> Result<SearchResults> {
        self.run(|snapshot| snapshot.search(search))
    }

    /// See [`Snapshot::for_each_match`].
    pub fn for_each_match(&self, search: &Search, visit: impl FnMut(Match) -> ControlFlow<()>) -> Result<()> {
        self.run(|snapshot| snapshot.for_each_match(search, visit))
    }

    /// See [`Snapshot::position_of`].
    pub fn position_of(&self, short: &ShortPosition, search: &Search) -> Result<Option<Position>> {
        self.run(|snapshot| snapshot.position_of(short, search))
    }

    /// See [`Snapshot::count`].
    pub fn count(&self, scope: Scope) -> Result<u64> {
        self.run(|snapshot| Ok(snapshot.count(scope)))
    }

    /// See [`Snapshot::active_count`].
    pub fn active_count(&self, team: u64) -> Result<u64> {
        self.run(|snapshot| Ok(snapshot.active_count(team)))
    }

    /// See [`Snapshot::market_facets`].
    pub fn market_facets(&self) -> Result<Arc<Facets>> {
        self.run(|snapshot| Ok(snapshot.market_facets()))
    }

    fn run<T>(&self, work: impl FnOnce(&Snapshot) -> std::result::Result<T, IndexError>) -> Result<T> {
        if !self.opened.has_failed() {
            match catch_panics(|| work(&self.snapshot)) {
                Ok(result) => return Ok(result),
                Err(cause) => tracing::error!(%cause, "searching the index failed"),
            }
        }
        let updater = self.inner.updater.as_ref();
        if let Some(updater) = updater {
            updater.report_failed_search(&self.opened);
        }
        Err(Error::index_unavailable(updater.is_some()))
    }
}
