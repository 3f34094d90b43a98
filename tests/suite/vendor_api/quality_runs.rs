//! Quality runs that inspect repositories, archives, and whole listings: results, charges, and certification.

use marketplace::{
    domain::listing_lifecycle::Operation,
    operations::{self, access::Platform},
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::seller_market::{
    market_with, seeded_id, seller_call, seller_get, seller_post, taskset_record, upload_zip,
};
use crate::{
    catalog::small_market,
    harness::{TestMarket, archives::zip_of, elements, git::Repositories, listing_lifecycle, teams},
};

/// Returns a market whose seller has 12 dollars of credits, enough for two runs but not for three.
pub(super) fn market(more: &Value) -> TestMarket {
    let mut records = json!({"ledger_entries": [{"key": "credits", "team": "seller", "entry_type": "adjustment",
        "amount_usd": 12, "description": "Credit", "created_at": "-P9D"}]});
    for (collection, added) in more.as_object().unwrap() {
        records[collection] = added.clone();
    }
    market_with(&records)
}

/// Creates raw data with a zip of these files attached and returns its path.
async fn create_raw_data<B: AsRef<[u8]>>(market: &TestMarket, title: &str, files: &[(&str, B)]) -> String {
    let url = upload_zip(market, "Seller house", &zip_of(files));
    let body = json!({"title": title, "data": {"channel": "zip", "url": url}});
    format!("raw-data/{}", seller_post(market, "raw-data", body).await["id"].as_str().unwrap())
}

fn scan_files() -> Vec<(&'static str, &'static str)> {
    let readme = "# Scans\n\nScans of court letters, with what they say in a table.\n\nEach letter has a page, a court, and a \
                  date, and the table says what a person read in it.\n";
    vec![("README.md", readme), ("rows-1.csv", "a,b\n1,2\n3,4\n"), ("rows-2.csv", "a,b\n5,6\n")]
}

async fn start_run(market: &TestMarket, path: &str) -> Value {
    seller_call(market, "POST", &format!("{path}/qc/runs"), Value::Null).await.expect_status(202)
}

pub(super) async fn get_credits(market: &TestMarket) -> Value {
    seller_get(market, "wallet").await["credits_balance"].clone()
}

/// Returns the key, the status, and the message of each check of a run.
pub(super) fn check_results(run: &Value) -> Vec<(String, String, String)> {
    let text = |check: &Value, field: &str| check[field].as_str().unwrap().to_owned();
    let all = elements(&run["checks"]);
    all.map(|check| (text(check, "key"), text(check, "status"), text(check, "message"))).collect()
}

fn find_check<'c>(checks: &'c [(String, String, String)], key: &str) -> (&'c str, &'c str) {
    let check =
        checks.iter().find(|(known, ..)| known == key).unwrap_or_else(|| panic!("no {key} in {checks:#?}"));
    (&check.1, &check.2)
}

/// "Starts checks after the archive is read"; charged at the start; at most one run at a time for each asset.
#[tokio::test]
async fn run_waits_for_the_data_and_checks_it() {
    let market = market(&json!({}));
    let mut files = scan_files();
    files.push(("LICENSE", "All rights of the finder."));
    let path = create_raw_data(&market, "Scans", &files).await;
    assert_eq!(seller_get(&market, &format!("{path}/qc")).await["latest_run"], Value::Null);
    let started = start_run(&market, &path).await;
    assert_eq!((&started["status"], &started["run_number"]), (&json!("queued"), &json!(1)));
    assert_eq!(format!("raw-data/{}", started["asset_id"].as_str().unwrap()), path);
    assert_eq!(get_credits(&market).await, json!("7.00"));
    let again = seller_call(&market, "POST", &format!("{path}/qc/runs"), Value::Null).await;
    assert_eq!(again.expect_error(409), "run_in_progress");
    market.run_background();
    let run = seller_get(&market, &format!("{path}/qc")).await["latest_run"].clone();
    assert_eq!(run["triggered_by"], "team", "a run that the API started");
    assert_eq!((&run["id"], &run["status"]), (&started["run_id"], &json!("completed")));
    assert_eq!((&run["mandatory_passed"], &run["charge_total"]), (&json!(true), &json!(5.0)));
    assert_eq!(run["passed"], true);
    let checks = check_results(&run);
    for key in [
        "archive_intact",
        "no_path_traversal",
        "no_encrypted_entries",
        "readme_present",
        "license_found",
        "no_live_secrets",
        "personal_data_hints",
        "dataset_readable",
        "schema_consistent",
        "duplicate_share",
        "duplicates_elsewhere",
    ] {
        assert_eq!(find_check(&checks, key).0, "passed", "{key}");
    }
    // The next run has the next run number, and the credits do not cover a third run.
    assert_eq!(start_run(&market, &path).await["run_number"], 2);
    market.run_background();
    let rejection = seller_call(&market, "POST", &format!("{path}/qc/runs"), Value::Null).await;
    assert_eq!(rejection.expect_error(409), "insufficient_credits");
    assert_eq!(get_credits(&market).await, json!("2.00"));
}

