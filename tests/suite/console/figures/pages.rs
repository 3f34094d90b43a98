//! Pages of figures: their tables and files, their ranges, and what they cost.

use super::{FIGURES, OPERATOR, RANGES, file};
use crate::harness::{
    self, TestMarket,
    browser::{Browser, text_of},
    patterns::pattern,
};

/// Returns the cells of the table of a page as a file has them: the numbers without their signs for people.
fn table_rows(page: &str) -> Vec<Vec<String>> {
    let (_, table) = page.split_once("<tbody>").expect("a table");
    let (table, _) = table.split_once("</tbody>").unwrap();
    let cells = pattern("(?s)<t[hd]([^>]*)>(.*?)</t[hd]>");
    let cell = |cell: regex::Captures| {
        let text = text_of(&cell[2]);
        let is_number = cell[1].contains("num");
        if is_number { text.replace(['$', ',', '–'], "") } else { text }
    };
    table
        .split("</tr>")
        .filter(|row| row.contains("<th"))
        .map(|row| cells.captures_iter(row).map(cell).collect())
        .collect()
}

/// Returns the seconds of a duration as pages write it, and those of its smallest unit; `None` if the text is none.
fn duration(text: &str) -> Option<(f64, f64)> {
    let words: Vec<&str> = text.split(' ').collect();
    let mut sum: Option<(f64, f64)> = None;
    for pair in words.chunks(2) {
        let [number, unit] = pair else { return None };
        let unit = match *unit {
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3_600.0,
            "day" | "days" => 86_400.0,
            _ => return None,
        };
        let (seconds, _) = sum.unwrap_or_default();
        sum = Some((seconds + number.parse::<f64>().ok()? * unit, unit));
    }
    sum
}

/// Whether a cell of a table shows the value in a file. Durations have no decimals, and are in hours in the file of review times.
fn agrees(figure: &str, cell: &str, value: &str) -> bool {
    let Some((seconds, unit)) = duration(cell) else { return cell == value };
    let in_file = value.parse::<f64>().unwrap() * if figure == "review-times" { 3_600.0 } else { 1.0 };
    // The file of review times has tenths of hours. A page leaves out what is less than a unit, or than the next smaller one.
    (in_file - seconds).abs() <= unit.max(180.0)
}

#[tokio::test]
async fn files_have_the_rows_of_the_tables() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let list = browser.get("/console/operator/figures").await;
    for figure in FIGURES {
        let path = format!("/console/operator/figures/{figure}");
        list.expect(200, &path);
        for range in &RANGES {
            let page = browser.get(&format!("{path}?{}", range.query)).await;
            let mut rows = file(&browser, figure, range.query).await;
            if page.text.contains("Nothing in this range") {
                assert!(rows.is_empty(), "{figure} {}", range.query);
                continue;
            }
            page.expect(200, "As a table").expect(200, "role=\"img\" aria-label=\"");
            let mut shown = table_rows(&page.text);
            assert_eq!(shown.len(), rows.len(), "{figure} {}", range.query);
            // Files have the names of steps as programs know them.
            let is_by_time = rows.iter().all(|row| row[0].starts_with("20"));
            for row in shown.iter_mut().chain(&mut rows).filter(|_| is_by_time) {
                row.remove(0);
            }
            for (shown, row) in shown.iter().zip(&rows) {
                assert_eq!(shown.len(), row.len(), "{figure} {}", range.query);
                let agree = shown.iter().zip(row).all(|(shown, value)| agrees(figure, shown, value));
                assert!(agree, "{figure} {}: {shown:?} {row:?}", range.query);
            }
            // The file has the range of the page.
            let link = format!(
                "{path}?{}format=csv",
                if range.query.is_empty() {
                    "range=12-months&amp;".to_owned()
                } else {
                    range.query.replace('&', "&amp;") + "&amp;"
                }
            );
            assert!(page.text.contains(&link), "{link}: {}", page.visible());
        }
    }
}

#[tokio::test]
async fn each_figure_is_two_statements_more_than_the_list() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let count = async |path: &str| {
        let before = market.market().statement_count();
        browser.get(path).await.expect(200, "<h1");
        market.market().statement_count() - before
    };
    let list = count("/console/operator/figures").await;
    for figure in FIGURES {
        let path = format!("/console/operator/figures/{figure}?range=all");
        assert_eq!(count(&path).await, list + 2, "{figure}");
    }
}

/// Title and vendor keep their directions, whatever script each is in.
#[tokio::test]
async fn names_of_best_sellers_have_two_parts() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let path = "/console/operator/figures/best-sellers?range=all";
    let page = browser.get(path).await;
    let names = page.text.matches("</bdi>, <bdi>").count();
    let rows = file(&browser, "best-sellers", "range=all").await;
    // Those of the chart, and those of the table.
    assert_eq!(names, rows.len().min(20) + rows.len(), "{}", page.visible());
    assert!(!page.text.contains('\u{1f}') && rows.iter().all(|row| row[0].contains(", ")), "{rows:?}");
}

#[tokio::test]
async fn ranges_that_are_none_are_refused() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    for (query, message) in [
        ("from=2025", "Enter a month"),
        ("to=2025-13", "Enter a month"),
        ("from=2025-05&to=2025-04", "The last month is before the first one"),
        ("range=7-days", "There is no such range"),
    ] {
        let page = browser.get(&format!("/console/operator/figures/sales?{query}")).await;
        page.expect(422, message).expect(422, "name=\"from\"").expect(422, "12 months");
    }
    // The form keeps what was typed, and the problem stands at its field.
    let page = browser.get("/console/operator/figures/sales?from=2025&to=2025-04").await;
    page.expect(422, "value=\"2025\"").expect(422, "value=\"2025-04\"").expect(422, "id=\"from-p\"");
    for query in ["from=0001-01", "to=9999-12", "from=9999-12", "from=0001-01&to=9999-12"] {
        browser
            .get(&format!("/console/operator/figures/sales?{query}"))
            .await
            .expect(200, "Sales and earnings");
    }
    browser.get("/console/operator/figures/nothing").await.expect(404, "There is no such page");
    for figure in FIGURES {
        let page = browser.get(&format!("/console/operator/figures/{figure}?range=all")).await;
        harness::markup::parse(&page.text).unwrap();
        for forbidden in [" style=\"", "javascript:", "<script>"] {
            assert!(!page.text.contains(forbidden), "{figure} contains {forbidden}");
        }
    }
}
