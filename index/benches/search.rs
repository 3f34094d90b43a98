//! The hot paths on a generated market: `LISTINGS=1000000 cargo bench -p marketplace-index`. With
//! `INDEX=directory` the index is stored there, and reused if it exists, so that opening is measured in a
//! separate process; `ONLY=words` selects the searches whose names contain these words.
//!
//! Times are CPU time of the calling thread, so that a busy machine affects them little. The frequencies of
//! words, tags and languages are as uneven as in real data.
#![allow(missing_docs, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use marketplace_index::document::{Flags, Labels, ListingDocument, Stage, Text};
use marketplace_index::{Bounds, Filters, Index, Measure, PerMeasure, Scope, Search, Sort, Start};

const DISTINCT_WORDS: u64 = 60_000;
const TEAMS: u64 = 5_000;

/// Memory of the writer, as servers have by default, in bytes.
const WRITER_BYTES: usize = 64_000_000;

/// Number of listings between two commits of the build, as in a rebuild of the index.
const DOCUMENTS_PER_COMMIT: u64 = 50_000;

/// Number of changes of single listings that are measured.
const SINGLE_WRITES: u64 = 1_000;

/// A small random number generator (xorshift) with a fixed sequence.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a rank below `end`. Higher ranks are less likely, as with words.
    fn zipf(&mut self, end: u64) -> u64 {
        let uniform = self.next() as f64 / u64::MAX as f64;
        ((end as f64 + 1.0).powf(uniform) - 1.0) as u64
    }

    fn labels(&mut self, name: &str, kinds: u64, max: u64) -> Vec<String> {
        let mut labels: Vec<String> =
            (0..self.below(max + 1)).map(|_| format!("{name}-{}", self.zipf(kinds))).collect();
        labels.sort();
        labels.dedup();
        labels
    }

    fn words(&mut self, count: u64) -> String {
        let words: Vec<String> = (0..count).map(|_| word(self.zipf(DISTINCT_WORDS))).collect();
        words.join(" ")
    }
}

/// Returns a pronounceable word, different for every rank.
fn word(rank: u64) -> String {
    let mut word = String::new();
    let mut rest = rank + 40;
    while rest > 0 {
        word.push(char::from(b"bdfgklmnprstvz"[(rest % 14) as usize]));
        word.push(char::from(b"aeiou"[(rest / 14 % 5) as usize]));
        rest /= 70;
    }
    word + "x"
}

fn measure_value(measure: Measure, random: &mut Random) -> Option<u64> {
    match measure {
        Measure::Price => (random.below(20) > 0).then(|| random.below(10_000_000)),
        Measure::SamplePrice => (random.below(2) > 0).then(|| random.below(10_000)),
        Measure::PricePerTask => (random.below(3) > 0).then(|| random.below(100_000)),
        Measure::VendorTier => Some(1 + random.below(3)),
        Measure::Tasks => Some(random.below(10_000)),
        Measure::Loc => Some(random.below(5_000_000)),
        Measure::ZipFiles => Some(random.below(100_000)),
        Measure::ZipBytes => Some(random.below(100_000_000_000)),
        Measure::Codebases => Some(random.below(30)),
        Measure::Tasksets => Some(random.below(10)),
        Measure::Environments | Measure::RoboticsDatasets => Some(random.below(5)),
        Measure::RawData => Some(random.below(40)),
        Measure::Assets => Some(random.below(90)),
    }
}

fn listing(listing: u64, random: &mut Random) -> ListingDocument {
    let active = random.below(10) > 0;
    ListingDocument {
        listing,
        team: random.below(TEAMS),
        stage: if active { Stage::Active } else { Stage::ALL[random.below(5) as usize] },
        text: Text {
            title: random.words(6),
            description: random.words(60),
            tag_labels: vec![random.words(2), random.words(2)],
            team_name: random.words(2),
        },
        labels: Labels {
            tags: random.labels("tag", 60, 4),
            tag_slugs: random.labels("slug", 400, 8),
            asset_types: random.labels("type", 8, 4),
            languages: random.labels("language", 100, 8),
            file_extensions: random.labels("extension", 500, 10),
            robotics_formats: random.labels("format", 4, 2),
            capabilities: random.labels("capability", 30, 4),
        },
        measures: PerMeasure::from_fn(|measure| measure_value(measure, random)),
        flags: Flags {
            certified: random.below(4) == 0,
            active_bids: random.below(10) == 0,
            sample_available: random.below(2) == 0,
            rare_languages: random.below(5) == 0,
        },
        featured: (listing % 10_000 == 7).then(|| 1 + random.below(100) as u32),
        published_at: Some(1_700_000_000_000_000 + random.below(1 << 45).cast_signed()),
        created_at: 1_700_000_000_000_000 + random.below(1 << 45).cast_signed(),
    }
}