/// The message of a failed check names the location and never contains the secret itself.
#[tokio::test]
async fn failed_checks_name_the_location() {
    let market = market(&json!({}));
    let key = concat!(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx4fZ8kq0yq5bN1v9v3nq8Fz7c2m1yJ0pQw5rT6uI8oP9aS3d\n",
        "F4gH5jK6lZ7xC8vB9nM0qW1eR2tY3uI4oP5aS6dF7gH8jK9lZ0xC1vB2nM3qW4eR5tY\n-----END RSA PRIVATE KEY-----\n"
    );
    let files = [
        ("deploy/key.pem", key),
        ("part-1.csv", "a,b\n1,2\n"),
        ("part-2.csv", "a,b\n1,2\n1,2,3\n"),
        ("part-3.csv", "a,c\n1,2\n"),
    ];
    let path = create_raw_data(&market, "Bad", &files).await;
    start_run(&market, &path).await;
    market.run_background();
    let run = seller_get(&market, &format!("{path}/qc")).await["latest_run"].clone();
    assert_eq!((&run["status"], &run["mandatory_passed"]), (&json!("completed"), &json!(false)));
    let checks = check_results(&run);
    for (key, expected_text) in [
        ("no_live_secrets", "deploy/key.pem"),
        ("dataset_readable", "part-2.csv"),
        ("schema_consistent", "part-3.csv"),
        ("readme_present", "README"),
    ] {
        let (status, message) = find_check(&checks, key);
        assert_eq!(status, "failed", "{key}: {message}");
        assert!(message.contains(expected_text), "{key}: {message}");
        assert!(!message.contains("MIIEowIBAAK"), "{message}");
    }
}

/// "A check must not pass on what it did not read": the run fails, names the file, and says what to do.
#[tokio::test]
async fn run_fails_on_what_it_cannot_read() {
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
                   oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 73400320\n";
    let key = [
        "-----BEGIN ",
        "PRIVATE KEY-----\r\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7x2rZk9Yt\r\n",
    ];
    let key: Vec<u8> =
        format!("\u{feff}{}", key.concat()).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let table = "id,name\r\n1,Jos\u{e9}\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let latin_1 = b"id,name\n1,Jos\xe9\n".to_vec();
    let good = ("a.csv", b"a,b\n1,2\n".to_vec());
    let cases = [
        (vec![], "archive_intact", "failed", "has no files"),
        (
            vec![("train.csv", pointer.into())],
            "archive_intact",
            "failed",
            "\"train.csv\". Run `git lfs pull`",
        ),
        (
            vec![("t.csv", b"id,text\n1,ok\n2,\"cut off he".to_vec())],
            "dataset_readable",
            "failed",
            "\"t.csv\" ends inside",
        ),
        (
            vec![("t.csv", latin_1)],
            "dataset_readable",
            "failed",
            "\"t.csv\" is not UTF-8 (line 2). Save it as UTF-8",
        ),
        (vec![("k.txt", key)], "no_live_secrets", "failed", "\"k.txt\", line 1"),
        (
            vec![("t.tsv", b"id\ttext\n1\t\"hello\n2\tworld\n".to_vec())],
            "dataset_readable",
            "passed",
            "1 file with 2 rows",
        ),
        (vec![("t.csv", table)], "dataset_readable", "passed", "1 file with 1 row"),
        (vec![good, ("._a.csv", b"\0\x05\x16\x07".to_vec())], "archive_intact", "passed", "\"._a.csv\""),
    ];
    let market = TestMarket::with_settings(|settings| settings.quality.credits_per_run = 0.0);
    small_market::seed_market(&market, &[], &json!({}));
    for (number, (files, key, expected, text)) in cases.into_iter().enumerate() {
        let path = create_raw_data(&market, &format!("T{number}"), &files).await;
        start_run(&market, &path).await;
        market.run_background();
        let run = seller_get(&market, &format!("{path}/qc")).await["latest_run"].clone();
        assert_eq!(run["mandatory_passed"], json!(expected == "passed"), "{run:#}");
        let checks = check_results(&run);
        let (status, message) = find_check(&checks, key);
        assert_eq!(status, expected, "{key}: {message}");
        assert!(message.contains(text), "{key}: {message}");
    }
}

