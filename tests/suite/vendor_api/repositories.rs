//! Linked repositories that are copied and analyzed, from well-behaved and from hostile hosts.

use marketplace::config::Settings;
use serde_json::{Value, json};

use super::seller_market::{
    complete_codebase, github_link, seller_call, seller_get, seller_patch, seller_post,
};
use crate::{
    catalog::small_market,
    harness::{
        TestMarket,
        codebases::COMPLETING_FIELDS,
        elements,
        git::{GitHost, HostBehavior, Repositories, commit, git, git_at},
    },
};

/// Returns a market whose three channels all use this base URL.
fn market(url: &str, change: impl FnOnce(&mut Settings)) -> TestMarket {
    let market = TestMarket::with_settings(|settings| {
        let repositories = &mut settings.repositories;
        for base in
            [&mut repositories.github_url, &mut repositories.gitlab_url, &mut repositories.bitbucket_url]
        {
            url.clone_into(base);
        }
        repositories.private_hosts = true;
        change(settings);
    });
    small_market::seed_market(&market, &[], &json!({}));
    market
}

/// Creates a codebase with a linked repository and returns its path.
async fn create_linked_codebase(market: &TestMarket, channel: &str, full_name: &str) -> String {
    let body = json!({"title": "Ledger", "exclusivity": "available",
        "data": {"channel": channel, "repo_full_name": full_name}});
    format!("codebases/{}", seller_post(market, "codebases", body).await["id"].as_str().unwrap())
}

/// Returns the number of codebases with private data (which needs credentials) and with public data.
async fn count_private_and_public(market: &TestMarket) -> (u64, u64) {
    let mut counts = [0; 2];
    for (count, is_private) in counts.iter_mut().zip([true, false]) {
        let page = seller_get(market, &format!("codebases?filter=private_data:is:{is_private}")).await;
        *count = page["total"].as_u64().unwrap();
    }
    (counts[0], counts[1])
}

fn data_statuses(row: &Value) -> (String, String) {
    let state = |field: &str| row["data"][field].as_str().unwrap().to_owned();
    (state("archive_status"), state("analysis_status"))
}

fn ledger_repository() -> Repositories {
    let repositories = Repositories::new();
    let path = repositories.create("acme/ledger");
    let files = [
        ("src/main.rs", "// The ledger.\nfn main() {\n    println!(\"1\");\n}\n"),
        ("web/app.ts", "export const one = 1;\n"),
        ("README.md", "# Ledger\n\nKeeps accounts.\n"),
        (".github/workflows/ci.yml", "on: [push, pull_request]\njobs: {}\n"),
    ];
    commit(&path, &files, "Begin", &[]);
    commit(&path, &[("src/a.rs", "fn a() {}\n")], "Add a (#1)", &["--author", "Bob <bob@example.com>"]);
    git_at(
        &path,
        "2024-05-06T01:00:00Z",
        &["commit", "-q", "--allow-empty", "-m", "Merge pull request #2 from acme/b"],
    );
    repositories
}

/// Detaching gives every field that was read from the data the value and the lock that it had before, and
/// null if it had none. The stage follows from what is missing then.
#[tokio::test]
async fn detaching_restores_the_values_from_before_attaching() {
    let repositories = ledger_repository();
    let market = market(&repositories.url(), |_| {});
    let written = complete_codebase();
    let mut blank = json!({"title": "Blank", "exclusivity": "available"});
    let mut partial = written.clone();
    for field in ["description", "commits", "history_start", "ci_on_prs"] {
        partial.as_object_mut().unwrap().remove(field);
    }
    let missing_of_partial = json!(["description", "commits", "history_start", "ci_on_prs"]);
    blank["data"] = github_link();
    for (body, stage, missing) in [
        (written, "proposed", json!([])),
        (partial, "incomplete", missing_of_partial),
        (blank, "incomplete", json!(COMPLETING_FIELDS)),
    ] {
        let created = seller_post(&market, "codebases", body).await;
        let path = format!("codebases/{}", created["id"].as_str().unwrap());
        // The second time shows that nothing is left of the first.
        for round in 0..2 {
            if round > 0 || created["data"].is_null() {
                seller_post(&market, &format!("{path}/data"), github_link()).await;
            }
            market.run_background_on_a_thread().await;
            let row = seller_get(&market, &path).await;
            assert_eq!((&row["commits"], &row["locked_fields"]["commits"]), (&json!(3), &json!("github")));
            seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
            let mut row = seller_get(&market, &path).await;
            assert_eq!((&row["stage"], &row["missing"]), (&json!(stage), &missing), "{row:#}");
            for field in ["stage", "missing", "data"] {
                row[field].clone_from(&created[field]);
            }
            assert_eq!(row, created);
        }
    }
}

