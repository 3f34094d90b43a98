//! Settings files and variables, as operators write them.

use std::path::Path;

use toml::Value;

use super::*;

fn settings_from_file(text: &str) -> Result<Settings, SettingsError> {
    let mut sources = SettingsSources::new();
    sources.add_file(Path::new("my.toml"), text)?;
    sources.resolve()
}

#[test]
fn later_layers_override_earlier_ones() {
    let mut sources = SettingsSources::new();
    sources.add_file(Path::new("my.toml"), "[fees]\nbuyer_percent = 3\nplatform_percent = 12.5\n").unwrap();
    let variables = [
        ("MARKETPLACE_FEES_BUYER_PERCENT", "4"),
        ("MARKETPLACE_SERVER_LISTEN", "127.0.0.1:0"),
        ("MARKETPLACE_API_KEY", "secret"),
        ("PATH", "/bin"),
    ];
    sources.add_variables(variables.map(|(name, value)| (name.to_owned(), value.to_owned()))).unwrap();
    sources.set("data.folder", Value::from("elsewhere"), "--data".to_owned()).unwrap();
    let settings = sources.resolve().unwrap();
    assert!((settings.fees.buyer_percent - 4.0).abs() < 1e-9);
    assert!((settings.fees.platform_percent - 12.5).abs() < 1e-9);
    assert_eq!(settings.server.listen.port(), 0);
    assert_eq!(settings.data.folder, Path::new("elsewhere"));
}

#[test]
fn errors_name_the_origin_and_the_nearest_key() {
    for (text, expected) in [
        (
            "[fees]\n\nbuyer_percnt = 1",
            "my.toml:3: unknown key \"buyer_percnt\" in [fees]; did you mean \"buyer_percent\"?",
        ),
        ("[fee]\na = 1", "my.toml:1: unknown section [fee]; did you mean \"fees\"?"),
        ("fees = 3", "my.toml:1: fees is a section; write its keys below a line [fees]"),
        ("[[fees]]", "my.toml:1: fees is a section; write its keys below a line [fees]"),
        ("[fees.buyer]", "my.toml:1: unknown key \"buyer\" in [fees]; did you mean \"buyer_percent\"?"),
        (
            "[data]\nreaders = \"two\"",
            "my.toml:2: data.readers must be of type integer, not string; write it as 0",
        ),
        ("[data]\nreaders = 65", "my.toml:2: data.readers must be between 0 and 64, but is 65"),
        (
            "[fees]\nbuyer_percent = nan",
            "my.toml:2: fees.buyer_percent must be between 0 and 100, but is NaN",
        ),
    ] {
        assert_eq!(settings_from_file(text).unwrap_err().to_string(), expected);
    }
    assert!(settings_from_file("[fees\n").unwrap_err().to_string().starts_with("my.toml:1: "));
    assert!(
        settings_from_file("[server]\nlisten = \"nowhere\"")
            .unwrap_err()
            .to_string()
            .starts_with("my.toml:2: server.listen")
    );
    assert!(settings_from_file("[agents]\ntoolsets = [\"catalogue\"]").unwrap_err().to_string().starts_with(
        "my.toml:2: agents.toolsets is invalid: unknown variant `catalogue`, expected one of `all`"
    ));
    assert!(
        settings_from_file("[log]\nformat = \"xml\"")
            .unwrap_err()
            .to_string()
            .starts_with("my.toml:2: log.format")
    );
}

