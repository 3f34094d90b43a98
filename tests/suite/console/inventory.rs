//! The inventory of a vendor: its table, what selects its rows, its file, and its groups.

use serde_json::json;

use super::VENDOR;
use super::bulk_changes::{NEW, create, start};
use crate::harness::{
    TestMarket,
    browser::{Browser, Page, text_of},
    csv,
    patterns::pattern,
};

const INVENTORY: &str = "/console/inventory";

/// Returns the rows of the table, each as the ID and the texts of the cells.
fn table(page: &Page) -> Vec<(String, Vec<String>)> {
    let rows = pattern(r#"(?s)<tr data-asset="([^"]+)">(.*?)</tr>"#);
    let cells = pattern("(?s)<t[hd][^>]*>(.*?)</t[hd]>");
    let row = |row: regex::Captures| {
        let cells = cells.captures_iter(&row[2]).map(|cell| text_of(&cell[1])).collect();
        (row[1].to_owned(), cells)
    };
    rows.captures_iter(&page.text).map(row).collect()
}

/// Returns the values of the options of a field of the page.
fn options(page: &Page, field: &str) -> Vec<String> {
    let select = page.text.split(&format!("name=\"{field}\"")).nth(1).unwrap_or_default();
    let select = select.split("</select>").next().unwrap();
    let values = select.split("<option value=\"").skip(1);
    values.map(|option| option.split('"').next().unwrap().to_owned()).collect()
}

/// Returns the number of assets that the page says match.
fn total(page: &Page) -> u64 {
    let number = pattern(r"(\S+) assets? (match|matches|in \d+ groups)");
    let text = page.visible();
    let found = number.captures(&text).unwrap_or_else(|| panic!("no number: {text}"));
    found[1].replace(',', "").parse().unwrap()
}

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
    let same = Browser::signed_in(&market, VENDOR).await;
    same.get(INVENTORY).await.expect(200, ">Domains</a>");
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

/// The builder, the same condition as text, and the list of the API select the same assets.
#[tokio::test]
async fn builder_text_and_api_select_the_same() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let fields = options(&browser.get(INVENTORY).await, "build");
    assert!(fields.len() > 10, "{fields:?}");
    let (mut selecting, mut conditions) = (0, 0);
    for field in &fields {
        let builder = browser.get(&format!("{INVENTORY}?build={field}")).await;
        let mut values = options(&builder, "value");
        values.truncate(4);
        if values.is_empty() {
            values.push("tide".to_owned());
        }
        for comparison in options(&builder, "comparison") {
            for value in &values {
                let query = format!("build={field}&comparison={comparison}&value={value}");
                let built = browser.get(&format!("{INVENTORY}?{query}")).await;
                let page = browser.get(built.location()).await;
                let condition = format!("{field}:{comparison}:{value}");
                page.expect(200, &format!("name=\"filter\" value=\"{condition}\""));
                let text = browser.get(&format!("{INVENTORY}?filter={condition}")).await;
                assert_eq!(table(&page), table(&text), "{condition}");
                let of_api = market.get(VENDOR, &format!("/v2/assets?limit=1&filter={condition}")).await.ok();
                let number = total(&page);
                assert_eq!(json!(number), of_api["total"], "{condition}");
                conditions += 1;
                selecting += u64::from(0 < number && number < 57);
            }
        }
    }
    assert!(selecting > 20, "{selecting} of {conditions} conditions select some");
}

#[tokio::test]
async fn domains_have_their_names() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let page = browser.get(&format!("{INVENTORY}?build=domain&filter=domain:is:real-estate")).await;
    page.expect(200, "is Real estate").expect(200, "<option value=\"real-estate\">Real estate</option>");
    assert!(
        table(&page)[0].1.iter().any(|cell| cell == "Real estate, Web development"),
        "{:?}",
        table(&page)
    );
    let file = browser.get(&format!("{INVENTORY}?filter=domain:is:real-estate&format=csv")).await;
    file.expect(200, ",\"Real estate, Web development\",");
}

#[tokio::test]
async fn orders_are_those_of_the_api() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let orders = options(&browser.get(INVENTORY).await, "sort");
    assert!(orders.len() > 15, "{orders:?}");
    for sort in orders.iter().filter(|sort| !sort.is_empty()) {
        for direction in ["asc", "desc"] {
            let page = browser.get(&format!("{INVENTORY}?sort={sort}&direction={direction}")).await;
            let path = format!("/v2/assets?limit=50&sort={sort}&sort_direction={direction}");
            let of_api = market.get(VENDOR, &path).await.ok();
            let ids: Vec<&str> =
                of_api["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
            let shown = table(&page);
            assert_eq!(shown.iter().map(|(id, _)| id).collect::<Vec<_>>(), ids, "{sort} {direction}");
        }
    }
    // The head of a column leads to its order, and from there to the opposite one.
    let page = browser.get(INVENTORY).await;
    page.expect(200, "sort=price&amp;direction=desc");
    let sorted = browser.get(&format!("{INVENTORY}?sort=price&direction=desc")).await;
    sorted.expect(200, "sort=price&amp;direction=asc").expect(200, "aria-sort=\"descending\"");
}

