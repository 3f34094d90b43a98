//! A bundle does not change after the completion of its purchase, regardless of the vendor's actions, until a refund.

use std::fs;

use marketplace::{
    domain::{
        listing_lifecycle::Operation, listings::Actor, purchases::PurchaseKind, tasks::VersionState,
        uploads::KEEP_UNUSED_DAYS,
    },
    market::DATABASE_FILE,
    operations::{self, access::Platform},
};
use serde_json::{Value, json};

use super::{Shop, delivered, shop};
use crate::{
    administration::tasksets::version,
    harness::{
        archives::zip_of,
        backups::{back_up, open_restored, temp_dir},
        listing_lifecycle,
        teams::vendor,
    },
    sales::{DAY, listing_id},
    vendor_api::seller_market::{seeded_id, seller_call, seller_patch, seller_post, upload_zip},
};

/// Withdraws the listing from the catalog, so that its assets can be changed.
fn unpublish(shop: &Shop) {
    let market = shop.market.market();
    market
        .write_blocking(|writer| listing_lifecycle::perform(writer, listing_id("all"), Operation::Unpublish))
        .unwrap();
}

/// Adds a version of a task.
pub fn add_version(shop: &Shop) {
    let one = seeded_id("tasks", "set/one");
    shop.market
        .write(|writer| {
            let seller = vendor(writer.rows, "seller");
            let version = version(VersionState::Live);
            operations::task_changes::add_version(writer, &seller, one.parse().unwrap(), &version)
        })
        .unwrap();
}

/// Changes, detaches, and deletes everything that the vendor can.
async fn change_everything(shop: &Shop) {
    let [code, data, ..] = &shop.assets;
    unpublish(shop);
    for path in [format!("codebases/{code}"), format!("raw-data/{data}")] {
        seller_patch(&shop.market, &path, json!({"price_usd": 77})).await;
        seller_call(&shop.market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
        let deleted = seller_call(&shop.market, "DELETE", &path, Value::Null).await;
        assert!(deleted.status < 300, "{deleted:?}");
    }
    add_version(shop);
    let two = seeded_id("tasks", "set/two");
    shop.market
        .write(|writer| {
            let seller = vendor(writer.rows, "seller");
            operations::task_changes::delete_task(writer, &seller, two.parse().unwrap())
        })
        .unwrap();
    shop.market.run_background_on_a_thread().await;
    operations::cleanup::sweep(shop.market.market()).unwrap();
}

#[tokio::test]
async fn prepared_bundle_survives_every_change() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let before = shop.download("buyer").await;
    change_everything(&shop).await;
    assert!(shop.download("buyer").await == before, "the bytes are the same");
    let backup = temp_dir();
    let copied = back_up(shop.market.market(), backup.path()).unwrap();
    assert!(copied.problems.is_empty(), "{copied:?}");
    let restored = open_restored(backup.path());
    let link = shop.link("buyer").await;
    let response = restored.send(poem::http::Method::GET, &link, &[]).await;
    assert!(response.status == 200 && response.bytes == before, "a restored market has the same bytes");
}

