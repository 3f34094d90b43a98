//! Forms on all pages: what needs a value is marked, and a refused form names each field by its label.

use std::collections::BTreeSet;

use regex::Regex;

use super::attacks::crawl;
use crate::harness::{
    TestMarket,
    browser::{Browser, row_of},
    patterns::pattern,
};

const KEYS: [&str; 4] = ["mkt_demo_buyer", "mkt_demo_vendor", "mkt_demo_both", "mkt_demo_operator"];

/// Forms of which one of several fields needs a value, so that none is marked: ends of their paths.
const ONE_OF_SEVERAL: [&str; 6] =
    ["/changes/new", "/quality-runs/new", "/world-clock", "/clock", "/faults/new", "/inventory/add/table"];

/// Returns the forms of a page that are sent to its own path: their content.
fn own_forms(text: &str, path: &str) -> Vec<String> {
    let forms = pattern(r"(?s)<form[^>]*>(.*?)</form>");
    let own = format!("action=\"{path}\"");
    let is_own = |form: &str| {
        form.split('>').next().is_some_and(|tag| tag.contains("method=\"post\"") && tag.contains(&own))
    };
    forms.captures_iter(text).filter(|form| is_own(&form[0])).map(|form| form[1].to_owned()).collect()
}

/// Returns the hidden fields of a form, or nothing if nobody can type or choose anything in it.
fn hidden_fields(form: &str) -> Option<Vec<(String, String)>> {
    let tags = pattern(r"<(input|textarea|select)[^>]*>");
    let hidden = pattern(r#"type="hidden" name="([^"]*)" value="([^"]*)""#);
    let has_more = tags.find_iter(form).any(|tag| !tag.as_str().contains("type=\"hidden\""));
    let fields = hidden.captures_iter(form).map(|field| (field[1].to_owned(), field[2].to_owned()));
    has_more.then(|| fields.collect())
}

/// Whether a field is marked as one that needs a value.
fn is_marked(page: &str, field: &str) -> bool {
    let tag = Regex::new(&format!(r#"<(\w+)[^>]* id="{}"[^>]*>"#, regex::escape(field))).unwrap();
    let Some(found) = tag.captures(page) else { return false };
    let after = &page[found.get(0).unwrap().end()..];
    if &found[1] == "select" && !after.starts_with("<option value=\"\"") {
        // One of its values is always chosen.
        return true;
    }
    if &found[1] != "fieldset" {
        return found[0].contains(" required");
    }
    after.split("</legend>").next().is_some_and(|legend| legend.contains("required</span>"))
}

/// Returns faults in how a refused page shows its problems.
fn faults_of(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let links = pattern("^<a href=\"#([^\"]+)\">([^<]+)</a>:? ");
    let shown = page.split("class=\"flash bad\"").nth(1).unwrap_or_default();
    let list = shown.split_once("<ul>").and_then(|(_, after)| after.split_once("</ul>"));
    for item in list.map_or("", |(list, _)| list).split("<li>").skip(1) {
        match links.captures(item) {
            None => faults.push(format!("no field: {item}")),
            Some(link) if !page.contains(&format!("id=\"{}\"", &link[1])) => {
                faults.push(format!("the link leads nowhere: {item}"));
            }
            Some(link) if link[2].contains('_') => faults.push(format!("a name in place of a label: {item}")),
            Some(link) if !is_marked(page, &link[1]) => faults.push(format!("not marked: {item}")),
            Some(_) => {}
        }
    }
    faults
}

/// Sends each form of the web app without any value. Each missing field is named by its label, linked, and was marked before.
#[tokio::test]
async fn what_an_empty_form_lacks_is_marked() {
    let market = TestMarket::demo();
    let (mut seen, mut faults, mut refused) = (BTreeSet::new(), BTreeSet::new(), 0);
    for key in KEYS {
        let browser = Browser::signed_in(&market, key).await;
        for (address, page) in crawl(&browser).await.pages {
            let path = address.split(['?', '#']).next().unwrap();
            let Some(row) = row_of(path) else { continue };
            let last = path.rsplit('/').next().unwrap();
            if !seen.insert((row.path, if last.len() == 36 { String::new() } else { last.to_owned() })) {
                continue;
            }
            for form in own_forms(&page.text, path) {
                let Some(fields) = hidden_fields(&form) else { continue };
                let fields: Vec<(&str, &str)> =
                    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                let answer = browser.post(path, &fields).await;
                assert!(answer.status() < 500, "{path}: {}", answer.visible());
                if answer.status() != 422 || ONE_OF_SEVERAL.iter().any(|end| path.ends_with(end)) {
                    continue;
                }
                refused += 1;
                faults.extend(faults_of(&answer.text).into_iter().map(|fault| format!("{path}: {fault}")));
            }
        }
    }
    assert!(refused > 20, "{refused} forms were refused");
    assert!(faults.is_empty(), "{}", faults.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Each field that browsers require is marked for people, too. Browsers cut off what is pasted into a field with a maximum length,
/// which nobody notices in a text of several lines.
#[tokio::test]
async fn what_needs_a_value_says_so() {
    let market = crate::harness::demo();
    let cut = Regex::new("<textarea[^>]* maxlength=").unwrap();
    let needs = Regex::new(r#"<(?:input|select|textarea)[^>]* id="([^"]+)"[^>]* required[ >]"#).unwrap();
    let mut count = 0;
    for key in KEYS {
        let browser = Browser::signed_in(market, key).await;
        for (address, page) in crawl(&browser).await.pages {
            assert!(!cut.is_match(&page.text), "{address} cuts off a text");
            for field in needs.captures_iter(&page.text) {
                let label = page.text.split(&format!("<label for=\"{}\">", &field[1])).nth(1);
                // A box, and the first of several choices, have another label.
                let Some(label) = label.and_then(|after| after.split("</label>").next()) else { continue };
                assert!(label.contains("required</span>"), "{address}: {label}");
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count} fields need a value");
}
