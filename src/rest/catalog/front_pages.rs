//! First pages of everything, kept until the index changes: most browsing begins with one.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use marketplace_index::Facets;

use crate::{domain::browse::SortOrder, operations::browse::Page};

/// A first page without filters, but for what differs from team to team.
#[derive(Debug)]
pub struct FrontPage {
    /// The summaries' JSON, separated by commas.
    pub items: Vec<u8>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// Published listings.
    pub all: u64,
    /// The facets' JSON.
    pub facets: Vec<u8>,
}

impl FrontPage {
    /// What is kept of a page.
    pub fn of(page: Page, render: fn(&Facets) -> Vec<u8>) -> FrontPage {
        let (all, facets) = match &page.totals {
            Some(totals) => (totals.all, render(&totals.facets)),
            None => (0, render(&Facets::default())),
        };
        FrontPage { items: page.items, next_cursor: page.next_cursor, all, facets }
    }
}

/// First pages of one generation of the index, by order and size: 400 at most.
#[derive(Debug, Default)]
pub struct FrontPages(RwLock<Kept>);

#[derive(Debug, Default)]
struct Kept {
    generation: u64,
    pages: HashMap<(SortOrder, u32), Arc<FrontPage>>,
}

impl FrontPages {
    /// The page, if it is of this generation.
    pub fn get(&self, generation: u64, sort: SortOrder, limit: u32) -> Option<Arc<FrontPage>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if kept.generation == generation { kept.pages.get(&(sort, limit)).cloned() } else { None }
    }

    /// Keeps a page, and forgets those of earlier generations.
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
