//! Descriptions of listings in Croissant: in the catalog and in bundles. `.ci/passport` validates them with the library of the
//! format.

use marketplace::domain::{listing_lifecycle::Operation, purchases::PurchaseKind};
use serde_json::{Value, json};

use super::{Shop, sha256, shop, shop_of, unzip};
use crate::{harness::listing_lifecycle, sales::listing_id};

/// The files of raw data with two tables, of which one has two files and a column with nested values.
const TABLES: [(&str, &str); 5] = [
    ("LICENSE", include_str!("../../../LICENSE-MIT")),
    ("README.md", "Readings."),
    ("a/readings.csv", "id,name,score\n1,x,1.5\n2,y,2.5\n"),
    ("b/part-1.jsonl", "{\"n\": 1, \"at\": {\"x\": 1}}\n"),
    ("b/part-2.jsonl", "{\"n\": 2, \"at\": {\"x\": 2}}\n"),
];

async fn describe(shop: &Shop, team: &str) -> Value {
    let path = format!("/v2/listings/browse/{}/croissant", listing_id("all"));
    let response = shop.market.get(&format!("mkt_{team}"), &path).await;
    assert_eq!(response.header("content-type"), "application/ld+json");
    response.ok()
}

/// Returns the part of a list with this ID.
fn with_id<'d>(list: &'d Value, id: &str) -> &'d Value {
    let found = list.as_array().unwrap().iter().find(|part| part["@id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {list}"))
}

#[tokio::test]
async fn listing_is_described_with_its_entries_and_tables() {
    let shop = shop_of(&TABLES, |_, _| {}).await;
    let document = describe(&shop, "other").await;
    let id = listing_id("all");
    assert_eq!((&document["@type"], &document["name"]), (&json!("sc:Dataset"), &json!("Listing all")));
    assert_eq!(document["conformsTo"], "http://mlcommons.org/croissant/1.0");
    assert_eq!(document["publisher"]["name"], "Seller house");
    assert_eq!(document["isLiveDataset"], true);
    let distribution = &document["distribution"];
    let archive = with_id(distribution, "bundle");
    assert!(archive["contentUrl"].as_str().unwrap().ends_with(&format!("/v2/blobs/bundles/{id}")));
    let [code, data, tasks, environment] = &shop.assets;
    for (asset, file) in
        [(code, "repository.zip"), (data, "upload.zip"), (tasks, "tasks.jsonl"), (environment, "asset.json")]
    {
        let entry = with_id(distribution, &format!("{asset}/{file}"));
        assert_eq!(entry["containedIn"], json!({"@id": "bundle"}), "{entry}");
        assert!(entry.get("sha256").is_none(), "a stranger learns no digest: {entry}");
    }
    let sets = &document["recordSet"];
    let readings = with_id(sets, &format!("{data}/table-1"));
    assert_eq!(readings["name"], "a/readings.csv");
    let fields = readings["field"].as_array().unwrap().iter();
    let types: Vec<_> = fields.map(|field| json!([field["name"], field["dataType"]])).collect();
    assert_eq!(
        types,
        [json!(["id", "sc:Integer"]), json!(["name", "sc:Text"]), json!(["score", "sc:Float"])]
    );
    let parts = with_id(sets, &format!("{data}/table-2"));
    assert_eq!(parts["field"].as_array().unwrap().len(), 1, "nested values have no type: {parts}");
    let files = with_id(distribution, &format!("{data}/table-2/files"));
    assert_eq!((&files["@type"], &files["includes"]), (&json!("cr:FileSet"), &json!("b/part-[0-9]*.jsonl")));
}

/// Programs find columns by their exact names.
#[tokio::test]
async fn columns_that_cannot_be_found_are_not_described() {
    let files = [
        ("LICENSE", TABLES[0].1),
        ("a.csv", "id, name,zip\n1,x,00501\n2,y,10001\n"),
        ("b.csv", "id,id,ID\n1,2,3\n4,5,6\n"),
        ("c.csv", "1,2\n3,4\n"),
        ("d.csv", "id,na\u{fffd}ve\n1,2\n3,4\n"),
    ];
    let shop = shop_of(&files, |_, _| {}).await;
    let document = describe(&shop, "other").await;
    let data = &shop.assets[1];
    let sets = &document["recordSet"];
    let columns = |table: usize| -> Vec<Value> {
        let set = with_id(sets, &format!("{data}/table-{table}"));
        let fields = set["field"].as_array().unwrap().iter();
        fields.map(|field| json!([field["source"]["extract"]["column"], field["dataType"]])).collect()
    };
    let expected = [json!(["id", "sc:Integer"]), json!([" name", "sc:Text"]), json!(["zip", "sc:Text"])];
    assert_eq!(columns(1), expected);
    assert_eq!(columns(2), [json!(["ID", "sc:Integer"])]);
    let twice = with_id(sets, &format!("{data}/table-2"))["description"].as_str().unwrap();
    assert!(twice.contains("2 columns are not described, since names must be unique"), "{twice}");
    assert_eq!(columns(4), [json!(["id", "sc:Integer"])], "the name may have replaced bytes");
    assert_eq!(sets.as_array().unwrap().len(), 3, "without a header, there are no names: {sets}");
    let file = with_id(&document["distribution"], &format!("{data}/table-3/files"));
    assert!(file["description"].as_str().unwrap().contains("no header with names"), "{file}");
}

