//! `marketplace verify-bundle` without a result, and the keys of a server before its first sale.

use std::fs;

use serde_json::Value;

use super::{Server, marketplace, run, run_failing, temp_dir};
use crate::harness::archives::bundle_of;

#[test]
fn verification_without_a_result_is_not_a_mismatch() {
    let temp_dir = temp_dir();
    let bundle = temp_dir.path().join("bundle.zip");
    std::fs::write(&bundle, b"no bundle").unwrap();
    let bundle = bundle.to_str().unwrap();
    // Nobody listens on this port.
    for (file, keys) in [(bundle, "http://127.0.0.1:9/keys.json"), (bundle, "missing"), ("missing", bundle)] {
        let (code, message) = run_failing(&["verify-bundle", file, "--keys", keys], temp_dir.path());
        assert_eq!(code, 2, "{file} {keys}: {message}");
    }
    let proof = ["verify-bundle", bundle, "--proof", bundle, "--log"];
    for logs in [bundle, "http://127.0.0.1:9/log.json"] {
        let (code, message) = run_failing(&[&proof[..], &[logs]].concat(), temp_dir.path());
        assert_eq!(code, 2, "{logs}: {message}");
    }
    let output = run(&["verify-bundle", bundle], temp_dir.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"archive\": It is not a bundle") && !text.contains("missing"), "{text}");
    let (code, message) = run_failing(&proof[..4], temp_dir.path());
    assert!(code == 1 && message.contains("mismatch"), "{code}: {message}");
    // A byte order mark before the keys does not matter.
    std::fs::write(temp_dir.path().join("keys.json"), "\u{feff}{\"keys\": []}").unwrap();
    for keys in [&[][..], &["--keys", "keys.json"]] {
        let (code, message) = run_failing(&[&["verify-bundle", bundle], keys].concat(), temp_dir.path());
        assert!(code == 1 && message.contains("mismatch"), "{keys:?}: {code}: {message}");
    }
}

/// The exit code 1 says that something differs.
#[test]
fn verification_whose_result_is_lost_is_not_a_mismatch() {
    let temp_dir = temp_dir();
    let bundle = temp_dir.path().join("bundle.zip");
    std::fs::write(&bundle, b"no bundle").unwrap();
    for options in [&[][..], &["--json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let arguments = [&["verify-bundle", bundle.to_str().unwrap()], options].concat();
        let output = marketplace(&arguments, temp_dir.path()).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
    }
}

/// Contents of a bundle can neither move the cursor nor imitate a line.
#[test]
fn names_in_a_bundle_are_escaped() {
    let temp_dir = temp_dir();
    let bundle = temp_dir.path().join("bundle.zip");
    // The message of the library contains the first character that is not hexadecimal.
    let manifest = br#"{"listing_id": "\u001b", "entries": []}"#.to_vec();
    fs::write(&bundle, bundle_of(&[("manifest.json".to_owned(), manifest)])).unwrap();
    let bundle = bundle.to_str().unwrap();
    let output = run(&["verify-bundle", bundle], temp_dir.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\\u{1b}") && !text.contains('\u{1b}'), "{text}");
}

/// If the first sale created the first key, everybody would learn when that was.
#[test]
fn server_has_a_key_before_its_first_sale() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let url = format!("http://{}/.well-known/marketplace-keys.json", server.1);
    let client = marketplace::http_client::blocking().unwrap().build().unwrap();
    let keys: Value = client.get(url).send().unwrap().json().unwrap();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1, "{keys}");
    assert_eq!(server.terminate(), 0);
}

/// For instance, http at a market that redirects to https.
#[test]
fn address_that_leads_elsewhere_has_no_keys() {
    let temp_dir = temp_dir();
    std::fs::write(temp_dir.path().join("bundle.zip"), "").unwrap();
    let server = Server::start(&["--demo"], temp_dir.path());
    let url = format!("http://{}/console", server.1);
    let (code, message) = run_failing(&["verify-bundle", "bundle.zip", "--keys", &url], temp_dir.path());
    assert!(code == 2 && message.contains("redirects to /console/"), "{code}: {message}");
    // The address of the market has its landing page.
    let url = format!("http://{}", server.1);
    let (code, message) = run_failing(&["verify-bundle", "bundle.zip", "--keys", &url], temp_dir.path());
    assert!(code == 2 && message.contains("at /.well-known/marketplace-keys.json"), "{code}: {message}");
}
