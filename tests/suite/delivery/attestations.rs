//! Attestations: the signed statement about a delivery, its readers, and its later states.

use std::collections::BTreeMap;

use marketplace::{
    domain::{
        attestations::{
            AttestationStatus, Delivery, Envelope, PublicKeys, STATUS_TYPE, Statement, buyer_digest,
            decode_base64,
        },
        events::{EventRowId, EventType},
        listing_lifecycle::Operation,
        listings::Actor,
        purchases::{PayWith, PurchaseKind},
    },
    market::Writer,
    operations::{self, access::Platform, attestation_log, signing_keys},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Shop, sha256, shop, unzip};
use crate::{
    harness::{
        backups::{back_up, open_restored, temp_dir},
        listing_lifecycle, teams,
    },
    sales::{buy, listing_id},
};

/// Returns the statement in an envelope.
fn statement<P: DeserializeOwned>(envelope: &[u8]) -> Statement<P> {
    let envelope: Envelope = serde_json::from_slice(envelope).unwrap();
    serde_json::from_slice(&decode_base64(&envelope.payload).unwrap()).unwrap()
}

fn refund(shop: &Shop, purchase: Uuid) {
    let refund = |writer: &mut Writer| {
        operations::purchases::refund(writer, Platform::of_process(), Actor::Platform, purchase)
    };
    shop.market.write(refund).unwrap();
}

async fn published_keys(shop: &Shop) -> PublicKeys {
    let keys = shop.fetch("/.well-known/marketplace-keys.json", &[]).await;
    serde_json::from_slice(&keys.bytes).unwrap()
}

#[tokio::test]
async fn statement_is_about_every_file_but_itself() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let files = unzip(&shop.download("buyer").await);
    let statement: Statement<Delivery> = statement(&files["attestation.json"]);
    let subjects =
        statement.subject.iter().map(|subject| (subject.name.as_str(), subject.digest.sha256.clone()));
    let others = files.iter().filter(|(path, _)| *path != "attestation.json");
    let expected: BTreeMap<&str, String> =
        others.map(|(path, bytes)| (path.as_str(), sha256(bytes))).collect();
    assert_eq!(subjects.collect::<BTreeMap<_, _>>(), expected);
    let delivery = &statement.predicate;
    assert_eq!((delivery.listing.id, delivery.scope.as_str()), (listing_id("all"), "all"));
    assert_eq!(delivery.listing.vendor, "Seller house");
    let commits: Vec<bool> = delivery.assets.iter().map(|asset| asset.commit.is_some()).collect();
    assert_eq!(commits.iter().filter(|has_commit| **has_commit).count(), 1);
    let agreement = delivery.agreement.as_ref().unwrap();
    assert_eq!(agreement.terms_sha256, Some(sha256(b"The listing states no terms.\n")));
    let schema: Value =
        serde_json::from_slice(&shop.fetch("/schemas/delivery-v1.json", &[]).await.bytes).unwrap();
    assert!(jsonschema::is_valid(&schema, &json!(delivery)), "{delivery:?}");
}

#[tokio::test]
async fn only_buyers_get_an_attestation_and_the_same_everywhere() {
    let shop = shop().await;
    let purchase = shop.buy("buyer", PurchaseKind::Full).await;
    shop.fetch(&shop.link("seller").await, &[]).await.expect_error(503);
    shop.market.run_background_on_a_thread().await;
    let own = unzip(&shop.download("seller").await);
    assert!(!own.contains_key("attestation.json") && own.contains_key("croissant.json"), "{:?}", own.keys());
    let link = shop.link("buyer").await.replace('?', "/attestation?");
    let beside = shop.fetch(&link, &[]).await;
    assert_eq!(beside.bytes, unzip(&shop.download("buyer").await)["attestation.json"]);
    let of_owner = shop.link("seller").await.replace('?', "/attestation?");
    assert_eq!(shop.fetch(&of_owner, &[]).await.expect_error(404), "not_found");
    assert_eq!(shop.fetch(link.split('?').next().unwrap(), &[]).await.expect_error(403), "forbidden");
    refund(&shop, purchase);
    assert_eq!(shop.fetch(&link, &[]).await.expect_error(410), "purchase_refunded");
}

