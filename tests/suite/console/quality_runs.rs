//! A vendor reads its quality runs, and what they found.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::clock::fixture_record_id;
use regex::Regex;

use super::VENDOR;
use crate::harness::{self, TestMarket, browser::Browser, database};

#[tokio::test]
async fn runs_and_findings_are_shown() {
    let market = TestMarket::demo();
    let vendor = Browser::signed_in(&market, VENDOR).await;
    for (path, expected) in [
        ("/console/quality", "Checks passed"),
        ("/console/quality?subject=listing&result=passed", "Quality"),
        ("/console/quality?format=csv", "Checked,Run,Kind,Result,Checks passed,Checks,"),
        ("/console/quality/findings", "Findings"),
    ] {
        vendor.get(path).await.expect(200, expected);
    }
}

/// A check of a run in the rows of the market.
#[derive(Clone, Debug)]
struct Check {
    run: i64,
    /// The asset or the listing that the run is of, and its number there.
    subject: (bool, i64),
    number: i64,
    key: String,
    asset: Option<i64>,
    is_failure: bool,
}

/// Returns all checks of completed runs of a team.
fn checks(market: &TestMarket, team: &str) -> Vec<Check> {
    let rows = database::connect_to_copy(market.market());
    let sql =
        "SELECT r.id, r.listing IS NULL, coalesce(r.listing, r.asset), r.run_number, c.key, c.asset, c.status
         FROM quality_runs r JOIN quality_checks c ON c.run = r.id LEFT JOIN assets a ON a.id = r.asset
         LEFT JOIN listings l ON l.id = r.listing JOIN teams t ON t.id = coalesce(a.team, l.team)
         WHERE t.uuid = ?1 AND r.status = 'completed' AND a.deleted_at IS NULL";
    let mut statement = rows.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row| {
        let status: String = row.get(6)?;
        Ok(Check {
            run: row.get(0)?,
            subject: (row.get(1)?, row.get(2)?),
            number: row.get(3)?,
            key: row.get(4)?,
            asset: row.get(5)?,
            is_failure: ["failed", "error"].contains(&status.as_str()),
        })
    };
    statement.query_map([fixture_record_id("teams", team)], read).unwrap().map(Result::unwrap).collect()
}

/// Number of findings of a check, and what they are about.
type Counted = (u64, BTreeSet<(bool, i64)>);

#[tokio::test]
async fn findings_are_those_of_the_latest_runs() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, VENDOR).await;
    let all = checks(market, "lumen-codeworks");
    let mut latest: BTreeMap<(bool, i64), i64> = BTreeMap::new();
    for check in &all {
        let number = latest.entry(check.subject).or_default();
        *number = (*number).max(check.number);
    }
    let mut expected: BTreeMap<&str, Counted> = BTreeMap::new();
    for check in all.iter().filter(|check| check.is_failure && latest[&check.subject] == check.number) {
        let found = expected.entry(&check.key).or_default();
        found.0 += 1;
        found.1.insert(check.asset.map_or((false, check.run), |asset| (true, asset)));
    }
    let page = browser.get("/console/quality/findings").await;
    let row = Regex::new(
        r#"(?s)<th scope="row"><a class="long" href="([^"]*check=([a-z_]+))">.*?<td class="num">([0-9,]+)</td><td class="num">([0-9,]+)</td>"#,
    )
    .unwrap();
    let shown: BTreeMap<String, (String, u64, usize)> = row
        .captures_iter(&page.text)
        .map(|row| {
            (
                row[2].to_owned(),
                (row[1].replace("&amp;", "&"), row[3].parse().unwrap(), row[4].parse().unwrap()),
            )
        })
        .collect();
    assert!(expected.len() > 2, "{expected:?}");
    assert_eq!(shown.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{}", page.visible());
    let link = Regex::new("href=\"(/console/quality/runs/[^\"]*)\"").unwrap();
    for (key, (address, findings, subjects)) in &shown {
        let model = &expected[key.as_str()];
        assert_eq!((*findings, *subjects), (model.0, model.1.len()), "{key}");
        let page = browser.get(address).await;
        page.expect(200, "By asset");
        let section = page.text.split("id=\"by-asset\"").nth(1).unwrap().split("</section>").next().unwrap();
        assert_eq!(section.matches("<th scope=\"row\"").count() as u64, *findings, "{key}");
        // A finding about a whole listing has its title, and links to it.
        assert!(!section.contains("The whole listing"), "{section}");
        let run = &link.captures(section).expect("a run")[1];
        browser.open(run).await.expect(200, "What was checked");
    }
    browser.get("/console/quality/findings?check=nothing").await.expect(200, "Findings by check");
}

/// Each run in the list can be opened, and names what it checked.
#[tokio::test]
async fn runs_of_the_list_can_be_opened() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let page = browser.get("/console/quality").await;
    let link = Regex::new(r#"<th scope="row"><a class="long" href="([^"]*)"><bdi>([^<]*)</bdi>"#).unwrap();
    let runs: Vec<_> =
        link.captures_iter(&page.text).map(|run| (run[1].to_owned(), run[2].to_owned())).collect();
    assert!(runs.len() > 20, "{}", runs.len());
    for (path, name) in &runs {
        browser.open(path).await.expect(200, name);
        market.clock().advance(1_000_000);
    }
    let count = async |query: &str| {
        let file = browser.get(&format!("/console/quality?format=csv{query}")).await;
        file.text.trim_end().lines().count() - 1
    };
    let all = count("").await;
    let mut by_result = 0;
    for result in ["passed", "failed", "error", "in_progress", "cancelled"] {
        by_result += count(&format!("&result={result}")).await;
    }
    assert_eq!(by_result, all);
    let other = Browser::signed_in(&market, "mkt_demo_both").await;
    let run =
        runs.iter().find(|(path, _)| path.starts_with("/console/quality/runs/")).expect("a run of a listing");
    other.get(&run.0).await.expect(404, "This is not here");
}