/// A run with lost data ends with an error, and a run with detached data is canceled. Both are refunded.
#[tokio::test]
async fn failed_and_cancelled_runs_are_refunded() {
    let market = market(&json!({}));
    let path = create_raw_data(&market, "Lost", &scan_files()).await;
    start_run(&market, &path).await;
    let (uploads, moved) =
        ["blobs/uploads", "blobs/away"].map(|name| market.market().data_dir().join(name)).into();
    std::fs::rename(&uploads, &moved).unwrap();
    market.run_background();
    std::fs::rename(&moved, &uploads).unwrap();
    let run = seller_get(&market, &format!("{path}/qc")).await["latest_run"].clone();
    assert_eq!((&run["status"], &run["charge_total"]), (&json!("error"), &json!(0.0)));
    assert!(run["error"].as_str().unwrap().contains("no longer exists"), "{run}");
    assert_eq!(get_credits(&market).await, json!("12.00"));
    let path = create_raw_data(&market, "Detached", &scan_files()).await;
    start_run(&market, &path).await;
    seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
    assert_eq!(get_credits(&market).await, json!("12.00"));
    market.run_background();
    let run = seller_get(&market, &format!("{path}/qc")).await["latest_run"].clone();
    assert_eq!(run["status"], "cancelled");
    let rejection = seller_call(&market, "POST", &format!("{path}/qc/runs"), Value::Null).await;
    assert_eq!(rejection.expect_error(409), "data_not_attached");
    let notifications = seller_get(&market, "vendor/notifications").await;
    let notifications: Vec<&Value> =
        elements(&notifications["notifications"]).map(|notifications| &notifications["type"]).collect();
    assert_eq!(notifications, [&json!("quality_check_completed"); 2]);
}

/// Duplicates in other assets of the same team are found. Files of other teams are not compared.
#[tokio::test]
async fn duplicates_in_other_assets_of_the_team_are_found() {
    let market = market(&json!({}));
    let long = "x".repeat(500);
    let files = [("README.md", "Scans."), ("a.txt", long.as_str())];
    let first = create_raw_data(&market, "First", &files).await;
    start_run(&market, &first).await;
    market.run_background();
    let second = create_raw_data(&market, "Second", &files).await;
    start_run(&market, &second).await;
    market.run_background();
    let of = |path: String| {
        let market = &market;
        async move { check_results(&seller_get(market, &format!("{path}/qc")).await["latest_run"]) }
    };
    assert_eq!(find_check(&of(first).await, "duplicates_elsewhere").0, "passed");
    let checks = of(second).await;
    let (status, message) = find_check(&checks, "duplicates_elsewhere");
    assert_eq!(status, "failed");
    assert!(message.contains("First"), "{message}");
}