/// Programs read tables without being told how their fields are separated, and where their headers are.
#[tokio::test]
async fn columns_of_files_that_programs_would_misread_are_not_described() {
    let files = [
        ("LICENSE", TABLES[0].1),
        ("a.csv", "id;name\n1;x\n2;y\n"),
        ("b.csv", "# Readings\nid,name\n1,x\n2,y\n"),
        ("c.tsv", "id\tname\n1\tx\n2\ty\n"),
        ("d.jsonl", "{\"id\": 1, \"created_at\": \"2026-01-01\"}\n"),
    ];
    let shop = shop_of(&files, |_, _| {}).await;
    let document = describe(&shop, "other").await;
    let sets = document["recordSet"].as_array().unwrap().iter();
    assert_eq!(sets.map(|set| &set["name"]).collect::<Vec<_>>(), ["c.tsv", "d.jsonl"]);
    let lines = &document["recordSet"][1];
    assert_eq!(lines["field"].as_array().unwrap().len(), 1, "{lines}");
    let cause = "1 column is not described, since programs read such values as times.";
    assert_eq!(lines["description"], cause);
    for (table, cause) in
        [(1, "2 columns are not described, since fields are not separated"), (2, "is not the header")]
    {
        let file = with_id(&document["distribution"], &format!("{}/table-{table}/files", shop.assets[1]));
        assert!(file["description"].as_str().unwrap().contains(cause), "{file}");
    }
}

/// Programs would read the files of the other table with the columns of the first one.
#[tokio::test]
async fn tables_whose_pattern_matches_other_files_are_left_out() {
    let files = [
        ("LICENSE", TABLES[0].1),
        ("d/p-1.csv", "id,name\n1,x\n2,y\n"),
        ("d/p-2.csv", "id,name\n3,x\n4,y\n"),
        ("d/p-1-notes.csv", "id,note,score\n1,x,1.5\n2,y,2.5\n"),
    ];
    let shop = shop_of(&files, |_, _| {}).await;
    let document = describe(&shop, "other").await;
    let sets = document["recordSet"].as_array().unwrap().iter();
    assert_eq!(sets.map(|set| &set["name"]).collect::<Vec<_>>(), ["d/p-1-notes.csv"]);
    let distribution = document["distribution"].as_array().unwrap();
    assert!(distribution.iter().all(|part| part.get("includes").is_none()), "{document}");
}

#[tokio::test]
async fn digests_are_for_the_owner_and_buyers() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let files = unzip(&shop.download("buyer").await);
    // The owner's bundle is prepared when it is first requested.
    shop.fetch(&shop.link("seller").await, &[]).await.expect_error(503);
    shop.market.run_background_on_a_thread().await;
    let path = format!("{}/upload.zip", shop.assets[1]);
    for team in ["buyer", "seller"] {
        let entry = with_id(&describe(&shop, team).await["distribution"], &path).clone();
        assert_eq!(entry["sha256"], sha256(&files[&path]), "{team}");
    }
    let strangers = describe(&shop, "other").await.to_string();
    assert!(!strangers.contains("sha256\""), "{strangers}");

    // The owner's bundle is outdated until the next one is prepared.
    shop.market
        .write(|writer| listing_lifecycle::perform(writer, listing_id("all"), Operation::Unpublish))
        .unwrap();
    let owners = describe(&shop, "seller").await.to_string();
    assert!(!owners.contains("sha256\""), "{owners}");
}

#[tokio::test]
async fn bundle_has_a_description_of_its_own_files() {
    let shop = shop_of(&TABLES, |_, _| {}).await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let files = unzip(&shop.download("buyer").await);
    let document: Value = serde_json::from_slice(&files["croissant.json"]).unwrap();
    assert!(document.get("isLiveDataset").is_none(), "all files have digests");
    for (path, bytes) in files.iter().filter(|(path, _)| path.contains('/')) {
        let entry = with_id(&document["distribution"], path);
        assert_eq!((&entry["contentUrl"], &entry["sha256"]), (&json!(path), &json!(sha256(bytes))));
        assert!(entry.get("containedIn").is_none());
    }
    assert_eq!(document["recordSet"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn description_is_for_those_who_see_the_listing() {
    let shop = shop().await;
    let path = format!("/v2/listings/browse/{}/croissant", listing_id("all"));
    assert_eq!(shop.market.get("mkt_nobody", &path).await.expect_error(401), "unauthorized");
    let unknown = format!("/v2/listings/browse/{}/croissant", uuid::Uuid::nil());
    assert_eq!(shop.market.get("mkt_buyer", &unknown).await.expect_error(404), "not_found");
    assert_eq!(
        shop.market.get("mkt_buyer", &format!("{path}?a=b")).await.problems(),
        ["query.a extra_forbidden"]
    );
    shop.market
        .write(|writer| listing_lifecycle::perform(writer, listing_id("all"), Operation::Unpublish))
        .unwrap();
    assert_eq!(shop.market.get("mkt_buyer", &path).await.expect_error(404), "not_found");
    assert_eq!(shop.market.get("mkt_seller", &path).await.status, 200);
}