fn query(shop: &Shop, sql: &str) -> i64 {
    let path = shop.market.market().data_dir().join(DATABASE_FILE);
    rusqlite::Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns the number of uploaded bytes that count for the seller's quota.
fn counted_bytes(shop: &Shop) -> i64 {
    const SQL: &str = "SELECT u.upload_bytes FROM team_usage u JOIN teams t ON t.id = u.team
         WHERE t.name = 'Seller house'";
    query(shop, SQL)
}

/// Downloads the seller's own bundle, which is prepared when it is first requested.
async fn download_own(shop: &Shop) {
    shop.fetch(&shop.link("seller").await, &[]).await.expect_error(503);
    shop.market.run_background_on_a_thread().await;
    shop.download("seller").await;
}

/// The seller's own download contains the uploads, the repository, and the tasks, but nobody has bought them.
#[tokio::test]
async fn download_by_the_seller_keeps_no_upload() {
    let shop = shop().await;
    download_own(&shop).await;
    change_everything(&shop).await;
    assert_eq!(file_count(&shop), 2);
    shop.market.clock().advance(KEEP_UNUSED_DAYS * DAY);
    // A job ends without a failure if the cleanup deletes its bundle.
    shop.execute(
        "INSERT INTO jobs (kind, subject, run_after, enqueued_at, queue, team)
         SELECT 'prepare_bundle', id, 0, 0, 'analyses', 0 FROM bundles",
    );
    assert_eq!(operations::cleanup::sweep(shop.market.market()).unwrap().uploads, 1);
    assert_eq!((counted_bytes(&shop), file_count(&shop)), (0, 0));
    shop.market.run_background_on_a_thread().await;
    for table in ["jobs", "ended_jobs"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE kind = 'prepare_bundle'");
        assert_eq!(query(&shop, &sql), 0, "{table}");
    }
    assert_eq!(operations::verify::find_inconsistencies(shop.market.market()).unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn upload_without_an_asset_is_deleted_later_unless_a_bundle_has_it() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    download_own(&shop).await;
    let (before, counted) = (shop.download("buyer").await, counted_bytes(&shop));
    let sweep = |days: i64| {
        shop.market.clock().advance(days * DAY);
        operations::cleanup::sweep(shop.market.market()).unwrap().uploads
    };
    let zip = zip_of(&[("README.md", "Other scans.")]);
    let url = upload_zip(&shop.market, "Seller house", &zip);
    assert_eq!(counted_bytes(&shop), counted + zip.len() as i64);
    assert_eq!(sweep(KEEP_UNUSED_DAYS - 1), 0);
    let other = json!({"title": "Other", "data": {"channel": "zip", "url": url}});
    let id = seller_post(&shop.market, "raw-data", other.clone()).await["id"].as_str().unwrap().to_owned();
    shop.market.run_background_on_a_thread().await;
    assert_eq!(sweep(KEEP_UNUSED_DAYS), 0, "an asset has it");
    let detach = seller_call(&shop.market, "DELETE", &format!("raw-data/{id}/data"), Value::Null).await;
    detach.expect_status(204);
    change_everything(&shop).await;
    assert_eq!(sweep(KEEP_UNUSED_DAYS - 1), 0, "it can be attached again");
    let damage = || operations::uploads::find_damaged(shop.market.market()).unwrap();
    assert_eq!((sweep(1), damage()), (1, Vec::<String>::new()));
    assert_eq!(counted_bytes(&shop), counted, "the bundle has the other upload");
    assert_eq!(sweep(2 * KEEP_UNUSED_DAYS), 0);
    assert!(shop.download("buyer").await == before, "the bytes are the same");
    let gone = seller_call(&shop.market, "POST", "raw-data", other).await;
    assert_eq!(gone.status, 422, "{gone:?}");
}

#[tokio::test]
async fn bundle_is_fixed_before_it_is_prepared() {
    let shop = shop().await;
    shop.buy("other", PurchaseKind::Full).await;
    let expected = delivered(&shop.download("other").await);
    let pay_with = marketplace::domain::purchases::PayWith::Credits;
    crate::sales::buy(&shop.market, "buyer", listing_id("all"), PurchaseKind::Full, pay_with).unwrap();
    change_everything(&shop).await;
    assert!(delivered(&shop.download("buyer").await) == expected, "the same was bought");
}

/// Returns the number of files that were made for bundles.
fn file_count(shop: &Shop) -> usize {
    let directory = shop.market.market().data_dir().join("blobs/bundles");
    fs::read_dir(directory).map_or(0, Iterator::count)
}

#[tokio::test]
async fn refunded_bundle_is_gone_with_its_files() {
    let shop = shop().await;
    let purchase = shop.buy("buyer", PurchaseKind::Full).await;
    let kept = shop.buy("other", PurchaseKind::Full).await;
    let link = shop.link("buyer").await;
    let refund = |purchase| {
        let platform = Platform::of_process();
        let refund = |writer: &mut marketplace::market::Writer| {
            operations::purchases::refund(writer, platform, Actor::Platform, purchase)
        };
        shop.market.write(refund).unwrap();
    };
    refund(purchase);
    assert_eq!(shop.fetch(&link, &[]).await.expect_error(410), "purchase_refunded");
    assert_eq!(shop.detail("buyer").await["bundle_download_url"], Value::Null);
    shop.market.run_background_on_a_thread().await;
    assert_eq!(file_count(&shop), 2, "another bundle has the same commit and the same tasks");
    shop.download("other").await;
    refund(kept);
    shop.market.run_background_on_a_thread().await;
    assert_eq!(file_count(&shop), 0);
}

#[tokio::test]
async fn damaged_file_of_a_bundle_is_found() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let directory = shop.market.market().data_dir().join("blobs/bundles");
    let file = fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, b"other").unwrap();
    let found = operations::verify::find_inconsistencies(shop.market.market()).unwrap();
    assert!(found.len() == 1 && found[0].contains("differs from its digest"), "{found:?}");
    let copied = back_up(shop.market.market(), temp_dir().path()).unwrap();
    assert_eq!(copied.problems, found);
    fs::write(&file, bytes).unwrap();
}
