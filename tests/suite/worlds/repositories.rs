//! Repositories of worlds: those of the documents' examples, and those that were added.

use std::{fs, io::Write, path::Path};

use poem::http::Method;
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::harness::{
    TestMarket, TestResponse,
    git::{Repositories, commit, git},
};

const OPERATOR: &str = "mkt_demo_operator";
const VENDOR: &str = "mkt_demo_vendor";

async fn create_world(market: &TestMarket, body: Value) {
    market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
}

async fn put(market: &TestMarket, path: &str, body: Vec<u8>) -> TestResponse {
    let headers =
        [("authorization", "Bearer mkt_demo_operator"), ("content-type", "application/octet-stream")];
    let path = format!("/sandbox/v1/worlds/{path}");
    market.send_body(Method::PUT, &path, &headers, body).await
}

/// Links a repository to a new codebase of a world. Returns the codebase as it is at the next request.
async fn link(market: &TestMarket, world: &str, channel: &str, full_name: &str) -> Value {
    let codebase = json!({
        "title": "Linked",
        "exclusivity": "available",
        "data": {"channel": channel, "repo_full_name": full_name},
    });
    let path = format!("/w/{world}/v2/codebases");
    let created = market.call(VENDOR, "POST", &path, &codebase).await.expect_status(201);
    market.get(VENDOR, &format!("{path}/{}", created["id"].as_str().unwrap())).await.ok()
}

/// Returns a bundle of a repository with one file in each of its commits.
fn bundle(repositories: &Repositories, commits: &[&str]) -> Vec<u8> {
    let path = repositories.create("acme/billing");
    for name in commits {
        commit(&path, &[(name, "fn main() {}\n")], name, &[]);
    }
    git(&path, &["bundle", "create", "-q", "all.bundle", "--all"]);
    fs::read(path.join("all.bundle")).unwrap()
}

