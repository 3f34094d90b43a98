//! Copies of repositories made with Git, compared with what Git itself reports.

mod commit_headers;

use std::{
    cell::Cell,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use marketplace_domain::quality_checks::CheckStatus;

use super::*;
use crate::{
    codebases,
    contents::{Entry, FileAction, Visitor},
    quality_checks::{Checks, Source, Subject, paths::NO_PATH_TRAVERSAL},
};

const NOW: i64 = 1_800_000_000;

const LIMITS: Limits = Limits { bytes: 50_000_000, files: 10_000, file_bytes: 1_000_000, idle_seconds: 30 };

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
        origin: Origin::Linked,
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
        let pack = std::fs::File::open(&received.pack);
        index_pack(pack, &received.directory, &received.head, limits, received.origin).0
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
    let (analysis, history) = codebases::analyze_repository(&repository, LIMITS, NOW, &|| true).unwrap();
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
        let source = RemoteRepository { address: address.to_owned(), ..remote(directory.path()) };
        let message = rejection_message(
            copy_here(&source, &directory.path().join("copy"), LIMITS, &|| true).unwrap_err(),
        );
        assert!(message.contains("not on the public internet"), "{address}: {message}");
        let _ = std::fs::remove_dir_all(directory.path().join("copy"));
    }
}

/// Runs Git with an input, and returns the ID of the object that it creates.
fn object(directory: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git is installed");
    child.stdin.take().unwrap().write_all(input).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
}

/// Creates a repository whose newest commit has a tree, and opens it.
fn repository_with_tree(directory: &Path, limits: Limits, tree: impl FnOnce(&Path) -> String) -> Repository {
    git(directory, &["init", "-q", "--bare"]);
    let tree = tree(directory);
    let commit = git(directory, &["commit-tree", "-m", "Add (#1)", &tree]);
    git(directory, &["update-ref", "refs/heads/main", commit.trim()]);
    Repository::open(directory, limits).unwrap()
}

/// Returns a tree in which one blob has many names.
fn tree_of(directory: &Path, names: impl Iterator<Item = String>, blob: &[u8]) -> String {
    let blob = object(directory, &["hash-object", "-w", "--stdin"], blob);
    let lines: Vec<String> = names.map(|name| format!("100644 blob {blob}\t{name}\n")).collect();
    object(directory, &["mktree"], lines.concat().as_bytes())
}

/// Counts what it is passed.
#[derive(Default)]
struct CountingVisitor {
    bytes: u64,
    paths: Vec<String>,
}

impl Visitor for CountingVisitor {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.paths.push(entry.path.to_owned());
        FileAction::Read
    }

    fn chunk(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
    }

    fn end_file(&mut self, _problem: Option<&str>) {}
}

#[test]
fn repeated_files_and_directories_are_read_within_limits() {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { bytes: 100_000, ..LIMITS };
    let repository = repository_with_tree(directory.path(), limits, |directory| {
        tree_of(directory, (0..1_000).map(|number| format!("a{number}")), &vec![b'x'; 50_000])
    });
    let mut visitor = CountingVisitor::default();
    let message = rejection_message(visit_files(&repository, limits, &|| true, &mut visitor).unwrap_err());
    assert!(message.contains("more than 2000000 bytes in total"), "{message}");
    assert!(visitor.bytes <= 2_000_000, "{}", visitor.bytes);
    // A directory that contains the same directory ten times, on eight levels: 10^8 files.
    let directory = tempfile::tempdir().unwrap();
    let repository = repository_with_tree(directory.path(), LIMITS, |directory| {
        let files = tree_of(directory, (0..10).map(|number| format!("a{number}")), b"x");
        (0..7).fold(files, |tree, _| {
            let lines: Vec<String> =
                (0..10).map(|number| format!("040000 tree {tree}\td{number}\n")).collect();
            object(directory, &["mktree"], lines.concat().as_bytes())
        })
    });
    let mut visitor = CountingVisitor::default();
    let message = rejection_message(visit_files(&repository, LIMITS, &|| true, &mut visitor).unwrap_err());
    assert!(message.contains("more than 10000 files"), "{message}");
}

#[test]
fn long_paths_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let repository = repository_with_tree(directory.path(), LIMITS, |directory| {
        tree_of(directory, std::iter::once(".".repeat(5_000)), b"x")
    });
    let mut visitor = CountingVisitor::default();
    let message = rejection_message(visit_files(&repository, LIMITS, &|| true, &mut visitor).unwrap_err());
    assert!(message.contains("a path of more than 4096 bytes"), "{message}");
}

#[test]
fn files_whose_names_lead_outside_do_not_count() {
    let directory = tempfile::tempdir().unwrap();
    let repository = repository_with_tree(directory.path(), LIMITS, |directory| {
        let blob = object(directory, &["hash-object", "-w", "--stdin"], b"fn a() {}\n");
        let id = gix::ObjectId::from_hex(blob.as_bytes()).unwrap();
        let names = ["../b.rs", "..c.rs", "a.rs", "d//e.rs"];
        let entries = names.map(|name| [&b"100644 "[..], name.as_bytes(), b"\0", id.as_slice()].concat());
        object(directory, &["hash-object", "-w", "--literally", "-t", "tree", "--stdin"], &entries.concat())
    });
    let (analysis, _) = codebases::analyze_repository(&repository, LIMITS, NOW, &|| true).unwrap();
    assert_eq!((analysis.files, analysis.languages.lines), (2, 2));
    let mut checks = Checks::new(Subject::Codebase, Source::Repository);
    visit_files(&repository, LIMITS, &|| true, &mut checks).unwrap();
    let findings = checks.finish().findings;
    let finding = findings.iter().find(|finding| finding.rule == &NO_PATH_TRAVERSAL).unwrap();
    assert_eq!(finding.status, CheckStatus::Failed);
    assert!(finding.message.contains("\"../b.rs\"; \"d//e.rs\""), "{}", finding.message);
}

