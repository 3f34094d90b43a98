//! Snapshots of formats that others rely on, so that every change of one is reviewed.

use crate::harness::{TestMarket, generated};

#[test]
fn database_schema_matches_snapshot() {
    let market = TestMarket::empty();
    let schema = market.read(|reader| marketplace::store::migrations::schema(reader.rows));
    insta::assert_snapshot!(schema.unwrap());
}

#[test]
fn attestation_schema_file_matches_the_types() {
    let file = "src/operations/attestations/delivery.schema.json";
    generated::assert_current(file, marketplace::domain::attestations::delivery_schema());
}

#[test]
fn fixture_schema_file_matches_the_types() {
    generated::assert_current("fixtures/schema.json", marketplace::fixtures::json_schema());
}
