//! Attacks by vendors: malicious texts, files and tables that never end, amounts out of range, and parts of uploads of others.

use std::fmt::Write as _;

use marketplace::console::PREFIX;
use poem::http::Method;
use serde_json::json;

use super::{
    BOTH, BUYER, VENDOR, crawl,
    stored::{CONTROLS, LONG, SHORT, faults},
};
use crate::harness::{
    self, TestMarket,
    archives::zip_of,
    browser::{Browser, Page},
    markup,
};

/// What any page may weigh.
const MAX_BYTES: usize = 3 << 20;

const NEW_LISTING: &str = "/console/selling/listings/new";
const BULK: &str = "/console/inventory/changes/new";
const FILE: &str = "/console/inventory/add/file";
const WHOLE: &str = "/console/inventory/add/file/whole";
const TABLE: &str = "/console/inventory/add/table/rows";

/// The headers of a form with a file.
const MULTIPART: [(&str, &str); 2] =
    [("content-type", "multipart/form-data; boundary=edge"), ("sec-fetch-site", "same-origin")];

/// Fails unless a request was refused with a page that can be read.
#[track_caller]
fn assert_refused(what: &str, page: &Page) {
    let what: String = what.chars().take(100).collect();
    assert!((400..500).contains(&page.status()), "{what}: {} {}", page.status(), page.visible());
    assert!(page.response.bytes.len() < MAX_BYTES, "{what}: {} bytes", page.response.bytes.len());
    markup::parse(&page.text).unwrap_or_else(|fault| panic!("{what}: {fault}"));
}

/// Returns a part of a form: a text, or the beginning of a file.
fn part(name: &str, file: Option<&str>, content: &str) -> String {
    let file = file.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
    format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n")
}