/// Returns the CPU time of this thread in nanoseconds.
fn thread_time() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

/// Returns the CPU time of the process in seconds, over all threads.
fn process_time() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Returns the resident memory of the process that is not backed by files, in MB.
fn anonymous_memory() -> u64 {
    memory("RssAnon:")
}

/// Returns a figure of the memory of the process in MB, by its name in the status.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Returns the average CPU time of a call in microseconds, measured for about a second.
fn micros(mut call: impl FnMut()) -> f64 {
    // The clock is read rarely, because the system updates it only now and then.
    let (started, before) = (Instant::now(), thread_time());
    let mut calls = 0;
    while started.elapsed().as_millis() < 1_000 {
        for _ in 0..8 {
            call();
        }
        calls += 8;
    }
    (thread_time() - before) as f64 / 1e3 / f64::from(calls)
}

fn build(dir: &Path, listings: u64) {
    let before = process_time();
    let index = Index::create(dir).expect("create the index");
    let mut writer = index.writer(WRITER_BYTES, 1).expect("open the writer");
    let mut random = Random(0x5eed);
    let mut generating = 0;
    let row_ids: Vec<u64> = (1..=listings).collect();
    for row_ids in row_ids.chunks(1_000) {
        let start = thread_time();
        let docs: Vec<ListingDocument> = row_ids.iter().map(|row_id| listing(*row_id, &mut random)).collect();
        generating += thread_time() - start;
        for doc in &docs {
            writer.put(doc).expect("put a listing");
        }
        if row_ids.last().is_some_and(|last| last % DOCUMENTS_PER_COMMIT == 0) {
            writer.commit(1).expect("commit");
        }
    }
    let generating = generating as f64 / 1e9;
    writer.commit(1).expect("commit");
    println!("written: {:.1} s of CPU time", process_time() - before - generating);
    writer.finish().expect("finish merges");
    println!("merged: {:.1} s of CPU time", process_time() - before - generating);
    println!("at most {} MB of memory, with mapped files", memory("VmHWM:"));
    let mut sizes = std::collections::BTreeMap::new();
    for file in fs::read_dir(dir).expect("read the directory").flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let kind = name.rsplit('.').next().unwrap_or_default().to_owned();
        *sizes.entry(kind).or_insert(0) += file.metadata().map_or(0, |meta| meta.len());
    }
    for (kind, size) in sizes.iter().filter(|(_, size)| **size > 100_000) {
        println!("  {kind}: {:.1} MB", *size as f64 / 1e6);
    }
}

fn first_page() -> Search {
    Search {
        scope: Scope::Market,
        text: String::new(),
        filters: Filters::default(),
        sort: Sort::Recommended,
        start: Start::First,
        limit: 24,
        viewer: Some(17),
        totals: true,
        ordered_as: BTreeMap::new(),
    }
}

/// Returns two words that about this part of the market has.
fn words_matching(index: &Index, part: f64) -> String {
    let snapshot = index.snapshot();
    let target = snapshot.count(Scope::Market) as f64 * part;
    let texts = (0..40).map(|rank| format!("{} {}", word(rank), word(rank + 3)));
    let distance = |text: &String| {
        let search = Search { text: text.clone(), limit: 0, ..first_page() };
        let all = snapshot.search(&search).expect("search").totals.map_or(0, |totals| totals.all);
        (all as f64 - target).abs() as u64
    };
    texts.min_by_key(distance).unwrap_or_default()
}

/// Returns the most common words.
fn most_common(count: u64) -> String {
    let words: Vec<String> = (0..count).map(word).collect();
    words.join(" ")
}

fn three_filters() -> Filters {
    Filters {
        labels: Labels { asset_types: vec!["type-1".to_owned(), "type-2".to_owned()], ..Labels::default() },
        bounds: PerMeasure::from([
            (Measure::Price, Bounds { min: Some(100_000), max: Some(5_000_000) }),
            (Measure::Loc, Bounds { min: Some(1_000_000), max: None }),
        ]),
        ..Filters::default()
    }
}

