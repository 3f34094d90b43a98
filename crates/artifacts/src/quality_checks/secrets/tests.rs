//! Secrets of every kind, assembled at run time, so that no file of this project looks like it contains one.

use marketplace_domain::quality_checks::CheckStatus;

use super::*;
use crate::quality_checks::tests::findings_of;

/// Returns a token with a prefix, followed by `length` random-looking letters.
fn token(prefix: &str, length: usize) -> String {
    let letters = b"q7Zr2LmX9vKdT4wB8nHc6JpY3sGf5RtE1aUoWi0DkVxM";
    let rest = (0..length).map(|at| char::from(letters[(at * 7 + 3) % letters.len()]));
    prefix.chars().chain(rest).collect()
}

fn finding(path: &str, text: &[u8], chunk_length: usize) -> Finding {
    findings_of(Secrets::default(), &[(path, text)], chunk_length).remove(0)
}

#[test]
fn all_rules_compile() {
    let rules = definitions();
    assert_eq!(RULES.rules.len(), rules.len(), "every rule compiles");
    for id in WEAK_RULES.iter().chain(&PRIVATE_KEY_RULES) {
        assert_eq!(rules.iter().filter(|rule| rule.id == *id).count(), 1, "{id}");
    }
    assert!(KEY_BODY.is_some());
}

#[test]
fn tokens_are_found_and_masked() {
    let key_id: String = token("", 60)
        .to_uppercase()
        .chars()
        .filter(|c| "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".contains(*c))
        .take(16)
        .collect();
    for (value, name) in [
        (token("ghp_", 36), "GitHub Personal"),
        (format!("AKIA{key_id}"), "AWS Access Key ID"),
        (token("AIza", 35), "Google Cloud"),
        (token("sk_live_", 24), "Stripe Secret"),
        (token("npm_", 36), "npm Access"),
    ] {
        let text = format!("one\ntwo\nkey = \"{value}\"\n");
        let finding = finding("src/a.py", text.as_bytes(), 10);
        assert_eq!(finding.status, CheckStatus::Failed, "{value}");
        assert!(finding.message.contains(name), "{}", finding.message);
        assert!(finding.message.contains("\"src/a.py\", line 3"), "{}", finding.message);
        assert!(!finding.message.contains(&value[..6]), "{}", finding.message);
    }
}

/// The identity of a secret in a file does not depend on its position or its value.
#[test]
fn contexts_stay_the_same_when_others_are_added() {
    let contexts = |text: &str, length: usize| -> Vec<String> {
        let places = finding("a.py", text.as_bytes(), length).places.into_iter();
        places.filter(|place| place.role == Role::Cause).map(|place| place.context).collect()
    };
    let one = token("ghp_", 36);
    let other = format!("ghp_{}", one[4..].chars().rev().collect::<String>());
    let key = |body: &str| {
        let body = body.repeat(8);
        format!("{}PRIVATE KEY-----\n{body}\n{}PRIVATE KEY-----\n", "-----BEGIN ", "-----END ")
    };
    let (first_key, second_key) = (key("MIIEvQIBADANBgkqhkiG"), key("MIIEvQIBADANBgkqhkiH"));
    for (before, added) in
        [(format!("main = '{one}'\n"), format!("test = '{other}'\n")), (first_key, second_key)]
    {
        let alone = contexts(&before, 100);
        assert_eq!((alone.len(), alone[0].len()), (1, CONTEXT_DIGITS));
        let both = contexts(&format!("{added}{before}"), 7);
        assert_eq!((both.len(), &both[1]), (2, &alone[0]));
        assert_ne!(both[0], alone[0]);
        assert_eq!(contexts(&format!("{}{before}", ".\n".repeat(40_000)), 65_536), alone);
    }
    let replaced = contexts(&format!("main = '{other}'\n"), 100);
    assert_eq!(replaced, contexts(&format!("main = '{one}'\n"), 100));
}

#[test]
fn token_across_chunks_is_found_once() {
    let value = token("ghp_", 36);
    for before in [0, 10, 4_070, 4_096, 8_170, 65_516, 65_536, 70_000] {
        let text = format!("{}\n{value}\n{}", ".".repeat(before), ".\n".repeat(40_000));
        for length in [65_536, 5_000, 8_192] {
            let finding = finding("a", text.as_bytes(), length);
            assert!(finding.message.starts_with("1 secret:"), "{before} {length} {}", finding.message);
            assert!(finding.message.contains("line 2"), "{}", finding.message);
        }
    }
}

