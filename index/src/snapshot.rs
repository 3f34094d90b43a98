//! A snapshot of the index, and searching it.

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

/// Number of steps that a scan may always take. It may take more if sorting would cost as much.
const LEAST_STEPS: u64 = 1024;

/// Number of documents that can be filtered and sorted in the time of one scan step, which accesses memory at
/// random.
const SORTED_PER_STEP: u64 = 4;

/// Source of generation numbers. They are unique in the process, across all indexes.
static GENERATIONS: AtomicU64 = AtomicU64::new(1);

/// The state of the index at one commit. It is immutable, and stays readable after later commits.
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

/// Numbers of listings of a team.
#[derive(Clone, Copy)]
struct TeamCounts {
    all: u64,
    active: u64,
}

impl Snapshot {
    /// Opens a commit. Shares the segments that the earlier snapshot has open.
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

    /// Returns whether the snapshot is of this commit, with the same segments.
    pub(crate) fn shows(&self, meta: &IndexMeta, change: u64) -> bool {
        let shown = self.views.iter().map(|view| (view.id(), view.deletes()));
        self.change == change && shown.eq(meta.segments.iter().map(|meta| (meta.id(), meta.delete_opstamp())))
    }

    /// Returns the number of the last change in the snapshot, as given to
    /// [`Writer::commit`](crate::Writer::commit).
    pub const fn change(&self) -> u64 {
        self.change
    }

    /// Returns a number that is unique among the snapshots of this process.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.views.len()
    }

    /// Returns the digest of every document (see
    /// [`ListingDocument::digest`](crate::document::ListingDocument::digest)) by row ID. Two indexes with
    /// equal fingerprints return the same results for every search.
    pub fn fingerprints(&self) -> BTreeMap<ListingNumber, u64> {
        let documents = self.views.iter().flat_map(|view| {
            let columns = &view.segment.columns;
            view.living().map(|doc| (columns.get(Number::Listing, doc), columns.get(Number::Digest, doc)))
        });
        documents.collect()
    }

    /// Returns the number of listings in scope.
    pub fn counts(&self, scope: Scope) -> u64 {
        match scope {
            Scope::Market => self.active,
            Scope::Team(team) => self.team_counts(team).all,
        }
    }

    /// Returns the number of active listings of a team.
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

    /// Executes a search. Any text is valid; text that contains no words counts as blank.
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
        // The market's orders are stored, so a page may be found without filtering all matches.
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

    /// Returns the documents in scope for each segment, or `None` if these are the visible ones.
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

    /// Returns a page of the matches. If there are many, the page is likely to be found early in the stored
    /// order.
    fn page(&self, wanted: &Wanted, stored: bool, found: &[Docs]) -> Page {
        let count = found.iter().map(Docs::count).sum();
        let steps = if stored { self.steps(wanted, count) } else { None };
        steps
            .and_then(|steps| page::walk(&self.views, wanted, steps, |at, doc| found[at].contains(doc)))
            .unwrap_or_else(|| page::sort(&self.views, wanted, found))
    }

    /// Returns the steps that a scan may take before the filters are evaluated, when only the frequency of
    /// their labels is known.
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

    /// Returns the steps that a scan may take, if it is expected to end within them, given the number of
    /// matches that would have to be sorted otherwise.
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

    /// Returns the facets of the whole market: added up once per snapshot, from counts that are stored with
    /// the segments.
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
            // If most visible documents match, counting the others and subtracting is faster.
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
