//! Files that are not data, but are delivered with it.

use super::*;

/// An `AppleDouble` file beside a table, for example, is not a damaged table.
#[test]
fn files_that_are_not_data_are_left_out_and_named() {
    let apple_double = b"\0\x05\x16\x07\0\x02\0\0Mac OS X        \0\x02";
    for name in ["t.csv", "t.tsv", "t.jsonl", "t.parquet", "README.md"] {
        let extra = format!("d/._{name}");
        let files =
            [("d/t.csv", &b"a,b\n1,2\n"[..]), (extra.as_str(), apple_double), ("d/Thumbs.db", b"\xd0\xcf")];
        let outcome = run_checks(Subject::RawData, &files);
        let intact = finding(&outcome, "archive_intact");
        let expected = format!(
            "1 file was read to the end. Left out 2 files that are not data: \"{extra}\"; \"d/Thumbs.db\"."
        );
        assert_eq!((intact.status, &intact.message), (CheckStatus::Passed, &expected));
        let readable = finding(&outcome, "dataset_readable");
        assert_eq!(
            (readable.status, readable.message.as_str()),
            (CheckStatus::Passed, "Read 1 file with 1 row.")
        );
        let message = finding(&check_repository(&files), "archive_intact").message.clone();
        assert_eq!(message, expected, "in a repository, too");
    }
}

/// Files of a program for version control are delivered with the data.
#[test]
fn files_for_version_control_do_not_count_but_may_have_no_secrets() {
    let data = [("d/t.csv", &b"a,b\n1,2\n"[..])];
    let hook = ("d/.git/hooks/pre-commit.csv", &b"a\n1,2\n"[..]);
    let with_hook = run_checks(Subject::RawData, &[data[0], hook, ("d/.git/HEAD", b"ref: main\n")]);
    let (intact, readable) = (finding(&with_hook, "archive_intact"), finding(&with_hook, "dataset_readable"));
    let expected = "1 file was read to the end. Files for version control do not count as data: \"d/.git\".";
    assert_eq!((intact.status, intact.message.as_str()), (CheckStatus::Passed, expected));
    assert_eq!((intact.places.len(), intact.places[0].path.as_str()), (1, "d/.git"));
    assert_eq!(readable.message, "Read 1 file with 1 row.");
    assert_eq!(with_hook.fingerprint, run_checks(Subject::RawData, &data).fingerprint);
    let token = ["ghp_", "k3Jd8sLq0ZpVw7RtYb2XnMc5UeHaGf1T9oQi"].concat();
    let config = format!("url = https://x:{token}@host.acme.io/a\n");
    let with_token = run_checks(Subject::RawData, &[data[0], ("d/.git/config", config.as_bytes())]);
    let secrets = finding(&with_token, "no_live_secrets");
    assert_eq!(secrets.status, CheckStatus::Failed, "{secrets:?}");
    assert!(secrets.message.contains("\"d/.git/config\", line 1"), "{secrets:?}");
    let nothing_else = run_checks(Subject::RawData, &[hook]);
    let message = &finding(&nothing_else, "archive_intact").message;
    assert!(message.starts_with("The archive has no files."), "{message}");
}

/// Files that operating systems add to an archive are delivered with the data, too.
#[test]
fn files_of_operating_systems_do_not_count_but_may_have_no_secrets() {
    let token = ["ghp_", "k3Jd8sLq0ZpVw7RtYb2XnMc5UeHaGf1T9oQi"].concat();
    let key = ["-----BEGIN ", "PRIVATE KEY-----\n"].concat()
        + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7x2rZk9Yt\n";
    for (path, text) in [("__MACOSX/d/notes.txt", &token), ("d/._id_rsa", &key)] {
        let files = [("d/t.csv", &b"a,b\n1,2\n"[..]), (path, text.as_bytes())];
        for outcome in [run_checks(Subject::RawData, &files), check_repository(&files)] {
            let secrets = finding(&outcome, "no_live_secrets");
            assert_eq!(secrets.status, CheckStatus::Failed, "{secrets:?}");
            assert!(secrets.message.contains(&format!("\"{path}\", line 1")), "{secrets:?}");
            let expected =
                format!("1 file was read to the end. Left out 1 file that is not data: \"{path}\".");
            assert_eq!(finding(&outcome, "archive_intact").message, expected);
        }
    }
}
