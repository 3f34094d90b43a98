//! Small indexes for tests: a temporary directory, and shortcuts for filling it.

use std::collections::BTreeMap;

use marketplace_index::document::{Flags, Labels, ListingDocument, Stage, Text};
use marketplace_index::{Filters, Index, PerMeasure, Scope, Search, SearchResults, Sort, Start, Writer};
use tempfile::TempDir;

/// An index in a temporary directory, which is deleted with it.
pub struct TestIndex {
    pub directory: TempDir,
    pub index: Index,
    writer: Option<Writer>,
    change: u64,
}

impl TestIndex {
    pub fn new() -> TestIndex {
        let directory = tempfile::tempdir().unwrap();
        let index = Index::create(directory.path()).unwrap();
        TestIndex { directory, index, writer: None, change: 0 }
    }

    /// Creates a market of active listings with these titles; row IDs start at 1.
    pub fn with_titles(titles: &[&str]) -> TestIndex {
        let mut market = TestIndex::new();
        let docs = titles.iter().zip(1..).map(|(title, listing)| listing_with_title(listing, title));
        market.commit(&docs.collect::<Vec<_>>(), &[]);
        market
    }

    pub fn writer(&mut self) -> &mut Writer {
        self.writer.get_or_insert_with(|| self.index.writer(15_000_000, 1).unwrap())
    }

    /// Closes the writer after its merges are done.
    pub fn finish(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.finish().unwrap();
        }
    }

    /// Closes the writer during its merges, as the end of a process would, and reopens the directory.
    pub fn reopen(&mut self) {
        self.writer = None;
        self.index = Index::open(self.directory.path()).unwrap();
    }

    /// Applies changes that other processes do not see yet.
    pub fn show(&mut self, puts: &[ListingDocument], removes: &[u64]) {
        let change = self.apply(puts, removes);
        self.writer().show(change).unwrap();
    }

    pub fn commit(&mut self, puts: &[ListingDocument], removes: &[u64]) {
        let change = self.apply(puts, removes);
        self.writer().commit(change).unwrap();
    }

    fn apply(&mut self, puts: &[ListingDocument], removes: &[u64]) -> u64 {
        self.change += 1;
        let change = self.change;
        let writer = self.writer();
        for doc in puts {
            writer.put(doc).unwrap();
        }
        for listing in removes {
            writer.remove(*listing).unwrap();
        }
        change
    }

    pub fn search(&self, search: &Search) -> SearchResults {
        self.index.snapshot().search(search).unwrap()
    }

    /// Returns the listings that match a text, newest first.
    pub fn find(&self, text: &str) -> Vec<u64> {
        self.search(&Search { text: text.to_owned(), sort: Sort::Recent, ..search_all() }).listings
    }
}

/// A search for the whole market, on one page, with totals.
pub fn search_all() -> Search {
    Search {
        scope: Scope::Market,
        text: String::new(),
        filters: Filters::default(),
        sort: Sort::Recommended,
        start: Start::First,
        limit: 1000,
        viewer: None,
        totals: true,
        ordered_as: BTreeMap::new(),
    }
}

/// An active listing with default values, published `listing` seconds after 1970.
pub fn active_listing(listing: u64) -> ListingDocument {
    ListingDocument {
        listing,
        team: 1,
        stage: Stage::Active,
        text: Text::default(),
        labels: Labels::default(),
        measures: PerMeasure::default(),
        flags: Flags::default(),
        featured: None,
        published_at: Some(1_000_000 * listing.cast_signed()),
        created_at: 0,
    }
}

pub fn listing_with_title(listing: u64, title: &str) -> ListingDocument {
    ListingDocument { text: Text { title: title.to_owned(), ..Text::default() }, ..active_listing(listing) }
}
