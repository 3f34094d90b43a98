//! A generation of the index, and the search over it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tantivy::IndexMeta;
use tantivy::index::SegmentId;

use crate::docs::Docs;
use crate::document::{ListingNumber, TeamNumber};
use crate::error::Error;
use crate::facets::{Dictionary, Facets};
use crate::filters::Conditions;
use crate::number::Number;
use crate::order::{Key, Order, Position};
use crate::page::{self, Page, Wanted};
use crate::query;
use crate::schema::Fields;
use crate::search::{Answer, Filters, Scope, Search, Start, Totals};
use crate::segment::View;
use crate::words::{self, Parsed};

/// Steps that a walk may always take; it may take more when sorting would cost as much.
const LEAST_STEPS: u64 = 1024;

/// How many documents can be narrowed and sorted for one step of a walk, which jumps about in memory.
const SORTED_PER_STEP: u64 = 4;

/// Numbers snapshots through the process, so that two of them never share a number, whichever index they are of.
static GENERATIONS: AtomicU64 = AtomicU64::new(1);

/// What the index held at one commit. It never changes, and stays readable when later commits replace it.
pub struct Snapshot {
    change: u64,
    generation: u64,
    fields: Fields,
    views: Vec<Arc<View>>,
    dictionary: Dictionary,
    active: u64,
    facets: OnceLock<Arc<Facets>>,
    counts: Mutex<HashMap<TeamNumber, TeamCounts>>,
}

/// How many listings a team has.
#[derive(Clone, Copy)]
struct TeamCounts {
    all: u64,
    active: u64,
}

impl Snapshot {
    /// Opens what a commit names. What an `earlier` snapshot has open is shared.
    pub(crate) fn open(
        index: &tantivy::Index,
        fields: Fields,
        meta: &IndexMeta,
        change: u64,
        earlier: Option<&Snapshot>,
    ) -> Result<Snapshot, Error> {
        let known: HashMap<SegmentId, &Arc<View>> =
            earlier.iter().flat_map(|earlier| &earlier.views).map(|view| (view.id(), view)).collect();
        let views =
            meta.segments.iter().map(|meta| View::open(index, fields, meta, known.get(&meta.id()).copied()));
        let views = views.collect::<Result<Vec<_>, Error>>()?;
        let columns = views.iter().map(|view| &view.segment.columns);
        let none = Dictionary::default();
        Ok(Snapshot {
            change,
            generation: GENERATIONS.fetch_add(1, Ordering::Relaxed),
            fields,
            dictionary: Dictionary::of(columns, earlier.map_or(&none, |earlier| &earlier.dictionary)),
            active: views.iter().map(|view| view.visible_count).sum(),
            views,
            facets: OnceLock::new(),
            counts: Mutex::default(),
        })
    }

    /// Whether the snapshot is of this commit, and of the same segments.
    pub(crate) fn shows(&self, meta: &IndexMeta, change: u64) -> bool {
        let shown = self.views.iter().map(|view| (view.id(), view.deletes()));
        self.change == change && shown.eq(meta.segments.iter().map(|meta| (meta.id(), meta.delete_opstamp())))
    }

    /// The number of the last change that it holds, as the writer gave it.
    pub const fn change(&self) -> u64 {
        self.change
    }

    /// A number that no other snapshot of this process has.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// How many segments it is made of.
    pub fn segments(&self) -> usize {
        self.views.len()
    }

    /// The digest of every document, as [`ListingDocument::digest`](crate::document::ListingDocument::digest) gives it:
    /// two indexes with equal fingerprints answer every search alike.
    pub fn fingerprints(&self) -> BTreeMap<ListingNumber, u64> {
        let documents = self.views.iter().flat_map(|view| {
            let columns = &view.segment.columns;
            view.living().map(|doc| (columns.get(Number::Listing, doc), columns.get(Number::Digest, doc)))
        });
        documents.collect()
    }

    /// How many listings are in scope.
    pub fn counts(&self, scope: Scope) -> u64 {
        match scope {
            Scope::Market => self.active,
            Scope::Team(team) => self.team_counts(team).all,
        }
    }

    /// How many active listings a team has.
    pub fn published_by(&self, team: TeamNumber) -> u64 {
        self.team_counts(team).active
    }

    fn team_counts(&self, team: TeamNumber) -> TeamCounts {
        let counts = || self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = counts().get(&team) {
            return *known;
        }
        let mut found = TeamCounts { all: 0, active: 0 };
        for view in &self.views {
            for doc in view.team(team) {
                found.all += 1;
                found.active += u64::from(view.visible.contains(doc));
            }
        }
        counts().insert(team, found);
        found
    }

    /// Answers a search. No text is an error: what cannot be searched for is not there.
    pub fn search(&self, search: &Search) -> Result<Answer, Error> {
        let blank = words::is_blank(&search.text);
        let bare = search.scope == Scope::Market && blank && search.filters.is_empty();
        let wanted = wanted(search, bare);
        if bare {
            let page = page::walk(&self.views, &wanted, u64::MAX, |_, _| true).unwrap_or_default();
            return Ok(answer(&page, search.totals.then(|| self.bare_totals(search))));
        }
        let team = self.team_docs(search.scope);
        let scope: Vec<&Docs> = match &team {
            Some(team) => team.iter().collect(),
            None => self.views.iter().map(|view| &view.visible).collect(),
        };
        let with_text;
        let matches = if blank {
            scope
        } else {
            with_text = query::matches(&Parsed::of(&search.text), self.fields, &self.views, &scope)?;
            with_text.iter().collect()
        };
        let conditions = Conditions::of(&search.filters, &self.views);
        // The market's orders are stored, so that a page may be had without narrowing all that matches.
        let stored = search.scope == Scope::Market;
        if stored
            && !search.totals
            && let Some(steps) = self.steps_to_matches(&wanted, &conditions, &matches)?
        {
            let accept = |at: usize, doc| {
                matches[at].contains(doc) && conditions.accept(at, &self.views[at].segment.columns, doc)
            };
            if let Some(page) = page::walk(&self.views, &wanted, steps, accept) {
                return Ok(answer(&page, None));
            }
        }
        let found = self.narrow(&search.filters, &conditions, &matches)?;
        let totals = search.totals.then(|| self.totals(search, blank, &matches, &found));
        Ok(answer(&self.page(&wanted, stored, &found), totals))
    }