fn buy_unprepared(shop: &Shop, team: &str) {
    let bought = buy(&shop.market, team, listing_id("all"), PurchaseKind::Full, PayWith::Credits);
    bought.unwrap();
}

/// Downloads what is attested of the purchase of a team.
async fn delivery(shop: &Shop, team: &str) -> Delivery {
    statement::<Delivery>(&unzip(&shop.download(team).await)["attestation.json"]).predicate
}

#[tokio::test]
async fn attestation_lets_a_bundle_be_prepared() {
    let shop = shop().await;
    buy_unprepared(&shop, "buyer");
    shop.execute("DELETE FROM jobs WHERE kind = 'prepare_bundle'");
    let link = shop.link("buyer").await.replace('?', "/attestation?");
    let first = shop.fetch(&link, &[]).await;
    assert_eq!(first.expect_error(503), "at_capacity");
    shop.market.run_background_on_a_thread().await;
    assert_eq!(shop.fetch(&link, &[]).await.status, 200);
}

#[tokio::test]
async fn agreement_without_text_keeps_its_id() {
    let shop = shop().await;
    buy_unprepared(&shop, "buyer");
    shop.execute("DELETE FROM agreements");
    shop.market.run_background_on_a_thread().await;
    let agreement = delivery(&shop, "buyer").await.agreement.unwrap();
    assert!(agreement.id.is_some() && agreement.terms_sha256.is_none(), "{agreement:?}");
}

#[tokio::test]
async fn buyer_is_named_by_a_salted_digest() {
    let shop = shop().await;
    let mut digests = Vec::new();
    for team in ["buyer", "other"] {
        let purchase = shop.buy(team, PurchaseKind::Full).await;
        let envelope = unzip(&shop.download(team).await)["attestation.json"].clone();
        let delivery = statement::<Delivery>(&envelope).predicate;
        let (found, id) = shop
            .market
            .read(|reader| {
                let row = marketplace::store::purchases::find(reader.rows, purchase)?.unwrap();
                let buyer = marketplace::store::teams::find_by_row_id(reader.rows, row.buyer)?;
                Ok((marketplace::store::attestations::find(reader.rows, row.row_id)?.unwrap(), buyer.id))
            })
            .unwrap();
        assert_eq!(delivery.buyer.salted_sha256, buyer_digest(&found.salt, id));
        let statement =
            decode_base64(&serde_json::from_slice::<Envelope>(&envelope).unwrap().payload).unwrap();
        let text = String::from_utf8(statement).unwrap();
        for hidden in [id.to_string(), purchase.to_string(), format!("{team} house")] {
            assert!(!text.to_lowercase().contains(&hidden.to_lowercase()), "{hidden} in {text}");
        }
        digests.push(delivery.buyer.salted_sha256);
    }
    assert_ne!(digests[0], digests[1]);
}

/// Returns the status of an attestation, for a team.
async fn status(shop: &Shop, team: &str, sha256: &str) -> Statement<AttestationStatus> {
    let response =
        shop.market.get(&format!("mkt_{team}"), &format!("/v2/attestations/{sha256}/status")).await;
    assert_eq!(response.status, 200, "{}", response.json());
    statement(&response.bytes)
}

/// Returns the notifications and events of a buyer about attestations.
fn changes(shop: &Shop, team: &str) -> Vec<String> {
    let events = shop.market.read(|reader| {
        let id = teams::team(reader.rows, team).id;
        let events = marketplace::store::events::list_after(reader.rows, EventRowId(0), 1_000_000)?;
        Ok(events.into_iter().filter(move |event| event.team == Some(id)).collect::<Vec<_>>())
    });
    let events = events.unwrap().into_iter();
    let changes = events.filter(|event| event.event_type == EventType::AttestationStatusChanged);
    let change =
        |data: String| serde_json::from_str::<Value>(&data).unwrap()["change"].as_str().unwrap().to_owned();
    changes.map(|event| change(event.data)).collect()
}

