//! Cache of unfiltered first pages, valid until the index changes: most browsing starts with one of them.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use marketplace_index::Facets;

use crate::{domain::browse::SortOrder, operations::browse::Page};

/// An unfiltered first page, without the parts that differ from team to team.
#[derive(Debug)]
pub struct FrontPage {
    /// JSON of the listing summaries, separated by commas.
    pub items: Vec<u8>,
    /// Cursor of the next page; `None` if this is the only page.
    pub next_cursor: Option<String>,
    /// Number of published listings.
    pub all: u64,
    /// JSON of the facets.
    pub facets: Vec<u8>,
}

impl FrontPage {
    /// Creates a cache entry from a page; `render` turns the facets into JSON.
    pub fn of(page: Page, render: fn(&Facets) -> Vec<u8>) -> FrontPage {
        let (all, facets) = match &page.totals {
            Some(totals) => (totals.all, render(&totals.facets)),
            None => (0, render(&Facets::default())),
        };
        FrontPage { items: page.items, next_cursor: page.next_cursor, all, facets }
    }
}

/// First pages of one generation of the index, by sort order and limit: at most 4 × 100 entries.
#[derive(Debug, Default)]
pub struct FrontPages(RwLock<Kept>);

#[derive(Debug, Default)]
struct Kept {
    generation: u64,
    pages: HashMap<(SortOrder, u32), Arc<FrontPage>>,
}

impl FrontPages {
    /// Returns the page if it belongs to this generation of the index.
    pub fn get(&self, generation: u64, sort: SortOrder, limit: u32) -> Option<Arc<FrontPage>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if kept.generation == generation { kept.pages.get(&(sort, limit)).cloned() } else { None }
    }

    /// Caches a page, and drops the pages of earlier generations.
    pub fn put(&self, generation: u64, sort: SortOrder, limit: u32, page: FrontPage) -> Arc<FrontPage> {
        let page = Arc::new(page);
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.generation < generation {
            *kept = Kept { generation, pages: HashMap::new() };
        }
        if kept.generation == generation {
            kept.pages.insert((sort, limit), Arc::clone(&page));
        }
        page
    }
}
