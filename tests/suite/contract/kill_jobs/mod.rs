//! Servers that are killed while they run jobs: after a restart, every acknowledged job finishes exactly
//! once.

mod archives;
mod repositories;
mod uploads;

use std::{path::PathBuf, time::Duration};

use marketplace::{
    config::{Settings, SettingsSources},
    domain::{
        collections::Collection,
        jobs::{JobKind, JobSubject},
        money::Cents,
    },
    market::Market,
    operations::{self, background, teams::TeamInput},
    store,
};
use tempfile::TempDir;

use super::kill::open_with;
use crate::harness::server::Server;

/// Number of times that a server is killed. After each, the next server finishes all jobs: a job that is
/// interrupted twice is given up.
const KILLS: u32 = 4;

/// Microseconds in an hour.
const HOUR_MICROS: i64 = 3_600_000_000;

/// Name of the vendor team.
const TEAM: &str = "Seller";

/// Credits of the vendor at the start.
const CREDITS: Cents = Cents(10_000_000);

/// The data directory of a market with one vendor; tests start servers on it and kill them.
struct KilledMarket {
    directory: TempDir,
    key: String,
    /// Environment variables with the addresses of the repository hosts.
    repository_settings: Vec<(String, String)>,
}

impl KilledMarket {
    /// Creates a market whose repository hosts all have the base address `repositories`.
    fn new(repositories: &str) -> KilledMarket {
        let named = ["GITHUB", "GITLAB", "BITBUCKET"].iter().flat_map(|host| {
            let name = format!("MARKETPLACE_REPOSITORIES_{host}");
            [(format!("{name}_URL"), repositories.to_owned()), (format!("{name}_API_URL"), String::new())]
        });
        let mut killed_market = KilledMarket {
            directory: tempfile::tempdir().unwrap(),
            key: String::new(),
            repository_settings: named.collect(),
        };
        let market = killed_market.market();
        marketplace::fixtures::seed_taxonomy(&market).unwrap();
        let team =
            TeamInput { name: TEAM, is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: true };
        market.write_blocking(|writer| operations::teams::create(writer, &team)).unwrap();
        let new_key = market.write_blocking(|writer| operations::keys::create(writer, TEAM, "kill", None));
        killed_market.key = new_key.unwrap().1;
        let credited = market.write_blocking(|writer| {
            let team = operations::teams::resolve(writer.rows, TEAM)?.row_id;
            let (id, amount) = (writer.new_id(Collection::LedgerEntries), Cents(-CREDITS.0));
            operations::quality_runs::charge(writer, id, team, "nothing", amount)
        });
        credited.unwrap();
        killed_market
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("market")
    }

    /// Opens the market. Only possible while no server runs on it.
    fn market(&self) -> Market {
        let mut sources = SettingsSources::new();
        sources.apply_demo().unwrap();
        let mut settings: Settings = sources.resolve().unwrap();
        if let Some((_, url)) = self.repository_settings.first() {
            settings.repositories.github_url.clone_from(url);
        }
        settings.repositories.github_api_url.clear();
        open_with(&self.path(), settings)
    }

    fn server(&self) -> Server {
        Server::start(&self.path(), &self.key, &self.repository_settings)
    }

    /// Whether any job is pending, due or not.
    fn has_pending_jobs(&self) -> bool {
        has_pending_jobs(&self.market())
    }

    /// Finishes all pending jobs, as the next server would, and returns the market after verifying it.
    fn finish_jobs(&self) -> Market {
        let market = self.market();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let jobs = background::BackgroundJobs::start(&market, runtime.handle()).unwrap();
        while has_pending_jobs(&market) {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(jobs);
        let inconsistencies = operations::verify::find_inconsistencies(&market).unwrap();
        assert!(inconsistencies.is_empty(), "{inconsistencies:#?}");
        market
    }

    /// Returns the names of the files in a subdirectory of the blob directory.
    fn blob_names(&self, subdirectory: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path().join("blobs").join(subdirectory)).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

fn has_pending_jobs(market: &Market) -> bool {
    // One hour ahead: includes failed jobs that wait for a retry, but not the checks due when a grant
    // expires. There is always a job that makes the next head of the log.
    let soon = market.clock().now().plus_micros(HOUR_MICROS);
    let next = market.read_blocking(|reader| {
        store::jobs::next_due_besides(reader.rows, JobKind::SealLog, JobSubject::NONE)
    });
    next.unwrap().is_some_and(|at| at <= soon)
}