/// Performs an operation on the listing a moment later.
fn perform(shop: &Shop, operation: Operation) {
    shop.market.clock().advance(1_000_000);
    shop.market.write(|writer| listing_lifecycle::perform(writer, listing_id("all"), operation)).unwrap();
}

#[tokio::test]
async fn each_buyer_is_told_once_that_a_certification_has_ended() {
    let shop = shop().await;
    shop.buy("both", PurchaseKind::Full).await;
    perform(&shop, Operation::Certify);
    for team in ["buyer", "other"] {
        shop.buy(team, PurchaseKind::Full).await;
    }
    let told = |team: &str| changes(&shop, team).len();
    perform(&shop, Operation::Revoke);
    assert_eq!(told("buyer"), 0, "a job tells them");
    shop.market.run_background_on_a_thread().await;
    assert_eq!([told("buyer"), told("other"), told("both")], [1, 1, 0]);
    for operation in [Operation::Certify, Operation::Revoke] {
        perform(&shop, operation);
    }
    shop.market.run_background_on_a_thread().await;
    assert_eq!([told("buyer"), told("other"), told("both")], [1, 1, 0]);
}

#[tokio::test]
async fn status_follows_refunds_and_certifications() {
    let shop = shop().await;
    perform(&shop, Operation::Certify);
    let purchase = shop.buy("buyer", PurchaseKind::Full).await;
    let envelope = unzip(&shop.download("buyer").await)["attestation.json"].clone();
    let payload = decode_base64(&serde_json::from_slice::<Envelope>(&envelope).unwrap().payload).unwrap();
    let digest = sha256(&payload);
    let first = status(&shop, "buyer", &digest).await;
    assert_eq!(
        (first.predicate_type.as_str(), first.subject[0].digest.sha256.as_str()),
        (STATUS_TYPE, digest.as_str())
    );
    assert_eq!((first.predicate.refunded_at, first.predicate.certification_revoked_at), (None, None));
    for team in ["other", "seller"] {
        let response =
            shop.market.get(&format!("mkt_{team}"), &format!("/v2/attestations/{digest}/status")).await;
        assert!([403, 404].contains(&response.status), "{team}: {}", response.status);
    }
    perform(&shop, Operation::Revoke);
    assert!(status(&shop, "buyer", &digest).await.predicate.certification_revoked_at.is_some());
    shop.market.run_background_on_a_thread().await;
    refund(&shop, purchase);
    assert!(status(&shop, "buyer", &digest).await.predicate.refunded_at.is_some());
    assert_eq!(changes(&shop, "buyer"), ["certification_revoked", "refunded"]);
    assert!(changes(&shop, "seller").is_empty() && changes(&shop, "other").is_empty());
}

#[tokio::test]
async fn rotated_keys_stay_published_and_are_in_backups_with_the_secret() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let rotate = |writer: &mut Writer| attestation_log::rotate_key(writer, Platform::of_process());
    shop.market.clock().advance(1_000_000);
    let new = shop.market.write(rotate).unwrap();
    let keys = published_keys(&shop).await.keys;
    assert_eq!(keys.iter().map(|key| key.valid_until.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(keys[0], new);
    let day = new.valid_from.to_string();
    assert!(day.ends_with("T00:00:00.000Z"), "the time of a sale is not published: {day}");
    shop.buy("other", PurchaseKind::Full).await;
    let envelope: Envelope =
        serde_json::from_slice(&unzip(&shop.download("other").await)["attestation.json"]).unwrap();
    assert_eq!(envelope.signatures[0].keyid, new.keyid);
    let backup = temp_dir();
    back_up(shop.market.market(), backup.path()).unwrap();
    let restored = open_restored(backup.path());
    let is_there = restored.market().read_blocking(|reader| Ok(signing_keys::find(reader)?.is_some()));
    assert!(is_there.unwrap(), "a restored market signs with the same key");
}
