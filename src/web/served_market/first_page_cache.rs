//! Cache of unfiltered first pages of the catalog, valid until the index changes: most browsing starts with
//! one of them.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use marketplace_index::Facets;

use crate::{domain::browse::SortOrder, operations::browse::CatalogPage};

/// An unfiltered first page, without the parts that differ from team to team.
#[derive(Debug)]
pub struct CachedPage {
    /// JSON of the listing summaries, separated by commas.
    pub items: Vec<u8>,
    /// Cursor of the next page; `None` if this is the only page.
    pub next_cursor: Option<String>,
    /// Number of published listings.
    pub listing_count: u64,
    /// JSON of the facets.
    pub facets: Vec<u8>,
}

impl CachedPage {
    /// Creates a cache entry from a page; `render` turns the facets into JSON.
    pub fn from_page(page: CatalogPage<Vec<u8>>, render: fn(&Facets) -> Vec<u8>) -> CachedPage {
        let (listing_count, facets) = match &page.totals {
            Some(totals) => (totals.total, render(&totals.facets)),
            None => (0, render(&Facets::default())),
        };
        CachedPage { items: page.listings, next_cursor: page.next_cursor, listing_count, facets }
    }
}

/// First pages of one generation of the index, by sort order and limit: at most 4 × 100 entries.
#[derive(Debug, Default)]
pub struct FirstPageCache(RwLock<PagesOfGeneration>);

#[derive(Debug, Default)]
struct PagesOfGeneration {
    generation: u64,
    pages: HashMap<(SortOrder, u32), Arc<CachedPage>>,
}

impl FirstPageCache {
    /// Returns the page if it belongs to this generation of the index.
    pub fn get(&self, generation: u64, sort: SortOrder, limit: u32) -> Option<Arc<CachedPage>> {
        let cache = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if cache.generation == generation { cache.pages.get(&(sort, limit)).cloned() } else { None }
    }

    /// Caches a page, and drops the pages of earlier generations.
    pub fn insert(&self, generation: u64, sort: SortOrder, limit: u32, page: CachedPage) -> Arc<CachedPage> {
        let page = Arc::new(page);
        let mut cache = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if cache.generation < generation {
            *cache = PagesOfGeneration { generation, pages: HashMap::new() };
        }
        if cache.generation == generation {
            cache.pages.insert((sort, limit), Arc::clone(&page));
        }
        page
    }
}
