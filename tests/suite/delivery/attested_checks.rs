//! The attested facts of a listing and its checks: as of the purchase, and only about the delivered data.

use std::{collections::BTreeSet, fs};

use marketplace::{
    domain::{
        attestations::{Delivery, Envelope, Statement, decode_base64},
        listing_lifecycle::Operation,
        purchases::{PayWith, PurchaseKind},
        quality_runs::RunTrigger,
    },
    operations, store,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Shop, sha256, shop_of, unzip};
use crate::{
    harness::{archives::zip_of, listing_lifecycle},
    sales::{buy, listing_id},
    vendor_api::seller_market::{seller_call, seller_post, upload_zip},
};

/// The files of raw data with a license.
const DATA: [(&str, &str); 2] =
    [("LICENSE", include_str!("../../../LICENSE-MIT")), ("a.csv", "id,name\n1,x\n2,y\n")];

/// A second later, so that the times of what follows differ.
fn wait(shop: &Shop) {
    shop.market.clock().advance(1_000_000);
}

fn perform(shop: &Shop, operation: Operation) {
    wait(shop);
    shop.market.write(|writer| listing_lifecycle::perform(writer, listing_id("all"), operation)).unwrap();
}

/// Starts the checks of the listing and all its assets.
fn start_checks(shop: &Shop) {
    wait(shop);
    shop.market
        .write(|writer| {
            let listing = store::listings::find(writer.rows, listing_id("all"))?.unwrap();
            operations::quality_runs::start_listing_run(writer, &listing, RunTrigger::Platform)
        })
        .unwrap();
}

/// Has the market approve the listing once more, without checks, and publishes it.
fn republish_unchecked(shop: &Shop) {
    wait(shop);
    let published = shop.market.write(|writer| {
        listing_lifecycle::perform(writer, listing_id("all"), Operation::Submit)?;
        let listing = store::listings::find(writer.rows, listing_id("all"))?.unwrap().row_id;
        operations::quality_runs::cancel(writer, store::quality_runs::Subject::Listing(listing))?;
        listing_lifecycle::perform(writer, listing_id("all"), Operation::Approve)?;
        listing_lifecycle::perform(writer, listing_id("all"), Operation::Publish)
    });
    published.unwrap();
}

async fn check(shop: &Shop) {
    start_checks(shop);
    shop.market.run_background_on_a_thread().await;
}

/// Replaces the raw data by a zip without a license.
async fn replace_data(shop: &Shop) {
    let path = format!("raw-data/{}/data", shop.assets[1]);
    wait(shop);
    seller_call(&shop.market, "DELETE", &path, Value::Null).await.expect_status(204);
    wait(shop);
    let url = upload_zip(&shop.market, "Seller house", &zip_of(&[("a.csv", "id,name\n3,z\n")]));
    seller_post(&shop.market, &path, json!({"channel": "zip", "url": url})).await;
}

async fn delivery(shop: &Shop, team: &str) -> Delivery {
    let envelope = unzip(&shop.download(team).await)["attestation.json"].clone();
    let envelope: Envelope = serde_json::from_slice(&envelope).unwrap();
    let payload = decode_base64(&envelope.payload).unwrap();
    serde_json::from_slice::<Statement<Delivery>>(&payload).unwrap().predicate
}

/// Returns the assets whose checks are attested; `None` is the listing as a whole.
fn checked(delivery: &Delivery) -> BTreeSet<Option<Uuid>> {
    delivery.quality_run.iter().flat_map(|run| &run.checks).map(|check| check.asset_id).collect()
}

/// Returns the IDs of assets of a shop, by their places.
fn assets(shop: &Shop, places: &[usize]) -> BTreeSet<Option<Uuid>> {
    places.iter().map(|place| Some(shop.assets[*place].parse().unwrap())).collect()
}

