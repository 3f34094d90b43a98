//! Settings that cannot work, as operators learn of them: when a command starts, before it changes anything.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use super::{Server, marketplace, run, run_failing, stdout_of, temp_dir};

#[test]
fn server_with_impossible_settings_does_not_start() {
    const S3: &str =
        "[blobs]\nkind = \"s3\"\nbucket = \"files\"\naccess_key_id = \"a\"\nsecret_access_key = \"b\"\n";
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    for (settings, expected) in [
        (
            format!("{S3}endpoint = \"127.0.0.1:9000\"\n"),
            "my.toml:6: blobs.endpoint must be a URL with http:// or https://, but is \"127.0.0.1:9000\"; write it as \
             \"http://127.0.0.1:9000\"",
        ),
        (
            format!("{S3}endpoint = \"ftp://x\"\n"),
            "my.toml:6: blobs.endpoint must be a URL with http:// or https://, but is \"ftp://x\"; write it as \
             \"https://x\"",
        ),
        (
            "[blobs]\nkind = \"s3\"\n".to_owned(),
            "my.toml:2: blobs.bucket is empty, but blobs.kind is \"s3\"; set it to the name of a bucket, such as \
             \"market-uploads\"",
        ),
        (
            "[agents]\n\ntools = [\"get_walet\"]\n".to_owned(),
            "my.toml:3: agents.tools: There is no tool \"get_walet\"",
        ),
    ] {
        fs::write(directory.join("my.toml"), &settings).unwrap();
        let arguments = ["serve", "--config", "my.toml", "--data", "market", "--listen", "127.0.0.1:0"];
        let output = marketplace(&arguments, directory).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        // Other users can read the file, and some have a secret in it.
        let error = stderr.lines().find(|line| !line.starts_with("warning: "));
        assert!(error.is_some_and(|line| line.starts_with(&format!("error: {expected}"))), "{stderr}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        assert!(!directory.join("market").exists(), "{expected}: nothing is created");
    }
    let mut variable = marketplace(&["serve", "--data", "market"], directory);
    let output = variable.env("MARKETPLACE_BLOBS_ENDPOINT", "localhost:9000").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "error: MARKETPLACE_BLOBS_ENDPOINT: blobs.endpoint must be";
    assert!(stderr.starts_with(expected) && stderr.contains("\"http://localhost:9000\""), "{stderr}");
    let mut variable = marketplace(&["team", "list"], directory);
    let output = variable.env("MARKETPLACE_DATA_FOLDER", OsStr::from_bytes(b"a\xff")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: MARKETPLACE_DATA_FOLDER: a\u{fffd} is not in UTF-8"), "{stderr}");
    let output = marketplace(&["team", "list", "--data", ""], directory).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: a value is required for '--data <DIR>'"), "{stderr}");
}

#[test]
fn settings_file_that_leads_nowhere_is_not_ignored() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    std::os::unix::fs::symlink("gone.toml", directory.join("marketplace.toml")).unwrap();
    for arguments in [&["team", "list"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let output = marketplace(arguments, directory).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("error: cannot read settings file marketplace.toml: "), "{stderr}");
        assert_eq!(output.status.code(), Some(2));
    }
    fs::write(directory.join("gone.toml"), "[data]\nfolder = \"elsewhere\"\n").unwrap();
    let (code, stderr) = run_failing(&["team", "list"], directory);
    assert!(code == 1 && stderr.contains("there is no market in elsewhere"), "{stderr}");
}

/// A server starts even if settings that only the network can confirm do not work, and a request that needs it does not panic.
#[test]
fn server_starts_without_its_store_and_says_so() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let team = ["team", "create", "Acme Data", "--role", "vendor", "--nda", "--data", "market"];
    stdout_of(&run(&team, directory));
    let key = stdout_of(&run(&["key", "create", "Acme Data", "--data", "market"], directory));
    // Nothing listens on this port.
    let settings = "[blobs]\nkind = \"s3\"\nendpoint = \"http://127.0.0.1:9\"\nbucket = \"files\"\naccess_key_id = \"a\"\n\
         secret_access_key = \"b\"\n[repositories]\ngitlab_url = \"http://127.0.0.1:9\"\n";
    fs::write(directory.join("my.toml"), settings).unwrap();
    // A demo would not start: its own uploads have to be stored first.
    let mut server = Server::start(&["--config", "my.toml", "--data", "market"], directory);
    let create = ["grant", "create", "Acme Data", "--title", "Scans", "--data", "market"];
    let token = stdout_of(&run(&create, directory));
    let client = marketplace::http_client::blocking().unwrap().build().unwrap();
    let url = format!("http://{}/v2/vendor/uploads/grants/{}", server.1, token.trim());
    // An upload in one part is planned without the network.
    let body = serde_json::json!({
        "file_name": "scans.zip", "size_bytes": 1_000, "content_type": "application/zip"
    });
    let planned = client.post(url).bearer_auth(key.trim()).json(&body).send().unwrap();
    assert!(planned.status().is_success(), "{}", planned.text().unwrap());
    for warning in ["the store for uploads cannot be used", "repositories.gitlab_url"] {
        server.2.wait_for(warning);
    }
}

/// As in the image, which sets two variables: who changes the file learns why that has no effect.
#[test]
fn variable_that_overrides_the_file_is_named() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    fs::write(directory.join("my.toml"), "[server]\nlisten = \"127.0.0.1:1\"\ndrain_seconds = 3\n").unwrap();
    let mut command = marketplace(&["serve", "--config", "my.toml", "--data", "market"], directory);
    command.env("MARKETPLACE_SERVER_LISTEN", "127.0.0.1:0").env("MARKETPLACE_SERVER_DRAIN_SECONDS", "3");
    command.env("MARKETPLACE_DATA_READERS", "2");
    let mut server = Server::spawn(command);
    server.2.wait_for("MARKETPLACE_SERVER_LISTEN overrides server.listen of my.toml:2");
    assert_eq!(server.2.read().matches(" overrides ").count(), 1, "nothing else differs from the file");
    assert_eq!(server.terminate(), 0);
}