#[test]
fn pass_can_be_canceled_within_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { file_bytes: 50_000_000, ..LIMITS };
    let repository = repository_with_tree(directory.path(), limits, |directory| {
        let names = [".gitattributes", "A"].map(str::to_owned);
        tree_of(directory, names.into_iter(), &vec![b' '; 20_000_000])
    });
    let mut visitor = CountingVisitor::default();
    let calls = Cell::new(0);
    let should_continue = || {
        calls.set(calls.get() + 1);
        calls.get() < 2
    };
    let stopped = visit_files(&repository, limits, &should_continue, &mut visitor);
    assert!(matches!(stopped, Err(ReadError::Canceled)));
    assert!(visitor.bytes < 10_000_000, "{}", visitor.bytes);
    visitor = CountingVisitor::default();
    visit_files(&repository, limits, &|| true, &mut visitor).unwrap();
    assert_eq!(
        (visitor.paths, visitor.bytes),
        (vec![".gitattributes".to_owned(), "A".to_owned()], 40_000_000)
    );
}

#[test]
fn large_mailmap_is_ignored() {
    for (lines, contributors) in [(1, 1), (60_000, 0)] {
        let directory = tempfile::tempdir().unwrap();
        let mailmap = "Bob <bob@example.com> <ada@example.com>\n".repeat(lines);
        let repository = repository_with_tree(directory.path(), LIMITS, |directory| {
            tree_of(directory, std::iter::once(".mailmap".to_owned()), mailmap.as_bytes())
        });
        let mailmap = history::read_mailmap(&repository).unwrap();
        assert_eq!(mailmap.iter().count(), contributors);
        let (history, _) = read_history(&repository, NOW, &|| true).unwrap();
        assert_eq!((history.commits, history.contributors, history.merged_prs), (1, 1, 1));
    }
}

/// Zips a directory with everything in it.
fn zip_of(directory: &Path, to: &Path) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(to).unwrap());
    let mut directories = vec![directory.to_owned()];
    while let Some(current) = directories.pop() {
        for entry in std::fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(directory.parent().unwrap()).unwrap().to_str().unwrap().to_owned();
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&std::fs::read(path).unwrap()).unwrap();
        }
    }
    zip.finish().unwrap();
}

#[test]
fn repositories_in_other_formats_are_refused_by_name() {
    let archive_limits = crate::Limits { max_files: 1_000, max_ratio: 200 };
    for (option, is_packed, name, is_refused_as_bundle) in [
        ("--object-format=sha256", false, "SHA-256", true),
        ("--object-format=sha256", true, "SHA-256", true),
        ("--ref-format=reftable", true, "reftable", false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir(path("origin")).unwrap();
        git(&path("origin"), &["init", "-q", option]);
        commit(&path("origin"), &[("a.rs", "fn a() {}\n")], "Add", &[]);
        if is_packed {
            git(&path("origin"), &["repack", "-adq"]);
        }
        git(&path("origin"), &["bundle", "create", "-q", "../bundle", "HEAD"]);
        let ref_format = if name == "reftable" { option } else { "--ref-format=files" };
        git(directory.path(), &["clone", "-q", "--bare", ref_format, "origin", "bare.git"]);
        for from in ["origin", "bare.git", "bundle"] {
            let copied = copy_here(&remote(&path(from)), &path(&format!("{from}-copy")), LIMITS, &|| true);
            if from == "bundle" && !is_refused_as_bundle {
                copied.unwrap();
                continue;
            }
            let message = rejection_message(copied.unwrap_err());
            assert!(message.contains(name), "{from}: {message}");
        }
        for from in ["origin/.git", "bare.git"] {
            std::fs::create_dir_all(path("repacked").join(from)).unwrap();
            zip_of(&path(from), &path("zip"));
            let repacked = repack(&path("zip"), archive_limits, LIMITS, &path("repacked").join(from));
            let message = rejection_message(repacked.unwrap_err());
            assert!(message.contains(name), "{from}: {message}");
        }
    }
}

#[test]
fn repository_in_a_zip_with_unsupported_compression_is_refused_for_it() {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "-q", "origin"]);
    commit(&directory.path().join("origin"), &[("a.rs", "fn a() {}\n")], "Add", &[]);
    let zip = directory.path().join("zip");
    zip_of(&directory.path().join("origin/.git"), &zip);
    let mut bytes = std::fs::read(&zip).unwrap();
    for at in 0..bytes.len() - 4 {
        match &bytes[at..at + 4] {
            b"PK\x03\x04" => bytes[at + 8] = 12,
            b"PK\x01\x02" => bytes[at + 10] = 12,
            _ => {}
        }
    }
    std::fs::write(&zip, bytes).unwrap();
    let archive_limits = crate::Limits { max_files: 1_000, max_ratio: 200 };
    let message = rejection_message(repack(&zip, archive_limits, LIMITS, directory.path()).unwrap_err());
    assert!(message.contains("unsupported compression method, bzip2"), "{message}");
}