#[tokio::test]
async fn checks_are_attested_of_the_data_that_they_have_read() {
    // A listing with a price of a sample but no sample is not reviewed again.
    let shop = shop_of(&DATA, |listing, _| listing["sample_price_usd"] = Value::Null).await;
    check(&shop).await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let all = delivery(&shop, "buyer").await;
    let mut expected = assets(&shop, &[0, 1, 2, 3]);
    expected.insert(None);
    assert_eq!(checked(&all), expected);
    assert_eq!(all.licenses, ["MIT"]);

    // Own checks of the new data are for the vendor alone, so they change nothing.
    perform(&shop, Operation::Unpublish);
    replace_data(&shop).await;
    shop.market.run_background_on_a_thread().await;
    let path = format!("raw-data/{}/qc/runs", shop.assets[1]);
    seller_call(&shop.market, "POST", &path, Value::Null).await.expect_status(202);
    shop.market.run_background_on_a_thread().await;
    republish_unchecked(&shop);
    shop.buy("other", PurchaseKind::Full).await;
    let other = delivery(&shop, "other").await;
    assert_eq!(checked(&other), assets(&shop, &[0, 2, 3]), "other data, and so another listing as a whole");
    assert!(other.licenses.is_empty(), "{:?}", other.licenses);
    let upload =
        |delivery: &Delivery| delivery.assets.iter().find_map(|asset| asset.upload_sha256.clone()).unwrap();
    assert_ne!(upload(&all), upload(&other));

    // A version of a task is added.
    wait(&shop);
    super::fixed::add_version(&shop);
    shop.buy("both", PurchaseKind::Full).await;
    assert_eq!(checked(&delivery(&shop, "both").await), assets(&shop, &[0, 3]));
}

#[tokio::test]
async fn listing_and_checks_are_those_of_the_purchase() {
    let shop = shop_of(&DATA, |_, _| {}).await;
    check(&shop).await;
    perform(&shop, Operation::Certify);
    shop.buy("other", PurchaseKind::Full).await;
    let first = delivery(&shop, "other").await;
    assert!(first.listing.certified_at.is_some(), "{:?}", first.listing);

    // Everything changes before the next bundle is prepared, and is checked once more.
    wait(&shop);
    buy(&shop.market, "buyer", listing_id("all"), PurchaseKind::Full, PayWith::Credits).unwrap();
    perform(&shop, Operation::Unpublish);
    shop.execute("UPDATE listings SET title = 'Other'");
    replace_data(&shop).await;
    start_checks(&shop);
    shop.market.run_background_on_a_thread().await;
    let files = unzip(&shop.download("buyer").await);
    let second = delivery(&shop, "buyer").await;
    assert_eq!(second.quality_run, first.quality_run);
    assert_eq!((&second.licenses, &second.assets), (&first.licenses, &first.assets));
    assert_eq!(second.listing.title, first.listing.title);
    assert_eq!(second.listing.certified_at, None, "it had ended when the market signed");
    let upload = second.assets.iter().find_map(|asset| asset.upload_sha256.clone());
    assert_eq!(upload, Some(sha256(&files[&format!("{}/upload.zip", shop.assets[1])])));
    let croissant: Value = serde_json::from_slice(&files["croissant.json"]).unwrap();
    assert_eq!(croissant["name"], json!(first.listing.title));
    assert_eq!(croissant["license"], json!(["https://spdx.org/licenses/MIT"]));
}

#[tokio::test]
async fn description_has_neither_a_commit_nor_checks_of_the_data() {
    let shop = shop_of(&DATA, |_, _| {}).await;
    check(&shop).await;
    buy(&shop.market, "buyer", listing_id("all"), PurchaseKind::Full, PayWith::Credits).unwrap();
    let blobs = shop.market.market().data_dir().join("blobs");
    let directories =
        ["repositories", "uploads"].map(|name| (blobs.join(name), blobs.join(format!("{name}.away"))));
    for (directory, away) in &directories {
        fs::rename(directory, away).unwrap();
        fs::create_dir(directory).unwrap();
    }
    shop.market.run_background_on_a_thread().await;
    for (directory, away) in &directories {
        fs::remove_dir_all(directory).unwrap();
        fs::rename(away, directory).unwrap();
    }
    let delivery = delivery(&shop, "buyer").await;
    let linked = assets(&shop, &[0, 1]);
    let described: Vec<_> = delivery.assets.iter().filter(|asset| linked.contains(&Some(asset.id))).collect();
    assert_eq!(described.len(), 2, "{:?}", delivery.assets);
    for asset in described {
        assert!(asset.path.ends_with("/asset.json"), "{asset:?}");
        assert_eq!((&asset.commit, &asset.upload_sha256), (&None, &None), "{asset:?}");
    }
    assert_eq!(checked(&delivery), assets(&shop, &[2, 3]));
    assert!(delivery.licenses.is_empty(), "{:?}", delivery.licenses);
}