fn searches(index: &Index) -> Vec<(&'static str, Search)> {
    let text = words_matching(index, 0.03);
    let mut page = Search { sort: Sort::Recent, totals: false, ..first_page() };
    for _ in 1..200 {
        if let Some(next) = index.snapshot().search(&page).expect("search").next {
            page.start = Start::After(next);
        }
    }
    let rare = Filters {
        labels: Labels { tag_slugs: vec!["slug-390".to_owned()], ..Labels::default() },
        ..Filters::default()
    };
    let later = |search: Search| Search { totals: false, ..search };
    let with_text = Search { text: text.clone(), ..first_page() };
    let filtered = Search { filters: three_filters(), sort: Sort::PriceLow, ..with_text.clone() };
    let only_filtered = Search { filters: three_filters(), ..first_page() };
    let word_of = |text: &str| Search { text: text.to_owned(), ..first_page() };
    vec![
        ("first page, bare, with totals", first_page()),
        ("page 200, recent, bare", page),
        ("two words, 3 %, with totals", with_text.clone()),
        ("two words, 3 %, no totals", later(with_text)),
        ("two words, three filters, by price, totals", filtered.clone()),
        ("two words, three filters, by price, no totals", later(filtered)),
        ("three filters, totals", only_filtered.clone()),
        ("three filters, no totals", later(only_filtered)),
        ("a rare tag, totals", Search { filters: rare.clone(), ..first_page() }),
        ("a rare tag, no totals", later(Search { filters: rare, ..first_page() })),
        ("the most common word, totals", word_of(&(word(0) + " "))),
        ("a prefix of one letter, totals", word_of("b")),
        ("a prefix of two letters, totals", word_of("ba")),
        ("a misspelled word, totals", word_of(&format!("{}q {}", word(900), word(5)))),
        ("a phrase, totals", word_of(&format!("\"{} {}\"", word(0), word(1)))),
        ("a phrase of four common words, totals", word_of(&format!("\"{}\"", most_common(4)))),
        ("ten common words, totals", word_of(&(most_common(10) + " "))),
        ("own listings of a team", Search { scope: Scope::Team(17), sort: Sort::Recent, ..first_page() }),
    ]
}

fn main() {
    let listings =
        std::env::var("LISTINGS").ok().and_then(|listings| listings.parse().ok()).unwrap_or(10_000);
    let temporary = tempfile::tempdir().expect("create a temporary directory");
    let stored = std::env::var_os("INDEX").map(PathBuf::from);
    let dir = stored.unwrap_or_else(|| temporary.path().join("index"));
    println!("{listings} listings");
    if !dir.exists() {
        build(&dir, listings);
    }
    let (started, memory) = (Instant::now(), anonymous_memory());
    let index = Index::open(&dir).expect("open the index");
    let opened = started.elapsed();
    let first = Instant::now();
    index.snapshot().search(&first_page()).expect("search");
    println!(
        "open: {opened:?}, first search {:?}, {} segments, {} MB of anonymous memory (before: {memory})",
        first.elapsed(),
        index.snapshot().segments(),
        anonymous_memory()
    );
    let before = measure_searches(&index);
    write_single_listings(&index, listings);
    println!("searches with {} segments:", index.snapshot().segments());
    for ((name, before), (_, after)) in before.iter().zip(measure_searches(&index)) {
        println!("{:>9.0} %  {name}", after / before * 100.0);
    }
}

/// Prints and returns the times of the searches.
fn measure_searches(index: &Index) -> Vec<(&'static str, f64)> {
    let snapshot = index.snapshot();
    let only = std::env::var("ONLY").unwrap_or_default();
    let selected = searches(index).into_iter().filter(|(name, _)| name.contains(&only));
    let measured = selected.map(|(name, search)| {
        let results = snapshot.search(&search).expect("search");
        let all = results.totals.map_or(String::new(), |totals| format!(" ({} found)", totals.all));
        let micros = micros(|| drop(std::hint::black_box(snapshot.search(&search))));
        println!("{micros:>10.1} µs  {name}{all}");
        (name, micros)
    });
    measured.collect()
}

/// Changes listings one at a time, and prints what a change costs.
fn write_single_listings(index: &Index, listings: u64) {
    let mut writer = index.writer(100_000_000, 1).expect("open the writer");
    let mut random = Random(0xfeed);
    let first = index.snapshot().change() + 1;
    let (mut times, mut segments) = (Vec::new(), Vec::new());
    let before = process_time();
    for change in first..first + SINGLE_WRITES {
        let doc = listing(1 + random.below(listings), &mut random);
        let started = Instant::now();
        writer.put(&doc).expect("put a listing");
        writer.show(change).expect("show");
        times.push(started.elapsed().as_secs_f64() * 1e3);
        segments.push(index.snapshot().segments());
    }
    let processor = (process_time() - before) / SINGLE_WRITES as f64 * 1e3;
    times.sort_by(f64::total_cmp);
    println!(
        "commit of one listing: median {:.2} ms, 99th percentile {:.2} ms, {processor:.2} ms of CPU time with \
         merges; {:.1} segments on average, at most {}",
        times[times.len() / 2],
        times[times.len() * 99 / 100],
        segments.iter().sum::<usize>() as f64 / SINGLE_WRITES as f64,
        segments.iter().max().expect("there are commits"),
    );
}
