//! Kills a server at random moments: after reopening, every acknowledged write is there and the data is
//! consistent.
//!
//! The test starts its own executable as the server to kill. `KILL_ROUNDS` sets the number of rounds.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use marketplace::domain::record_filters::RecordFilter;
use marketplace::{
    clock::{Clock, Entropy},
    config::Settings,
    domain::{
        listing_lifecycle::Operation, listings::LifecycleStage, money::Cents, offers::OfferStatus,
        purchases::PayWith, teams::TeamRowId,
    },
    error::{Error, StateCode},
    fixtures::{self, FixtureSet},
    market::{Market, OpenOptions},
    operations,
    store::{self, Durability, offers::NewOffer},
    string_enum::StringEnum,
};
use serde_json::json;
use uuid::Uuid;

use crate::harness::{
    environment, listing_lifecycle, listings::listing_fields, market_options, panics::ProcessLog,
    random::Random,
};

/// Environment variable with the data directory of the server to kill.
const DIRECTORY_VARIABLE: &str = "KILL_FOLDER";

/// Environment variable with the random seed of its writes.
const SEED_VARIABLE: &str = "KILL_SEED";

fn open(directory: &Path) -> Market {
    // Submitting a listing starts a quality run, and the seller has no credits.
    let mut settings = Settings::default();
    settings.quality.credits_per_run = 0.0;
    open_with(directory, settings)
}

/// Opens a market as a server does, with full durability.
pub fn open_with(directory: &Path, settings: Settings) -> Market {
    Market::open(OpenOptions {
        // The system clock, so that a reopened server does not generate the same IDs again.
        clock: Arc::new(Clock::System),
        entropy: Entropy::System,
        durability: Durability::Full,
        ..market_options(directory, settings)
    })
    .unwrap()
}

/// Creates a market with a seller, a buyer, and four drafts, one of which is ready for submission.
pub fn prepare(directory: &Path) {
    let market = open(directory);
    fixtures::seed_taxonomy(&market).unwrap();
    let team = |key: &str, role: &str| {
        json!({"key": key, "name": key, "roles": [role], "tier": 1, "created_at": "-P9D",
        "nda_accepted_at": "-P9D"})
    };
    let set = json!({
        "teams": [team("seller", "vendor"), team("buyer", "buyer")],
        "assets": [{"key": "files", "team": "seller", "sku": "raw_data", "title": "Files", "created_at": "-P9D", "raw_data": {}}],
        "listings": (0..4).map(|number| json!({
            "key": format!("l{number}"), "team": "seller", "title": "Data", "description": "Much of it.", "price_usd": 5,
            "assets": if number == 0 { json!(["files"]) } else { json!([]) }, "created_at": "-P8D",
        })).collect::<Vec<_>>(),
    });
    fixtures::seed(
        &market,
        &FixtureSet::parse("kill", &[("kill.json".to_owned(), set.to_string())]).unwrap(),
    )
    .unwrap();
}

fn team(market: &Market, name: &str) -> TeamRowId {
    market.read_blocking(|reader| operations::teams::resolve(reader.rows, name)).unwrap().row_id
}

/// Kills a process that has just acknowledged a write, at a random moment of the next one or two: it gives the
/// processor away up to 10,000 times before, which takes some milliseconds.
pub fn kill_soon(process: &mut Child, random: &mut Random) {
    for _ in 0..random.below(10_000) {
        std::thread::yield_now();
    }
    process.kill().unwrap();
}

/// Returns the number of the buyer's offers on a listing.
fn count_offers(market: &Market, listing: Uuid) -> u64 {
    let buyer = team(market, "buyer");
    let offers = market
        .read_blocking(|reader| store::offers::list(reader.rows, buyer, &RecordFilter::default()))
        .unwrap();
    offers.iter().filter(|offer| offer.listing.id == listing).count() as u64
}

