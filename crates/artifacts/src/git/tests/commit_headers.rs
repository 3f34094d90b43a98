//! Commits with unusual headers, compared with what `git log` and `git shortlog` show.

use super::*;

/// Returns the history that `git log` and `git shortlog` show. Leaves out unreadable authors, for which `git shortlog` prints
/// its format.
fn history_of_git(directory: &Path) -> History {
    let lines = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let authors = lines(&["shortlog", "-se", "HEAD"]);
    let times = lines(&["log", "--format=%ct", "HEAD"]);
    let times = times.iter().filter_map(|time| String::from_utf8_lossy(time).parse::<i64>().ok());
    let times: Vec<i64> = times.filter(|time| (1..=NOW).contains(time)).collect();
    History {
        commits: lines(&["rev-list", "HEAD"]).len() as u64,
        contributors: authors.iter().filter(|author| !author.ends_with(b"%aN <%aE>")).count() as u64,
        span: times.iter().min().copied().zip(times.iter().max().copied()),
        merged_prs: lines(&["log", "--format=%s", "HEAD"])
            .iter()
            .filter(|line| line.ends_with(b"(#1)"))
            .count()
            .min(1) as u64,
    }
}

/// Headers of commits after those with the tree and the parent, and whether they are unusual. The last digit of the
/// number of the commit replaces `#`.
const HEADERS: [(&[u8], bool); 42] = [
    (b"author Ada <ada@x> 150000000# +0100\ncommitter Ada <ada@x> 150000000# +0100\n", false),
    (b"author Bo <b@x> 160000000# +0000\nauthor Cy <c@x> 160000000# +0000\ncommitter Bo <b@x> 160000000# +0000\n", true),
    (b"author Dee <d@x> 1 +0000\ncommitter E <e@x> 160000000# +0000\ncommitter F <f@x> 140000000# +0000\n", true),
    (b"author # <#@x> abc +0100\ncommitter Ada <ada@x> abc +0100\n", true),
    (b"author # <#@x> 1 +0100 junk\ncommitter Ada <ada@x> 130000000# +0100 (CET)\n", true),
    (b"author # <#@x 1 +0100\ncommitter Ada <ada@x 120000000# +0100\n", true),
    (b"author # #@x> 1 +0100\ncommitter Ada ada@x> 120000000# +0100\n", true),
    (b"author # #@x 1 +0100\ncommitter Ada <ada@x> 129000000# +0100\n", true),
    (b"committer Ada <ada@x> 128000000# +0100\n", true),
    (b"author # <#@x> 1 +0100\n", true),
    (b"", true),
    (b"author\ncommitter\n", true),
    (b"author \ncommitter \n", true),
    (b"author # <#@x> 1\ncommitter Ada <ada@x> 120000000#\n", true),
    (b"author # <#@x> 1 0100\ncommitter Ada <ada@x> 120000000# 0100\n", true),
    (b"author # <#@x> 1 +\ncommitter Ada <ada@x> 120000000# +\n", true),
    (b"author # <#@x> 1 +99999999999\ncommitter Ada <ada@x> 127000000# +99999999999\n", false),
    (b"author # <#@x> -5 +0000\ncommitter Ada <ada@x> -5 +0000\n", true),
    (b"author # <#@x> 0 +0000\ncommitter Ada <ada@x> 0 +0000\n", true),
    (b"author # <#@x> 1.5 +0000\ncommitter Ada <ada@x> 120000000#.5 +0000\n", true),
    (b"author # <#@x> 1x +0000\ncommitter Ada <ada@x> 120000000#x +0000\n", true),
    (
        b"author # <#@x> 99999999999999999999999 +0000\ncommitter Ada <ada@x> 99999999999999999999999 +0000\n",
        true,
    ),
    (b"author  <> 1 +0000\ncommitter  <> 126000000# +0000\n", false),
    (b"author <#@x> 1 +0000\ncommitter <ada@x> 125000000# +0000\n", false),
    (b"author # <> 1 +0000\ncommitter Ada <> 124000000# +0000\n", false),
    (b"author   Ada  < ada@x > 1 +0000\ncommitter Ada <ada@x> 123000000# +0000\n", false),
    (b"author Ada<ada@x>1 +0000\ncommitter Ada<ada@x>122000000#+0000\n", false),
    (b"author Ada <ada@x> b> 1 +0000\ncommitter Ada <ada@x> b> 121000000# +0000\n", false),
    (b"author Ada <ada <b@x> 1 +0000\ncommitter Ada <ada <b@x> 119000000# +0000\n", false),
    (b"author #\0 <#@x> 1 +0000\ncommitter Ada <ada@x> 110000000# +0000\n", true),
    (b"author # <#@x> 1 +0000\ncommitter Ada\0 <ada@x> 110000000# +0000\n", true),
    (b"author \xff# <#@x> 1 +0000\ncommitter \xff <ada@x> 118000000# +0000\n", false),
    ("author Andr\u{e9} <a@x> 1 +0000\ncommitter Ada <ada@x> 117000000# +0000\n".as_bytes(), false),
    (b"author Andr\xe9 <a@x> 1 +0000\ncommitter A <a@x> 116000000# +0000\nencoding ISO-8859-1\n", false),
    (b"author Andr\xe9 <a@x> 1 +0000\ncommitter A <a@x> 115000000# +0000\nencoding latin-1\n", false),
    (b"author Andr\xe9 <a@x> 1 +0000\ncommitter A <a@x> 114000000# +0000\nencoding none\n", false),
    (b"author \xd0\xb8 <#@x> 1 +0000\ncommitter A <a@x> 113000000# +0000\nencoding EUC-JP\n", false),
    (
        b"author Ada <ada@x> 1 +0000\ncommitter Ada <ada@x> 112000000# +0000\ngpgsig -----BEGIN\n author No <n@x> 1 +0000\n\
          \x20-----END\n",
        false,
    ),
    (b"x y\nauthor Ada <ada@x> 1 +0000\nz\ncommitter Ada <ada@x> 111000000# +0000\n", false),
    (b"committer Ada <ada@x> 109000000# +0000\nauthor # <#@x> 1 +0000\n", false),
    (b"author Ada <ada@x> 1 +0000\r\ncommitter Ada <ada@x> 108000000# +0000\r\n", false),
    (
        b"author Ada <ada@x> 1 +0000\ncommitter Ada <ada@x> 107000000# +0000\n\
          parent 1111111111111111111111111111111111111111\n",
        false,
    ),
];

