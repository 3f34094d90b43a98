//! `marketplace scan`: its figures are those of a server for the same data, and its outputs are those that other programs
//! expect.

mod faults;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::LazyLock,
};

use jsonschema::Validator;
use marketplace::fixtures;
use serde_json::{Map, Value, json};

use super::{marketplace, stdout_of, temp_dir};
use crate::{
    catalog::small_market,
    harness::{TestMarket, archives::zip_of, database::connect_to_copy, git, panics},
    vendor_api::seller_market::{seller_call, seller_get, seller_post, upload_zip},
};

/// The schema of the format, as OASIS publishes it.
const SARIF_SCHEMA: &str = include_str!("scan/sarif-schema-2.1.0.json");

/// Key of the asset of the demo set whose data is a zipped codebase.
const CARTWHEEL: &str = "lumen-cartwheel";

/// A key that a rule recognizes. It is in two parts, so that it is in no file of this repository.
const SECRET: (&str, &str) = ("ghp_", "k3Jd8sLq0ZpVw7RtYb2XnMc5UeHaGf1T9oQi");

fn scan(path: &Path, options: &[&str], directory: &Path) -> Output {
    let path = path.to_str().unwrap();
    let mut command = marketplace(&[&["scan", path], options].concat(), directory);
    let output = command.env("TMPDIR", directory).output().unwrap();
    panics::assert_none_in(&String::from_utf8_lossy(&output.stderr));
    let left = fs::read_dir(directory).unwrap().count();
    assert_eq!(left, 0, "a scan leaves no files: {}", directory.display());
    output
}

/// Returns the report of a scan, and asserts its exit code.
fn report(path: &Path, options: &[&str], code: i32) -> Value {
    let temp_dir = temp_dir();
    let output = scan(path, &[&["--json"], options].concat(), temp_dir.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{}: {stderr}", path.display());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}: {stderr}", path.display()))
}

/// Runs the checks of an asset of the seller and returns the key, the status, and the message of each.
async fn checks_of_server(market: &TestMarket, path: &str) -> Vec<Value> {
    seller_call(market, "POST", &format!("{path}/qc/runs"), Value::Null).await.expect_status(202);
    market.run_background();
    let run = seller_get(market, &format!("{path}/qc")).await["latest_run"].clone();
    assert_eq!(run["status"], "completed", "{run:#}");
    own_checks(&run)
}

/// Returns the checks of a run, without the one that compares the data with other assets of the team, which a scan does not
/// know.
fn own_checks(run: &Value) -> Vec<Value> {
    let own = run["checks"].as_array().unwrap().iter().filter(|check| check["key"] != "duplicates_elsewhere");
    own.map(|check| json!([check["key"], check["status"], check["message"]])).collect()
}

fn checks_of(report: &Value) -> Vec<Value> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks.map(|check| json!([check["key"], check["status"], check["message"]])).collect()
}

/// Returns a column of the asset with an ID, as JSON.
fn stored(market: &TestMarket, column: &str, id: &str) -> Value {
    let id: uuid::Uuid = id.parse().unwrap();
    let sql = format!(
        "SELECT {column} FROM assets a LEFT JOIN data_structures s ON s.asset = a.id WHERE a.uuid = ?1"
    );
    let rows = connect_to_copy(market.market());
    let text: Option<String> = rows.query_row(&sql, [id], |row| row.get(0)).unwrap();
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

/// Writes all repositories and zips of the fixtures to a directory: those of the demo, and the bundles of worlds. Returns
/// their paths; repositories are where a host with this directory has them.
fn write_fixtures(directory: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut repositories, mut zips) = (Vec::new(), Vec::new());
    let demo = fixtures::demo_set().unwrap();
    fs::create_dir_all(directory.join("acme")).unwrap();
    for name in demo.attachments.source_names() {
        let source = demo.attachments.find_source(name).unwrap().unwrap();
        let path = directory.join("acme").join(name);
        if source.is_zip() {
            std::io::copy(&mut source.open().unwrap(), &mut fs::File::create(&path).unwrap()).unwrap();
            zips.push(path);
        } else {
            source.write_repository(&path).unwrap();
            repositories.push(path);
        }
    }
    let bundles = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bundles");
    for owner in fs::read_dir(bundles).unwrap() {
        for bundle in fs::read_dir(owner.unwrap().path()).unwrap() {
            let bundle = bundle.unwrap().path();
            let name = bundle.file_stem().unwrap().to_str().unwrap();
            let path = directory.join("acme").join(format!("{name}.git"));
            fs::copy(&bundle, &path).unwrap();
            repositories.push(path);
        }
    }
    (repositories, zips)
}

