//! Exports and imports: a world that imports what another one exported responds as that one does.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read, Write},
    sync::Arc,
};

use data_encoding::HEXLOWER;
use marketplace::{
    domain::announcements::{Announcement, AnnouncementLevel},
    error::Error,
    market::{Market, Writer},
    operations::{
        access::Platform,
        announcements, attestation_log, maintenance, signing_keys,
        webhooks::{self, CheckedUrl, WebhookInput},
    },
    store,
    worlds::{JobTiming, World, WorldError},
};
use poem::http::Method;
use serde_json::{Value, json};

use super::{Sandbox, create_team, tables};
use crate::{
    contract::{
        cases::{Case, OPERATOR, VENDOR, cases},
        write_operations::call_write_operations_on,
    },
    harness::{TestMarket, archives::unzip},
};

/// Returns the bytes of an export.
fn export(sandbox: &Sandbox, world: &World) -> Vec<u8> {
    let file = sandbox.worlds().temporary_file().unwrap();
    sandbox.worlds().export(world, file.reopen().unwrap()).unwrap();
    let mut bytes = Vec::new();
    File::open(file.path()).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn import(sandbox: &Sandbox, world: &World, bytes: &[u8]) -> Result<(), WorldError> {
    let mut file = sandbox.worlds().temporary_file().unwrap();
    file.write_all(bytes).unwrap();
    sandbox.worlds().import(world, file.path())
}

/// Sends a third of the GET requests that the contract tests send to each operation of a world's APIs, and creates records.
/// Returns the requests with their statuses and bodies.
async fn responses(world: &Arc<World>) -> Vec<(String, u16, String)> {
    world.set_job_timing(JobTiming::OnAdvance);
    let market = TestMarket::of_world(Arc::clone(world));
    // The size of the file of the database is no part of the state.
    let is_compared = |row: &&Case| !row.is_of_sandbox() && row.operation != "get_market";
    for row in cases().filter(is_compared).filter(|row| row.documented().method == "GET") {
        for (key, path) in row.ok_requests().into_iter().chain(row.not_found_requests()).step_by(3) {
            market.get(key, &path).await;
        }
    }
    market.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": "Group"})).await.expect_status(201);
    let key = json!({"name": "Another", "scope": "read"});
    market.call(OPERATOR, "POST", "/operator/v1/operator-keys", &key).await.expect_status(201);
    let own_address = format!("/w/{}", world.name());
    let sent = market.take_responses().into_iter();
    sent.map(|(request, response)| {
        let body = String::from_utf8_lossy(&response.bytes).replace(&own_address, "/w/world");
        (request, response.status, body)
    })
    .collect()
}

#[tokio::test]
async fn imported_world_responds_as_the_exported_one() {
    let sandbox = Sandbox::new(3);
    let origin = sandbox.create_with("origin", "demo", &[("offers.expire_days", 3)]);
    origin.set_job_timing(JobTiming::OnAdvance);
    call_write_operations_on(&TestMarket::of_world(Arc::clone(&origin))).await;
    origin.advance_to(origin.clock().now.plus_micros(super::DAY)).unwrap();
    let (bytes, rows) = (export(&sandbox, &origin), tables::tables(&origin.market()));

    let copy = sandbox.create("copy", "empty");
    let (start, start_keys) = (copy.clock(), copy.keys());
    import(&sandbox, &copy, &bytes).unwrap();
    assert_eq!(copy.clock(), origin.clock());
    assert_eq!((copy.keys(), copy.given_settings()), (origin.keys(), origin.given_settings()));
    let (mut before, mut after) = (rows, tables::tables(&copy.market()));
    for statistics in ["sqlite_stat1", "sqlite_sequence"] {
        before.remove(statistics);
        after.remove(statistics);
    }
    tables::assert_same(&before, &after, "after the import");
    assert!(export(&sandbox, &copy) == bytes, "the export of an import is the file that was imported");

    let [expected, found] = [responses(&origin).await, responses(&copy).await];
    assert!(expected.iter().filter(|(_, status, _)| *status < 300).count() > 200);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found);
    }
    assert_eq!(expected.len(), found.len());

    copy.reset().unwrap();
    assert_eq!((copy.clock(), copy.keys()), (start, start_keys), "a reset returns to the fork");
    assert!(copy.given_settings().is_empty());
}

