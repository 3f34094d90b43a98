//! Commands that sell and pay in a market without a web app: listings, credits, and the ledger.

use std::path::Path;

use serde_json::{Value, json};

use super::{run, run_failing, stdout_of, temp_dir};
use crate::harness::{elements, server::Server};

/// Runs a command that must succeed, and returns what it prints without the line break.
fn print(arguments: &[&str], directory: &Path) -> String {
    stdout_of(&run(arguments, directory)).trim().to_owned()
}

/// Creates a team with both roles and a key, and returns the key.
fn create_team(name: &str, directory: &Path) -> String {
    print(&["team", "create", name, "--role", "vendor", "--role", "buyer", "--nda"], directory);
    print(&["key", "create", name], directory)
}

/// Creates two assets of a team through the API, and returns their IDs.
fn create_assets(key: &str, directory: &Path) -> [String; 2] {
    let server = Server::start(&directory.join("data"), key, &[]);
    let complete =
        json!({"title": "Letters", "description": "Scans.", "domain_tags": ["legal"], "price_usd": 90});
    [complete, json!({"title": "Unfinished"})].map(|body| {
        let (status, asset) = server.call("POST", "/v2/raw-data", &body);
        assert_eq!(status, 201, "{asset}");
        asset["id"].as_str().unwrap().to_owned()
    })
}

#[test]
fn market_of_commands_publishes_a_listing() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let (vendor, buyer) = (create_team("Acme Data", directory), create_team("Beta Labs", directory));
    let [asset, unfinished] = create_assets(&vendor, directory);
    let create = ["listing", "create", "Acme Data", "--title", "Letters of a law firm", "--price", "49.50"];
    let (code, stderr) = run_failing(&[&create[..], &["--asset", &unfinished]].concat(), directory);
    assert!(code == 1 && stderr.contains("lacks description, domain_tags, price_usd"), "{stderr}");
    let details =
        ["--description", "Scanned letters.", "--terms", "One firm.", "--accepts-bids", "--asset", &asset];
    let listing = print(&[&create[..], &details].concat(), directory);
    let (code, stderr) = run_failing(&["listing", "publish", &listing], directory);
    assert!(code == 1 && stderr.contains("submit"), "the error names the allowed transitions: {stderr}");
    let submitted = run(&["listing", "submit", &listing], directory);
    assert_eq!(stdout_of(&submitted), "review\n");
    assert!(String::from_utf8_lossy(&submitted.stderr).contains("too few credits"));
    assert_eq!(print(&["listing", "approve", &listing], directory), "ready");
    assert_eq!(print(&["listing", "publish", &listing], directory), "active");
    let server = Server::start(&directory.join("data"), &buyer, &[]);
    let (status, page) = server.call("GET", "/v2/listings/browse?query=letters", &Value::Null);
    assert_eq!((status, page["counts"]["all"].as_u64()), (200, Some(1)), "{page}");
    let item = &page["items"][0];
    assert_eq!((&item["id"], &item["title"]), (&json!(listing), &json!("Letters of a law firm")));
    drop(server);
    assert!(stdout_of(&run(&["verify"], directory)).contains("no problems found"));
}

#[test]
fn drafts_of_commands_are_checked() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    create_team("Acme Data", directory);
    let long = "x".repeat(201);
    let unknown = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";
    for (arguments, code, expected) in [
        (&["--title", ""][..], 1, "`title` must have a length of at least 1"),
        (&["--title", &long], 1, "`title` must have at most 200 characters"),
        (&["--title", "A", "--price", "1.234"], 2, "must be an amount of US dollars"),
        (&["--title", "A", "--price=-1"], 1, "`price` must be an amount that is not negative"),
        (&["--title", "A", "--asset", unknown], 1, "do not exist, or belong to another team"),
        (&["--title", "A", "--asset", "7"], 1, "No asset is called \"7\"."),
    ] {
        let all = [&["listing", "create", "Acme Data"], arguments].concat();
        let (actual, stderr) = run_failing(&all, directory);
        assert!(actual == code && stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    for verb in ["submit", "approve", "publish"] {
        let (code, stderr) = run_failing(&["listing", verb, unknown], directory);
        assert!(code == 1 && stderr.contains("No listing was found."), "{stderr}");
    }
}

#[test]
fn commands_change_credits_and_list_the_ledger() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    create_team("Acme Data", directory);
    for (arguments, expected) in [
        (&["buy", "Acme Data", "250"][..], "250.00"),
        (&["adjust", "Acme Data", "0.5", "--reason", "Welcome credit"], "250.50"),
        (&["adjust", "Acme Data", "-100.25", "--reason", "Booked twice"], "150.25"),
    ] {
        assert_eq!(print(&[&["credits"], arguments].concat(), directory), expected);
    }
    for (arguments, code, expected) in [
        (&["buy", "Acme Data", "0"][..], 1, "The amount must be at least 0.01 US dollars"),
        (&["buy", "Acme Data", "-5"], 1, "`amount` must be an amount that is not negative"),
        (&["buy", "Acme Data", "1e3"], 2, "must be an amount of US dollars"),
        (&["buy", "Nobody", "1"], 1, "No team is called \"Nobody\"."),
        (&["adjust", "Acme Data", "-150.26", "--reason", "Booked twice"], 1, "the wallet has less"),
        (&["adjust", "Acme Data", "1", "--reason", " "], 1, "`description` must not be blank"),
        (&["adjust", "Acme Data", "1"], 2, "--reason"),
        (&["convert", "Acme Data", "1"], 1, "are more than the available earnings, of which there are none."),
    ] {
        let (actual, stderr) = run_failing(&[&["credits"], arguments].concat(), directory);
        assert!(actual == code && stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    let list = |arguments: &[&str]| -> Vec<Value> {
        let json = print(&[&["ledger", "--json"], arguments].concat(), directory);
        serde_json::from_str(&json).unwrap()
    };
    let shown = |entry: &Value| {
        let of_posting = |posting: &Value| {
            ["account", "amount"].map(|field| posting[field].as_str().unwrap().to_owned()).concat()
        };
        let mut postings: Vec<String> = elements(&entry["postings"]).map(of_posting).collect();
        postings.sort();
        (entry["entry_type"].as_str().unwrap().to_owned(), postings)
    };
    let of_team: Vec<_> = list(&["Acme Data"]).iter().map(shown).collect();
    let entry = |postings: [&str; 2]| ("adjustment".to_owned(), postings.map(str::to_owned).to_vec());
    let newest = [entry(["credits-100.25", "platform100.25"]), entry(["credits0.50", "platform-0.50"])];
    assert_eq!(of_team[..2], newest);
    assert_eq!(of_team[2], entry(["credits250.00", "payments-250.00"]));
    assert_eq!(list(&["--limit", "2"]).iter().map(shown).collect::<Vec<_>>(), newest);
    let table = print(&["ledger", "Acme Data"], directory);
    assert!(table.starts_with("CREATED AT") && table.contains("Booked twice"), "{table}");
    assert_eq!(run_failing(&["ledger", "--limit", "1001"], directory).0, 2);
    assert!(stdout_of(&run(&["verify"], directory)).contains("no problems found"));
}
