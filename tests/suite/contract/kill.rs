//! A server that is killed at any instant: what it acknowledged is there when it is opened again, and all is in order.
//!
//! The test executes itself once more as the server to kill. `KILL_ROUNDS` sets how often.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use marketplace::{
    clock::{Clock, Entropy},
    config::Settings,
    domain::{
        deals::OfferStatus,
        listings::{Event, LifecycleStage},
        money::Cents,
        teams::TeamNumber,
        vocabulary::Vocabulary,
    },
    error::Error,
    fixtures::{self, Set},
    market::{Market, Opening, Purpose},
    operations::{self, listings},
    rest,
    store::{self, Durability, deals::NewOffer, listings::ListingWords},
};
use serde_json::json;
use uuid::Uuid;

use crate::harness::random::Random;

/// Where the server to kill is told its folder.
const FOLDER: &str = "KILL_FOLDER";

/// Where it is told the seed of its writes.
const SEED: &str = "KILL_SEED";

fn open(folder: &Path) -> Market {
    // Submitting starts a quality run, and the seller has no credits.
    let mut settings = Settings::default();
    settings.quality.credits_per_run = 0.0;
    open_with(folder, settings)
}

/// A market as a server opens it that keeps what it acknowledged.
pub fn open_with(folder: &Path, settings: Settings) -> Market {
    Market::open(Opening {
        folder: folder.to_owned(),
        settings,
        // The system's, so that a server that is opened again does not repeat its ids.
        clock: Arc::new(Clock::System),
        entropy: Entropy::System,
        durability: Durability::Full,
        purpose: Purpose::Serve,
        renderer: rest::RENDERER,
    })
    .unwrap()
}

/// A market with a seller, a buyer and one draft that lacks nothing, to begin with.
fn prepare(folder: &Path) {
    let market = open(folder);
    fixtures::prepare(&market).unwrap();
    let team = |key: &str, role: &str| json!({"key": key, "name": key, "roles": [role], "tier": 1, "created_at": "-P9D"});
    let set = json!({
        "teams": [team("seller", "vendor"), team("buyer", "buyer")],
        "assets": [{"key": "files", "team": "seller", "sku": "raw_data", "title": "Files", "created_at": "-P9D", "raw_data": {}}],
        "listings": (0..4).map(|number| json!({
            "key": format!("l{number}"), "team": "seller", "title": "Data", "description": "Much of it.", "price_usd": 5,
            "assets": if number == 0 { json!(["files"]) } else { json!([]) }, "created_at": "-P8D",
        })).collect::<Vec<_>>(),
    });
    fixtures::seed(&market, &Set::parse("kill", &[("kill.json".to_owned(), set.to_string())]).unwrap())
        .unwrap();
}

/// Words of a listing, told apart by its title.
fn words(title: &str) -> ListingWords<'_> {
    ListingWords {
        title,
        description: "Much of it.",
        domain_tags: &[],
        tag_slugs: &[],
        price: Some(Cents(500)),
        sample_price: None,
        accepts_bids: true,
        terms: "",
        delivery: None,
        available_from: None,
        featured: None,
    }
}

fn team(market: &Market, name: &str) -> TeamNumber {
    market.read_blocking(|reader| operations::teams::resolve(reader.rows, name)).unwrap().number
}

