//! Servers that are killed at their work: whatever they acknowledged ends once after the next start.

mod archives;
mod repositories;
mod uploads;

use std::{path::PathBuf, time::Duration};

use marketplace::{
    config::{Layers, Settings},
    domain::{jobs::Lane, money::Cents},
    market::Market,
    operations::{self, background, teams::TeamIn},
    store,
};
use tempfile::TempDir;

use super::kill::open_with;
use crate::harness::server::Server;

/// How often a server is killed: fewer times than a job may be begun, since one that always takes the server down is given up.
const KILLS: u32 = 4;

/// In microseconds.
const HOUR: i64 = 3_600_000_000;

/// The vendor's name.
const TEAM: &str = "Seller";

/// Credits that the vendor begins with.
const CREDITS: Cents = Cents(10_000_000);

/// The folder of a market with a vendor, whose servers are killed.
struct Site {
    folder: TempDir,
    key: String,
    /// Settings of repositories' addresses: by their names in the environment.
    named: Vec<(String, String)>,
}

impl Site {
    /// A market whose repositories lie under an address.
    fn new(repositories: &str) -> Site {
        let named = ["GITHUB", "GITLAB", "BITBUCKET"].iter().flat_map(|host| {
            let name = format!("MARKETPLACE_REPOSITORIES_{host}");
            [(format!("{name}_URL"), repositories.to_owned()), (format!("{name}_API_URL"), String::new())]
        });
        let mut site =
            Site { folder: tempfile::tempdir().unwrap(), key: String::new(), named: named.collect() };
        let market = site.market();
        marketplace::fixtures::prepare(&market).unwrap();
        let team = TeamIn { name: TEAM, is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: true };
        market.write_blocking(|writer| operations::teams::create(writer, &team)).unwrap();
        let made = market.write_blocking(|writer| operations::keys::create(writer, TEAM, "kill", None));
        site.key = made.unwrap().1;
        let credited = market.write_blocking(|writer| {
            let team = operations::teams::resolve(writer.rows, TEAM)?.number;
            let (id, given) = (writer.clock.id(), Cents(-CREDITS.0));
            operations::quality_runs::charge(writer.rows, id, team, "nothing", given, writer.now)
        });
        assert!(credited.unwrap());
        site
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("market")
    }

    /// The market, while no server serves it.
    fn market(&self) -> Market {
        let mut layers = Layers::new();
        layers.demo().unwrap();
        let mut settings: Settings = layers.settle().unwrap();
        if let Some((_, url)) = self.named.first() {
            settings.repositories.github_url.clone_from(url);
        }
        settings.repositories.github_api_url.clear();
        open_with(&self.path(), settings)
    }

    fn server(&self) -> Server {
        Server::start(&self.path(), &self.key, &self.named)
    }

    /// Whether any job is left, whenever it is due.
    fn is_any_left(&self) -> bool {
        is_any_left(&self.market())
    }

    /// Ends everything that is left, as the next server would, and answers the market, which is in order.
    fn settled(&self) -> Market {
        let market = self.market();
        let runner = background::Runner::start(&market).unwrap();
        while is_any_left(&market) {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(runner);
        let faults = operations::verify::faults(&market).unwrap();
        assert!(faults.is_empty(), "{faults:#?}");
        market
    }

    /// Names of what lies in a folder of the market's files.
    fn files(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path().join("blobs").join(folder)).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

fn is_any_left(market: &Market) -> bool {
    // Also what broke and waits, but not what is only to be looked at when a grant ends.
    let soon = market.clock().now().plus_micros(HOUR);
    market
        .read_blocking(|reader| {
            Ok(store::jobs::is_any_due(reader.rows, Lane::Copies, soon)?
                || store::jobs::is_any_due(reader.rows, Lane::Readings, soon)?)
        })
        .unwrap()
}