/// "After linked data is read, a blank description is filled from the repository root README" and "metadata
/// read from the linked data … is locked".
#[tokio::test]
async fn linked_repository_is_copied_and_analyzed() {
    let repositories = ledger_repository();
    for (channel, is_http) in [("github", true), ("gitlab", true), ("bitbucket", false)] {
        let host = GitHost::start(&repositories, HostBehavior::Normal);
        let url = if is_http { host.url.clone() } else { repositories.url() };
        let market = market(&url, |_| {});
        let path = create_linked_codebase(&market, channel, "acme/ledger").await;
        assert_eq!(
            data_statuses(&seller_get(&market, &path).await),
            ("pending".to_owned(), "pending".to_owned())
        );
        market.run_background_on_a_thread().await;
        let row = seller_get(&market, &path).await;
        assert_eq!(data_statuses(&row), ("completed".to_owned(), "completed".to_owned()), "{row}");
        let sha = git(&repositories.path("acme/ledger"), &["rev-parse", "HEAD"]);
        assert_eq!(row["data"]["commit_sha"], sha.trim());
        assert!(row["data"]["archive_bytes"].as_u64().unwrap() > 500);
        let expected = json!({"lines_of_code": 5, "commits": 3, "contributors": 2, "merged_prs": 2, "ci_on_prs": true,
            "history_start": "2024-03-01", "history_end": "2024-05-06", "description": "Keeps accounts."});
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&row[field], value, "{field}");
            assert_eq!(row["locked_fields"][field], channel, "{field}");
        }
        assert_eq!(count_private_and_public(&market).await, (0, 1));
        let structure = seller_get(&market, &format!("{path}/data/structure")).await;
        let names: Vec<&str> =
            elements(&structure["roots"]).map(|node| node["name"].as_str().unwrap()).collect();
        assert_eq!((names, &structure["max_depth"]), (vec![".github", "src", "web", "README.md"], &json!(3)));
        // Analyzed fields are locked until the data is detached.
        let rejection = seller_call(&market, "PATCH", &path, json!({"commits": 7})).await;
        assert_eq!(rejection.problems(), ["body.commits field_locked"]);
        seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
        let copies = market.market().data_dir().join("blobs/repositories");
        assert_eq!(std::fs::read_dir(&copies).unwrap().count(), 1);
        market.run_background_on_a_thread().await;
        assert_eq!(std::fs::read_dir(&copies).unwrap().count(), 0, "detaching must delete the copy");
        assert_eq!(seller_patch(&market, &path, json!({"commits": 7})).await["commits"], 7);
    }
}

/// Attaching a repository again starts a new analysis.
#[tokio::test]
async fn relinked_repository_is_analyzed_again() {
    let repositories = ledger_repository();
    let market = market(&repositories.url(), |_| {});
    let path = create_linked_codebase(&market, "github", "acme/ledger").await;
    market.run_background_on_a_thread().await;
    let described = seller_patch(&market, &path, json!({"domain_tags": ["finance"]})).await;
    assert_eq!((&described["stage"], &described["missing"]), (&json!("incomplete"), &json!(["price_usd"])));
    assert_eq!(seller_patch(&market, &path, json!({"price_usd": 9})).await["stage"], "complete");
    seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
    commit(&repositories.path("acme/ledger"), &[("README.md", "Now keeps books.\n")], "Reword", &[]);
    seller_post(
        &market,
        &format!("{path}/data"),
        json!({"channel": "github", "repo_full_name": "acme/ledger"}),
    )
    .await;
    market.run_background_on_a_thread().await;
    let row = seller_get(&market, &path).await;
    assert_eq!((&row["commits"], &row["description"]), (&json!(4), &json!("Now keeps books.")));
}

