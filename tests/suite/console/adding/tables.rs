//! Tables of codebases.

use serde_json::json;

use super::{VENDOR, count_codebases, find_codebase, get_codebase, market, send_form};
use crate::{
    harness::{
        archives::zip_of,
        browser::{Browser, Page},
    },
    vendor_api::seller_market::SELLER,
};

const TABLE: &str = "/console/inventory/add/table";

/// Sends a table that was pasted.
async fn send_table(browser: &Browser<'_>, table: &str) -> Page {
    send_form(browser, &format!("{TABLE}/rows"), &[("table", table)], ("", b"")).await
}

/// Fails unless the problem of a form is shown at one field, and not at another.
#[track_caller]
fn assert_at(page: &Page, field: &str, other: &str) {
    page.expect(422, &format!("id=\"{field}-p\"")).expect(422, &format!("href=\"#{field}\""));
    assert!(!page.text.contains(&format!("id=\"{other}-p\"")), "{}", page.visible());
}

#[tokio::test]
async fn table_is_added_completely_or_not_at_all() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let table = "Title,Exclusive sale,Commits,Domains,\"Price, USD\",Group,First commit\n\
        One,yes,\"1,200\",finance,\"48,000.50\",,2011-04-18\n\
        ,maybe,many,nowhere,\"48,00\",No such,18.4.2011\n\
        \n\
        Three,no,-1,,,,\n";
    let refused = send_table(&browser, table).await;
    for problem in [
        "Row 3, Title: Enter a value.",
        "Row 3, Exclusive sale: Enter yes or no.",
        "Row 3, Commits: Enter a whole number.",
        "Row 3, Domains: ",
        "Row 3, Price, USD: Enter an amount in US dollars",
        "Row 3, Group: Your inventory has no group with this name.",
        "Row 3, First commit: Enter a day",
        "Row 5, Commits: ",
    ] {
        refused.expect(422, problem);
        let begins = |before: &str| refused.text.matches(&format!("{before}{problem}")).count();
        assert_eq!(begins(">") + begins("</a>: "), begins(""), "{problem}");
    }
    assert_eq!(refused.text.matches("Row 3, Title").count(), 1 + 1, "in the list, and at the field");
    let position = |text: &str| refused.text.find(text).unwrap();
    assert!(position("Row 3, First commit") < position("Row 5"), "in the order of the rows");
    refused.expect(422, "Three,no,-1");
    // The page says which domains there are, and names no request.
    refused.expect(422, "The page “Domains and kinds”").expect(422, "<span class=\"mono\">finance</span>");
    assert!(!refused.visible().contains("/v2/"), "{}", refused.visible());
    let names = browser.get("/console/inventory/add/names").await;
    names
        .expect(200, "<span class=\"mono\">finance</span>")
        .expect(200, "<span class=\"mono\">raw_data</span>");
    assert_eq!(count_codebases(&market).await, 0);

    let added = send_table(&browser, &table.lines().take(2).collect::<Vec<_>>().join("\n")).await;
    assert_eq!(added.status(), 303, "{}", added.visible());
    let codebase = get_codebase(&market, &find_codebase(&market, "One").await).await;
    assert_eq!((&codebase["commits"], &codebase["price_usd"]), (&json!(1_200), &json!(48_000.5)));
    assert_eq!(codebase["domain_tags"], json!(["finance"]));
    assert_eq!(codebase["history_start"], "2011-04-18");
}

