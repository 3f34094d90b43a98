//! A snapshot of the index, and searching it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tantivy::IndexMeta;
use tantivy::index::SegmentId;

use crate::cursor::ShortPosition;
use crate::doc_bitmap::DocBitmap;
use crate::document::{ListingRowId, TeamRowId};
use crate::error::Error;
use crate::facets::{Facets, LabelDictionary};
use crate::filters::Conditions;
use crate::numeric::NumericColumn;
use crate::order::{Order, Position, SortKey};
use crate::page::{self, Page, PageRequest};
use crate::query;
use crate::recent::RecentDocument;
use crate::schema::{self, Fields};
use crate::search::{Filters, Scope, Search, SearchResults, Start, Totals};
use crate::segment::SegmentView;
use crate::text_analysis::{self, ParsedText};
use crate::words::Splitting;

/// Number of steps that a scan may always take. It may take more if sorting would cost as much.
const MIN_SCAN_STEPS: u64 = 1024;

/// Number of documents that can be filtered and sorted in the time of one scan step, which accesses memory at
/// random.
const SORTED_DOCS_PER_SCAN_STEP: u64 = 4;

/// Source of generation numbers. They are unique in the process, across all indexes.
static GENERATIONS: AtomicU64 = AtomicU64::new(1);

/// The state of the index at one commit. It is immutable, and stays readable after later commits.
pub struct Snapshot {
    change: u64,
    /// Whether the engine has not written all changes.
    is_ahead: bool,
    generation: u64,
    fields: Fields,
    splitting: Splitting,
    views: Vec<Arc<SegmentView>>,
    dictionary: LabelDictionary,
    active_count: u64,
    market_facets_cache: OnceLock<Arc<Facets>>,
    team_counts_cache: Mutex<HashMap<TeamRowId, TeamCounts>>,
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
        splitting: Splitting,
        meta: &IndexMeta,
        change: u64,
        earlier: Option<&Snapshot>,
    ) -> Result<Snapshot, Error> {
        let earlier_views: HashMap<SegmentId, &Arc<SegmentView>> = earlier
            .iter()
            .flat_map(|earlier| &earlier.views)
            .filter_map(|view| Some((view.id()?, view)))
            .collect();
        let views = meta
            .segments
            .iter()
            .map(|meta| SegmentView::open(index, fields, meta, earlier_views.get(&meta.id()).copied()));
        let views = views.collect::<Result<Vec<_>, Error>>()?;
        Ok(Snapshot::of_views(fields, splitting, views, change, earlier))
    }

    /// Returns the snapshot of an index without documents, at change 0.
    pub fn empty() -> Snapshot {
        let (_, fields) = schema::schema();
        Snapshot::of_views(fields, schema::splitting(schema::SCHEMA_VERSION), Vec::new(), 0, None)
    }

    fn of_views(
        fields: Fields,
        splitting: Splitting,
        views: Vec<Arc<SegmentView>>,
        change: u64,
        earlier: Option<&Snapshot>,
    ) -> Snapshot {
        let columns = views.iter().map(|view| &view.segment.columns);
        let empty = LabelDictionary::default();
        Snapshot {
            change,
            is_ahead: false,
            generation: GENERATIONS.fetch_add(1, Ordering::Relaxed),
            fields,
            splitting,
            dictionary: LabelDictionary::new(columns, earlier.map_or(&empty, |earlier| &earlier.dictionary)),
            active_count: views.iter().map(|view| view.visible_count).sum(),
            views,
            market_facets_cache: OnceLock::new(),
            team_counts_cache: Mutex::default(),
        }
    }

    /// Returns whether it has changes that the engine has not written.
    pub(crate) const fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// Returns the snapshot after changes of these listings, which the engine has not written yet. `recent`
    /// are all documents that the engine has not written yet.
    pub(crate) fn with_recent(
        &self,
        listings: &[ListingRowId],
        recent: &[&RecentDocument],
        change: u64,
    ) -> Result<Snapshot, Error> {
        let mut views = Vec::with_capacity(self.views.len() + 1);
        for view in self.views.iter().filter(|view| view.id().is_some()) {
            let mut replaced = Vec::new();
            for listing in listings {
                replaced.extend(view.find_listing(self.fields, *listing)?);
            }
            views.push(if replaced.is_empty() {
                Arc::clone(view)
            } else {
                Arc::new(view.without(&replaced))
            });
        }
        if !recent.is_empty() {
            views.push(SegmentView::of_recent(recent)?);
        }
        let shown = Snapshot::of_views(self.fields, self.splitting, views, change, Some(self));
        Ok(Snapshot { is_ahead: true, ..shown })
    }

    /// Returns whether the snapshot is of this commit, with the same segments.
    pub(crate) fn is_at_commit(&self, meta: &IndexMeta, change: u64) -> bool {
        let segments = self.views.iter().map(|view| (view.id(), view.delete_opstamp()));
        self.change == change
            && segments.eq(meta.segments.iter().map(|meta| (Some(meta.id()), meta.delete_opstamp())))
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
    pub fn fingerprints(&self) -> BTreeMap<ListingRowId, u64> {
        let documents = self.views.iter().flat_map(|view| {
            let columns = &view.segment.columns;
            view.alive_docs().map(|doc| {
                (columns.get(NumericColumn::Listing, doc), columns.get(NumericColumn::Digest, doc))
            })
        });
        documents.collect()
    }

    /// Returns whether the index has a document of a listing.
    pub(crate) fn has_listing(&self, listing: ListingRowId) -> Result<bool, Error> {
        for view in &self.views {
            if view.find_listing(self.fields, listing)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the number of listings in scope.
    pub fn count(&self, scope: Scope) -> u64 {
        match scope {
            Scope::Market => self.active_count,
            Scope::Team(team) => self.team_counts(team).all,
        }
    }

    /// Returns the number of active listings of a team.
    pub fn active_count(&self, team: TeamRowId) -> u64 {
        self.team_counts(team).active
    }

    fn team_counts(&self, team: TeamRowId) -> TeamCounts {
        let cache = || self.team_counts_cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counts) = cache().get(&team) {
            return *counts;
        }
        let mut counted = TeamCounts { all: 0, active: 0 };
        for view in &self.views {
            for doc in view.team_docs(team) {
                counted.all += 1;
                counted.active += u64::from(view.visible.contains(doc));
            }
        }
        cache().insert(team, counted);
        counted
    }

    /// Executes a search. Any text is valid; text that contains no words counts as blank.
    pub fn search(&self, search: &Search) -> Result<SearchResults, Error> {
        let is_blank = text_analysis::is_blank(&search.text);
        let is_unfiltered = search.scope == Scope::Market && is_blank && search.filters.is_empty();
        let request = self.page_request(search, is_unfiltered)?;
        if is_unfiltered {
            let page = page::scan_orders(&self.views, &request, u64::MAX, |_, _| true).unwrap_or_default();
            return Ok(self.results(search, &page, search.totals.then(|| self.market_totals(search))));
        }
        let team = self.team_docs(search.scope);
        let scope: Vec<&DocBitmap> = match &team {
            Some(team) => team.iter().collect(),
            None => self.views.iter().map(|view| &view.visible).collect(),
        };
        let with_text;
        let matches = if is_blank {
            scope
        } else {
            let text = ParsedText::parse(&search.text, self.splitting);
            with_text = query::matching_docs(&text, &self.views, &scope)?;
            with_text.iter().collect()
        };
        let conditions = Conditions::new(&search.filters, &self.views);
        // The market's orders are stored, so a page may be found without filtering all matches.
        let is_order_stored = search.scope == Scope::Market;
        if is_order_stored
            && !search.totals
            && let Some(steps) = self.scan_steps_before_filters(&request, &conditions, &matches)?
        {
            let accept = |segment: usize, doc| {
                matches[segment].contains(doc)
                    && conditions.accepts_doc(segment, &self.views[segment].segment.columns, doc)
            };
            if let Some(page) = page::scan_orders(&self.views, &request, steps, accept) {
                return Ok(self.results(search, &page, None));
            }
        }
        let found = self.apply_filters(&search.filters, &conditions, &matches)?;
        let totals = search.totals.then(|| self.totals(search, is_blank, &matches, &found));
        Ok(self.results(search, &self.page_of_matches(&request, is_order_stored, &found), totals))
    }

    /// Returns the documents of each segment that match the scope and the text of a search.
    pub(crate) fn matching_docs(&self, search: &Search) -> Result<Vec<DocBitmap>, Error> {
        let scope = match self.team_docs(search.scope) {
            Some(team) => team,
            None => self.views.iter().map(|view| view.visible.clone()).collect(),
        };
        if text_analysis::is_blank(&search.text) {
            return Ok(scope);
        }
        let text = ParsedText::parse(&search.text, self.splitting);
        query::matching_docs(&text, &self.views, &scope.iter().collect::<Vec<_>>())
    }

    /// Returns the position after the listing of a short cursor; `None` if the index has no such listing, or it has
    /// moved in the order of the search since the cursor was created. [`Search::ordered_as`] has to be set.
    pub fn position_of(&self, short: &ShortPosition, search: &Search) -> Result<Option<Position>, Error> {
        let is_unfiltered = search.scope == Scope::Market
            && text_analysis::is_blank(&search.text)
            && search.filters.is_empty();
        let request = self.page_request(search, is_unfiltered)?;
        for (segment, view) in self.views.iter().enumerate() {
            if let Some(doc) = view.find_listing(self.fields, short.listing)? {
                let key = request.final_sort_key(segment, view, doc);
                return Ok(short.has_key(&key).then_some(Position { key, as_of: short.as_of }));
            }
        }
        Ok(None)
    }

    /// Returns the segments.
    pub(crate) fn views(&self) -> &[Arc<SegmentView>] {
        &self.views
    }

    pub(crate) const fn fields(&self) -> Fields {
        self.fields
    }

    /// Returns the documents in scope for each segment, or `None` if these are the visible ones.
    fn team_docs(&self, scope: Scope) -> Option<Vec<DocBitmap>> {
        let Scope::Team(team) = scope else { return None };
        Some(
            self.views
                .iter()
                .map(|view| DocBitmap::from_docs(view.segment.columns.size(), view.team_docs(team)))
                .collect(),
        )
    }

    /// Returns the documents among the matches that meet the conditions of the filters.
    pub(crate) fn apply_filters(
        &self,
        filters: &Filters,
        conditions: &Conditions,
        matches: &[&DocBitmap],
    ) -> Result<Vec<DocBitmap>, Error> {
        let mut found: Vec<DocBitmap> = matches.iter().map(|docs| (*docs).clone()).collect();
        if !filters.is_empty() {
            for (segment, (view, docs)) in self.views.iter().zip(&mut found).enumerate() {
                conditions.retain(segment, view, docs)?;
            }
        }
        Ok(found)
    }

    /// Returns a page of the matches. If there are many, the page is likely to be found early in the stored
    /// order.
    fn page_of_matches(&self, request: &PageRequest, is_order_stored: bool, found: &[DocBitmap]) -> Page {
        let count = found.iter().map(DocBitmap::count).sum();
        let steps = if is_order_stored { self.scan_steps(request, count) } else { None };
        steps
            .and_then(|steps| {
                page::scan_orders(&self.views, request, steps, |segment, doc| found[segment].contains(doc))
            })
            .unwrap_or_else(|| page::sort_matches(&self.views, request, found))
    }

    /// Returns the steps that a scan may take before the filters are evaluated, when only the frequency of
    /// their labels is known.
    fn scan_steps_before_filters(
        &self,
        request: &PageRequest,
        conditions: &Conditions,
        matches: &[&DocBitmap],
    ) -> Result<Option<u64>, Error> {
        let mut matching = 0;
        for (segment, (view, docs)) in self.views.iter().zip(matches).enumerate() {
            matching += conditions.max_matches(segment, view)?.min(docs.count());
        }
        Ok(self.scan_steps(request, matching))
    }

    /// Returns the steps that a scan may take, if it is expected to end within them, given the number of
    /// matches that would have to be sorted otherwise.
    fn scan_steps(&self, request: &PageRequest, matching: u64) -> Option<u64> {
        let listings = request.skip.saturating_add(request.limit).saturating_add(1) as u64;
        let expected = listings.saturating_mul(self.active_count) / matching.max(1);
        let allowed = matching / SORTED_DOCS_PER_SCAN_STEP + MIN_SCAN_STEPS;
        (expected <= allowed).then_some(allowed)
    }

    fn market_totals(&self, search: &Search) -> Totals {
        let owned = search.viewer.map_or(0, |team| self.active_count(team));
        Totals { all: self.active_count, owned, facets: self.market_facets() }
    }

    fn totals(&self, search: &Search, is_blank: bool, matches: &[&DocBitmap], found: &[DocBitmap]) -> Totals {
        let mut owned = 0;
        if let Some(viewer) = search.viewer {
            for (view, found) in self.views.iter().zip(found) {
                owned += view.team_docs(viewer).filter(|doc| found.contains(*doc)).count() as u64;
            }
        }
        let facets = match search.scope {
            Scope::Market if is_blank => self.market_facets(),
            _ => Arc::new(self.facets(matches)),
        };
        Totals { all: found.iter().map(DocBitmap::count).sum(), owned, facets }
    }

    /// Returns the facets of the whole market: added up once per snapshot, from counts that are stored with
    /// the segments.
    pub fn market_facets(&self) -> Arc<Facets> {
        let facets = self.market_facets_cache.get_or_init(|| {
            let mut counter = self.dictionary.counter();
            self.views
                .iter()
                .enumerate()
                .for_each(|(segment, view)| counter.add(segment, &view.label_totals));
            Arc::new(counter.to_facets())
        });
        Arc::clone(facets)
    }

    fn facets(&self, matches: &[&DocBitmap]) -> Facets {
        let mut counter = self.dictionary.counter();
        for (segment, (view, docs)) in self.views.iter().zip(matches).enumerate() {
            let columns = &view.segment.columns;
            let mut counts = vec![0; columns.label_names().len()];
            let count = docs.count();
            // If most visible documents match, counting the others and subtracting is faster.
            let missing = view.visible.difference(docs);
            if count > view.visible_count / 2 && missing.count() + count == view.visible_count {
                columns.count_labels(missing.iter(), &mut counts);
                counts.iter_mut().zip(&view.label_totals).for_each(|(count, total)| *count = total - *count);
            } else {
                columns.count_labels(docs.iter(), &mut counts);
            }
            counter.add(segment, &counts);
        }
        counter.to_facets()
    }

    fn page_request(&self, search: &Search, is_unfiltered: bool) -> Result<PageRequest, Error> {
        let date_column = match search.scope {
            Scope::Market => NumericColumn::Published,
            Scope::Team(_) => NumericColumn::Created,
        };
        let (after, skip) = match search.start {
            Start::First => (None, 0),
            Start::After(position) => (Some(position.key), 0),
            Start::Offset(skip) => (None, usize::try_from(skip).unwrap_or(usize::MAX)),
        };
        let order = Order::for_search(search.sort, is_unfiltered);
        let mut moved = HashMap::new();
        for (listing, values) in &search.ordered_as {
            for (segment, view) in self.views.iter().enumerate() {
                if let Some(doc) = view.find_listing(self.fields, *listing)? {
                    let value = |column| view.segment.columns.get(column, doc);
                    moved.insert((segment, doc), order.sort_key_with(values, date_column, value));
                }
            }
        }
        Ok(PageRequest { order, date_column, moved, after, skip, limit: search.limit })
    }

    fn results(&self, search: &Search, page: &Page, totals: Option<Totals>) -> SearchResults {
        let listing = |key: &SortKey| key[3];
        let as_of = match search.start {
            Start::After(position) => position.as_of,
            Start::First | Start::Offset(_) => self.change,
        };
        let next = page.keys.last().filter(|_| page.more).map(|key| Position { key: *key, as_of });
        SearchResults { listings: page.keys.iter().map(listing).collect(), next, totals }
    }
}