    /// The documents in scope for each segment, where they are not simply the visible ones.
    fn team_docs(&self, scope: Scope) -> Option<Vec<Docs>> {
        let Scope::Team(team) = scope else { return None };
        Some(self.views.iter().map(|view| Docs::of(view.segment.columns.size(), view.team(team))).collect())
    }

    fn narrow(
        &self,
        filters: &Filters,
        conditions: &Conditions,
        matches: &[&Docs],
    ) -> Result<Vec<Docs>, Error> {
        let mut found: Vec<Docs> = matches.iter().map(|docs| (*docs).clone()).collect();
        if !filters.is_empty() {
            for (at, (view, docs)) in self.views.iter().zip(&mut found).enumerate() {
                conditions.narrow(at, view, docs)?;
            }
        }
        Ok(found)
    }

    /// A page of what was found. When much was, the page is expected early in the stored order.
    fn page(&self, wanted: &Wanted, stored: bool, found: &[Docs]) -> Page {
        let count = found.iter().map(Docs::count).sum();
        let steps = if stored { self.steps(wanted, count) } else { None };
        steps
            .and_then(|steps| page::walk(&self.views, wanted, steps, |at, doc| found[at].contains(doc)))
            .unwrap_or_else(|| page::sort(&self.views, wanted, found))
    }

    /// The steps that a walk may take before anything is known of the filters but how common their labels are.
    fn steps_to_matches(
        &self,
        wanted: &Wanted,
        conditions: &Conditions,
        matches: &[&Docs],
    ) -> Result<Option<u64>, Error> {
        let mut matching = 0;
        for (at, (view, docs)) in self.views.iter().zip(matches).enumerate() {
            matching += conditions.at_most(at, view)?.min(docs.count());
        }
        Ok(self.steps(wanted, matching))
    }

    /// The steps that a walk may take, if it can be expected to end within them, when so many documents match and would
    /// have to be looked at otherwise.
    fn steps(&self, wanted: &Wanted, matching: u64) -> Option<u64> {
        let listings = wanted.skip.saturating_add(wanted.limit).saturating_add(1) as u64;
        let expected = listings.saturating_mul(self.active) / matching.max(1);
        let allowed = matching / SORTED_PER_STEP + LEAST_STEPS;
        (expected <= allowed).then_some(allowed)
    }

    fn bare_totals(&self, search: &Search) -> Totals {
        let owned = search.viewer.map_or(0, |team| self.published_by(team));
        Totals { all: self.active, owned, facets: self.market_facets() }
    }

    fn totals(&self, search: &Search, blank: bool, matches: &[&Docs], found: &[Docs]) -> Totals {
        let mut owned = 0;
        if let Some(viewer) = search.viewer {
            for (view, found) in self.views.iter().zip(found) {
                owned += view.team(viewer).filter(|doc| found.contains(*doc)).count() as u64;
            }
        }
        let facets = match search.scope {
            Scope::Market if blank => self.market_facets(),
            _ => Arc::new(self.facets(matches)),
        };
        Totals { all: found.iter().map(Docs::count).sum(), owned, facets }
    }

    /// The facets of all that the market sees: added up once for each generation, from counts kept with the segments.
    fn market_facets(&self) -> Arc<Facets> {
        let facets = self.facets.get_or_init(|| {
            let mut counter = self.dictionary.counter();
            self.views.iter().enumerate().for_each(|(at, view)| counter.add(at, &view.totals));
            Arc::new(counter.facets())
        });
        Arc::clone(facets)
    }

    fn facets(&self, matches: &[&Docs]) -> Facets {
        let mut counter = self.dictionary.counter();
        for (at, (view, docs)) in self.views.iter().zip(matches).enumerate() {
            let columns = &view.segment.columns;
            let mut counts = vec![0; columns.names().len()];
            let count = docs.count();
            // What is missing of all that is visible is quicker counted when it is less.
            let missing = view.visible.without(docs);
            if count > view.visible_count / 2 && missing.count() + count == view.visible_count {
                columns.count_labels(missing.iter(), &mut counts);
                counts.iter_mut().zip(&view.totals).for_each(|(count, total)| *count = total - *count);
            } else {
                columns.count_labels(docs.iter(), &mut counts);
            }
            counter.add(at, &counts);
        }
        counter.facets()
    }
}

fn wanted(search: &Search, bare: bool) -> Wanted {
    let dated = match search.scope {
        Scope::Market => Number::Published,
        Scope::Team(_) => Number::Created,
    };
    let (after, skip) = match search.start {
        Start::First => (None, 0),
        Start::After(Position(key)) => (Some(key), 0),
        Start::Offset(skip) => (None, usize::try_from(skip).unwrap_or(usize::MAX)),
    };
    Wanted { order: Order::of(search.sort, bare), dated, after, skip, limit: search.limit }
}

fn answer(page: &Page, totals: Option<Totals>) -> Answer {
    let listing = |key: &Key| key[3];
    let next = page.keys.last().filter(|_| page.more).map(|key| Position(*key));
    Answer { listings: page.keys.iter().map(listing).collect(), next, totals }
}