/// Returns the ID of the first record of a list of the API.
async fn first_id(market: &TestMarket, key: &str, list: &str) -> String {
    let found = market.get(key, list).await.ok();
    let records = found["items"].as_array().or_else(|| found["data"].as_array());
    records.unwrap_or_else(|| panic!("{found}"))[0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn worst_forms_with_files_are_refused() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let long = "a".repeat(1 << 20);
    let file = |content: &str| part("file", Some("x.csv"), content) + "--edge--\r\n";
    for body in [
        String::new(),
        long.clone(),
        "--edge".to_owned(),
        "--edge--\r\n".repeat(10_000),
        format!("--edge\r\nContent-Disposition: form-data; name=\"{long}"),
        format!("--edge\r\nContent-Disposition: form-data; name=\"{long}\"\r\n\r\nx\r\n--edge--\r\n"),
        format!("--edge\r\n{}\r\n\r\nx\r\n--edge--\r\n", "X-A: b\r\n".repeat(5_000)),
        part("title", None, "x").repeat(40_000) + "--edge--\r\n",
        part("file", Some(""), "").repeat(10_000) + "--edge--\r\n",
        part("title", None, "\u{0}") + &part("kind", None, "\u{202E}") + "--edge--\r\n",
        file(&",".repeat(2_000_000)),
        file(&"\n".repeat(2_000_000)),
        file(&"\"".repeat(2_000_000)),
        file(&"\"\",".repeat(600_000)),
        file(&"Title\tExclusive sale\r\n".repeat(80_000)),
        file(&format!("Title,Exclusive sale\n{},yes", "W".repeat(2_000_000))),
        file(&format!("Title,Exclusive sale\n{}", "=1+1,maybe\n".repeat(501))),
        file(&format!("Title,Exclusive sale\n{}", "<b onx=ZQ>,maybe\n".repeat(500))),
        file(&format!("Title,Exclusive sale,{}", SHORT.repeat(5_000))),
        file("PK\u{3}\u{4}\u{0}\u{0}"),
        file(&"x".repeat((2 << 20) + 1)),
    ] {
        for path in [TABLE, WHOLE] {
            let page = browser.send_typed(path, &MULTIPART, body.clone()).await;
            assert_refused(&format!("{path} {body:.60}"), &page);
        }
    }
    for boundary in ["", "boundary=", "boundary=\"\"", &format!("boundary={}", "x".repeat(5_000)), "x=y"] {
        let kind = format!("multipart/form-data; {boundary}");
        let headers = [("content-type", kind.as_str()), ("sec-fetch-site", "same-origin")];
        let page = browser.send_typed(TABLE, &headers, "--edge--\r\n").await;
        assert_refused(boundary, &page);
    }
    let inventory = browser.get("/console/inventory?query=onx").await;
    assert!(!inventory.text.contains("&lt;b onx=ZQ&gt;</bdi>"), "nothing was added");
}

#[tokio::test]
async fn amounts_and_numbers_out_of_range_are_refused() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let id = first_id(&market, BOTH, "/v2/codebases").await;
    let asset = format!("/console/inventory/{id}/edit");
    let form = browser.get(&asset).await.form(&asset);
    for amount in [
        "-1",
        "-0.01",
        "1e309",
        "NaN",
        "inf",
        "9223372036854775808",
        "92233720368547758.08",
        "0.001",
        "1,00",
        "１",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain(["9".repeat(60_000), format!("0.{}", "0".repeat(60_000)), "1,".repeat(10_000)])
    {
        let amount = amount.as_str();
        let listing = [("texts", "yes"), ("title", "x"), ("price", amount)];
        let sample = [("texts", "yes"), ("title", "x"), ("sample_price", amount)];
        let bulk = [("asset", id.as_str()), ("action", "price"), ("price", amount)];
        let mut edit: Vec<(&str, &str)> =
            form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        edit.retain(|(name, _)| *name != "price_usd");
        edit.push(("price_usd", amount));
        for (path, fields) in [
            (NEW_LISTING, &listing[..]),
            (NEW_LISTING, &sample),
            (BULK, &bulk),
            (asset.as_str(), &edit),
            ("/console/selling/earnings/withdraw", &[("amount", amount)]),
            ("/console/selling/earnings/convert", &[("amount", amount)]),
        ] {
            assert_refused(&format!("{path} {amount}"), &browser.post(path, fields).await);
        }
    }
    for size in ["-1", "0", "21", "18446744073709551615", "18446744073709551616", "x"] {
        let fields = [
            ("kind", "codebase"),
            ("title", "x"),
            ("exclusivity", "available"),
            ("file_name", "x.zip"),
            ("size_bytes", size),
        ];
        assert_refused(&format!("{size} bytes"), &browser.post(FILE, &fields).await);
    }
    for number in ["-1", "4294967296", "1.5", "9999999999999999999999"] {
        let fields =
            [("texts", "yes"), ("title", "x"), ("delivery_method", "api"), ("delivery_days", number)];
        assert_refused(&format!("{number} days"), &browser.post(NEW_LISTING, &fields).await);
    }
}

#[tokio::test]
async fn parts_of_uploads_are_those_of_their_team_and_size() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let fields = [
        ("form_key", "a"),
        ("kind", "raw_data"),
        ("title", SHORT),
        ("file_name", SHORT),
        ("size_bytes", "1000"),
        ("modified_ms", "9999999999999999999999"),
    ];
    let planned = browser.post(FILE, &fields).await;
    assert_eq!(planned.status(), 303, "{}", planned.visible());
    let upload = planned.location().to_owned();
    let put = async |browser: &Browser<'_>, part: &str, body: &str| {
        let path = format!("{upload}/parts/{part}");
        browser.send(Method::PUT, &path, &[("sec-fetch-site", "same-origin")], body.to_owned()).await
    };
    for part in ["0", "2", "-1", "+1", "01x", "4294967296", "18446744073709551616", "%00", "1%2f1"] {
        assert_refused(part, &put(&browser, part, &"x".repeat(1_000)).await);
    }
    for body in [String::new(), "x".repeat(999), "x".repeat(1_001), "x".repeat(1 << 20)] {
        assert_refused(&format!("{} bytes", body.len()), &put(&browser, "1", &body).await);
    }
    for key in [BOTH, BUYER] {
        let other = Browser::signed_in(&market, key).await;
        let page = put(&other, "1", &"x".repeat(1_000)).await;
        assert!([403, 404].contains(&page.status()), "{key}: {}", page.status());
    }
    let page = browser.get(&upload).await;
    page.expect(200, "&lt;b onx=ZQ&gt;");
    assert!(page.text.contains("Nothing has arrived yet"), "{}", page.visible());
    let document = markup::parse(&page.text).unwrap();
    assert!(faults(&document).is_empty(), "{:?}", faults(&document));
    let early = browser.post(&format!("{upload}/complete"), &[]).await;
    assert_refused("complete", &early);
    assert_eq!(put(&browser, "1", &"x".repeat(1_000)).await.status(), 204);
}