fn market_of(directory: &Path) -> TestMarket {
    let url = format!("file://{}", directory.display());
    let market = TestMarket::with_settings(|settings| {
        settings.repositories.github_url = url;
        settings.quality.credits_per_run = 0.0;
        settings.browse_gate.required_published = 0;
    });
    small_market::seed_market(&market, &[], &json!({}));
    market
}

#[tokio::test]
async fn figures_equal_those_of_a_server() {
    let directory = temp_dir();
    let (repositories, zips) = write_fixtures(directory.path());
    assert!(repositories.len() >= 14 && zips.len() == 3, "{repositories:?} {zips:?}");
    let market = market_of(directory.path());
    for path in &repositories {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let link = json!({"channel": "github", "repo_full_name": format!("acme/{name}")});
        let body = json!({"title": name, "exclusivity": "available", "data": link});
        let id = seller_post(&market, "codebases", body).await["id"].as_str().unwrap().to_owned();
        let checks = checks_of_server(&market, &format!("codebases/{id}")).await;
        let asset = seller_get(&market, &format!("codebases/{id}")).await;
        let passed = !checks.iter().any(|check| check[0] == "no_live_secrets" && check[1] == "failed");
        let report = report(path, &[], i32::from(!passed));
        assert_eq!(checks_of(&report), checks, "{name}");
        assert_same_fields(&report, &asset);
        assert_eq!(report["commit_sha"], asset["data"]["commit_sha"], "{name}");
        assert_eq!(report["figures"]["languages"], stored(&market, "languages", &id), "{name}");
    }
    for path in &zips {
        let url = upload_zip(&market, "Seller house", &fs::read(path).unwrap());
        let body = json!({"title": path.display().to_string(), "data": {"channel": "zip", "url": url}});
        let id = seller_post(&market, "raw-data", body).await["id"].as_str().unwrap().to_owned();
        let checks = checks_of_server(&market, &format!("raw-data/{id}")).await;
        let asset = seller_get(&market, &format!("raw-data/{id}")).await;
        let report = report(path, &["--kind", "raw-data"], 0);
        assert_eq!(checks_of(&report), checks, "{}", path.display());
        assert_same_fields(&report, &asset);
        assert_same_tables(&report, &stored(&market, "dataset", &id));
    }
}

/// A codebase in a zip comes with an upload grant; the demo market has one.
#[tokio::test]
async fn figures_of_a_zipped_codebase_equal_those_of_a_server() {
    let directory = temp_dir();
    let (_, zips) = write_fixtures(directory.path());
    let zip = zips.iter().find(|path| path.ends_with("cartwheel.zip")).unwrap();
    let report = report(zip, &[], 0);
    assert_eq!((&report["kind"], &report["source_kind"]), (&json!("codebase"), &json!("archive")));
    let market = TestMarket::demo();
    let id = marketplace::clock::fixture_record_id("assets", CARTWHEEL).to_string();
    let path = format!("/v2/codebases/{id}");
    let asset = market.get("mkt_demo_vendor", &path).await.ok();
    for field in ["lines_of_code", "ci_on_prs"] {
        assert_eq!(report["figures"][field], asset[field], "{asset:#}");
    }
    assert_eq!(report["figures"]["languages"], stored(&market, "languages", &id));
    let run = market.call("mkt_demo_vendor", "POST", &format!("{path}/qc/runs"), &Value::Null).await;
    run.expect_status(202);
    market.run_background();
    let quality = market.get("mkt_demo_vendor", &format!("{path}/qc")).await.ok();
    assert_eq!(checks_of(&report), own_checks(&quality["latest_run"]));
}

