//! Committed pictures of the formats that others rely on: a change of one is a change to look at.

use crate::harness::TestMarket;

#[test]
fn the_database_schema_is_the_committed_one() {
    let market = TestMarket::empty();
    let schema = market.market().read_blocking(|reader| marketplace::store::migrations::schema(reader.rows));
    insta::assert_snapshot!(schema.unwrap());
}

/// Mend it with `marketplace seed --schema > fixtures/schema.json`.
#[test]
fn the_fixture_schema_is_generated_from_the_types() {
    let committed =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/schema.json")).unwrap();
    assert!(committed == marketplace::fixtures::schema(), "fixtures/schema.json is not what the types say");
}