/// The server to kill: writes in an endless loop, and prints a line after each acknowledged write.
#[test]
fn writes_until_it_is_killed() {
    let (Ok(directory), Ok(seed)) = (std::env::var(DIRECTORY_VARIABLE), std::env::var(SEED_VARIABLE)) else {
        return;
    };
    let mut random = Random::new(seed.parse().unwrap());
    let market = open(Path::new(&directory));
    let (seller, buyer) = (team(&market, "seller"), team(&market, "buyer"));
    let complete_listing = marketplace::clock::fixture_record_id("listings", "l0");
    let mut listing_ids = vec![complete_listing];
    let print_line = |line: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").unwrap();
        out.flush().unwrap();
    };
    for count in 0..u64::MAX {
        let id = *random.pick(&listing_ids);
        match random.below(6) {
            0 => {
                let title = format!("Made {seed} {count}");
                let id = market
                    .write_blocking(|writer| {
                        listing_lifecycle::create(writer, seller, &listing_fields(&title))
                    })
                    .unwrap();
                listing_ids.push(id);
                print_line(format!("done title {id} {title}"));
            }
            1 => {
                let title = format!("Changed {seed} {count}");
                match market
                    .write_blocking(|writer| listing_lifecycle::update(writer, id, &listing_fields(&title)))
                {
                    Ok(_) => print_line(format!("done title {id} {title}")),
                    Err(Error::InvalidState(StateCode::ListingNotEditable, _)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            2 => {
                let offer = Uuid::new_v4();
                let written = market.write_blocking(|writer| {
                    let listing =
                        store::listings::find(writer.rows, id)?.expect("the listing was created").row_id;
                    // Decided, since a buyer can have any number of those.
                    store::offers::insert(
                        writer.rows,
                        &NewOffer {
                            id: offer,
                            listing,
                            buyer,
                            amount: Cents(7),
                            pay_with: PayWith::Invoice,
                            status: OfferStatus::Declined,
                            created_at: writer.now,
                            decided_at: Some(writer.now),
                        },
                    )
                });
                written.unwrap();
                print_line(format!("done offer {id} one"));
            }
            _ => {
                // Only the complete listing can go through the whole lifecycle, again and again.
                let id = if random.percent(70) { complete_listing } else { id };
                let status = market
                    .read_blocking(|reader| store::listings::find(reader.rows, id))
                    .unwrap()
                    .unwrap()
                    .status;
                let allowed = status.allowed_transitions();
                if allowed.is_empty() {
                    continue;
                }
                let operation = *random.pick(&allowed);
                match market.write_blocking(|writer| listing_lifecycle::perform(writer, id, operation)) {
                    Ok(state) => {
                        print_line(format!("done stage {id} {}", state.status.stage().as_str()));
                    }
                    Err(Error::Invalid(_)) if operation == Operation::Submit => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}

/// Expected state of a listing after the acknowledged writes of one round.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    title: Option<String>,
    stage: Option<LifecycleStage>,
    offers: u64,
}

/// Runs the server, kills it soon after the line number `after`, and returns all writes that it
/// acknowledged: listing, kind of write, and value.
fn run_and_kill(directory: &Path, random: &mut Random, seed: u64, after: u64) -> Vec<(Uuid, String, String)> {
    let mut log = ProcessLog::new();
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "contract::kill::writes_until_it_is_killed", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY_VARIABLE, directory)
        .env(SEED_VARIABLE, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(log.stdio())
        .spawn()
        .unwrap();
    let mut acknowledged = Vec::new();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    while let Some(Ok(line)) = lines.next() {
        // The test harness prints to stdout, too, and our first line follows its text on the same line.
        let Some((_, fields)) = line.split_once("done ") else { continue };
        let mut fields = fields.splitn(3, ' ').map(str::to_owned);
        if let (Some(kind), Some(id), Some(value)) = (fields.next(), fields.next(), fields.next()) {
            acknowledged.push((id.parse().unwrap(), kind, value));
        }
        if acknowledged.len() as u64 == after {
            kill_soon(&mut server, random);
        }
    }
    let status = server.wait().unwrap();
    log.assert_no_panic();
    assert!(
        acknowledged.len() as u64 >= after,
        "the server exited with {status} after {} writes",
        acknowledged.len()
    );
    acknowledged
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let rounds = environment::rounds(5, 100);
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let mut random = Random::new(11);
    let mut offers_before = std::collections::BTreeMap::<Uuid, u64>::new();
    for round in 0..rounds {
        let seed = random.next();
        let after = 1 + random.below(40);
        let acknowledged = run_and_kill(directory.path(), &mut random, seed, after);
        let market = open(directory.path());
        let inconsistencies = operations::verify::find_inconsistencies(&market).unwrap();
        assert!(inconsistencies.is_empty(), "round {round}, seed {seed}: {inconsistencies:#?}");
        let mut expected = std::collections::BTreeMap::<Uuid, State>::new();
        for (id, what, value) in &acknowledged {
            let state = expected.entry(*id).or_default();
            match what.as_str() {
                "title" => state.title = Some(value.clone()),
                "stage" => state.stage = LifecycleStage::parse(value),
                _ => state.offers += 1,
            }
        }
        // One more write may be there: one that was committed but not acknowledged.
        let mut unacknowledged = 0;
        for (id, state) in expected {
            let found = market.read_blocking(|reader| store::listings::find(reader.rows, id)).unwrap();
            let found =
                found.unwrap_or_else(|| panic!("round {round}, seed {seed}: the listing {id} is lost"));
            let stored_offers = count_offers(&market, id);
            unacknowledged += u64::from(state.title.is_some_and(|title| title != found.title));
            unacknowledged += u64::from(state.stage.is_some_and(|stage| stage != found.status.stage()));
            let offers = offers_before.get(&id).copied().unwrap_or(0) + state.offers;
            assert!(stored_offers >= offers, "round {round}, seed {seed}: a bid on {id} is lost");
            unacknowledged += stored_offers - offers;
            offers_before.insert(id, stored_offers);
        }
        assert!(
            unacknowledged <= 1,
            "round {round}, seed {seed}: {unacknowledged} unacknowledged writes, at most 1 is possible"
        );
        // An offer that was not acknowledged may be on the one listing that all rounds share.
        let shared = marketplace::clock::fixture_record_id("listings", "l0");
        offers_before.insert(shared, count_offers(&market, shared));
    }
}