#[test]
fn commits_with_unusual_headers_are_read_like_git_reads_them() {
    let directory = tempfile::tempdir().unwrap();
    let repository = repository_with_tree(directory.path(), LIMITS, |directory| {
        tree_of(directory, std::iter::once("a.rs".to_owned()), b"fn a() {}\n")
    });
    let tree = git(directory.path(), &["rev-parse", "main^{tree}"]);
    let (mut head, mut unusual_headers) = (repository.commit_sha(), 0);
    for (number, (headers, is_unusual)) in HEADERS.into_iter().enumerate() {
        let mut text = format!("tree {}\nparent {head}\n", tree.trim()).into_bytes();
        let digit = b'0' + (number % 10) as u8;
        text.extend(headers.iter().map(|byte| if *byte == b'#' { digit } else { *byte }));
        text.extend(b"\nAdd (#1)\n");
        head =
            object(directory.path(), &["hash-object", "-t", "commit", "-w", "--literally", "--stdin"], &text);
        git(directory.path(), &["update-ref", "refs/heads/main", &head]);
        let repository = Repository::open(directory.path(), LIMITS).unwrap();
        unusual_headers += u64::from(is_unusual);
        let (history, unusual) = read_history(&repository, NOW, &|| true).unwrap();
        let context = String::from_utf8_lossy(headers);
        assert_eq!(history, history_of_git(directory.path()), "{context}");
        assert_eq!(unusual, UnusualCommits { unusual_headers, future: 0 }, "{context}");
    }
    let to = directory.path().join("copy");
    copy_here(&remote(directory.path()), &to, LIMITS, &|| true).unwrap();
    let copy = Repository::open(&to, LIMITS).unwrap();
    let (analysis, history) = codebases::analyze_repository(&copy, LIMITS, NOW, &|| true).unwrap();
    assert_eq!((analysis.files, history), (1, history_of_git(directory.path())));
}

#[test]
fn commits_that_git_cannot_read_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    let repository =
        repository_with_tree(directory.path(), LIMITS, |directory| object(directory, &["mktree"], b""));
    let tree = git(directory.path(), &["rev-parse", "main^{tree}"]);
    let tree = tree.trim();
    for text in [
        String::new(),
        format!("tree {tree}\n"),
        format!("tree {tree}"),
        format!("\ntree {tree}\n\nA\n"),
        format!("tree {}\n\nA\n", &tree[1..]),
        format!("tree {tree}\nparent {}\n\nA\n", "x".repeat(40)),
        format!("tree {tree}\nparent {}\n\nA\n", "1".repeat(41)),
    ] {
        let id = object(
            directory.path(),
            &["hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
            text.as_bytes(),
        );
        let log = Command::new("git").args(["log", &id]).current_dir(directory.path()).output().unwrap();
        assert!(!log.status.success(), "{text}");
        let head = gix::ObjectId::from_hex(id.as_bytes()).unwrap();
        let damaged = Repository { inner: repository.inner.clone(), head };
        let message = rejection_message(read_history(&damaged, NOW, &|| true).unwrap_err());
        assert!(message.contains("damaged or incomplete"), "{text}: {message}");
    }
}

#[test]
fn dates_of_the_future_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let repository =
        repository_with_tree(directory.path(), LIMITS, |directory| object(directory, &["mktree"], b""));
    let time = 1_709_294_400; // 2024-03-01T12:00:00Z
    for (now, span, future) in [(time, Some((time, time)), 0), (time - 1, None, 1)] {
        let (history, unusual) = read_history(&repository, now, &|| true).unwrap();
        assert_eq!((history.commits, history.contributors, history.span), (1, 1, span));
        assert_eq!(unusual, UnusualCommits { unusual_headers: 0, future });
    }
}
