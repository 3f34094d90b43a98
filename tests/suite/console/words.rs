//! The words of all pages: one term for each thing, one format for amounts and times, no IDs where people read sentences, and
//! no table without rows.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::attacks::crawl;
use crate::harness::{
    browser::{Browser, row_of},
    markup::{self, Document},
};

const KEYS: [&str; 6] = [
    "mkt_demo_buyer",
    "mkt_demo_vendor",
    "mkt_demo_both",
    "mkt_demo_locked",
    "mkt_demo_no_role",
    "mkt_demo_operator",
];

/// Words that no page has, and what pages say instead.
const DISCOURAGED: [(&str, &str); 34] = [
    ("history starts", "First commit"),
    ("history start", "First commit"),
    ("history ends", "Last commit"),
    ("history end", "Last commit"),
    ("domain tags", "Domains"),
    ("unpublish", "Take it out of the catalog"),
    ("unpublished", "not published"),
    ("your offer", "Your bid"),
    ("an offer", "A bid"),
    ("offer received", "Bid received"),
    ("offer accepted", "Bid accepted"),
    ("offers received", "Bids received"),
    ("counteroffer", "Bid"),
    ("qc", "Checks"),
    ("quality check completed", "Checks completed"),
    ("payout setup", "Payout"),
    ("active listing", "Live listing"),
    ("cancelled", "canceled"),
    ("colour", "color"),
    ("catalogue", "catalog"),
    ("log in", "Sign in"),
    ("login", "Sign in"),
    ("log out", "Sign out"),
    ("click here", "the name of the link"),
    ("successfully", "nothing"),
    ("please", "nothing"),
    ("are you sure", "what is lost"),
    ("oops", "what went wrong"),
    ("e.g.", "for example"),
    ("i.e.", "that is"),
    ("invalid", "what to enter"),
    ("uuid", "ID"),
    ("boolean", "Yes or no"),
    ("endpoint", "nothing"),
];

/// Texts that may have a discouraged word: names of settings, and texts of the demo, which are not the market's.
const ALLOWED: [&str; 3] = ["backups.endpoint", "blobs.endpoint", "Please add a licence file"];

/// Returns the lines of a page that the market has written, and that are no examples of programs.
fn own_lines(document: &Document) -> impl Iterator<Item = String> {
    document.lines.iter().filter_map(|line| {
        let own = line.iter().filter(|piece| !piece.is_isolated && piece.block != "pre");
        let text: Vec<&str> = own.map(|piece| piece.text.as_str()).collect();
        (!text.is_empty()).then(|| text.join(" ").split_whitespace().collect::<Vec<_>>().join(" "))
    })
}

/// Whether a text has words, and not only as a part of others.
fn has_words(text: &str, words: &str) -> bool {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(words).any(|(start, _)| {
        !is_part(text[..start].chars().next_back()) && !is_part(text[start + words.len()..].chars().next())
    })
}

#[tokio::test]
async fn pages_use_one_term_for_each_thing_and_one_format_for_values() {
    let market = crate::harness::demo();
    let amount = Regex::new(r"\$\d{4,}|\d US dollars").unwrap();
    let time = Regex::new(r"\d{4}-\d{2}-\d{2}T\d{2}").unwrap();
    let (mut faults, mut lines) = (BTreeMap::new(), 0);
    for key in KEYS {
        let browser = Browser::signed_in(market, key).await;
        for (address, page) in crawl(&browser).await.pages {
            if !page.response.header("content-type").starts_with("text/html") {
                continue;
            }
            let row = row_of(&address).map_or("", |row| row.path);
            let document = markup::parse(&page.text).unwrap();
            for line in own_lines(&document) {
                lines += 1;
                let lower = line.to_lowercase();
                let words = DISCOURAGED.iter().filter(|(words, _)| has_words(&lower, words));
                let mut add = |fault: String| faults.insert((row, fault), line.clone());
                for (words, better) in words.filter(|_| !ALLOWED.iter().any(|text| line.contains(text))) {
                    add(format!("“{words}”, better: {better}"));
                }
                if amount.is_match(&line) {
                    add("an amount without its format".to_owned());
                }
                if time.is_match(&line) {
                    add("a time as programs write it".to_owned());
                }
            }
            if page.text.contains("<tbody></tbody>") || page.text.contains("<ul></ul>") {
                faults.insert((row, "something empty".to_owned()), String::new());
            }
        }
    }
    assert!(lines > 10_000, "{lines} lines");
    let shown: Vec<String> =
        faults.iter().map(|((row, fault), line)| format!("{row}: {fault}: {line}")).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), shown.join("\n"));
}

/// Notifications say the same in the API.
#[tokio::test]
async fn notifications_write_amounts_like_pages() {
    let market = crate::harness::demo();
    let amount = Regex::new(r"\$\d{4,}|\$[\d,]+\.\d(\D|$)").unwrap();
    let mut messages = BTreeSet::new();
    for key in ["mkt_demo_buyer", "mkt_demo_vendor", "mkt_demo_both"] {
        let list = market.get(key, "/v2/vendor/notifications?limit=100").await;
        let Some(list) = (list.status == 200).then(|| list.ok()) else { continue };
        for notification in list["notifications"].as_array().unwrap() {
            messages.insert(notification["message"].as_str().unwrap().to_owned());
        }
    }
    assert!(messages.len() > 5, "{messages:?}");
    let wrong: Vec<&String> = messages.iter().filter(|message| amount.is_match(message)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
