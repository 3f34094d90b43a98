//! Attestations do not name the buyer, and only the buyer gets them.

use marketplace::{
    domain::attestations::{Envelope, decode_base64, sha256},
    store,
    string_enum::StringEnum,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Hidden, text_of};
use crate::{
    contract::cases::OPERATOR,
    harness::{TestMarket, records::demo_records},
};

const VENDOR: &str = "mkt_demo_vendor";
const BUYER: &str = "mkt_demo_buyer";
const OTHER: &str = "mkt_demo_both";

/// The team of [`BUYER`], and a published listing of the team of [`VENDOR`].
fn traded(market: &TestMarket) -> (Uuid, String, Uuid) {
    market
        .read(|reader| {
            let teams = store::teams::list(reader.rows)?;
            let named = |key: &str| {
                let record = demo_records().find("teams", demo_records().team_of(key));
                let name = record["name"].as_str().unwrap().to_owned();
                teams.iter().find(|team| team.name == name).unwrap().clone()
            };
            let (vendor, buyer) = (named(VENDOR), named(BUYER));
            let own = store::listings::list_unarchived(reader.rows, vendor.row_id)?;
            let is_free = |listing: &&store::listings::ListingRow| {
                listing.status.catalog.as_str() == "published"
                    && listing.price.is_some()
                    && !listing.is_exclusive
                    && store::purchases::purchase_level(reader.rows, buyer.row_id, listing.row_id).unwrap()
                        == store::purchases::PurchaseLevel::Nothing
            };
            Ok((buyer.id, buyer.name, own.iter().find(is_free).unwrap().id))
        })
        .unwrap()
}

#[tokio::test]
async fn attestations_identify_no_buyer_and_are_for_buyers_only() {
    let market = TestMarket::demo();
    let (buyer, name, listing) = traded(&market);
    let body = json!({"team_id": buyer, "listing_id": listing, "kind": "full", "pay_with": "invoice"});
    let purchase = market.call(OPERATOR, "POST", "/operator/v1/purchases", &body).await.expect_status(201);
    let id = purchase["id"].as_str().unwrap();
    market.call(OPERATOR, "POST", &format!("/operator/v1/purchases/{id}/complete"), &Value::Null).await.ok();
    market.run_background();
    let mut hidden = Hidden::default();
    hidden.add([buyer.to_string(), name, id.to_owned(), BUYER.to_owned()]);

    let (envelope, statement_sha256) = market
        .read(|reader| {
            let row = store::purchases::find(reader.rows, id.parse().unwrap())?.unwrap();
            let found = store::attestations::find(reader.rows, row.row_id)?.unwrap();
            Ok((found.envelope, found.statement_sha256))
        })
        .unwrap();
    let envelope: Envelope = serde_json::from_slice(&envelope).unwrap();
    let statement = decode_base64(&envelope.payload).unwrap();
    assert_eq!(sha256(&statement), statement_sha256);
    hidden.assert_absent("the statement", &String::from_utf8(statement).unwrap());

    // The status is for the buyer, and names nobody.
    let path = format!("/v2/attestations/{statement_sha256}/status");
    for key in [VENDOR, OTHER] {
        let status = market.get(key, &path).await;
        assert!([403, 404].contains(&status.status), "{key}: {}", status.status);
    }
    let unknown = market.get(OTHER, &format!("/v2/attestations/{}/status", "0".repeat(64))).await;
    let foreign = market.get(OTHER, &path).await;
    assert_eq!(
        (foreign.status, foreign.error_code()),
        (unknown.status, unknown.error_code()),
        "as if it did not exist"
    );
    let status = market.get(BUYER, &path).await;
    assert_eq!(status.status, 200);
    let status: Envelope = serde_json::from_slice(&status.bytes).unwrap();
    hidden.assert_absent("the status", &String::from_utf8(decode_base64(&status.payload).unwrap()).unwrap());

    // Responses to the vendor and to everybody show neither the buyer nor the time of the sale.
    let detail = market.get(VENDOR, &format!("/v2/listings/browse/{listing}")).await;
    let croissant = market.get(VENDOR, &format!("/v2/listings/browse/{listing}/croissant")).await;
    let keys = market.send(poem::http::Method::GET, "/.well-known/marketplace-keys.json", &[]).await;
    market.clock().advance(3_600_000_000);
    market.run_background();
    let log = market.send(poem::http::Method::GET, "/.well-known/marketplace-log.json", &[]).await;
    let head = log.json()["logs"][0]["heads"][0].as_str().unwrap().to_owned();
    assert_eq!(head.lines().nth(1), Some("64"), "a head of a market without a sale has as many leaves");
    for (what, response) in [("detail", &detail), ("croissant", &croissant), ("keys", &keys), ("log", &log)] {
        assert_eq!(response.status, 200, "{what}");
        hidden.assert_absent(what, &text_of(response));
    }
    let proof = format!("/v2/attestations/{statement_sha256}/proof");
    for key in [VENDOR, OTHER] {
        let refused = market.get(key, &proof).await;
        assert!([403, 404].contains(&refused.status), "{key}: {}", refused.status);
    }
    let proof = market.get(BUYER, &proof).await;
    assert_eq!(proof.status, 200);
    hidden.assert_absent("the proof", &text_of(&proof));
    let from = keys.json()["keys"][0]["valid_from"].as_str().unwrap().to_owned();
    assert!(from.ends_with("T00:00:00.000Z"), "{from}");
    let link = detail.json()["bundle_download_url"].as_str().unwrap().to_owned();
    for part in ["/attestation?", "/proof?"] {
        let link = link.replace('?', part);
        let path = link.split_once("/v2/").unwrap().1;
        let own = market.send(poem::http::Method::GET, &format!("/v2/{path}"), &[]).await;
        assert!(own.status >= 400, "the vendor has no attestation");
    }
}