/// The file has the rows of all pages of the table, in their order.
#[tokio::test]
async fn file_has_the_rows_of_the_table() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat, \"the\" survey", 60).await;
    for query in
        ["", "&sort=price&direction=desc", "&kind=codebase&filter=stage:is_not:complete", "&query=wombat"]
    {
        let file = browser.get(&format!("{INVENTORY}?format=csv{query}")).await;
        assert!(file.response.header("content-disposition").contains("inventory"), "{query}");
        let mut rows = Vec::new();
        loop {
            let page = browser.get(&format!("{INVENTORY}?from={}{query}", rows.len())).await;
            let offset = format!("limit=50&amp;offset={}", rows.len());
            assert_eq!(page.text.contains(&offset), !rows.is_empty(), "{query} {offset}");
            rows.extend(table(&page));
            if !page.text.contains(">Next</button>") {
                break;
            }
        }
        let mut lines = csv::rows(&file.text).into_iter();
        let heads = lines.next().unwrap();
        let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
        let lines: Vec<Vec<String>> = lines.collect();
        assert_eq!(lines.len(), rows.len(), "{query}");
        for (line, (id, cells)) in lines.iter().zip(&rows) {
            assert_eq!(line.last(), Some(id), "{query}");
            // The first cell of a row of the table is the box that selects it.
            for name in ["Asset", "Kind", "Group"] {
                assert_eq!(line[column(name)], cells[column(name) + 1], "{query}");
            }
        }
    }
}

#[tokio::test]
async fn assets_are_moved_between_groups() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Wombat", 2).await;
    let new = format!("{INVENTORY}/groups/new");
    let created = browser.submit(&browser.get(&new).await, &new, &[("name", "Night shift")]).await;
    let group = created.location().split("group=").nth(1).unwrap()[..36].to_owned();
    // Rows that are dragged to a group name it.
    let selected = format!("asset={}&asset={}", ids[0], ids[1]);
    let page = browser.get(&format!("{NEW}?action=move&to_group={group}&{selected}")).await;
    page.expect(200, &format!("<option value=\"{group}\" selected>Night shift"));
    start(&browser, &page, &[]).await.expect(200, "2 moved").expect(200, "Night shift");
    let in_group = browser.get(&format!("{INVENTORY}?group={group}")).await;
    assert_eq!((total(&in_group), table(&in_group).len()), (2, 2));
    let delete = format!("{INVENTORY}/groups/{group}/delete");
    browser.get(&delete).await.expect(200, "The group has 2 assets");
    browser.post(&delete, &[]).await.expect(409, "Move them to another group");

    let page = browser.get(&format!("{INVENTORY}/{}", ids[0])).await;
    let move_path = format!("{INVENTORY}/{}/move", ids[0]);
    let default = browser.get(INVENTORY).await.text.split("data-group=\"").nth(1).unwrap()[..36].to_owned();
    let moved = browser.submit(&page, &move_path, &[("group", &default)]).await;
    browser.get(moved.location()).await.expect(200, "The asset was moved");
    assert_eq!(total(&browser.get(&format!("{INVENTORY}?group={group}")).await), 1);
    // Another team's group does not exist for the team.
    let other = Browser::signed_in(&market, "mkt_demo_both").await;
    let foreign = other.get(INVENTORY).await.text.split("data-group=\"").nth(1).unwrap()[..36].to_owned();
    assert_eq!(browser.submit(&page, &move_path, &[("group", &foreign)]).await.status(), 422);
    for path in [format!("{INVENTORY}/groups/{foreign}"), format!("{INVENTORY}/groups/{foreign}/delete")] {
        assert_eq!(browser.get(&path).await.status(), 404, "{path}");
        assert_eq!(browser.post(&path, &[("name", "Mine")]).await.status(), 404, "{path}");
    }
}