/// Packs files again, with changes.
fn changed(bytes: &[u8], change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> Vec<u8> {
    let mut files = unzip(bytes);
    change(&mut files);
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn replace(files: &mut BTreeMap<String, Vec<u8>>, name: &str, from: &str, to: &str) {
    let text = String::from_utf8(files[name].clone()).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    files.insert(name.to_owned(), text.replacen(from, to, 1).into_bytes());
}

#[test]
fn files_that_are_no_exported_world_are_refused_and_change_nothing() {
    type Change = fn(&mut BTreeMap<String, Vec<u8>>);
    let sandbox = Sandbox::new(2);
    let world = sandbox.create("one", "empty");
    create_team(&world, "Kept");
    let bytes = export(&sandbox, &world);
    let teams = "tables/teams.jsonl";
    let cases: [(&str, Change); 17] = [
        ("body", |files| drop(files.remove("market.json"))),
        ("body.market.json", |files| replace(files, "market.json", "\"format\"", "\"color\"")),
        ("body.market.json.format", |files| replace(files, "market.json", "marketplace-world", "other")),
        ("body.market.json.schema_version", |files| {
            replace(files, "market.json", "\"schema_version\": ", "\"schema_version\": 9");
        }),
        ("body.market.json.settings.server.listen", |files| {
            replace(files, "market.json", "\"settings\": {}", "\"settings\": {\"server.listen\": \"x\"}");
        }),
        ("body.market.json.clock.now", |files| replace(files, "market.json", "\"now\": \"2", "\"now\": \"x")),
        ("body.tables/nothing.jsonl", |files| {
            drop(files.insert("tables/nothing.jsonl".into(), b"{}\n".into()));
        }),
        ("body.tables/teams.jsonl.1", |files| {
            drop(files.insert("tables/teams.jsonl".into(), b"[1]\n".into()));
        }),
        ("body.tables/teams.jsonl.1.color", |files| {
            replace(files, "tables/teams.jsonl", "{", "{\"color\": 1, ");
        }),
        ("body.tables/teams.jsonl.1.tier", |files| {
            replace(files, "tables/teams.jsonl", "\"tier\": 1", "\"tier\": \"one\"");
        }),
        ("body.tables/teams.jsonl.1", |files| replace(files, "tables/teams.jsonl", "\"tier\": 1, ", "")),
        ("body.tables", |files| drop(files.remove("tables/wallets.jsonl"))),
        ("body.market.json.clock.ids.teams", |files| {
            replace(files, "market.json", "\"teams\": 1", "\"teams\": 0");
        }),
        ("body.market.json.sequences.events", |files| {
            replace(files, "market.json", "\"events\": ", "\"events\": 9223372036854775");
        }),
        ("body.tables/trimmed_events.jsonl", |files| drop(files.remove("tables/trimmed_events.jsonl"))),
        ("body.tables/groups.jsonl", |files| drop(files.remove("tables/groups.jsonl"))),
        ("body.blobs/lock", |files| drop(files.insert("blobs/lock".into(), Vec::new()))),
    ];
    assert!(unzip(&bytes).contains_key(teams));
    for (expected, change) in cases {
        let error = import(&sandbox, &world, &changed(&bytes, change)).unwrap_err();
        let error = marketplace::error::Error::from(error);
        let marketplace::error::Error::Invalid(problems) = &error else { panic!("{expected}: {error:?}") };
        let found: Vec<String> = problems
            .iter()
            .map(|problem| {
                let loc: Value = serde_json::to_value(&problem.loc).unwrap();
                let segments = loc.as_array().unwrap().iter();
                let text =
                    |segment: &Value| segment.as_str().map_or_else(|| segment.to_string(), str::to_owned);
                segments.map(text).collect::<Vec<_>>().join(".")
            })
            .collect();
        assert_eq!(found, [expected], "{problems:?}");
        assert!(export(&sandbox, &world) == bytes, "{expected} changed the world");
    }
    assert!(import(&sandbox, &world, b"no archive").is_err());
    let data = sandbox.root.market().data_dir().join("worlds");
    for left in ["copies", "transfers"] {
        let left: Vec<_> = fs::read_dir(data.join(left)).into_iter().flatten().collect();
        assert_eq!(left.len(), 0, "{left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn world_is_exported_and_imported_over_http() {
    let market = TestMarket::demo();
    let worlds = "/sandbox/v1/worlds";
    for body in [json!({"name": "one", "clock": "running"}), json!({"name": "two", "from": "empty"})] {
        market.call(OPERATOR, "POST", worlds, &body).await.expect_status(201);
    }
    let exported = market.get(OPERATOR, &format!("{worlds}/one/export")).await;
    assert_eq!((exported.status, exported.header("content-type")), (200, "application/zip"));
    assert_eq!(exported.header("content-length"), exported.bytes.len().to_string());
    let post = async |key: &str, world: &str, kind: &str, body: Vec<u8>| {
        let authorization = format!("Bearer {key}");
        let headers = [("authorization", authorization.as_str()), ("content-type", kind)];
        market.send_body(Method::POST, &format!("{worlds}/{world}/import"), &headers, body).await
    };
    let imported = post(OPERATOR, "two", "application/zip", exported.bytes.clone()).await.ok();
    assert_eq!((&imported["clock"], &imported["from"]), (&json!("running"), &json!("empty")));
    let keys = market.get(OPERATOR, &format!("{worlds}/one")).await.ok()["keys"].clone();
    assert_eq!(imported["keys"], keys);
    market.get("mkt_demo_buyer", "/w/two/v2/wallet").await.ok();

    let read_only = "mkt_demo_operator_read";
    let bytes = exported.bytes.clone();
    assert_eq!(post(read_only, "two", "application/zip", bytes).await.expect_error(403), "forbidden");
    assert_eq!(
        post(OPERATOR, "three", "application/zip", Vec::new()).await.expect_error(404),
        "world_not_found"
    );
    assert_eq!(post(OPERATOR, "two", "text/plain", Vec::new()).await.status, 400);
    let cut = exported.bytes[..exported.bytes.len() - 40].to_vec();
    for no_world in [b"no".to_vec(), cut] {
        let refused = post(OPERATOR, "two", "application/zip", no_world).await;
        assert_eq!(refused.problems(), ["body value_error"]);
        let message = refused.expect_status(422)["detail"][0]["msg"].clone();
        assert!(message.as_str().unwrap().starts_with("The file is not an exported world"), "{message}");
    }
    let export = market.get(read_only, &format!("{worlds}/one/export")).await;
    assert_eq!(export.expect_error(403), "forbidden", "it has the secrets of the world");
}

/// A copy of a market cannot sign in its name, whichever way it was made. The public key goes with what it has signed.
#[test]
fn signing_secret_stays_with_its_market() {
    let sandbox = Sandbox::new(4);
    let create = |writer: &mut Writer| attestation_log::rotate_key(writer, Platform::of_process());
    let key = sandbox.root.market().write_blocking(create).unwrap();
    let seed = sandbox.root.market().read_blocking(|reader| store::signing_keys::find_seed(reader.rows));
    let seed = seed.unwrap().unwrap();
    let copy = sandbox.create("copy", "market");
    let own = copy.market().write_blocking(create).unwrap();
    let fork = sandbox.create("fork", "copy");
    for (world, keys) in [(&copy, vec![&own, &key]), (&fork, vec![&own, &key])] {
        let found = world.market().read_blocking(signing_keys::list).unwrap().keys;
        let ids: Vec<&str> = found.iter().map(|found| found.keyid.as_str()).collect();
        assert_eq!(ids, keys.iter().map(|key| key.keyid.as_str()).collect::<Vec<_>>());
    }
    let has_secret = |world: &World| {
        world.market().read_blocking(|reader| Ok(signing_keys::find(reader)?.is_some())).unwrap()
    };
    assert!(has_secret(&copy) && !has_secret(&fork), "a fork has the secret of neither");
    // Exports are archives, whose rows name the secrets that they have in hexadecimal.
    let own_seed = copy.market().read_blocking(|reader| store::signing_keys::find_seed(reader.rows));
    let exported = export(&sandbox, &copy);
    let rows: Vec<u8> = unzip(&exported).into_values().flatten().collect();
    let rows = String::from_utf8_lossy(&rows);
    assert!(rows.contains(&own.keyval.public), "the public key is exported");
    for seed in [seed, own_seed.unwrap().unwrap()] {
        assert!(!rows.contains(&HEXLOWER.encode(&seed)), "a secret is exported");
    }
}

/// Who has the export of a copy can neither sign for the server nor use a key that was created there.
#[tokio::test(flavor = "multi_thread")]
async fn export_of_a_copy_has_no_secret_of_the_server() {
    let market = TestMarket::demo();
    let settings = &market.market().settings().webhooks;
    let url = CheckedUrl::without_lookup(settings, "https://hooks.example/a").unwrap();
    let input = WebhookInput { team: None, url: &url, description: "", event_types: &[] };
    let create = |writer: &mut Writer| webhooks::create(writer, Platform::of_process(), &input);
    let (_, webhook_secret) = market.write(create).unwrap();
    let (path, headers) = ("/operator/v1/operator-keys", [("idempotency-key", "k1")]);
    let body = json!({"name": "stored", "scope": "all"});
    let created = market.call_with(OPERATOR, "POST", path, &body, &headers).await.expect_status(201);
    let key = created["secret"].as_str().unwrap();

    let body = json!({"name": "copy", "from": "market"});
    market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
    let exported = market.get(OPERATOR, "/sandbox/v1/worlds/copy/export").await;
    let rows: Vec<u8> = unzip(&exported.bytes).into_values().flatten().collect();
    let rows = String::from_utf8_lossy(&rows);
    let copy = market.worlds().find("copy").unwrap().market();
    assert!(rows.contains(&HEXLOWER.encode(copy.blob_secret())), "its own secrets are exported");
    for secret in [&webhook_secret.0[..], &market.market().blob_secret()[..], key.as_bytes()] {
        assert!(!rows.contains(&HEXLOWER.encode(secret)), "a secret is exported");
    }
}

/// A copy of a market cannot continue its log. It names the head that it has of it.
#[test]
fn copies_of_a_market_begin_logs_of_their_own() {
    let sandbox = Sandbox::new(5);
    let rotate = |writer: &mut Writer| attestation_log::rotate_key(writer, Platform::of_process());
    let seal = |writer: &mut Writer| attestation_log::sign_head(writer);
    let root = sandbox.root.market();
    root.write_blocking(rotate).unwrap();
    assert!(root.write_blocking(seal).unwrap());
    let heads = |market: &Market| {
        market.read_blocking(|reader| attestation_log::list(reader, None, None)).unwrap().logs
    };
    let copy = sandbox.create("copy", "market");
    assert!(!copy.market().write_blocking(seal).unwrap(), "a copy without a key makes no head");
    assert_eq!(heads(&copy.market()), heads(root));
    copy.market().write_blocking(rotate).unwrap();
    copy.market().write_blocking(seal).unwrap();
    let (original, own) = (heads(root).remove(0), heads(&copy.market()).remove(0));
    assert_ne!(own.origin, original.origin);
    let named = own.predecessor.unwrap();
    assert!(named.starts_with(&format!("{} 64 ", original.origin)), "{named}");
    // An export has all logs, so the proofs in it stay valid.
    let world = sandbox.create("imported", "empty");
    import(&sandbox, &world, &export(&sandbox, &copy)).unwrap();
    assert_eq!(heads(&world.market()), heads(&copy.market()));
}

/// Returns the texts of the announcement and of the maintenance of a market.
fn announced(market: &Market) -> (Option<String>, Option<String>) {
    let announcement = market.read_blocking(|reader| store::announcements::find(reader.rows)).unwrap();
    let maintenance = market.read_blocking(|reader| store::maintenance::find(reader.rows)).unwrap();
    (announcement.map(|(announcement, _)| announcement.text), maintenance.map(|(text, _)| text))
}

#[test]
fn announcement_and_maintenance_are_copied_with_a_world_and_not_with_the_market_of_the_server() {
    let sandbox = Sandbox::new(10);
    let announce = |market: &Market| {
        let write = |writer: &mut Writer| {
            let (text, level) = ("Soon.".to_owned(), AnnouncementLevel::Warning);
            let announcement = Announcement { text, level, starts_at: None, ends_at: None };
            announcements::set(writer, Platform::of_process(), announcement)?;
            maintenance::start(writer, Platform::of_process(), Some("Back soon."))
        };
        market.write_blocking(write).unwrap();
    };
    announce(sandbox.root.market());
    let world = sandbox.create("one", "market");
    assert_eq!(announced(&world.market()), (None, None));
    announce(&world.market());
    let expected = (Some("Soon.".to_owned()), Some("Back soon.".to_owned()));
    sandbox.worlds().create_snapshot(&world, "saved").unwrap();
    for (name, source) in [("fork", "one"), ("of-snapshot", "saved")] {
        let copy = sandbox.create(name, source);
        assert_eq!(announced(&copy.market()), expected, "{source}");
        copy.reset().unwrap();
        assert_eq!(announced(&copy.market()), expected, "{source}, after a reset");
    }
    let bytes = export(&sandbox, &world);
    let copy = sandbox.create("copy", "empty");
    import(&sandbox, &copy, &bytes).unwrap();
    assert_eq!(announced(&copy.market()), expected);
    let odd = changed(&bytes, |files| replace(files, "tables/announcement.jsonl", "warning", "odd"));
    assert!(matches!(import(&sandbox, &copy, &odd), Err(WorldError::Refused(Error::Invalid(_)))));
    world.reset().unwrap();
    assert_eq!(announced(&world.market()), (None, None));
}
