//! The content of a sample: counted before it is sold, with warnings, and checked when it is saved.

use marketplace::{
    artifacts::structure::Tree,
    domain::{listing_lifecycle::Operation, samples::Selection},
    store,
};
use serde_json::json;
use uuid::Uuid;

use super::{SELLER, asset_id, decide, done, draft, edit, edited, fields, market_with};
use crate::{
    harness::{TestMarket, browser::Browser},
    sales::listing_id,
};

/// Sets the files in the data of `c1`.
fn store_files(market: &TestMarket, files: &[(&str, u64)]) {
    let mut tree = Tree::default();
    for (path, size) in files {
        tree.add_file(path.split('/'), *size);
    }
    let structure = tree.into_structure();
    let roots = serde_json::to_string(&structure.roots).unwrap();
    let stored = market.write(|writer| {
        let team = crate::harness::teams::team(writer.rows, "seller").row_id;
        let found = store::assets::find_own(writer.rows, team, asset_id("c1"))?;
        let asset = found.expect("an asset").row_id;
        store::data_structures::upsert(writer.rows, asset, structure.max_depth, &roots, &structure.sizes)
    });
    stored.unwrap();
}

const FEW: [(&str, u64); 3] = [("README.md", 1_000), ("docs/a.txt", 2_000), ("src/main.c", 4_000)];

#[tokio::test]
async fn sample_is_counted_and_the_whole_data_is_warned_about() {
    let market = market_with(&json!({"assets": ["c1", "c2"]}));
    store_files(&market, &FEW);
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, draft());
    let (code, plain) = (asset_id("c1").to_string(), asset_id("c2").to_string());
    let page = seller.get(&format!("{path}/edit")).await;
    page.expect(200, "If you choose it: ")
        .expect(200, "3 of 3 files, 7.0 KB unpacked")
        .expect(200, "The whole data");
    page.expect(200, "its description only, since it has no data");

    edited(&seller, &path, &[("sample_price", "0"), ("sample", &code), ("sample", &plain)]).await;
    for page in ["", "/edit", "/preview"] {
        let page = seller.get(&format!("{path}{page}")).await;
        page.expect(200, "Buyers of the sample get <b>3 of 3 files, 7.0 KB unpacked, of 2 assets</b>");
        page.expect(200, "The sample has all that 1 asset has").expect(200, "Code c1");
        super::check_markup(&page);
    }
    // What was typed is counted before it is saved.
    let paths = format!("paths_{code}");
    let typed = [("preview", "yes"), ("sample", code.as_str()), (&paths, "docs/\r\nREADME.md")];
    let form = seller.get(&format!("{path}/edit")).await;
    let shown = seller.submit(&form, &format!("{path}/edit"), &typed).await;
    shown.expect(200, "Buyers of the sample get <b>2 of 3 files, 3.0 KB unpacked, of ");
    assert!(!shown.text.contains("The sample has all"), "{}", shown.visible());

    edited(&seller, &path, &typed[1..]).await;
    let page = seller.get(&path).await;
    page.expect(200, "2 of 3 files, 3.0 KB unpacked");
    assert!(!page.text.contains("The sample has all") && !page.text.contains("The whole data"));
    // Without a price, nothing of it is offered.
    edited(&seller, &path, &[("sample_price", "")]).await;
    seller.get(&path).await.expect(200, "With a sample price, buyers of the sample get");
}

#[tokio::test]
async fn paths_that_the_data_does_not_have_are_refused_also_in_the_catalog() {
    let market = market_with(&json!({"assets": ["c1", "c2"]}));
    store_files(&market, &FEW);
    let (seller, path, listing) = (Browser::signed_in(&market, SELLER).await, draft(), listing_id("draft"));
    let code = asset_id("c1").to_string();
    let paths = format!("paths_{code}");
    let refused = async |typed: &str, named: &str| {
        let values = [("sample_price", "1"), ("sample", code.as_str()), (&paths, typed)];
        let refused = edit(&seller, &path, &values).await;
        refused.expect(422, &format!("id=\"{paths}-p\"")).expect(422, &format!("&quot;{named}&quot;"));
        refused.expect(422, &format!("href=\"#{paths}\""));
        assert!(!refused.text.contains(&code[..8].repeat(2)));
    };
    refused("docs/\nsrc/nowhere.c", "src/nowhere.c").await;
    assert!(fields(&market, listing).sample.is_empty(), "nothing was saved");
    edited(&seller, &path, &[("sample_price", "1"), ("sample", &code), (&paths, "docs/\nsrc")]).await;
    done(&seller, &path, "submit", "listing_submitted").await;
    decide(&market, listing, Operation::Approve, None);
    done(&seller, &path, "publish", "listing_published").await;
    refused("docs/\nREADME", "README").await;
    edited(&seller, &path, &[("sample", &code), (&paths, "README.md")]).await;
    let expected = Selection { paths: Some(vec!["README.md".to_owned()]), task_ids: None };
    assert_eq!(fields(&market, listing).sample[0].selection, expected);
    // Other data does not have the path: sold content stays unchanged, but the listing cannot be offered again.
    store_files(&market, &[("other", 1)]);
    edited(&seller, &path, &[("price", "60")]).await;
    done(&seller, &path, "unpublish", "listing_unpublished").await;
    edited(&seller, &path, &[("title", "Anew")]).await;
    let page = seller.get(&format!("{path}/submit")).await;
    page.expect(200, "Something is missing").expect(200, "&quot;README.md&quot;");
}