/// Assets that are chosen stay chosen on other pages, without a script, and on the way back from the page of a change.
#[tokio::test]
async fn chosen_assets_stay_chosen_on_other_pages() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat", 160).await;
    let first = browser.get(&format!("{INVENTORY}?query=wombat&sort=name")).await;
    let rows = table(&first);
    let (one, two) = (rows[0].0.as_str(), rows[1].0.as_str());
    let button = format!("<button name=\"from\" value=\"50\" formaction=\"{INVENTORY}\">Next</button>");
    first.expect(200, &button).expect(200, "name=\"sort\" value=\"name\"").expect(200, "Choose assets:");

    let second =
        browser.get(&format!("{INVENTORY}?query=wombat&sort=name&asset={one}&asset={two}&from=50")).await;
    let hidden = |id: &str| format!("type=\"hidden\" name=\"asset\" value=\"{id}\"");
    second.expect(200, "2 assets of other pages chosen").expect(200, &hidden(one)).expect(200, &hidden(two));
    let three = table(&second)[0].0.clone();
    let chosen = format!("asset={one}&asset={two}&asset={three}");
    let back = browser.get(&format!("{INVENTORY}?query=wombat&sort=name&{chosen}&from=0")).await;
    let checked = |id: &str| format!("value=\"{id}\" checked");
    back.expect(200, &checked(one)).expect(200, &checked(two)).expect(200, &hidden(&three));
    let (_, form) = back.text.split_once("id=\"assets\"").expect("the form of the table");
    assert!(!form.contains(&hidden(one)), "an asset of the page is chosen twice");
    let chosen_still = chosen.replace('&', "&amp;");
    back.expect(
        200,
        &format!("{INVENTORY}?query=wombat&amp;sort=price&amp;direction=desc&amp;{chosen_still}\""),
    );

    // Other filters, groups, and columns keep it, too.
    back.expect(200, &format!("{INVENTORY}?sort=name&amp;direction=asc&amp;{chosen_still}\""));
    back.expect(200, &format!("&amp;sort=name&amp;direction=asc&amp;{chosen_still}\" data-group="));
    let next = format!("/inventory?query=wombat&amp;sort=name&amp;direction=asc&amp;{chosen_still}");
    back.expect(200, &format!("name=\"next\" value=\"{next}\""));
    let (_, filters) = back.text.split_once("aria-label=\"Filters\">").expect("the filters");
    let filters = filters.split("</form>").next().unwrap();
    assert_eq!(filters.matches("type=\"hidden\" name=\"asset\"").count(), 3, "{filters}");
    let built = browser
        .get(&format!("{INVENTORY}?query=wombat&{chosen}&build=stage&comparison=is&value=complete"))
        .await;
    assert!(built.location().ends_with(&format!("&{chosen}")), "{}", built.location());

    let change = browser.get(&format!("{NEW}?action=price&query=wombat&sort=name&{chosen}")).await;
    change.expect(200, "Set the price of 3 assets");
    change.expect(
        200,
        &format!(
            "{INVENTORY}?query=wombat&amp;sort=name&amp;direction=asc&amp;{}",
            chosen.replace('&', "&amp;")
        ),
    );
    // Those of one page are chosen at once, and the address stays short.
    let all: Vec<String> = browser
        .get(&format!("{INVENTORY}?query=wombat&format=csv"))
        .await
        .text
        .lines()
        .skip(1)
        .map(|line| format!("asset={}", line.rsplit(',').next().unwrap()))
        .collect();
    let second = browser.get(&format!("{INVENTORY}?query=wombat&from=50&{}", all.join("&"))).await;
    second.expect(200, "10 assets had to be left out");
    let (_, form) = second.text.split_once("id=\"assets\"").expect("the form of the table");
    assert_eq!(form.matches("type=\"hidden\" name=\"asset\"").count(), 100);
    let head = second.text.split('"').find(|part| part.contains("sort=price")).expect("the head of a column");
    assert_eq!(head.matches("asset=").count(), 150, "what is left out is not in it: {head}");
    let everything = browser.get(&format!("{INVENTORY}?query=wombat&all=1&from=50")).await;
    everything.expect(200, "name=\"all\" value=\"1\"").expect(200, "All 160 that match are chosen");
}

#[tokio::test]
async fn statements_do_not_depend_on_the_number_of_assets() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat", 200).await;
    let few = browser.get(&format!("{NEW}?action=price&all=1&query=wombat+7")).await;
    let few = browser.submit(&few, NEW, &[("clear", "yes")]).await.location().to_owned();
    let many = browser.get(&format!("{NEW}?action=price&all=1&query=wombat")).await;
    let many = browser.submit(&many, NEW, &[("clear", "yes")]).await.location().to_owned();
    let pages = [
        (format!("{INVENTORY}?query=wombat+199"), format!("{INVENTORY}?query=wombat")),
        (format!("{INVENTORY}?query=wombat+199&all=1"), format!("{INVENTORY}?query=wombat&from=100")),
        (format!("{NEW}?action=tag&all=1&query=wombat+199"), format!("{NEW}?action=tag&all=1&query=wombat")),
        (few, many),
    ];
    for (few, many) in pages {
        for path in [&few, &many] {
            browser.get(path).await.expect(200, "<h1");
        }
        let counts = (browser.count_statements(&few).await, browser.count_statements(&many).await);
        assert!(counts.0 == counts.1 && counts.0 <= 12, "{few}, {many}: {counts:?}");
    }
}