/// The server to kill: writes without end, and says of each write that it is done, once it is.
#[test]
fn writes_until_it_is_killed() {
    let (Ok(folder), Ok(seed)) = (std::env::var(FOLDER), std::env::var(SEED)) else { return };
    let mut random = Random(seed.parse().unwrap());
    let market = open(Path::new(&folder));
    let (seller, buyer) = (team(&market, "seller"), team(&market, "buyer"));
    let full = marketplace::clock::record_id("listings", "l0");
    let mut known = vec![full];
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").unwrap();
        out.flush().unwrap();
    };
    for count in 0..u64::MAX {
        let id = *random.one(&known);
        match random.below(6) {
            0 => {
                let title = format!("Made {seed} {count}");
                let (_, id) =
                    market.write_blocking(|writer| listings::create(writer, seller, &words(&title))).unwrap();
                known.push(id);
                say(format!("done title {id} {title}"));
            }
            1 => {
                let title = format!("Changed {seed} {count}");
                match market.write_blocking(|writer| listings::update(writer, id, &words(&title))) {
                    Ok(()) => say(format!("done title {id} {title}")),
                    Err(Error::Conflict(_)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            2 => {
                let offer = Uuid::new_v4();
                let written = market.write_blocking(|writer| {
                    let listing = store::listings::find(writer.rows, id)?.expect("it is known").number;
                    store::deals::insert_offer(
                        writer.rows,
                        &NewOffer {
                            id: offer,
                            listing,
                            buyer,
                            amount: Cents(7),
                            status: OfferStatus::Submitted,
                            created_at: writer.now,
                            decided_at: None,
                        },
                    )
                });
                written.unwrap();
                say(format!("done offer {id} one"));
            }
            _ => {
                // The one that lacks nothing goes through its whole life, again and again.
                let id = if random.percent(70) { full } else { id };
                let status = market
                    .read_blocking(|reader| store::listings::find(reader.rows, id))
                    .unwrap()
                    .unwrap()
                    .status;
                let allowed = status.allowed();
                if allowed.is_empty() {
                    continue;
                }
                let event = *random.one(&allowed);
                match market.write_blocking(|writer| listings::transition(writer, id, event)) {
                    Ok(()) => say(format!("done stage {id} {}", status.after(event).unwrap().stage().word())),
                    Err(Error::Invalid(_)) if event == Event::Submitted => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}

/// What a listing shows of the writes to it.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    title: Option<String>,
    stage: Option<LifecycleStage>,
    offers: u64,
}

/// Runs the server, kills it right after its `after`th word, and answers all that it said until it was dead.
fn run_and_kill(folder: &Path, seed: u64, after: u64) -> Vec<(Uuid, String, String)> {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "contract::kill::writes_until_it_is_killed", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = Vec::new();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    while let Some(Ok(line)) = lines.next() {
        // The harness of tests says things, too, and puts the first of ours behind its own.
        let Some((_, words)) = line.split_once("done ") else { continue };
        let mut words = words.splitn(3, ' ').map(str::to_owned);
        if let (Some(what), Some(id), Some(value)) = (words.next(), words.next(), words.next()) {
            said.push((id.parse().unwrap(), what, value));
        }
        if said.len() as u64 == after {
            server.kill().unwrap();
        }
    }
    let status = server.wait().unwrap();
    assert!(
        said.len() as u64 >= after,
        "the server ended by itself with {status} after {} writes",
        said.len()
    );
    said
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let rounds = std::env::var("KILL_ROUNDS").map_or(10, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let mut random = Random(11);
    let mut offers_before = std::collections::BTreeMap::<Uuid, u64>::new();
    for round in 0..rounds {
        let seed = random.next();
        let said = run_and_kill(folder.path(), seed, 1 + random.below(40));
        let market = open(folder.path());
        let faults = operations::verify::faults(&market).unwrap();
        assert!(faults.is_empty(), "round {round}, seed {seed}: {faults:#?}");
        let mut expected = std::collections::BTreeMap::<Uuid, State>::new();
        for (id, what, value) in &said {
            let state = expected.entry(*id).or_default();
            match what.as_str() {
                "title" => state.title = Some(value.clone()),
                "stage" => state.stage = LifecycleStage::parse(value),
                _ => state.offers += 1,
            }
        }
        // One write more may be there: the one that was done and not acknowledged.
        let mut unsaid = 0;
        for (id, state) in expected {
            let found = market.read_blocking(|reader| store::listings::find(reader.rows, id)).unwrap();
            let found =
                found.unwrap_or_else(|| panic!("round {round}, seed {seed}: the listing {id} is lost"));
            let entry = market
                .read_blocking(|reader| store::listings::entry(reader.rows, found.number))
                .unwrap()
                .unwrap();
            unsaid += u64::from(state.title.is_some_and(|title| title != found.title));
            unsaid += u64::from(state.stage.is_some_and(|stage| stage != found.status.stage()));
            let offers = offers_before.get(&id).copied().unwrap_or(0) + state.offers;
            assert!(entry.active_bids >= offers, "round {round}, seed {seed}: a bid on {id} is lost");
            unsaid += entry.active_bids - offers;
            offers_before.insert(id, entry.active_bids);
        }
        assert!(unsaid <= 1, "round {round}, seed {seed}: {unsaid} listings are not as they were left");
        // A bid that was not acknowledged may lie on the one listing that all rounds share.
        let shared = marketplace::clock::record_id("listings", "l0");
        let number = market
            .read_blocking(|reader| store::listings::find(reader.rows, shared))
            .unwrap()
            .unwrap()
            .number;
        let entry =
            market.read_blocking(|reader| store::listings::entry(reader.rows, number)).unwrap().unwrap();
        offers_before.insert(shared, entry.active_bids);
    }
}