/// Compares the fields of an asset, and what it lacks besides what its vendor stated.
fn assert_same_fields(report: &Value, asset: &Value) {
    for field in [
        "lines_of_code",
        "commits",
        "contributors",
        "merged_prs",
        "ci_on_prs",
        "history_start",
        "history_end",
    ] {
        assert_eq!(report["figures"][field], asset[field], "{field}: {asset:#}");
    }
    assert_eq!(report["description"], asset["description"]);
    let missing = |value: &Value| {
        let stated = ["title", "exclusivity"];
        let missing = value["missing"].as_array().unwrap().iter();
        missing.filter(|field| !stated.contains(&field.as_str().unwrap())).cloned().collect::<Vec<_>>()
    };
    assert_eq!(missing(report), missing(asset));
}

fn assert_same_tables(report: &Value, dataset: &Value) {
    let figures = &report["figures"];
    if dataset.is_null() {
        assert_eq!(figures["tables"], json!([]));
        return;
    }
    assert_eq!((&figures["rows"], &figures["robotics"]), (&dataset["rows"], &dataset["robotics"]));
    let without_sample = |table: &Value| {
        let mut table = table.clone();
        table.as_object_mut().unwrap().remove("sample");
        table
    };
    let tables: Vec<Value> = dataset["tables"].as_array().unwrap().iter().map(without_sample).collect();
    assert_eq!(figures["tables"], json!(tables));
}

/// Files of a codebase that passes every mandatory check. The text of a license would take most of the time of a scan.
const FILES: [(&str, &str); 3] = [
    ("README.md", "# Ledger\n\nBooks amounts."),
    ("Cargo.toml", "[package]\nname = \"a\"\nlicense = \"MIT\"\n"),
    ("src/main.rs", "fn main() {\n    println!();\n}\n"),
];

/// Creates a repository with [`FILES`] and more, and returns its path.
fn repository(directory: &Path, more: &[(&str, &str)]) -> PathBuf {
    let path = directory.join("ledger");
    fs::create_dir_all(&path).unwrap();
    git::git(&path, &["init", "-q"]);
    git::commit(&path, &[&FILES[..], more].concat(), "Begin", &[]);
    path
}