#[tokio::test]
async fn number_of_uploads_and_changes_is_bounded() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let mut statuses = Vec::new();
    for number in 0..12 {
        let name = format!("n{number}");
        let fields = [
            ("form_key", name.as_str()),
            ("kind", "raw_data"),
            ("title", "x"),
            ("file_name", "x.zip"),
            ("size_bytes", "5000000000"),
        ];
        statuses.push(browser.post(FILE, &fields).await.status());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 10, "{statuses:?}");
    assert!(statuses[10..].iter().all(|status| (400..500).contains(status)), "{statuses:?}");
    let refused = "asset=00000000-0000-0000-0000-000000000007&".repeat(5_900) + "action=delete";
    let headers = [("sec-fetch-site", "same-origin")];
    assert_refused("assets of nobody", &browser.send(Method::POST, BULK, &headers, refused).await);
    let mut tags = "all=1&action=tag&".to_owned();
    for number in 0..6_000 {
        let _ = write!(tags, "add_tags=a{number}&remove_tags=a{number}&");
    }
    assert_refused("tags", &browser.send(Method::POST, BULK, &headers, tags).await);
}

#[tokio::test]
async fn previews_are_bounded() {
    let browser = Browser::signed_in(harness::demo(), VENDOR).await;
    let table = format!("{}|\n{}|\n{}", "|a".repeat(1_000), "|-".repeat(1_000), "|\n".repeat(6_000));
    for text in [
        ">".repeat(19_000) + "a",
        "[".repeat(19_000),
        "![a](".repeat(3_900),
        "*a **b ".repeat(2_800),
        "`".repeat(19_000),
        "- ".repeat(9_900) + "a",
        "<".repeat(19_000),
        format!("[a]: x\n\n{}", "[a]".repeat(6_000)),
        table.chars().take(19_000).collect(),
        LONG.to_owned(),
        SHORT.to_owned(),
    ] {
        let fields = [
            ("preview", "yes"),
            ("texts", "yes"),
            ("title", SHORT),
            ("description", &text),
            ("terms", &text),
        ];
        let page = browser.post(NEW_LISTING, &fields).await;
        page.expect(200, "This is how buyers see what you typed");
        assert!(page.response.bytes.len() < MAX_BYTES, "{text:.20}: {} bytes", page.response.bytes.len());
        let document = markup::parse(&page.text).unwrap_or_else(|fault| panic!("{text:.20}: {fault}"));
        assert!(faults(&document).is_empty(), "{:?}", faults(&document));
    }
    for text in [">".repeat(120_000), "|a".repeat(60_000), "a".repeat(20_001)] {
        let fields = [("preview", "yes"), ("texts", "yes"), ("description", text.as_str())];
        let page = browser.post(NEW_LISTING, &fields).await;
        page.expect(200, "This text is too long: at most 20,000 characters.");
        assert!(page.response.bytes.len() < 1 << 20, "{} bytes", page.response.bytes.len());
    }
    let huge = format!("preview=yes&texts=yes&description={}", "a".repeat(1 << 20));
    let page = browser.send(Method::POST, NEW_LISTING, &[("sec-fetch-site", "same-origin")], huge).await;
    assert_eq!(page.status(), 413);
    let tags = (0..13_000).map(|number| format!("domain_tags=a{number}")).collect::<Vec<_>>().join("&");
    let page = browser.send(Method::POST, NEW_LISTING, &[("sec-fetch-site", "same-origin")], tags).await;
    assert_refused("many domains", &page);
}