/// A linked repository is checked in the copy that was made of it.
#[tokio::test]
async fn linked_repository_is_checked() {
    let repositories = Repositories::new();
    repositories.create_with_files(
        "acme/ledger",
        &[
            ("README.md", "Ledger."),
            ("Cargo.toml", "[package]\nname = \"a\"\nlicense = \"MIT\"\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("tests/a.rs", "#[test]\nfn a() {}\n"),
        ],
    );
    let market = TestMarket::with_settings(|settings| {
        settings.repositories.github_url = repositories.url();
        settings.quality.credits_per_run = 0.0;
    });
    small_market::seed_market(&market, &[], &json!({}));
    let body = json!({"title": "L", "exclusivity": "available", "data": {"channel": "github", "repo_full_name": "acme/ledger"}});
    let path = format!("codebases/{}", seller_post(&market, "codebases", body).await["id"].as_str().unwrap());
    start_run(&market, &path).await;
    let work = market.market().clone();
    tokio::task::spawn_blocking(move || operations::background::run_pending(&work, &|| true).unwrap())
        .await
        .unwrap();
    let run = seller_get(&market, &format!("{path}/qc")).await["latest_run"].clone();
    assert_eq!((&run["status"], &run["mandatory_passed"]), (&json!("completed"), &json!(true)), "{run:#}");
    let checks = check_results(&run);
    assert!(checks.iter().all(|(key, ..)| key != "no_encrypted_entries"));
    for (key, status, expected_text) in [
        ("license_found", "passed", "MIT"),
        ("build_manifest", "passed", "Cargo.lock"),
        ("tests_present", "passed", "tests/a.rs"),
        ("ci_present", "failed", ""),
    ] {
        let (found, message) = find_check(&checks, key);
        assert_eq!(found, status, "{key}: {message}");
        assert!(message.contains(expected_text), "{key}: {message}");
    }
}

/// "A listing-level run starts when a listing is submitted; a passing one certifies the listing, and a change
/// of its assets ends the certification."
#[tokio::test]
async fn submitted_listing_is_checked_and_certified() {
    let draft = |key: &str, assets: Value| json!({"key": key, "team": "seller", "title": key, "description": "D", "price_usd": 9, "created_at": "-P9D", "assets": assets});
    let market = market(&json!({
        "tasksets": [taskset_record("s", "seller")],
        "assets": [
            {"key": "set", "team": "seller", "sku": "taskset", "title": "Set", "created_at": "-P9D", "taskset": "s"},
            {"key": "files", "team": "seller", "sku": "raw_data", "title": "Files", "description": "D", "created_at": "-P9D", "raw_data": {}},
        ],
        "listings": [draft("good", json!(["files"])), draft("tasks", json!(["set"]))],
    }));
    let files = seeded_id("assets", "files");
    let url = upload_zip(&market, "Seller house", &zip_of(&scan_files()));
    seller_post(&market, &format!("raw-data/{files}/data"), json!({"channel": "zip", "url": url})).await;
    let listing: Uuid = seeded_id("listings", "good").parse().unwrap();
    let perform = |id: Uuid, operation| {
        market.write(move |writer| listing_lifecycle::perform(writer, id, operation)).unwrap();
    };
    let view = |key: &str| {
        let (market, path) = (&market, format!("listings/{}/qc?task_rows=all", seeded_id("listings", key)));
        async move { seller_get(market, &path).await }
    };
    // The run waits for the analysis of the archive.
    perform(listing, Operation::Submit);
    assert_eq!(view("good").await["latest_run"]["status"], "queued");
    market.run_background();
    let good = view("good").await;
    assert_eq!(
        (&good["platform_quality_certified"], &good["latest_run"]["triggered_by"]),
        (&json!(true), &json!("submission")),
        "{good:#}"
    );
    let run = &good["latest_run"];
    assert_eq!(run["checks"].as_array().unwrap().last().unwrap()["scope"], "listing");
    assert_eq!(run["checks"][0]["listing_asset_id"], files);
    let reports = seller_get(&market, "listings/qc-reports").await;
    assert_eq!((&reports["total"], &reports["reports"][0]["charge_total"]), (&json!(1), &json!(5.0)));
    // A change of the listing's assets ends the certification.
    perform(listing, Operation::Withdraw);
    seller_call(&market, "DELETE", &format!("listings/{listing}/assets/{files}"), Value::Null)
        .await
        .expect_status(204);
    assert_eq!(view("good").await["platform_quality_certified"], false);
    // Each task is checked separately.
    let tasks: Uuid = seeded_id("listings", "tasks").parse().unwrap();
    market
        .write(|writer| operations::listing_lifecycle::start_run(writer, Platform::of_process(), tasks))
        .unwrap();
    market.run_background();
    let view = view("tasks").await;
    let run = &view["latest_run"];
    assert_eq!((&run["status"], &run["mandatory_passed"]), (&json!("completed"), &json!(false)));
    let summary = elements(&run["task_summaries"]).find(|row| row["check_key"] == "tasks_graded").unwrap();
    assert!(summary["passed"].as_u64().unwrap() > 0 && summary["failed"].as_u64().unwrap() > 0, "{summary}");
    let built = check_results(run).into_iter().find(|(key, ..)| key == "environment_builds").unwrap();
    assert_eq!(built.1, "failed");
}

/// Withdrawing a listing cancels its run and refunds the charge.
#[tokio::test]
async fn withdrawing_a_listing_cancels_its_run() {
    let market = market(&json!({
        "assets": [{"key": "files", "team": "seller", "sku": "raw_data", "title": "Files", "created_at": "-P9D", "raw_data": {}}],
        "listings": [{"key": "a", "team": "seller", "title": "A", "description": "D", "price_usd": 9, "created_at": "-P9D", "assets": ["files"]}],
    }));
    let listing: Uuid = seeded_id("listings", "a").parse().unwrap();
    for _ in 0..3 {
        for operation in [Operation::Submit, Operation::Withdraw] {
            market.write(|writer| listing_lifecycle::perform(writer, listing, operation)).unwrap();
        }
    }
    market.run_background();
    assert_eq!(get_credits(&market).await, json!("12.00"));
    let reports = seller_get(&market, "listings/qc-reports").await["reports"].clone();
    let states: Vec<&Value> = reports.as_array().unwrap().iter().map(|report| &report["status"]).collect();
    assert_eq!(states, [&json!("cancelled"); 3]);
}

/// A certification ends when the data is detached, and a run that started before the data was replaced does
/// not certify the new data.
#[tokio::test]
async fn certification_ends_when_the_data_changes() {
    let market = market(&json!({
        "assets": [{"key": "files", "team": "seller", "sku": "raw_data", "title": "Files", "created_at": "-P9D", "raw_data": {}}],
        "listings": [{"key": "a", "team": "seller", "title": "A", "description": "D", "price_usd": 9, "created_at": "-P9D", "assets": ["files"]}],
    }));
    let data = format!("raw-data/{}/data", seeded_id("assets", "files"));
    let attach = async || {
        let url = upload_zip(&market, "Seller house", &zip_of(&scan_files()));
        seller_post(&market, &data, json!({"channel": "zip", "url": url})).await;
    };
    let detach = async || seller_call(&market, "DELETE", &data, Value::Null).await.expect_status(204);
    let listing: Uuid = seeded_id("listings", "a").parse().unwrap();
    let check = || {
        market
            .write(|writer| operations::listing_lifecycle::start_run(writer, Platform::of_process(), listing))
            .unwrap();
    };
    let view = async || seller_get(&market, &format!("listings/{listing}/qc")).await;
    attach().await;
    check();
    market.run_background();
    assert_eq!(view().await["platform_quality_certified"], true);
    detach().await;
    assert_eq!(view().await["platform_quality_certified"], false);
    // The run waits for the data that is attached when it starts, and does not certify data that replaces it.
    attach().await;
    check();
    detach().await;
    market.clock().advance(1);
    attach().await;
    market.run_background();
    let now = view().await;
    assert_eq!(now["latest_run"]["mandatory_passed"], true);
    assert_eq!(now["platform_quality_certified"], false);
}

/// Evidence is of the data that is offered. Checks of data that was detached are left out, and with them those of the whole
/// listing. Pages and agents show the same.
#[tokio::test]
async fn checks_of_detached_data_are_no_evidence() {
    let raw_data = |key: &str| json!({"key": key, "team": "seller", "sku": "raw_data", "title": key, "created_at": "-P9D", "raw_data": {}});
    let market = market(&json!({
        "assets": [raw_data("first"), raw_data("second")],
        "listings": [{"key": "a", "team": "seller", "title": "A", "description": "D", "price_usd": 9, "created_at": "-P9D",
            "assets": ["first", "second"]}],
    }));
    let data = |key: &str| format!("raw-data/{}/data", seeded_id("assets", key));
    let attach = async |key: &str| {
        let url = upload_zip(&market, "Seller house", &zip_of(&scan_files()));
        seller_post(&market, &data(key), json!({"channel": "zip", "url": url})).await;
    };
    let listing: Uuid = seeded_id("listings", "a").parse().unwrap();
    // The number of checks of assets, the number of those of the whole listing, and the number of all on pages.
    let evidence = async || {
        let evidence = seller_get(&market, &format!("listings/browse/{listing}/quality")).await;
        let checks = evidence["checks"].as_array().unwrap().clone();
        let of_assets = checks.iter().filter(|check| !check["asset_type"].is_null()).count();
        let certificate = market.read(|reader| {
            let seller = teams::vendor(reader.rows, "seller");
            operations::listing_quality::certificate_of_own(reader, &seller, listing)
        });
        let shown = certificate.unwrap().latest_run.map_or(0, |run| run.checks);
        (of_assets, checks.len() - of_assets, usize::try_from(shown).unwrap())
    };
    attach("first").await;
    attach("second").await;
    market
        .write(|writer| operations::listing_lifecycle::start_run(writer, Platform::of_process(), listing))
        .unwrap();
    market.run_background();
    let (of_assets, of_listing, shown) = evidence().await;
    assert!(of_assets > 0 && of_listing > 0);
    assert_eq!(shown, of_assets + of_listing);
    let is_of_other_data = || {
        let required = market.read(|reader| {
            operations::review_cases::required_checks(reader, Platform::of_process(), listing)
        });
        required.unwrap() == operations::review_cases::RequiredChecks::OtherData
    };
    assert!(!is_of_other_data());
    seller_call(&market, "DELETE", &data("first"), Value::Null).await.expect_status(204);
    assert_eq!(evidence().await, (of_assets / 2, 0, of_assets / 2));
    assert!(is_of_other_data(), "a reviewer is told");
    // Other data was not checked either.
    market.clock().advance(1);
    attach("first").await;
    assert_eq!(evidence().await, (of_assets / 2, 0, of_assets / 2));
    seller_call(&market, "DELETE", &data("second"), Value::Null).await.expect_status(204);
    assert_eq!(evidence().await, (0, 0, 0));
}