#[test]
fn verdict_is_the_exit_code() {
    let directory = temp_dir();
    let path = repository(directory.path(), &[]);
    let passed = report(&path, &[], 0);
    assert_eq!((&passed["verdict"], &passed["kind"]), (&json!("passed"), &json!("codebase")));
    assert_eq!(passed["missing"], json!(["title", "exclusivity", "domain_tags", "price_usd"]));
    // What is not committed is not read.
    let text = format!("const TOKEN: &str = \"{}{}\";\n", SECRET.0, SECRET.1);
    fs::write(path.join("src/token.rs"), &text).unwrap();
    assert_eq!(report(&path, &[], 0)["verdict"], "passed");
    git::commit(&path, &[], "Add a token", &[]);
    let failed = report(&path, &[], 1);
    let checks = failed["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["key"] == "no_live_secrets").unwrap();
    let place = &check["places"][0];
    let expected = (&json!("src/token.rs"), &json!(1), &json!("cause"));
    assert_eq!((&place["path"], &place["line"], &place["role"]), expected);
    assert!(!failed.to_string().contains(SECRET.1), "secrets are masked");
    let damaged = directory.path().join("a.zip");
    fs::write(&damaged, "PK but no zip").unwrap();
    for path in [&damaged, &directory.path().join("absent"), Path::new("https://example.com/a.git")] {
        let unreadable = report(path, &[], 2);
        assert_eq!(unreadable["verdict"], "unreadable");
        assert!(unreadable["problem"].as_str().unwrap().len() > 10 && unreadable["figures"].is_null());
    }
    let raw_data = report(&path, &["--kind", "raw-data"], 2);
    assert!(raw_data["problem"].as_str().unwrap().contains("only be sold as a codebase"));
    let url = format!("file://{}", path.display());
    git::git(directory.path(), &["clone", "-q", "--depth", "1", &url, "shallow"]);
    let shallow = report(&directory.path().join("shallow"), &[], 2);
    assert!(shallow["problem"].as_str().unwrap().contains("--unshallow"));
}

#[test]
fn directory_and_zip_of_it_give_the_same_figures() {
    let directory = temp_dir();
    let root = directory.path().join("rows");
    let table = "day,level\n2024-01-01,1.5\n2024-01-02,1.75\n";
    let files = [
        ("README.md", "Water levels."),
        ("levels.csv", table),
        ("LICENSE", include_str!("../../../LICENSE-MIT")),
    ];
    fs::create_dir_all(&root).unwrap();
    for (path, text) in files {
        fs::write(root.join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
    let zip = directory.path().join("rows.zip");
    fs::write(&zip, zip_of(&files)).unwrap();
    let (of_directory, of_zip) = (report(&root, &[], 0), report(&zip, &[], 0));
    assert_eq!(of_directory["figures"], of_zip["figures"]);
    assert_eq!(checks_of(&of_directory), checks_of(&of_zip));
    assert_eq!(of_zip["kind"], "raw_data");
    assert!(of_zip["checks"].to_string().contains("Read 1 file with 2 rows."));
    let columns = &of_zip["figures"]["tables"][0]["columns"];
    assert_eq!(columns, &json!([{"name": "day", "kind": "text"}, {"name": "level", "kind": "number"}]));
    let link = json!([{"path": "link", "reason": "is a link, which is not followed"}]);
    assert_eq!(of_directory["left_out"], link);
    let of_file = report(&root.join("levels.csv"), &[], 0);
    assert_eq!(of_file["figures"]["tables"], of_zip["figures"]["tables"]);
}

/// The Git files of a nested repository are delivered, but are not data.
#[test]
fn files_for_version_control_do_not_count() {
    let directory = temp_dir();
    let root = directory.path().join("rows");
    fs::create_dir(&root).unwrap();
    for (path, text) in [("levels.csv", "day,level\n2024-01-01,1.5\n"), FILES[0]] {
        fs::write(root.join(path), text).unwrap();
    }
    let before = report(&root, &[], 0);
    fs::create_dir(root.join("tool")).unwrap();
    git::git(&root.join("tool"), &["init", "-q"]);
    fs::create_dir_all(root.join("tool/.git/hooks")).unwrap();
    fs::write(root.join("tool/.git/hooks/pre-commit.sample"), "#!/bin/sh\nexit 0\n").unwrap();
    let after = report(&root, &[], 0);
    assert_eq!(after["figures"], before["figures"]);
    let reason = "is for version control, so it does not count as data";
    assert_eq!(after["left_out"], json!([{"path": "tool/.git", "reason": reason}]));
    fs::write(root.join("tool/.git/token"), format!("{}{}\n", SECRET.0, SECRET.1)).unwrap();
    let failed = report(&root, &[], 1);
    assert!(failed["checks"].to_string().contains("tool/.git/token"), "{failed:#}");
}

/// 30 and 13 bytes, which are 69.8% and 30.2%.
#[test]
fn shares_of_languages_are_rounded() {
    let directory = temp_dir();
    let path = repository(directory.path(), &[("a.py", "a = 1\nbb = 2\n")]);
    let text = String::from_utf8(scan(&path, &[], temp_dir().path()).stdout).unwrap();
    assert!(text.contains("languages:      rust 70%, python 30%"), "{text}");
}

#[test]
fn report_for_people_says_what_is_read_and_what_is_not() {
    let directory = temp_dir();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    let more = [("model.bin", pointer), ("vendor/b.rs", "fn b() {}\n"), (".DS_Store", "x")];
    let path = repository(directory.path(), &more);
    let out = scan(&path, &[], temp_dir().path());
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).unwrap();
    for expected in [
        "read as:        codebase, from a repository",
        "lines of code:  3",
        "languages:      rust 100%",
        "commits:        1",
        "description:    Books amounts.",
        "  FAILED  Archive opens and every entry can be read (mandatory)",
        "also needs: title, exclusivity, domain_tags, price_usd.",
        "model.bin    is a pointer of Git LFS without the content of the file",
        "vendor/b.rs  is vendored: a copy of code of others",
        ".DS_Store    is not data",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(String::from_utf8(out.stderr).unwrap().contains("error: 1 mandatory check failed"));
}

/// Returns the results of a SARIF document that is valid by its schema.
fn sarif_results(path: &Path, code: i32) -> Vec<Value> {
    static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
        let schema = serde_json::from_str(SARIF_SCHEMA).unwrap();
        jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
    });
    let temp_dir = temp_dir();
    let output = scan(path, &["--sarif"], temp_dir.path());
    assert_eq!(output.status.code(), Some(code));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors: Vec<String> = VALIDATOR.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let run = &document["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], code != 2);
    run["results"].as_array().unwrap().clone()
}

#[test]
fn sarif_is_valid_and_its_fingerprints_are_stable() {
    let directory = temp_dir();
    let token = format!("const TOKEN: &str = \"{}{}\";\n", SECRET.0, SECRET.1);
    let path = repository(directory.path(), &[("src/a token.rs", &token)]);
    let secrets = |results: &[Value]| -> Vec<Value> {
        results.iter().filter(|result| result["ruleId"] == "no_live_secrets").cloned().collect()
    };
    let before = secrets(&sarif_results(&path, 1));
    let location = &before[0]["locations"][0]["physicalLocation"];
    assert_eq!(before.len(), 1);
    assert_eq!(location["artifactLocation"]["uri"], "src/a%20token.rs");
    assert_eq!((&location["region"]["startLine"], &before[0]["level"]), (&json!(1), &json!("error")));
    // Lines above, and an equal finding below.
    git::commit(&path, &[("src/a token.rs", &format!("\n\n{token}{token}"))], "Move it", &[]);
    let after = secrets(&sarif_results(&path, 1));
    assert_eq!(after.len(), 2);
    assert_eq!(after[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(after[0]["partialFingerprints"], before[0]["partialFingerprints"]);
    assert_ne!(after[1]["partialFingerprints"], before[0]["partialFingerprints"]);
    // Another one above, and none at the old places.
    let other =
        format!("const OTHER: &str = \"{}{}\";\n", SECRET.0, SECRET.1.chars().rev().collect::<String>());
    git::commit(&path, &[("src/a token.rs", &format!("{other}{token}"))], "Add one above", &[]);
    let added = secrets(&sarif_results(&path, 1));
    assert_eq!(added[1]["partialFingerprints"], before[0]["partialFingerprints"]);
    assert_ne!(added[0]["partialFingerprints"], before[0]["partialFingerprints"]);
    fs::remove_dir_all(&path).unwrap();
    let results = sarif_results(&repository(directory.path(), &[]), 0);
    assert!(results.iter().all(|result| result["level"] != "error"), "{results:#?}");
    assert!(sarif_results(&directory.path().join("absent"), 2).is_empty());
}

/// Code hosts look for files below the root of the repository.
#[test]
fn paths_of_results_are_relative_to_the_repository() {
    let directory = temp_dir();
    let secret = format!("token = {}{}\n", SECRET.0, SECRET.1);
    let path = repository(directory.path(), &[("a b/c/keys[1].txt", &secret)]);
    for scanned in [path.join("a b"), path.join("a b/c")] {
        let results = sarif_results(&scanned, 1);
        let secret = results.iter().find(|result| result["ruleId"] == "no_live_secrets").unwrap();
        let location = &secret["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(location["uri"], "a%20b/c/keys%5B1%5D.txt");
    }
}

#[tokio::test]
async fn rows_are_accepted_by_the_market() {
    let directory = temp_dir();
    let market = market_of(directory.path());
    let path = repository(directory.path(), &[]);
    let row = |path: &Path, options: &[&str]| -> Map<String, Value> {
        let out = stdout_of(&scan(path, &[&["--row"], options].concat(), temp_dir().path()));
        serde_json::from_str(&out).unwrap()
    };
    let codebase = row(&path, &["--exclusivity", "available"]);
    let created = seller_post(&market, "codebases/batch", json!({"items": [codebase]})).await;
    let created = created.to_string();
    assert!(created.contains("ledger") && created.contains("Books amounts."), "{created}");
    let without = scan(&path, &["--row"], temp_dir().path());
    assert_eq!(without.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&without.stderr).contains("--exclusivity available"));
    let table = directory.path().join("levels.csv");
    fs::write(&table, "day,level\n2024-01-01,1.5\n").unwrap();
    let raw_data = row(&table, &["--title", "Water levels"]);
    assert_eq!(raw_data["title"], "Water levels");
    seller_post(&market, "raw-data", json!(raw_data)).await;
}