#[tokio::test]
async fn table_is_read_as_spreadsheets_save_and_copy_it() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let rows = format!("{TABLE}/rows");
    let mut count = 0;
    let utf_16: Vec<u8> =
        "\u{feff}Title\tExclusive sale\r\nGröße\tyes\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (file, titles) in [
        (
            &b"Title;Exclusive sale;;\nOne, two;yes;;\n\"a \"\"b\"\"; c\";no;;\n"[..],
            &["One, two", "a \"b\"; c"][..],
        ),
        (b"exclusivity\ttitle\r\nyes\t=1+1\r\nno\t@SUM(A1)\r\n", &["=1+1", "@SUM(A1)"]),
        (b"\xef\xbb\xbf\n\nTitle,Exclusive sale\n\"two\nlines\",yes\n", &[]),
        (b"Title,Exclusive sale\nGr\xf6\xdfe in Windows,yes\n", &["Größe in Windows"]),
        (&utf_16, &["Größe"]),
        ("Title,Exclusive sale\nGröße in UTF-8,no".as_bytes(), &["Größe in UTF-8"]),
        (b"sep=;\r\nTitle;Exclusive sale\r\nWith a separator, stated;no\r\n", &["With a separator, stated"]),
    ] {
        let sent = send_form(&browser, &rows, &[("table", "ignored")], ("a.csv", file)).await;
        if titles.is_empty() {
            sent.expect(422, "Row 4, Title: ");
        } else {
            assert_eq!(sent.status(), 303, "{titles:?}: {}", sent.visible());
        }
        count += titles.len() as u64;
        assert_eq!(count_codebases(&market).await, count, "{titles:?}");
        let all = market.get(SELLER, "/v2/codebases?limit=100").await.ok();
        for title in titles {
            let is_there = all["items"].as_array().unwrap().iter().any(|asset| asset["title"] == *title);
            assert!(is_there, "{title}: {all}");
        }
    }
    // A text that looks like a formula is not a formula in files of the market either.
    let file = browser.get("/console/inventory?format=csv").await;
    file.expect(200, "'=1+1").expect(200, "'@SUM(A1)");
    let template = browser.get(&format!("{TABLE}/template")).await;
    template.expect(200, "Title,Exclusive sale,Description");
    let sent = send_form(&browser, &rows, &[], ("template.csv", template.text.as_bytes())).await;
    assert!(sent.status() == 303 || sent.text.contains("Row 2, Domains"), "{}", sent.visible());
}

#[tokio::test]
async fn what_is_no_table_is_refused() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let rows = format!("{TABLE}/rows");
    send_table(&browser, " \n").await.expect(422, "Paste a table, or choose a file.");
    for (table, problem) in [
        ("Title", "It lacks Exclusive sale."),
        ("Title,Exclusive sale", "This one has 0."),
        ("Title,Exclusive sale,Color\na,yes,red", "There is no column &quot;Color&quot;."),
        ("Title,Exclusive sale,title\na,yes,b", "The column Title is there twice."),
        ("Title,Exclusive sale\na,yes,no", "Row 2, the row: A cell is in a column without a head."),
        ("Title,Exclusive sale\nb,yes\n\"a,yes", "Row 3: a quotation mark begins a cell"),
    ] {
        send_table(&browser, table).await.expect(422, problem);
    }
    let many = format!("Title,Exclusive sale\n{}", "a,yes\n".repeat(501));
    send_table(&browser, &many)
        .await
        .expect(422, "A table has 1 to 500 codebases below its heads. This one has 501.");
    let wrong = format!("Title,Exclusive sale\n{}", "a,maybe\n".repeat(500));
    let refused = send_table(&browser, &wrong).await;
    refused.expect(422, "Row 100, Exclusive sale").expect(422, "Later rows have more problems");
    assert!(!refused.text.contains("Row 101,"));
    let spreadsheet = zip_of(&[("xl/workbook.xml", "<workbook/>")]);
    for file in [&spreadsheet[..], b"\x00\x01\x02"] {
        let refused = send_form(&browser, &rows, &[("table", "typed")], ("a.xlsx", file)).await;
        refused.expect(422, "CSV UTF-8").expect(422, ">\ntyped</textarea>");
        assert_at(&refused, "file", "table");
    }
    let refused = send_form(&browser, &rows, &[("table", "typed")], ("a.csv", b"Title\na\n")).await;
    refused.expect(422, "It lacks Exclusive sale.");
    assert_at(&refused, "file", "table");
    let row = b"Title,Exclusive sale\na,maybe\n";
    let refused = send_form(&browser, &rows, &[], ("a.csv", row)).await;
    refused.expect(422, "<a href=\"#file\">Row 2, Exclusive sale: Enter yes or no.</a>");
    assert_at(&refused, "file", "table");
    assert_at(&send_table(&browser, "Title").await, "table", "file");
    let large = vec![b'a'; (2 << 20) + 1];
    send_form(&browser, &rows, &[], ("a.csv", &large)).await.expect(413, "At most 2.1 MB can be sent here.");
    assert_eq!(count_codebases(&market).await, 0);
    let most = format!("Title,Exclusive sale\n{}", "a,yes\n".repeat(500));
    let added = send_form(&browser, &rows, &[("form_key", "once")], ("a.csv", most.as_bytes())).await;
    assert_eq!(added.status(), 303, "{}", added.visible());
    let again = send_form(&browser, &rows, &[("form_key", "once")], ("a.csv", most.as_bytes())).await;
    assert_eq!(again.status(), 303, "{}", again.visible());
    assert_eq!(count_codebases(&market).await, 500);
}