/// Returns a zip of a directory, in which paths begin with `prefix`.
fn zip_of(directory: &Path, prefix: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut directories = vec![directory.to_owned()];
    while let Some(current) = directories.pop() {
        for entry in fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = format!("{prefix}{}", path.strip_prefix(directory).unwrap().display());
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(&fs::read(path).unwrap()).unwrap();
        }
    }
    zip.finish().unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn repositories_of_the_examples_are_linked_without_a_network() {
    let market = TestMarket::demo();
    create_world(&market, json!({"name": "one"})).await;
    for (channel, full_name, contributors, description) in [
        ("github", "lumen-codeworks/quoin-ledger", 4, "Double-entry"),
        ("bitbucket", "lumen-codeworks/racklane-core", 4, "Stock, locations"),
        ("gitlab", "lumen-codeworks/tenant-portal", 4, "Tenants report defects"),
        ("github", "lumen-codeworks/parlour-search", 4, "Understands queries"),
        ("github", "tideclock/harbour", 3, "Assigns berths"),
    ] {
        let codebase = link(&market, "one", channel, full_name).await;
        let data = &codebase["data"];
        assert_eq!(
            (&data["archive_status"], &data["analysis_status"]),
            (&json!("completed"), &json!("completed")),
            "{codebase}"
        );
        assert_eq!(
            (codebase["contributors"].as_i64(), codebase["ci_on_prs"].as_bool()),
            (Some(contributors), Some(true))
        );
        assert!(codebase["lines_of_code"].as_i64().unwrap() > 50, "{codebase}");
        assert!(codebase["commits"].as_i64().unwrap() >= 5, "{codebase}");
        assert!(codebase["merged_prs"].as_i64().unwrap() >= 1, "{codebase}");
        assert!(codebase["description"].as_str().unwrap().starts_with(description), "{codebase}");
    }
    let missing = link(&market, "one", "github", "acme/billing").await;
    assert_eq!(missing["data"]["archive_status"], "failed");
    let error = missing["data"]["archive_error"].as_str().unwrap();
    assert!(error.contains("does not exist"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn added_repository_is_part_of_the_world_and_of_its_forks() {
    let (market, repositories) = (TestMarket::demo(), Repositories::new());
    create_world(&market, json!({"name": "one"})).await;
    let added =
        put(&market, "one/repositories/acme/billing", bundle(&repositories, &["a.rs", "b.rs"])).await.ok();
    assert_eq!((&added["repo_full_name"], &added["objects"]), (&json!("acme/billing"), &json!(5)));
    assert_eq!(added["commit_sha"], git(&repositories.path("acme/billing"), &["rev-parse", "HEAD"]).trim());
    create_world(&market, json!({"name": "fork", "from": "one"})).await;
    // Replaced in the fork only.
    commit(&repositories.path("acme/billing"), &[("c.rs", "fn c() {}\n")], "c", &[]);
    let bare = repositories.path("acme/bare");
    git(
        &repositories.path("acme/billing"),
        &["clone", "-q", "--bare", "--no-local", ".", bare.to_str().unwrap()],
    );
    let replaced = put(&market, "fork/repositories/acme/billing", zip_of(&bare, "billing.git/")).await.ok();
    let headers = [("authorization", "Bearer mkt_demo_operator"), ("content-range", "bytes 0-8/9")];
    let path = "/sandbox/v1/worlds/fork/repositories/acme/billing";
    let part = market.send_body(Method::PUT, path, &headers, zip_of(&bare, "billing.git/")).await;
    assert_eq!(part.expect_error(400), "bad_request");
    for (world, commits) in [("one", 2), ("fork", 3)] {
        let codebase = link(&market, world, "gitlab", "acme/billing").await;
        assert_eq!(codebase["commits"], commits, "{world}: {codebase}");
    }
    assert_ne!(replaced["commit_sha"], added["commit_sha"]);
    let reset = |world: &str| format!("/sandbox/v1/worlds/{world}/reset");
    for (world, expected) in [("one", "failed"), ("fork", "completed")] {
        market.call(OPERATOR, "POST", &reset(world), &Value::Null).await.ok();
        let codebase = link(&market, world, "github", "acme/billing").await;
        assert_eq!(codebase["data"]["archive_status"], expected, "{world}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn zip_may_have_loose_objects_and_several_packs() {
    let (market, repositories) = (TestMarket::demo(), Repositories::new());
    create_world(&market, json!({"name": "one"})).await;
    let path = repositories.create_with_files("acme/billing", &[("a.rs", "fn a() {}\n")]);
    git(&path, &["repack", "-q", "-d"]);
    commit(&path, &[("b.rs", &"fn b() {}\n".repeat(2_000))], "b", &[]);
    git(&path, &["repack", "-q", "-d"]);
    commit(&path, &[("c.rs", &"fn c() {}\n".repeat(3_000))], "c", &[]);
    let added = put(&market, "one/repositories/acme/billing", zip_of(&path.join(".git"), "")).await.ok();
    assert_eq!(added["objects"], 9, "{added}");
    let codebase = link(&market, "one", "github", "acme/billing").await;
    assert_eq!((&codebase["commits"], &codebase["lines_of_code"]), (&json!(3), &json!(5_001)), "{codebase}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_no_repository_are_refused_with_the_reason() {
    let (market, repositories) = (TestMarket::demo(), Repositories::new());
    create_world(&market, json!({"name": "one"})).await;
    let intact = bundle(&repositories, &["a.rs", "b.rs"]);
    let path = repositories.path("acme/billing");
    git(&path, &["bundle", "create", "-q", "new.bundle", "HEAD~..HEAD"]);
    let incomplete = fs::read(path.join("new.bundle")).unwrap();
    let mut damaged = intact.clone();
    let last = damaged.len() - 30;
    damaged[last] ^= 1;
    let text = tempfile::tempdir().unwrap();
    fs::write(text.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let borrowing = tempfile::tempdir().unwrap();
    fs::create_dir_all(borrowing.path().join("objects/info")).unwrap();
    fs::write(borrowing.path().join("objects/info/alternates"), "/srv/repositories/secret.git/objects\n")
        .unwrap();
    for (body, expected) in [
        (Vec::new(), "neither a Git bundle"),
        (b"GIF89a".to_vec(), "neither a Git bundle"),
        (b"# v2 git bundle\n".to_vec(), "does not end"),
        (incomplete, "lacks commits"),
        (damaged, "damaged or incomplete"),
        (intact[..intact.len() - 40].to_vec(), "damaged or incomplete"),
        (b"PK\x03\x04".to_vec(), "damaged or incomplete"),
        (zip_of(text.path(), ""), "no bare repository"),
        (zip_of(borrowing.path(), ""), "are in another one"),
    ] {
        let response = put(&market, "one/repositories/acme/billing", body).await;
        let problem = response.expect_status(422)["detail"][0]["msg"].as_str().unwrap().to_owned();
        assert!(problem.contains(expected), "{problem}");
    }
    for name in ["..", ".", "%2e%2e", "a%2Fb", "a%5Cb", "%00", "a b", "..a"] {
        let response =
            put(&market, &format!("one/repositories/acme/{}", name.replace(' ', "%20")), intact.clone())
                .await;
        assert!([404, 422].contains(&response.status), "{name}: {}", response.status);
    }
    let too_large = vec![b'#'; (64 << 20) + 1];
    assert_eq!(put(&market, "one/repositories/acme/billing", too_large).await.status, 413);
    let missing = link(&market, "one", "github", "acme/billing").await;
    assert_eq!(missing["data"]["archive_status"], "failed");
}
