//! Copies of repositories made with Git, compared with what Git itself reports.

use std::{path::Path, process::Command};

use super::*;
use crate::artifacts::codebases;

const LIMITS: Limits = Limits { bytes: 50_000_000, files: 10_000, file_bytes: 1_000_000, idle_seconds: 1 };

/// Runs Git in a directory, without user settings and with a fixed clock. Returns its output.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com")])
        .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.com")])
        .envs([("GIT_AUTHOR_DATE", "2024-03-01T12:00:00Z"), ("GIT_COMMITTER_DATE", "2024-03-01T12:00:00Z")])
        .output()
        .expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn commit(directory: &Path, files: &[(&str, &str)], message: &str, extra_arguments: &[&str]) {
    for (path, text) in files {
        let path = directory.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    git(directory, &["add", "-A"]);
    git(directory, &[&["commit", "-q", "--allow-empty", "-m", message], extra_arguments].concat());
}

fn remote(directory: &Path) -> RemoteRepository {
    RemoteRepository {
        address: format!("file://{}", directory.display()),
        authorization: None,
        may_be_private: false,
    }
}

/// Copies a repository, and indexes the pack in this process.
fn copy_here(
    source: &RemoteRepository,
    to: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<CopyResult, ReadError> {
    copy_repository(source, to, limits, should_continue, |received| {
        index_pack(std::fs::File::open(&received.pack), &received.directory, &received.head, limits).0
    })
}

fn rejection_message(error: ReadError) -> String {
    match error {
        ReadError::Rejected(rejection) => rejection.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn copied_repository_matches_git() {
    let directory = tempfile::tempdir().unwrap();
    let origin = directory.path().join("origin");
    std::fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "-q"]);
    let date = |date: &'static str| ["--date", date];
    commit(
        &origin,
        &[("src/main.rs", "fn main() {}\n"), ("README.md", "# Tally\n\nCounts things.\n")],
        "Begin",
        &date("2023-01-05T00:00:00Z"),
    );
    commit(
        &origin,
        &[(".github/workflows/ci.yml", "on: [pull_request]\n")],
        "Check (#4)",
        &["--author", "Bob <bob@example.com>"],
    );
    commit(
        &origin,
        &[(".mailmap", "Bob <bob@example.com> <robert@example.com>\n")],
        "Merge pull request #5 from a/b",
        &["--author", "Robert <robert@example.com>"],
    );
    commit(
        &origin,
        &[("Cargo.toml", "[package]\nname = \"tally\"\ndescription = \"A counter\"\n")],
        "Describe",
        &[],
    );
    let to = directory.path().join("copy");
    let copied = copy_here(&remote(&origin), &to, LIMITS, &|| true).unwrap();
    assert!(!copied.is_private && copied.bytes > 500, "{copied:?}");
    let repository = Repository::open(&to, LIMITS).unwrap();
    assert_eq!(repository.commit_sha(), git(&origin, &["rev-parse", "HEAD"]).trim());
    let now = 1_800_000_000;
    let (analysis, history) = codebases::analyze_repository(&repository, LIMITS, now, &|| true).unwrap();
    let day = 1_709_294_400; // 2024-03-01T12:00:00Z
    assert_eq!(history, History { commits: 4, contributors: 2, span: Some((day, day)), merged_prs: 2 });
    assert_eq!(git(&origin, &["shortlog", "-sne", "HEAD"]).lines().count(), 2);
    assert_eq!(analysis.files, 5);
    assert!(analysis.ci_on_prs);
    assert_eq!(analysis.readme.as_deref(), Some("Counts things."));
    assert_eq!(analysis.manifest.as_deref(), Some("A counter"));
    assert_eq!(analysis.languages.bytes, [("Rust".to_owned(), 13)].into());
    assert_eq!(analysis.languages.lines, 1);
    let roots: Vec<&str> = analysis.structure.roots.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(roots, [".github", "src", ".mailmap", "Cargo.toml", "README.md"]);
}

#[test]
fn limits_and_missing_repositories_are_rejected_with_messages() {
    let directory = tempfile::tempdir().unwrap();
    let origin = directory.path().join("origin");
    std::fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "-q"]);
    let to = |name: &str| directory.path().join(name);
    let rejected = |limits: Limits, name: &str| {
        rejection_message(copy_here(&remote(&origin), &to(name), limits, &|| true).unwrap_err())
    };
    let empty = rejected(LIMITS, "empty");
    assert!(empty.contains("has no commits"), "{empty}");
    let absent = RemoteRepository {
        address: format!("file://{}/nowhere", directory.path().display()),
        ..remote(&origin)
    };
    let missing = rejection_message(copy_here(&absent, &to("nowhere-copy"), LIMITS, &|| true).unwrap_err());
    assert!(missing.contains("does not exist"), "{missing}");
    let text: String = (0..40_000_u64)
        .flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_string().into_bytes())
        .map(char::from)
        .collect();
    commit(&origin, &[("a.txt", &text)], "Large", &[]);
    let large = rejected(Limits { file_bytes: 100_000, ..LIMITS }, "large");
    assert!(large.contains("a file larger than 100000 bytes"), "{large}");
    let oversized = rejected(Limits { bytes: 50_000, ..LIMITS }, "much");
    assert!(oversized.contains("larger than 50000 bytes"), "{oversized}");
    assert!(matches!(
        copy_here(&remote(&origin), &to("stopped"), LIMITS, &|| false),
        Err(ReadError::Canceled)
    ));
    copy_here(&remote(&origin), &to("whole"), LIMITS, &|| true).unwrap();
    git(&origin, &["symbolic-ref", "HEAD", "refs/heads/none"]);
    let unborn = rejected(LIMITS, "unborn");
    assert!(unborn.contains("has no commits"), "{unborn}");
    let repository = Repository::open(&to("whole"), LIMITS).unwrap();
    let no_files = Limits { files: 0, ..LIMITS };
    assert!(
        rejection_message(codebases::analyze_repository(&repository, no_files, 0, &|| true).unwrap_err())
            .contains("more than 0 files")
    );
    assert!(matches!(
        codebases::analyze_repository(&repository, LIMITS, 0, &|| false),
        Err(ReadError::Canceled)
    ));
}

#[test]
fn private_addresses_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    for address in [
        "http://127.0.0.1:1/a/b.git",
        "http://[::1]/a/b.git",
        "http://2130706433/a/b.git",
        "http://localhost:1/a/b.git",
    ] {
        let source =
            RemoteRepository { address: address.to_owned(), authorization: None, may_be_private: false };
        let message = rejection_message(
            copy_here(&source, &directory.path().join("copy"), LIMITS, &|| true).unwrap_err(),
        );
        assert!(message.contains("not on the public internet"), "{address}: {message}");
        let _ = std::fs::remove_dir_all(directory.path().join("copy"));
    }
}