/// Files are offered as checkboxes only if the form fits with all of them ticked.
#[tokio::test]
async fn files_are_ticked_only_if_the_form_fits() {
    let market = market_with(&json!({"assets": ["c1"], "sample_price_usd": 1}));
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, draft());
    for (number, is_ticked) in [(100_u64, true), (900, false)] {
        let names: Vec<String> = (0..number).map(|file| format!("data/letters/{file:04}.txt")).collect();
        let files: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        store_files(&market, &files);
        let page = seller.get(&format!("{path}/edit")).await;
        page.expect(200, "Choose its parts");
        let boxes = page.text.matches(&format!("name=\"files_{}\"", asset_id("c1"))).count();
        assert_eq!(boxes, if is_ticked { names.len() } else { 0 });
    }
}

/// Parts that are typed or ticked are in the sample, also if nobody ticked the asset. Those that are left in the form when it is
/// unticked are not.
#[tokio::test]
async fn parts_choose_their_asset() {
    let market = market_with(&json!({"assets": ["c1", "c2"], "sample_price_usd": 1}));
    store_files(
        &market,
        &[("kestrel/letters/1.txt", 10), ("kestrel/letters/2.txt", 20), ("kestrel/map.txt", 30)],
    );
    let (seller, path, listing) = (Browser::signed_in(&market, SELLER).await, draft(), listing_id("draft"));
    let code = asset_id("c1").to_string();
    let (paths, files) = (format!("paths_{code}"), format!("files_{code}"));
    let page = seller.get(&path).await;
    page.expect(200, &format!("href=\"{path}/edit#sample\"")).expect(200, "Choose what the sample has");
    let refused = edit(&seller, &path, &[(&paths, "letters")]).await;
    refused.expect(422, "Did you mean &quot;kestrel/letters&quot;?");
    let chosen = |texts: &[&str]| {
        let sample = fields(&market, listing).sample;
        let paths = sample.first().and_then(|sampled| sampled.selection.paths.clone());
        assert_eq!(paths.unwrap_or_default(), texts, "{sample:?}");
        sample.len()
    };
    edited(&seller, &path, &[(&paths, "kestrel/letters/")]).await;
    assert_eq!(chosen(&["kestrel/letters/"]), 1);
    let page = seller.get(&format!("{path}/edit")).await;
    page.expect(200, &format!("name=\"{files}\" value=\"kestrel/map.txt\""));
    page.expect(200, "target=\"_blank\" rel=\"noopener\"");
    edited(&seller, &path, &[(&files, "kestrel/map.txt")]).await;
    assert_eq!(chosen(&["kestrel/letters/", "kestrel/map.txt"]), 1);
    // Saving it as it is changes nothing.
    edited(&seller, &path, &[]).await;
    assert_eq!(chosen(&["kestrel/letters/", "kestrel/map.txt"]), 1);
    edited(&seller, &path, &[("sample", "")]).await;
    assert_eq!(chosen(&[]), 0);
}

#[tokio::test]
async fn tasks_of_a_sample_are_counted_and_checked() {
    let market = TestMarket::demo();
    let seller = Browser::signed_in(&market, "mkt_demo_vendor").await;
    let rows = crate::harness::database::connect_to_copy(market.market());
    // A draft with a taskset of the team.
    let sql = "SELECT a.uuid, t.tasks, (SELECT k.uuid FROM tasks k WHERE k.taskset = t.id AND k.deleted_at IS NULL LIMIT 1)
         FROM assets a JOIN tasksets t ON t.id = a.taskset JOIN teams m ON m.id = a.team
         WHERE m.name = 'Lumen Codeworks' AND a.deleted_at IS NULL AND t.tasks > 1";
    let (taskset, tasks, task): (Uuid, u64, Uuid) =
        rows.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    // An asset that is a task, and a task of another team.
    let sql = "SELECT a.uuid FROM assets a JOIN teams m ON m.id = a.team
         WHERE m.name = 'Lumen Codeworks' AND a.deleted_at IS NULL AND a.task_version IS NOT NULL";
    let single: Uuid = rows.query_row(sql, [], |row| row.get(0)).unwrap();
    let sql = "SELECT k.uuid FROM tasks k JOIN tasksets t ON t.id = k.taskset JOIN teams m ON m.id = t.team
         WHERE m.name <> 'Lumen Codeworks' AND k.deleted_at IS NULL";
    let of_others: Uuid = rows.query_row(sql, [], |row| row.get(0)).unwrap();
    let new = "/console/selling/listings/new";
    let form = seller.get(new).await;
    let created =
        seller.submit(&form, new, &[("title", "Tasks"), ("price", "10"), ("sample_price", "0")]).await;
    let path = created.location().split('?').next().unwrap().to_owned();
    let (taskset, single) = (taskset.to_string(), single.to_string());
    let attach = [("scope", "chosen"), ("asset", &*taskset), ("asset", &*single), ("form_key", "t")];
    seller.post(&format!("{path}/assets"), &attach).await.expect(200, "2 assets were attached");
    // Tasks of others are refused like those that nobody has.
    for asset in [&taskset, &single] {
        let field = format!("tasks_{asset}");
        for task in [Uuid::from_u128(7), of_others] {
            let refused = edit(&seller, &path, &[("sample", asset), (&field, &task.to_string())]).await;
            refused.expect(422, &format!("id=\"{field}-p\""));
        }
    }
    let (field, id) = (format!("tasks_{taskset}"), taskset);
    edited(&seller, &path, &[("sample", &id), (&field, &task.to_string())]).await;
    seller
        .get(&path)
        .await
        .expect(200, &format!("Buyers of the sample get <b>1 of {tasks} tasks, of 1 asset</b>"));
}