/// Settings that cannot work, with the key and parts of the message: what is wrong, and the right form.
const INVALID: &[(&str, &str, &[&str])] = &[
    (
        "[server]\npublic_url = \"market.example.com\"",
        "server.public_url",
        &["\"https://market.example.com\""],
    ),
    ("[server]\npublic_url = \"ftp://x\"", "server.public_url", &["\"ftp://x\"", "\"https://x\""]),
    ("[server]\npublic_url = \"https://\"", "server.public_url", &["http:// or https://"]),
    ("[server]\npublic_url = '\"http://a.test\"'", "server.public_url", &["write it as \"http://a.test\""]),
    ("[server]\npublic_url = 'https://a.test\"'", "server.public_url", &["write it as \"https://a.test\""]),
    ("[server]\npublic_url = \"https:///x\"", "server.public_url", &["\"https://x\""]),
    ("[server]\npublic_url = \"https://a.test/?b\"", "server.public_url", &["\"https://a.test/\""]),
    ("[server]\npublic_url = \"https://user:hidden@a.test\"", "server.public_url", &["user name"]),
    // The path of a cookie ends at a semicolon, and a link that begins with two slashes leads to another host.
    ("[server]\npublic_url = \"https://a.test/a;b/\"", "server.public_url", &["\"https://a.test/a%3Bb\""]),
    (
        "[server]\npublic_url = \"https://a.test//b.test\"",
        "server.public_url",
        &["\"https://a.test/b.test\""],
    ),
    (
        "[server]\npublic_url = 'https://a.test\\b'",
        "server.public_url",
        &["write it as \"https://a.test/b\""],
    ),
    ("[server]\npublic_url = \"https://a.test/x/../b\"", "server.public_url", &["\"https://a.test/b\""]),
    (
        "[server]\npublic_url = \"https://a.test:8443/it's\"",
        "server.public_url",
        &["\"https://a.test:8443/it%27s\""],
    ),
    (
        "[server]\npublic_url = \"https://ä.test/ö\"",
        "server.public_url",
        &["\"https://xn--4ca.test/%C3%B6\""],
    ),
    ("[server]\nlisten = \"example.com:80\"", "server.listen", &["127.0.0.1:8080"]),
    (
        "[server]\ncors_origins = [\"*\", \"example.com\"]",
        "server.cors_origins",
        &["\"https://example.com\""],
    ),
    ("[server]\ncors_origins = [\"https://a.test/path\"]", "server.cors_origins", &["\"https://a.test\""]),
    ("[server]\ncors_origins = [\"https://A.test\"]", "server.cors_origins", &["\"https://a.test\""]),
    ("[server]\ncors_origins = [\"https://a.test:443\"]", "server.cors_origins", &["\"https://a.test\""]),
    ("[server]\ncors_origins = [7]", "server.cors_origins", &["expected a string"]),
    (
        "[server]\ncors_origins = \"https://a.test\"",
        "server.cors_origins",
        &["array", "[\"first\", \"second\"]"],
    ),
    ("[server]\ndrain_seconds = -1", "server.drain_seconds", &["between 0 and 3600", "-1"]),
    ("[server]\nmax_connections = 4294967296", "server.max_connections", &["between 1 and 100000"]),
    (
        "[server]\nmax_body_bytes = 134217728",
        "server.max_body_bytes",
        &["limits.memory_mb", "raise the second to 512"],
    ),
    ("[contact]\nname = \"a\\nb\"", "contact.name", &["one line"]),
    ("[contact]\nurl = \"a.test\"", "contact.url", &["\"https://a.test\""]),
    ("[contact]\nemail = \"a.test\"", "contact.email", &["\"a.test\"", "api@example.com"]),
    ("[contact]\nemail = \"a@b@c\"", "contact.email", &["api@example.com"]),
    ("[contact]\nemail = \"a b@c\"", "contact.email", &["api@example.com"]),
    ("[contact]\nemail = '\"a@b.test\"'", "contact.email", &["api@example.com"]),
    ("[contact]\nemail = \"'a@b.test'\"", "contact.email", &["api@example.com"]),
    ("[limits]\ncatalog = -1", "limits.catalog", &["between 0 and"]),
    ("[limits]\nmemory_mb = 1", "server.max_body_bytes", &["lower the first"]),
    ("[limits]\ntrust_forwarded_for = \"yes\"", "limits.trust_forwarded_for", &["boolean", "false"]),
    ("[data]\nfolder = \"\"", "data.folder", &["the path of a directory", "\"data\""]),
    ("[data]\nfolder = \"~/market\"", "data.folder", &["not begin with ~", "\"/home/ann/market\""]),
    ("[data]\nfolder = \"$HOME/market\"", "data.folder", &["not begin with $", "\"/home/ann/market\""]),
    ("[data]\nfolder = '\"/srv/market\"'", "data.folder", &["without quotes", "as \"/srv/market\""]),
    ("[blobs]\nsecret_access_key = '\"abc\"'", "blobs.secret_access_key", &["no quotes around it"]),
    ("[console]\nnda_file = \"~/nda.md\"", "console.nda_file", &["not begin with ~"]),
    ("[maintenance]\ntext = \" \\u200b\"", "maintenance.text", &["must not be blank"]),
    ("[data]\nreaders = 65", "data.readers", &["between 0 and 64, but is 65"]),
    ("[data]\nreaders = 2.5", "data.readers", &["integer, not float"]),
    ("[index]\nwriter_threads = 9", "index.writer_threads", &["between 1 and 8"]),
    ("[blobs]\nkind = \"S3\"", "blobs.kind", &["`local` or `s3`"]),
    ("[blobs]\nkind = \"s3\"", "blobs.bucket", &["is empty", "market-uploads"]),
    ("[blobs]\nkind = \"s3\"\nbucket = \"files\"", "blobs.access_key_id", &["is empty"]),
    (
        "[blobs]\nkind = \"s3\"\nbucket = \"files\"\naccess_key_id = \"a\"",
        "blobs.secret_access_key",
        &["is empty"],
    ),
    (
        "[blobs]\nendpoint = \"127.0.0.1:9000\"",
        "blobs.endpoint",
        &["\"127.0.0.1:9000\"", "\"http://127.0.0.1:9000\""],
    ),
    ("[blobs]\nendpoint = \"localhost:9000\"", "blobs.endpoint", &["\"http://localhost:9000\""]),
    ("[blobs]\nendpoint = \"[::1]:9000\"", "blobs.endpoint", &["\"http://[::1]:9000\""]),
    ("[blobs]\nendpoint = \"ftp://x\"", "blobs.endpoint", &["\"https://x\""]),
    ("[blobs]\nendpoint = \"s3.example.com\"", "blobs.endpoint", &["\"https://s3.example.com\""]),
    ("[blobs]\nendpoint = \"https://a b\"", "blobs.endpoint", &["\"https://example.com\""]),
    ("[blobs]\nendpoint = \"http://a.test:99999\"", "blobs.endpoint", &["http:// or https://"]),
    ("[blobs]\nendpoint = \" https://a.test\"", "blobs.endpoint", &["\"https://a.test\""]),
    ("[blobs]\nregion = \"\"", "blobs.region", &["us-east-1"]),
    ("[blobs]\nregion = \"eu west\"", "blobs.region", &["us-east-1"]),
    ("[blobs]\nbucket = \"my/files\"", "blobs.bucket", &["\"my/files\"", "market-uploads"]),
    ("[blobs]\nbucket = \"ab\"", "blobs.bucket", &["3 or more"]),
    ("[blobs]\nprefix = \"/market\"", "blobs.prefix", &["\"market/\""]),
    ("[blobs]\nprefix = \"a/../b/\"", "blobs.prefix", &["\"a/b/\""]),
    ("[blobs]\naccess_key_id = \"a b\"", "blobs.access_key_id", &["no spaces"]),
    ("[blobs]\nsecret_access_key = \"hidden\\n\"", "blobs.secret_access_key", &["line breaks"]),
    ("[blobs]\nmax_upload_bytes = 1", "blobs.max_upload_bytes", &["between 1000 and"]),
    ("[repositories]\ngithub_url = \"github.com\"", "repositories.github_url", &["\"https://github.com\""]),
    ("[repositories]\ngithub_url = \"\"", "repositories.github_url", &["file://"]),
    ("[repositories]\ngitlab_url = \"file://srv/a\"", "repositories.gitlab_url", &["\"file:///srv/a\""]),
    (
        "[repositories]\ngithub_api_url = \"file:///a\"",
        "repositories.github_api_url",
        &["http:// or https://"],
    ),
    ("[repositories]\ngithub_url = \"https://u:hidden@a.test\"", "repositories.github_url", &["the token"]),
    ("[repositories]\ngithub_token = \"hidden token\"", "repositories.github_token", &["no spaces"]),
    ("[repositories]\nmax_bytes = 10000", "repositories.max_file_bytes", &["repositories.max_bytes, 10000"]),
    ("[jobs]\nreadings = 17", "jobs.readings", &["raise jobs.started"]),
    ("[agents]\ntools = [\"Get Listing\"]", "agents.tools", &["\"Get Listing\"", "list_listings"]),
    ("[agents]\nschemas = \"deep\"", "agents.schemas", &["`shallow` or `full`"]),
    ("[quality]\ncredits_per_run = 0.001", "quality.credits_per_run", &["4.99"]),
    ("[estimations]\ncents_per_commit = -5", "estimations.cents_per_commit", &["between 0 and"]),
    (
        "[server]\ntrusted_hosts = [\"shop\", \"shop:8080\"]",
        "server.trusted_hosts",
        &["\"shop:8080\"", "without scheme and port"],
    ),
    ("[server]\ntrusted_proxies = [\"10.0.0.1/8\"]", "server.trusted_proxies", &["\"10.0.0.0/8\""]),
    ("[server]\ntrusted_proxies = [\"proxy\"]", "server.trusted_proxies", &["\"proxy\"", "\"10.0.0.0/8\""]),
    ("[tls]\ncertificate = \"a.pem\"", "tls.certificate", &["tls.key is empty"]),
    ("[tls]\nkey = \"a.pem\"", "tls.key", &["tls.certificate is empty"]),
    (
        "[tls]\nredirect_listen = \"80\"\ncertificate = \"a\"\nkey = \"b\"\n[server]\npublic_url = \"http://a.test\"",
        "tls.redirect_listen",
        &["begins with http", "https"],
    ),
    ("[tls]\nredirect_listen = \"80\"", "tls.redirect_listen", &["tls.certificate"]),
    (
        "[replication]\ndestination = \"s3://bucket/market\"",
        "replication.destination",
        &["replication.litestream is not; set it to true"],
    ),
    ("[replica]\nprimary_url = \"10.0.0.1:8080\"", "replica.primary_url", &["http://10.0.0.1:8080"]),
    (
        "[replica]\nsource = \"https://bucket\"",
        "replica.source",
        &["s3:// or file:///", "s3://bucket/prefix"],
    ),
    ("[replica]\nsource = \"s3://bucket?x=1\"", "replica.source", &["s3:// or file:///"]),
    ("[log]\nfilter = \"infos\"", "log.filter", &["\"infos\"", "marketplace::search=debug"]),
];

