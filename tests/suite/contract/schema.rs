//! Snapshots of formats that others rely on, so that every change of one is reviewed.

use crate::harness::TestMarket;

#[test]
fn database_schema_matches_snapshot() {
    let market = TestMarket::empty();
    let schema = market.market().read_blocking(|reader| marketplace::store::migrations::schema(reader.rows));
    insta::assert_snapshot!(schema.unwrap());
}

/// To update the file, run `marketplace seed --schema > fixtures/schema.json`.
#[test]
fn fixture_schema_file_matches_the_types() {
    let committed =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/schema.json")).unwrap();
    assert!(
        committed == marketplace::fixtures::json_schema(),
        "fixtures/schema.json does not match the types"
    );
}
