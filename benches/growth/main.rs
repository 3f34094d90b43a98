//! Measures how the cost of listings, teams, purchases, events, and deliveries grows with their number: CPU time and bytes per
//! added record, and CPU time of requests. Prints a table with the growth exponent of each row.
//!
//! `cargo bench --bench growth`; `SIZES=10000,100000,1000000` for other numbers, `ONLY=purchases` for one of the tables.
//! The data directory is in the system's temporary directory. `MARKET=directory` for what requests of listings cost in a
//! market that `marketplace seed --generate` created; this adds a team to it.
//!
//! The exponent is the slope of the logarithm of a figure over that of the number: 0 if the figure does not depend on
//! the number, 1 if it is proportional to it. What is added costs n log n in all if its exponent is near 0.

#![allow(missing_docs, clippy::print_stdout)]

#[path = "../listed_writes/codebases.rs"]
mod codebases;
mod events;
mod listings;
#[path = "../shared/local_market.rs"]
mod local_market;
mod purchases;
#[allow(dead_code)] // That of purchases through the operator API is not needed.
#[path = "../listed_writes/purchases.rs"]
mod sales;
mod table;
mod teams;

use std::path::Path;

use marketplace::{fixtures, market::Market, mcp, rest, store::Durability};
use poem::{Body, Endpoint, Request};

use table::Table;

/// The numbers of things at which costs are measured, unless `SIZES` states others.
const SIZES: [usize; 3] = [1_000, 4_000, 16_000];

/// Number of records that are written in one transaction.
const BATCH_SIZE: usize = 1_000;

/// A market of its own, and its APIs.
struct Bench<E> {
    market: Market,
    app: E,
    runtime: tokio::runtime::Runtime,
    _directory: Option<tempfile::TempDir>,
}

/// Measures at these numbers, in a market of its own.
type Measure = fn(&[usize]) -> Table;

fn main() {
    let sizes = std::env::var("SIZES").map_or(SIZES.to_vec(), |text| {
        text.split(',').map(|size| size.trim().parse().expect("SIZES are numbers")).collect()
    });
    if let Some(directory) = std::env::var_os("MARKET") {
        println!("{}", listings::measure_existing(&open_in(Path::new(&directory), None)));
        return;
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let kinds: [(&str, Measure); 4] = [
        ("listings", |sizes| listings::measure(&open(), sizes)),
        ("teams", |sizes| teams::measure(&open(), sizes)),
        ("purchases", |sizes| purchases::measure(&open(), sizes)),
        ("events", |sizes| events::measure(&open(), sizes)),
    ];
    for (_, measure) in kinds.iter().filter(|(name, _)| only.is_empty() || only == *name) {
        println!("{}", measure(&sizes));
    }
}

/// Opens an empty market.
fn open() -> Bench<impl Endpoint<Output = poem::Response> + use<>> {
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let path = directory.path().to_owned();
    let bench = open_in(&path, Some(directory));
    fixtures::seed_taxonomy(&bench.market).expect("load the taxonomy");
    bench
}

fn open_in(
    data_dir: &Path,
    directory: Option<tempfile::TempDir>,
) -> Bench<impl Endpoint<Output = poem::Response> + use<>> {
    // What waiting for the disk takes is no CPU time.
    let market = local_market::open(data_dir, Durability::None);
    let app = mcp::App::new(rest::App::new(market.settings(), false)).serve(market.clone(), "http://bench");
    let runtime = tokio::runtime::Runtime::new().expect("start a runtime");
    Bench { market, app, runtime, _directory: directory }
}

impl<E: Endpoint<Output = poem::Response>> Bench<E> {
    /// Sends a request of a team, and returns the body of the response.
    fn get(&self, path: &str, key: &str) -> String {
        let request = Request::builder()
            .uri(path.parse().expect("the path is valid"))
            .header("authorization", format!("Bearer {key}"))
            .body(Body::empty());
        self.runtime.block_on(async {
            let response = self.app.get_response(request).await;
            let status = response.status();
            let body = response.into_body().into_string().await.expect("the body is text");
            assert_eq!(status, 200, "{path}: {body}");
            body
        })
    }

    /// Returns the bytes of the database and of the index.
    fn stored_bytes(&self) -> u64 {
        let file = self.market.data_dir().join(marketplace::market::DATABASE_FILE);
        let database = rusqlite::Connection::open(file).expect("open the database");
        let pragma = |name| {
            let value = database.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
            value.expect("the pragma is a number")
        };
        pragma("page_count") * pragma("page_size")
            + table::directory_bytes(&self.market.data_dir().join("index"))
    }
}
