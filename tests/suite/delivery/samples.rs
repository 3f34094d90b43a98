//! What samples have: what the vendor chose, or the default.

use marketplace::{
    domain::{
        listing_lifecycle::Operation,
        listings::Actor,
        money::Cents,
        purchases::PurchaseKind,
        samples::{SampledAsset, Selection},
    },
    error::{Error, Result},
    operations::listing_lifecycle as lifecycle,
    store::listings::ListingFields,
};
use serde_json::json;
use uuid::Uuid;

use super::{lines, names, shop, shop_with, unzip};
use crate::{
    harness::{errors, listing_lifecycle, listings::listing_fields, teams::vendor},
    sales::listing_id,
    vendor_api::seller_market::seeded_id,
};

#[tokio::test]
async fn sample_has_what_the_vendor_chose() {
    let shop = shop_with(|listing, [code, data, _, environment]| {
        listing["sample"] = json!([
            {"asset": code, "paths": ["src/", "LICENSE"]},
            {"asset": data, "paths": ["scans/2.txt"]},
            {"asset": "tasks", "task_ids": ["set/two"]},
            {"asset": environment},
        ]);
    })
    .await;
    shop.buy("buyer", PurchaseKind::Sample).await;
    let [code, data, tasks, environment] = &shop.assets;
    let files = unzip(&shop.download("buyer").await);
    assert_eq!(files.len(), 7);
    assert_eq!(names(&files[&format!("{code}/sample.zip")]), ["LICENSE", "src/lib.rs", "src/main.rs"]);
    assert_eq!(names(&files[&format!("{data}/sample.zip")]), ["scans/2.txt"]);
    let tasks = lines(&files[&format!("{tasks}/tasks.jsonl")]);
    assert_eq!((tasks.len(), &tasks[0]["task_id"]), (1, &json!(seeded_id("tasks", "set/two"))));
    assert!(files.contains_key(&format!("{environment}/asset.json")));
}

#[tokio::test]
async fn sample_has_only_the_chosen_assets() {
    let shop = shop_with(|listing, [code, ..]| listing["sample"] = json!([{"asset": code}])).await;
    shop.buy("buyer", PurchaseKind::Sample).await;
    let files = unzip(&shop.download("buyer").await);
    let entry = format!("{}/sample.zip", shop.assets[0]);
    let mut expected = ["attestation.json", "croissant.json", "manifest.json", &entry];
    expected.sort_unstable();
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
}

/// A listing of an earlier version says nothing about its sample.
#[tokio::test]
async fn default_sample_has_parts_of_all_assets() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Sample).await;
    let [code, data, tasks, environment] = &shop.assets;
    let files = unzip(&shop.download("buyer").await);
    assert_eq!(names(&files[&format!("{code}/sample.zip")]).len(), 5, "the repository is small");
    assert_eq!(names(&files[&format!("{data}/sample.zip")]).len(), 3);
    assert_eq!(lines(&files[&format!("{tasks}/tasks.jsonl")]).len(), 3);
    assert!(files.contains_key(&format!("{environment}/asset.json")));
}

/// A sample whose files do not exist still delivers a description, and says why.
#[tokio::test]
async fn sample_without_files_says_why() {
    let shop =
        shop_with(|listing, [code, ..]| listing["sample"] = json!([{"asset": code, "paths": ["no/such"]}]))
            .await;
    shop.buy("buyer", PurchaseKind::Sample).await;
    let files = unzip(&shop.download("buyer").await);
    assert!(files.contains_key(&format!("{}/asset.json", shop.assets[0])), "{:?}", files.keys());
    let manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(manifest["entries"][0]["problem"], "The sample names no file of the data.");
}

fn problems<T: std::fmt::Debug>(result: Result<T>) -> Vec<String> {
    match result {
        Err(Error::Invalid(problems)) => errors::describe(&problems),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn sample_must_be_stated_to_be_offered() {
    let shop = shop().await;
    let (market, id) = (shop.market.market(), listing_id("all"));
    let set = |sample_price: Option<i64>, sample: &[SampledAsset]| {
        market.write_blocking(|writer| {
            let vendor = vendor(writer.rows, "seller");
            let fields = ListingFields {
                sample_price: sample_price.map(Cents),
                sample: sample.to_vec(),
                ..listing_fields("Listing all")
            };
            lifecycle::update(writer, &vendor, Actor::Team, id, &fields)
        })
    };
    let submit = || market.write_blocking(|writer| listing_lifecycle::perform(writer, id, Operation::Submit));
    let sampled = |id: Uuid| SampledAsset { asset_id: id, selection: Selection::default() };
    let (on_listing, elsewhere) = (sampled(shop.assets[0].parse().unwrap()), sampled(Uuid::nil()));
    let unpublish = |operation| {
        market.write_blocking(|writer| listing_lifecycle::perform(writer, id, operation)).unwrap();
    };
    unpublish(Operation::Unpublish);
    set(Some(100), &[]).unwrap();
    assert_eq!(problems(submit()), ["sample missing"]);
    set(Some(100), std::slice::from_ref(&elsewhere)).unwrap();
    assert_eq!(problems(submit()), ["sample value_error"]);
    set(Some(100), std::slice::from_ref(&on_listing)).unwrap();
    submit().unwrap();
    unpublish(Operation::Approve);
    unpublish(Operation::Publish);
    assert_eq!(problems(set(Some(100), &[elsewhere])), ["sample value_error"]);
    set(None, &[]).unwrap();
    assert_eq!(problems(set(Some(100), &[])), ["sample missing"]);
    set(Some(200), &[on_listing]).unwrap();
}