/// "A description the caller wrote is never replaced"; without a README, the manifest fills a blank one.
#[tokio::test]
async fn only_blank_description_is_filled_from_the_repository() {
    let repositories = Repositories::new();
    repositories.create_with_files(
        "acme/manifest",
        &[("package.json", r#"{"name": "x", "description": "From the manifest."}"#)],
    );
    repositories.create_with_files("acme/nothing", &[("main.c", "int main;\n")]);
    let market = market(&repositories.url(), |_| {});
    for (name, description) in [("manifest", json!("From the manifest.")), ("nothing", Value::Null)] {
        let path = create_linked_codebase(&market, "github", &format!("acme/{name}")).await;
        market.run_background_on_a_thread().await;
        assert_eq!(seller_get(&market, &path).await["description"], description);
    }
    let body = json!({"title": "Mine", "exclusivity": "available", "description": "Mine.",
        "data": {"channel": "github", "repo_full_name": "acme/manifest"}});
    let path = format!("codebases/{}", seller_post(&market, "codebases", body).await["id"].as_str().unwrap());
    market.run_background_on_a_thread().await;
    assert_eq!(seller_get(&market, &path).await["description"], "Mine.");
}

/// The token is sent only to a host that denies access without it, and the repository then counts as private.
#[tokio::test]
async fn private_repository_is_read_with_the_token() {
    let repositories = ledger_repository();
    let authorization = "Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0".to_owned(); // x-access-token:secret
    let host = GitHost::start(&repositories, HostBehavior::Private(authorization.clone()));
    let market = market(&host.url, |settings| {
        settings.repositories.github_token = serde_json::from_value(json!("secret")).unwrap();
    });
    let path = create_linked_codebase(&market, "github", "acme/ledger").await;
    let without_token = create_linked_codebase(&market, "gitlab", "acme/ledger").await;
    market.run_background_on_a_thread().await;
    let row = seller_get(&market, &path).await;
    assert_eq!(
        (row["data"]["archive_status"].as_str(), count_private_and_public(&market).await),
        (Some("completed"), (1, 1)),
        "{row}"
    );
    let row = seller_get(&market, &without_token).await;
    assert_eq!(data_statuses(&row), ("failed".to_owned(), "skipped".to_owned()));
    assert!(row["data"]["archive_error"].as_str().unwrap().contains("the market has no access"), "{row}");
    let seen = host.requests();
    assert!(seen[0].ends_with(" -") && seen.iter().any(|line| line.ends_with(&authorization)), "{seen:#?}");
}

/// For every response of a hostile host, the codebase ends in a final state with an error message, the limits
/// hold, and the market keeps working.
#[tokio::test]
async fn hostile_host_ends_in_an_error_message() {
    let repositories = ledger_repository();
    let text: String = (0..220_000_u64)
        .flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_string().into_bytes())
        .map(char::from)
        .collect();
    repositories.create_with_files("acme/huge", &[("huge.txt", &text[..900_000])]);
    let parts: Vec<(String, &str)> =
        (0..8).map(|part| (format!("{part}.txt"), &text[part * 400_000..][..400_000])).collect();
    let parts: Vec<(&str, &str)> = parts.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    repositories.create_with_files("acme/much", &parts);
    repositories.create("acme/empty");
    let redirect_target = GitHost::start(&repositories, HostBehavior::Normal);
    let cases = [
        (HostBehavior::Normal, "acme/none", "does not exist"),
        (HostBehavior::Normal, "acme/empty", "has no commits"),
        (HostBehavior::Normal, "acme/huge", "a file larger than 500000 bytes"),
        (HostBehavior::Redirects(redirect_target.url.clone()), "acme/ledger", "redirects to another address"),
        (HostBehavior::Normal, "acme/much", "larger than 1000000 bytes"),
        (HostBehavior::EndlessPack, "acme/ledger", "larger than 1000000 bytes"),
        (HostBehavior::EndlessRefs, "acme/ledger", "larger than 1000000 bytes"),
        (HostBehavior::NotGit, "acme/ledger", "did not send a valid repository"),
        (HostBehavior::Silent, "acme/ledger", "The host 127.0.0.1 could not be reached"),
    ];
    for (behavior, name, message) in cases {
        let host = GitHost::start(&repositories, behavior.clone());
        let market = market(&host.url, |settings| {
            settings.repositories.max_bytes = 1_000_000;
            settings.repositories.max_file_bytes = 500_000;
            settings.repositories.attempts = 2;
            if behavior == HostBehavior::Silent {
                settings.repositories.idle_seconds = 1;
            }
        });
        let path = create_linked_codebase(&market, "github", name).await;
        market.run_background_on_a_thread().await;
        if behavior == HostBehavior::Silent {
            let row = seller_get(&market, &path).await;
            assert_eq!(data_statuses(&row), ("pending".to_owned(), "pending".to_owned()));
            assert!(row["data"]["archive_error"].as_str().unwrap().contains("will try again"), "{row}");
            market.clock().advance(60_000_000);
            market.run_background_on_a_thread().await;
        }
        let row = seller_get(&market, &path).await;
        assert_eq!(
            data_statuses(&row),
            ("failed".to_owned(), "skipped".to_owned()),
            "{behavior:?} {name}: {row}"
        );
        assert!(
            row["data"]["archive_error"].as_str().unwrap().contains(message),
            "{behavior:?} {name}: {row}"
        );
        assert_eq!(std::fs::read_dir(market.market().data_dir().join("blobs/work")).unwrap().count(), 0);
    }
    assert_eq!(redirect_target.requests(), Vec::<String>::new(), "redirects must not be followed");
}

/// The number of attempts is a setting, and 1 in the demo, so a host that is missing is seen at once.
#[tokio::test]
async fn missing_host_fails_after_the_configured_attempts() {
    // Nobody listens on this port.
    let url = "http://127.0.0.1:1";
    let demo = market(url, |_| {});
    let path = create_linked_codebase(&demo, "github", "acme/ledger").await;
    demo.run_background_on_a_thread().await;
    let row = seller_get(&demo, &path).await;
    assert_eq!(data_statuses(&row), ("failed".to_owned(), "skipped".to_owned()), "{row}");
    let message = "The host 127.0.0.1 could not be reached. Detach the repository, then link it again later.";
    assert_eq!(row["data"]["archive_error"], message);

    let patient = market(url, |settings| settings.repositories.attempts = 5);
    let path = create_linked_codebase(&patient, "github", "acme/ledger").await;
    patient.run_background_on_a_thread().await;
    for minutes in 1..=4 {
        let row = seller_get(&patient, &path).await;
        assert_eq!(data_statuses(&row).0, "pending", "{row}");
        patient.clock().advance(minutes * 60_000_000);
        patient.run_background_on_a_thread().await;
    }
    assert_eq!(data_statuses(&seller_get(&patient, &path).await).0, "failed");
}

/// Hosts in private networks are not contacted unless the settings allow it.
#[tokio::test]
async fn private_network_host_is_not_contacted() {
    let repositories = ledger_repository();
    let host = GitHost::start(&repositories, HostBehavior::Normal);
    let by_name = host.url.replace("127.0.0.1", "localhost");
    for url in [&host.url, &by_name] {
        let market = market(url, |settings| settings.repositories.private_hosts = false);
        let path = create_linked_codebase(&market, "github", "acme/ledger").await;
        market.run_background_on_a_thread().await;
        let row = seller_get(&market, &path).await;
        assert!(
            row["data"]["archive_error"].as_str().unwrap().contains("not on the public internet"),
            "{row}"
        );
    }
    assert_eq!(host.requests(), Vec::<String>::new());
}

/// Symbolic links and submodules of a repository are listed but not followed, and its hooks are not run.
#[cfg(unix)]
#[tokio::test]
async fn symlinks_and_submodules_are_not_followed() {
    let repositories = Repositories::new();
    let path = repositories.create_with_files("acme/links", &[("main.c", "int main;\n")]);
    std::os::unix::fs::symlink("/etc/passwd", path.join("README.md")).unwrap();
    git(&path, &["update-index", "--add", "--cacheinfo", &format!("160000,{},inner", "1".repeat(40))]);
    git(&path, &["add", "README.md"]);
    git(&path, &["commit", "-q", "-m", "Link"]);
    let market = market(&repositories.url(), |_| {});
    let path = create_linked_codebase(&market, "github", "acme/links").await;
    market.run_background_on_a_thread().await;
    let row = seller_get(&market, &path).await;
    assert_eq!((data_statuses(&row).1, &row["description"]), ("completed".to_owned(), &Value::Null), "{row}");
    let structure = seller_get(&market, &format!("{path}/data/structure")).await;
    assert_eq!(structure["roots"].as_array().unwrap().len(), 3);
}
