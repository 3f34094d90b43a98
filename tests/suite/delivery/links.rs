//! Who gets a link, and which links are refused.

use std::collections::BTreeMap;

use marketplace::{
    domain::purchases::{PayWith, PurchaseKind},
    operations::purchases::{self, PurchaseInput},
};
use serde_json::{Value, json};

use super::{delivered, shop, unzip};
use crate::{
    harness::{BASE, teams::buyer},
    sales::listing_id,
};

#[tokio::test]
async fn only_the_owner_and_buyers_have_links() {
    let shop = shop().await;
    let purchase = shop.buy("buyer", PurchaseKind::Full).await;
    let stable = format!("{BASE}/v2/blobs/bundles/{}", listing_id("all"));
    for (team, parameter) in [("seller", Some("?owner=")), ("buyer", Some("?purchase=")), ("other", None)] {
        let detail = shop.detail(team).await;
        assert_eq!(detail["bundle_url"], json!(stable), "{team}");
        match parameter {
            Some(parameter) => {
                let url = detail["bundle_download_url"].as_str().unwrap();
                assert!(url.starts_with(&format!("{stable}{parameter}")), "{url}");
            }
            None => assert_eq!(detail["bundle_download_url"], Value::Null),
        }
    }
    assert!(shop.link("buyer").await.contains(&purchase.to_string()));
    let own = shop.market.get("mkt_seller", &format!("/v2/listings/{}", listing_id("all"))).await.ok();
    assert_eq!(own["bundle_download_url"], shop.detail("seller").await["bundle_download_url"]);
}

#[tokio::test]
async fn forged_and_expired_links_are_forbidden() {
    let shop = shop().await;
    let (first, second) =
        (shop.buy("buyer", PurchaseKind::Full).await, shop.buy("other", PurchaseKind::Full).await);
    let link = shop.link("buyer").await;
    let (path, query) = link.split_once('?').unwrap();
    let other_listing = link.replace(&listing_id("all").to_string(), &second.to_string());
    let expires = query.split('&').find_map(|part| part.strip_prefix("expires=")).unwrap();
    let later = (expires.parse::<i64>().unwrap() + 3600).to_string();
    for forged in [
        path.to_owned(),
        link.replace(&first.to_string(), &second.to_string()),
        link.replace("purchase=", "owner="),
        link.replace(expires, &later),
        other_listing,
        format!("{link}0"),
        format!("{link}&owner={second}"),
        link.rsplit_once('&').unwrap().0.to_owned(),
    ] {
        let response = shop.fetch(&forged, &[]).await;
        assert_eq!(response.expect_error(403), "forbidden", "{forged}");
    }
    // A link is valid for one to two hours, until the second that it states.
    let clock = shop.market.clock();
    let remaining = expires.parse::<i64>().unwrap() * 1_000_000 - clock.now().0;
    assert!((3_600_000_000..=7_200_000_000).contains(&remaining), "{remaining}");
    clock.advance(remaining - 1);
    assert_eq!(shop.fetch(&link, &[]).await.status, 200);
    clock.advance(1);
    assert_eq!(shop.fetch(&link, &[]).await.expect_error(403), "forbidden");
    assert_eq!(shop.fetch(&shop.link("buyer").await, &[]).await.status, 200);
}

#[tokio::test]
async fn link_covers_the_widest_purchase() {
    let shop = shop().await;
    let entries = |bytes: &[u8]| delivered(bytes).len() - 1;
    shop.buy("buyer", PurchaseKind::Sample).await;
    assert!(unzip(&shop.download("buyer").await).keys().any(|name| name.ends_with("sample.zip")));
    let selected = [shop.assets[0].parse().unwrap()];
    let bought = shop.market.write(|writer| {
        let buyer = buyer(writer.rows, "other");
        let input = PurchaseInput {
            listing: listing_id("all"),
            kind: PurchaseKind::Full,
            asset_ids: Some(&selected),
            pay_with: PayWith::Credits,
        };
        purchases::create(writer, &buyer, marketplace::domain::listings::Actor::Team, &input)
    });
    bought.unwrap();
    shop.buy("other", PurchaseKind::Sample).await;
    assert_eq!(entries(&shop.download("other").await), 1, "a selection is wider than a sample");
    shop.buy("buyer", PurchaseKind::Full).await;
    let files = delivered(&shop.download("buyer").await);
    assert!(files.len() == 5 && files.keys().any(|name| name.ends_with("repository.zip")));
}

/// The vendor gets what would be delivered now. It is prepared when it is first requested, and after each change.
#[tokio::test]
async fn vendor_gets_the_listing_as_it_is() {
    let shop = shop().await;
    let link = shop.link("seller").await;
    shop.fetch(&link, &[]).await.expect_error(503);
    shop.market.run_background_on_a_thread().await;
    let first = shop.download("seller").await;
    assert_eq!(shop.detail("seller").await["bundle_manifest"].as_object().unwrap().len(), 4);
    shop.buy("buyer", PurchaseKind::Full).await;
    let bought = shop.download("buyer").await;
    assert!(delivered(&bought) == delivered(&first), "buyers get the same files");
    let version = |writer: &mut marketplace::market::Writer| {
        let seller = crate::harness::teams::vendor(writer.rows, "seller");
        let task = crate::vendor_api::seller_market::seeded_id("tasks", "set/one").parse().unwrap();
        let version = marketplace::operations::task_changes::VersionInput {
            current_state: marketplace::domain::tasks::VersionState::Draft,
            lifecycle_stage: marketplace::domain::tasks::VersionStage::Authoring,
            brief: BTreeMap::new(),
            agent_config: BTreeMap::new(),
            environment: BTreeMap::new(),
        };
        marketplace::operations::task_changes::add_version(writer, &seller, task, &version)
    };
    shop.market.write(version).unwrap();
    shop.fetch(&link, &[]).await.expect_error(503);
    shop.market.run_background_on_a_thread().await;
    assert!(delivered(&shop.download("seller").await) != delivered(&first));
    assert!(shop.download("buyer").await == bought);
}