#[test]
fn settings_that_cannot_work_are_rejected_with_the_right_form() {
    for (text, key, parts) in INVALID {
        let error = settings_from_file(text).expect_err(text).to_string();
        assert!(error.starts_with("my.toml:2: "), "{text}: {error}");
        for part in parts.iter().chain([key]) {
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(!error.contains("hidden"), "{error}");
        // The same value in a variable.
        let (section, setting) = text.split_once('\n').unwrap();
        let (name, value) = setting.split_once(" = ").unwrap();
        if setting.contains('\n') || value.starts_with('"') && value.contains('\\') {
            continue;
        }
        let variable = format!("MARKETPLACE_{}_{name}", section.trim_matches(['[', ']'])).to_uppercase();
        let value = value.trim_matches('"').to_owned();
        let mut sources = SettingsSources::new();
        let error = match sources.add_variables([(variable.clone(), value)]) {
            Ok(_) => sources.resolve().expect_err(text),
            Err(error) => error,
        };
        assert!(error.origin == variable && error.message.contains(key), "{error}");
    }
}

#[test]
fn usual_forms_of_settings_are_valid() {
    for text in [
        DEFAULTS,
        "[server]\npublic_url = \"https://market.example.com/base/\"\ncors_origins = [\"https://a.test:8443\", \"http://localhost:3000/\"]",
        "[server]\npublic_url = \"https://Market.example.com:443/a-b/c%20d/v1.0~x/\"",
        "[server]\ncors_origins = [\"*\"]\nlisten = \"8080\"",
        "[contact]\nname = \"API team\"\nurl = \"https://a.test/help?a=b#c\"\nemail = \"api@a.test\"",
        "[blobs]\nkind = \"s3\"\nendpoint = \"http://[::1]:9000\"\nbucket = \"my.files_1\"\nprefix = \"a/b/\"\naccess_key_id = \"AKIA/+=\"\nsecret_access_key = \"a/b+c=\"\nregion = \"auto\"",
        "[repositories]\ngithub_url = \"file:///srv/repositories\"\ngitlab_url = \"http://10.0.0.1:8080/git/\"\ngithub_api_url = \"\"\ngithub_token = \"ghp_x-1\"",
        "[limits]\nmemory_mb = 0\n[server]\nmax_body_bytes = 1000000000",
        "[log]\nfilter = \"warn,marketplace=debug,h2::codec=off,[request]=trace\"",
        "[log]\nfilter = \"INFO\"",
        "[quality]\ncredits_per_run = 4.99",
        "[server]\ntrusted_hosts = [\"market.example\", \"10.0.0.7\", \"[::1]\"]",
        "[agents]\ntools = [\"list_listings\"]\ntoolsets = [\"catalog\"]",
    ] {
        settings_from_file(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let trimmed = settings_from_file(
        "[server]\npublic_url = \"https://a.test/\"\n[repositories]\ngithub_url = \"https://b.test/\"\n[blobs]\nendpoint = \"https://c.test/\"",
    );
    let settings = trimmed.unwrap();
    assert_eq!(settings.server.public_url, "https://a.test");
    assert_eq!(settings.repositories.github_url, "https://b.test");
    assert_eq!(settings.blobs.endpoint, "https://c.test");
}

/// A new setting is judged, too: each number has a range, and each text a rule, unless its type is more than a text.
#[test]
fn every_setting_has_a_rule() {
    const TYPED: [&str; 8] = [
        "server.listen",
        "blobs.kind",
        "agents.schemas",
        "agents.text",
        "metrics.listen",
        "log.format",
        "server.trusted_proxies",
        "tls.redirect_listen",
    ];
    let sources = SettingsSources::new();
    for key in sources.keys() {
        let is_range = ranges::RANGES.iter().any(|(other, ..)| *other == key);
        let is_text = texts::RULES.iter().any(|(other, _)| *other == key);
        match sources.value(&key).unwrap() {
            Value::Integer(_) | Value::Float(_) => assert!(is_range && !is_text, "{key}"),
            Value::String(_) | Value::Array(_) => {
                assert!((is_text ^ TYPED.contains(&key.as_str())) && !is_range, "{key}");
            }
            Value::Boolean(_) => assert!(!is_range && !is_text, "{key}"),
            other => panic!("{key} = {other}"),
        }
    }
    for key in ranges::RANGES.iter().map(|(key, ..)| key).chain(texts::RULES.iter().map(|(key, _)| key)) {
        assert!(sources.value(key).is_some(), "{key} is no setting");
    }
}

#[test]
fn demo_changes_only_what_nothing_sets() {
    type Check = fn(&Settings) -> bool;
    let by_file =
        |sources: &mut SettingsSources, text: &str| sources.add_file(Path::new("my.toml"), text).unwrap();
    let by_variable = |sources: &mut SettingsSources, name: &str, text: &str| {
        sources.add_variables([(name.to_owned(), text.to_owned())]).unwrap();
    };
    let demo: [(&str, Check); 6] = [
        ("limits.other", |settings| settings.limits.other == 0 && settings.limits.address == 0),
        ("limits.catalog", |settings| settings.limits.catalog == 0),
        ("repositories.attempts", |settings| settings.repositories.attempts == 1),
        ("webhooks.allow_private_addresses", |settings| settings.webhooks.allow_private_addresses),
        ("events.keep_days", |settings| settings.events.keep_days == 0),
        ("sandbox.enabled", |settings| settings.sandbox.enabled),
    ];
    for (key, is_of_demo) in demo {
        let defaults = SettingsSources::new();
        let default = defaults.value(key).unwrap().to_string();
        let (section, name) = key.split_once('.').unwrap();
        let unset = SettingsSources::new();
        let (mut file, mut variable, mut flag) = (unset.clone(), unset.clone(), unset.clone());
        by_file(&mut file, &format!("[{section}]\n{name} = {default}\n"));
        by_variable(
            &mut variable,
            &format!("MARKETPLACE_{}", key.replace('.', "_").to_uppercase()),
            &default,
        );
        flag.set(key, defaults.value(key).unwrap().clone(), "--flag".to_owned()).unwrap();
        for (mut sources, is_changed) in [(unset, true), (file, false), (variable, false), (flag, false)] {
            sources.apply_demo().unwrap();
            let settings = sources.resolve().unwrap();
            assert_eq!(is_of_demo(&settings), is_changed, "{key}");
            assert!(settings.keys.allow_fixture_keys);
        }
        assert!(!is_of_demo(&Settings::default()), "{key}");
    }
}
