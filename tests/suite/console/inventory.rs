//! The inventory of a vendor: its table, what selects its rows, its file, and its groups.

use crate::harness::{TestMarket, browser::Browser};

const VENDOR: &str = "mkt_demo_vendor";
const INVENTORY: &str = "/console/inventory";

#[tokio::test]
async fn table_shows_what_the_filter_selects() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let all = browser.get(INVENTORY).await;
    all.expect(200, "name=\"asset\"").expect(200, "Add assets").expect(200, "aria-sort=\"descending\"");

    let built =
        browser.get(&format!("{INVENTORY}?kind=codebase&build=stage&comparison=is&value=complete")).await;
    assert_eq!(built.location(), format!("{INVENTORY}?kind=codebase&filter=stage%3Ais%3Acomplete"));
    let shown = browser.get(built.location()).await;
    shown
        .expect(200, "is Complete")
        .expect(200, "that match")
        .expect(200, "name=\"filter\" value=\"stage:is:complete\"");
    let rows = |text: &str| text.matches("name=\"asset\"").count();
    assert!(rows(&shown.text) <= rows(&all.text));
    let everything = browser.get(&format!("{INVENTORY}?kind=codebase&all=1")).await;
    everything.expect(200, "name=\"all\" value=\"1\"").expect(200, "that match are chosen");

    for query in ["filter=stage:is:done", "group=x", "kind=x", "sort=x"] {
        let page = browser.get(&format!("{INVENTORY}?{query}")).await;
        page.expect(200, "because the filter cannot be read");
        assert_eq!(rows(&page.text), 0, "{query}");
    }
    browser.get(&format!("{INVENTORY}?from=100000")).await.expect(200, "behind the last asset");
    browser.get(&format!("{INVENTORY}?query=no+such+asset")).await.expect(200, "No asset has all of this");
}

#[tokio::test]
async fn chosen_columns_are_those_of_the_table_and_of_the_file() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let path = format!("{INVENTORY}/columns");
    let next = "/inventory?kind=codebase";
    let chosen = browser.post(&path, &[("columns", "price"), ("columns", "lines"), ("next", next)]).await;
    assert_eq!((chosen.status(), chosen.location()), (303, "/console/inventory?kind=codebase"));
    let page = browser.get(chosen.location()).await;
    page.expect(200, ">Price, USD</a>").expect(200, ">Lines</a>");
    assert!(!page.text.contains(">Domains</a>"), "{}", page.visible());
    let file = browser.get(&format!("{INVENTORY}?kind=codebase&format=csv&sort=name")).await;
    file.expect(200, "Asset,\"Price, USD\",Lines,ID\r\n");
    let rows = file.text.lines().count() - 1;
    page.expect(200, &format!("of {rows} · "));
    let other = browser.post(&path, &[("default", "1"), ("next", "//evil.example")]).await;
    assert_eq!(other.location(), INVENTORY);
    browser.get(INVENTORY).await.expect(200, ">Domains</a>");
}

#[tokio::test]
async fn groups_are_created_renamed_and_deleted() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let new = format!("{INVENTORY}/groups/new");
    let form = browser.get(&new).await;
    browser.submit(&form, &new, &[("name", "")]).await.expect(422, "Enter a name");
    let created = browser.submit(&form, &new, &[("name", "Night shift")]).await;
    assert_eq!(created.status(), 303, "{}", created.visible());
    browser.post(&new, &[("name", "Night shift")]).await.expect(409, "already has a group");
    let page = browser.get(created.location()).await;
    page.expect(200, "Night shift").expect(200, "The group was created");
    let group = created.location().split("group=").nth(1).unwrap()[..36].to_owned();

    let rename = format!("{INVENTORY}/groups/{group}");
    let form = browser.get(&rename).await;
    assert_eq!(browser.submit(&form, &rename, &[("name", "Day shift")]).await.status(), 303);
    browser.get(INVENTORY).await.expect(200, "Day shift");
    let delete = format!("{rename}/delete");
    let question = browser.get(&delete).await;
    question.expect(200, "has no assets");
    let deleted = browser.submit(&question, &delete, &[]).await;
    assert_eq!(deleted.location(), "/console/inventory?notice=group_deleted");
    assert_eq!(browser.get(&rename).await.status(), 404);
}

#[tokio::test]
async fn groups_with_assets_stay() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let page = browser.get(INVENTORY).await;
    let ids: Vec<&str> = page.text.split("data-group=\"").skip(1).map(|rest| &rest[..36]).collect();
    assert!(ids.len() > 1, "{}", page.visible());
    for (index, id) in ids.iter().enumerate() {
        let path = format!("{INVENTORY}/groups/{id}/delete");
        let question = browser.get(&path).await;
        let reason =
            if index == 0 { "The default group cannot be deleted" } else { "Move them to another group" };
        question.expect(200, reason);
        browser.post(&path, &[]).await.expect(409, reason);
    }
}