#[test]
fn tokens_with_the_prefixes_of_providers_are_found() {
    let digits: String = "0123456789abcdef".chars().cycle().step_by(7).take(64).collect();
    let jwt = |value: &str| format!("{}.{}.{}", token(value, 27), token("01", 10), token("", 9));
    for (value, name) in [
        (token("sk-proj-", 120), "OpenAI API Key"),
        (token("sk-svcacct-", 120), "OpenAI API Key"),
        (token("sk-ant-api03-", 95), "Anthropic API Key"),
        (token("hf_", 34), "Hugging Face Token"),
        (token("hf_", 37), "Hugging Face Token"),
        (token("glpat-", 20), "GitLab Personal"),
        (jwt("glpat-"), "GitLab Personal"),
        (format!("xapp-1-A03KXJ7PQ2M-4837261950482-{digits}"), "Slack App Token"),
        (token("ghr_", 36), "GitHub Refresh Token"),
        (token("glrt-", 20), "GitLab Token"),
        (token("dckr_pat_", 27), "Docker Hub Access Token"),
        (token("hvs.", 95), "HashiCorp Vault Token"),
        (format!("{}.atlasv1.{}", token("", 14), token("", 67)), "HCP Terraform Token"),
        (token("GOCSPX-", 28), "Google OAuth Client Secret"),
        (token("ATATT3", 186), "Atlassian API Token"),
        (format!("shpat_{}", &digits[..32]), "Shopify Token"),
        (format!("doo_v1_{digits}"), "DigitalOcean OAuth Token"),
        (format!("dapi{}", &digits[..32]), "Databricks Token"),
        (token("dp.pt.", 43), "Doppler Token"),
        (format!("{}_{}", token("glsa_", 32), &digits[..8]), "Grafana Service Account Token"),
        (token("lin_api_", 40), "Linear API Key"),
        (token("NRAK-", 27).to_uppercase(), "New Relic User Key"),
        (format!("PMAK-{}-{}", &digits[..24], &digits[..34]), "Postman API Key"),
        (format!("pul-{}", &digits[..40]), "Pulumi Access Token"),
        (format!("rubygems_{}", &digits[..48]), "RubyGems API Key"),
        (format!("sntryu_{digits}"), "Sentry Token"),
        (format!("sbp_{}", &digits[..40]), "Supabase Access Token"),
        (format!("{}-{}", token("tskey-auth-", 16), token("", 32)), "Tailscale Key"),
        (token("8365920174:AA", 33), "Telegram Bot Token"),
        (
            format!("AGE-SECRET-KEY-1{}", &"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2)[..58]),
            "age Secret Key",
        ),
        (token("gsk_", 52), "Groq API Key"),
        (format!("sk-or-v1-{digits}"), "OpenRouter API Key"),
        (token("r8_", 37), "Replicate API Token"),
        (token("xai-", 80), "xAI API Key"),
    ] {
        for text in [format!("key = \"{value}\"\n"), value.clone(), format!("a: {value}, b")] {
            let found = finding("src/a.py", text.as_bytes(), 10);
            assert!(found.message.starts_with(&format!("1 secret: {name}")), "{text}: {}", found.message);
            assert!(!found.message.contains(&value), "{}", found.message);
        }
    }
    for text in
        [token("hf_", 20), token("sk-ant-", 40), token("xapp-", 40), format!("self_{}", token("hf_", 34))]
    {
        assert_eq!(finding("src/a.py", text.as_bytes(), 10).status, CheckStatus::Passed, "{text}");
    }
}

/// Other keys have the same format as keys of Mailgun.
#[test]
fn key_of_mailgun_is_named_in_its_line() {
    let key: String = "0f3a9c7e5b1d8246".chars().cycle().step_by(5).take(32).collect();
    for (text, is_found) in [
        (format!("MAILGUN_API_KEY=key-{key}\n"), true),
        (format!("curl --user 'api:key-{key}' https://api.mailgun.net/v3\n"), true),
        (format!("key: cache-key-{key}\n"), false),
        (format!("# mailgun\nkey: cache-key-{key}\n"), false),
    ] {
        let found = finding("a.yml", text.as_bytes(), 100);
        assert_eq!(found.status == CheckStatus::Failed, is_found, "{text}: {}", found.message);
        assert!(!found.message.contains(&key), "{}", found.message);
    }
}

/// A value is found at the end of a file, too, and on its line.
#[test]
fn last_value_needs_no_line_break() {
    let value = token("", 40);
    for (before, line) in [("", 1), ("a=1\n", 2), (&"a=1\n".repeat(30_000), 30_001)] {
        for end in ["", "\n"] {
            let text = format!("{before}{}={value}{end}", ["AWS_SECRET", "_ACCESS_KEY"].concat());
            let found = finding(".env", text.as_bytes(), 65_536);
            assert!(found.message.starts_with("1 secret: AWS Secret"), "{}", found.message);
            assert!(found.message.contains(&format!("line {line}")), "{}", found.message);
        }
    }
}

#[test]
fn test_files_are_recognized_by_words_in_their_path() {
    for (path, expected) in [
        ("tests/fixtures/server.pem", true),
        ("src/test/java/Key.java", true),
        ("src/FooTest.java", true),
        ("src/TestFoo.java", true),
        ("lib/key_spec.rb", true),
        ("crates/tls/testdata/key.pem", true),
        ("Examples/key.pem", true),
        ("ssl/ssl-cert-snakeoil.key", true),
        ("test2/key.pem", true),
        ("deploy/latest/server.key", false),
        ("src/inspector/server.key", false),
        ("src/attestation/key.pem", false),
        ("democracy/key.pem", false),
        ("specials/key.pem", false),
    ] {
        assert_eq!(is_test_path(path), expected, "{path}");
    }
}

#[test]
fn placeholders_are_ignored() {
    let key = ["AKIA", "IOSFODNN7EXAMPLE"].concat();
    for text in [
        key,
        format!("ghp_{}", "x".repeat(36)),
        format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789"),
        format!("ghp_{}", "ab".repeat(18)),
        "token = \"<token>\"; key = ${API_KEY}".to_owned(),
        // A header without a key is code that searches for keys.
        ["if text.contains(\"-----BEGIN ", "PRIVATE KEY-----\") { return }"].concat(),
    ] {
        let finding = finding("src/a.rs", text.as_bytes(), 100);
        assert_eq!(finding.status, CheckStatus::Passed, "{text}: {}", finding.message);
    }
    let loose = finding("a.py", b"password = \"hunter2-correct-horse\"", 100);
    assert_eq!(loose.status, CheckStatus::Passed);
    assert!(loose.message.contains("1 value looks like a password"), "{}", loose.message);
    assert!(!loose.message.contains("hunter2"));
}

#[test]
fn private_keys_are_found_in_text_strings_and_binaries() {
    let body = token("MIIEvQ", 64);
    let header = ["-----BEGIN RSA ", "PRIVATE KEY-----"].concat();
    let pgp = ["-----BEGIN PGP ", "PRIVATE KEY BLOCK-----"].concat();
    let putty = ["PuTTY-User-Key-", "File-3: ssh-ed25519"].concat();
    let encrypted = format!("{putty}\nEncryption: aes256-cbc\nComment: a\nPublic-Lines: 2\n{body}\n");
    assert_eq!(finding("a.ppk", encrypted.as_bytes(), 100).status, CheckStatus::Passed);
    for text in [
        format!("{pgp}\nVersion: GnuPG v2\n\n{body}\n"),
        format!("{pgp}\n\n{body}"),
        format!("{putty}\r\nEncryption: none\r\nComment: a\r\nPublic-Lines: 2\r\n{body}\r\n"),
        format!("{header}\n{body}\n"),
        format!("{header}\r\n{body}\r\n"),
        format!("key = \"{header}\\n{body}\\n\""),
        format!("\0\0{header}\n{body}\n"),
        format!("{header}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{body}"),
    ] {
        let found = finding("deploy/id_rsa", text.as_bytes(), 1_000);
        assert!(found.message.starts_with("1 secret: Private Key"), "{text:?} {}", found.message);
        assert!(!found.message.contains(&body[..8]));
        let test = finding("tests/fixtures/server.pem", text.as_bytes(), 1_000);
        assert_eq!(test.status, CheckStatus::Passed);
        assert!(test.message.contains("1 private key in test or example files"), "{}", test.message);
    }
    let binary = format!("\0{}", token("ghp_", 36));
    assert_eq!(finding("a.bin", binary.as_bytes(), 100).status, CheckStatus::Passed);
}

/// Each header is followed by less than the rest of the text, whatever that is.
#[test]
fn repeated_headers_are_judged_by_what_follows_closely() {
    let header = ["-----BEGIN ", "PRIVATE KEY-----"].concat();
    let body = token("MIIEvQ", 64);
    let near = format!("{header}{}{body}", "\n".repeat(MAX_KEY_PREAMBLE_BYTES - body.len()));
    assert!(finding("a", near.as_bytes(), 65_536).message.starts_with("1 secret"));
    let far = format!("{header}{}{body}", "\n".repeat(MAX_KEY_PREAMBLE_BYTES));
    assert_eq!(finding("a", far.as_bytes(), 65_536).status, CheckStatus::Passed);
    let comments = format!("{header}\n").repeat(5_000) + &format!("Comment:{header}\n").repeat(5_000);
    for length in [1_000, comments.len()] {
        assert_eq!(finding("a", comments.as_bytes(), length).status, CheckStatus::Passed);
    }
}