/// Types texts that attack into each field of a vendor that no fixture has.
async fn type_texts(market: &TestMarket, browser: &Browser<'_>) {
    let plain = SHORT.replace('\u{5D0}', "");
    let done = |what: &str, page: Page| {
        assert!([200, 303].contains(&page.status()), "{what}: {}", page.visible());
        page
    };
    let path = "/console/inventory/groups/new";
    done(path, browser.post(path, &[("form_key", "1"), ("name", &plain)]).await);
    let description = format!("{SHORT}{LONG}{}", "W".repeat(5_000));
    let fields =
        [("form_key", "2"), ("all", "1"), ("action", "describe"), ("description", description.as_str())];
    let changed = done(BULK, browser.post(BULK, &fields).await);
    browser.get(changed.location()).await.expect(200, "&lt;b onx=ZQ&gt;");
    let fields = [
        ("form_key", "3"),
        ("texts", "yes"),
        ("title", SHORT),
        ("description", description.as_str()),
        ("terms", description.as_str()),
    ];
    done(NEW_LISTING, browser.post(NEW_LISTING, &fields).await);
    let path = "/console/settings/payout";
    done(path, browser.post(path, &[("form_key", "4"), ("payout_setup", SHORT), ("confirmed", "yes")]).await);
    let rows =
        format!("Title\tExclusive sale\tDescription\n{}\tyes\t{}", plain.replace('"', ""), "W".repeat(5_000));
    let body = part("form_key", None, "5") + &part("table", None, &rows) + "--edge--\r\n";
    done(TABLE, browser.send_typed(TABLE, &MULTIPART, body).await);
    let zip = zip_of(&[
        ("README.md", description.as_str()),
        ("<b onx=ZQ>\u{5D0}/=1+ZQ'.rs", "fn main() {}"),
        (&format!("{}.py", "W".repeat(200)), "print(1)"),
        ("a\u{202E}b/c.js", "x"),
    ]);
    let mut body = [("form_key", "6"), ("kind", "codebase"), ("title", SHORT), ("exclusivity", "available")]
        .map(|(name, value)| part(name, None, value))
        .concat()
        .into_bytes();
    body.extend(
        b"--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../<b onx=ZQ>.zip\"\r\n\r\n",
    );
    body.extend(zip);
    body.extend(b"\r\n--edge--\r\n");
    let sent = done(WHOLE, browser.send_typed(WHOLE, &MULTIPART, body).await);
    let page = browser.get(sent.location()).await;
    assert!(!page.text.contains("../"), "names of files have no directories");
    market.run_background();
}

#[tokio::test]
async fn typed_texts_of_vendors_are_text() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    type_texts(&market, &browser).await;
    let mut faults_found = Vec::new();
    let mut marks = 0;
    let mut pages = crawl(&browser).await.pages;
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("query", SHORT)
        .append_pair("filter", &format!("name:is:{SHORT} domain:is:{LONG} color:is:{SHORT}"))
        .finish();
    for path in ["/inventory", "/inventory/add/tasks", "/selling/listings", "/quality/findings", "/requests"]
    {
        let address = format!("{PREFIX}{path}?{query}&check=%3Cb+onx%3DZQ%3E");
        pages.insert(address.clone(), browser.get(&address).await);
    }
    for (address, page) in &pages {
        assert!(page.status() < 500, "{address}: {}", page.visible());
        if !page.response.header("content-type").starts_with("text/html") {
            continue;
        }
        marks += page.text.matches("onx=ZQ").count();
        match markup::parse(&page.text) {
            Err(fault) => faults_found.push(format!("{address}: {fault}")),
            Ok(document) => {
                faults_found.extend(faults(&document).into_iter().map(|fault| format!("{address}: {fault}")));
            }
        }
        if page.text.contains(CONTROLS) {
            faults_found.push(format!("{address} has characters that change directions"));
        }
        for link in ["href=\"javascript:", "href=\"data:", "src=\"http"] {
            assert!(!page.text.to_lowercase().contains(link), "{address}: {link}");
        }
    }
    assert!(marks > 50, "{marks} texts were shown");
    faults_found.sort();
    faults_found.dedup();
    assert!(faults_found.is_empty(), "{} faults:\n{}", faults_found.len(), faults_found.join("\n"));
}

#[tokio::test]
async fn addresses_of_repositories_are_those_of_known_hosts() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, VENDOR).await;
    for address in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://127.0.0.1/a/b",
        "https://github.com@evil.example/a/b",
        "https://github.com.evil.example/a/b",
        "https://user:password@github.com/a/b",
        "ssh://-oProxyCommand=x/a/b",
        "https://github.com/-a/--upload-pack=x",
        "https://github.com/a/b/../../c",
        "https://github.com/a\n/b",
        "https://github.com/<b onx=ZQ>/b",
        &format!("https://github.com/{}/b", "W".repeat(5_000)),
    ] {
        for (path, name) in [
            ("/console/inventory/add/repository", "repository"),
            ("/console/estimations/new", "repo_full_name"),
        ] {
            let fields = [(name, address), ("title", "x"), ("exclusivity", "available")];
            assert_refused(&format!("{path} {address}"), &browser.post(path, &fields).await);
        }
    }
    let listed = market.get(VENDOR, "/v2/estimations").await.ok();
    assert!(!listed.to_string().contains("evil"), "{}", json!(listed));
}
