//! The queue of listings in review, and the page of one of them.

use marketplace::domain::listing_lifecycle::Operation;
use serde_json::json;

use super::{QUEUE, decide, market, open, path_of, perform, reviewer};
use crate::{
    catalog::small_market::{listing, small_market_with},
    harness::browser::Page,
    sales::listing_id,
};

/// Returns the keys of the listings that a page of the queue has, in order.
fn order(page: &Page) -> Vec<&'static str> {
    let position = |key: &str| page.text.find(&path_of(key));
    let mut found: Vec<_> =
        ["a", "b", "c", "draft", "old"].into_iter().filter_map(|key| Some((position(key)?, key))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, key)| key).collect()
}

#[tokio::test]
async fn who_waits_longest_comes_first() {
    let market = market();
    let ada = reviewer(&market, "Ada").await;
    let page = open(&ada, QUEUE).await;
    page.expect(200, "3 records").expect(200, "&lt;b&gt;Tides&lt;/b&gt;").expect(200, "Both house");
    assert_eq!(order(&page), ["b", "c", "a"]);
    for (query, expected) in [
        ("team=Seller+house", &["b", "a"][..]),
        ("team=nobody", &[]),
        ("kind=codebase", &["b"]),
        ("kind=raw_data&team=Both+house", &["c"]),
        ("again=true", &[]),
        ("again=false", &["b", "c", "a"]),
    ] {
        assert_eq!(order(&open(&ada, &format!("{QUEUE}?{query}")).await), expected, "{query}");
    }
    let file = ada.get(&format!("{QUEUE}?format=csv")).await;
    let lines: Vec<&str> = file.text.trim_end().lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[1].starts_with("<b>Tides</b>,Seller house,Codebase,1,50.00,"), "{lines:?}");
    assert!(lines[0].ends_with(",Round,ID") && lines[1].ends_with(&listing_id("b").to_string()), "{lines:?}");
    // One that comes back waits from then on, in another round.
    perform(&market, "b", Operation::RequestChanges);
    perform(&market, "b", Operation::Submit);
    assert_eq!(order(&open(&ada, QUEUE).await), ["c", "a", "b"]);
    assert_eq!(order(&open(&ada, &format!("{QUEUE}?again=true")).await), ["b"]);
    for key in ["a", "b", "c"] {
        perform(&market, key, Operation::Withdraw);
    }
    ada.get(QUEUE).await.expect(200, "No listing waits for a review");
}

/// Pages of the queue are read in both directions, even if the listing that they begin after has left it.
#[tokio::test]
async fn pages_of_the_queue_follow_its_order() {
    let waiting = |number: u32| {
        let mut record = listing(&format!("n{number:03}"), &json!({"title": format!("Number {number:03}")}));
        // Several were submitted at the same time.
        record["history"] = json!([{"event": "submitted", "at": format!("-P{}D", 80 - number / 4)}]);
        record
    };
    let market = small_market_with(&(0..120).map(waiting).collect::<Vec<_>>(), &json!({}));
    let ada = reviewer(&market, "Ada").await;
    let numbers = |page: &Page| -> Vec<u32> {
        let titles = page.text.split("<bdi>Number ").skip(1);
        titles.map(|rest| rest[..3].parse().unwrap()).collect()
    };
    let link = |page: &Page, rel: &str| -> Option<String> {
        let tag = page.text.split("<a ").find(|tag| tag.contains(&format!("rel=\"{rel}\"")))?;
        Some(tag.split("href=\"").nth(1)?.split('"').next()?.to_owned())
    };
    let first = ada.get(QUEUE).await;
    assert_eq!(numbers(&first), (0..50).collect::<Vec<_>>());
    assert_eq!(link(&first, "prev"), None);
    perform(&market, "n049", Operation::Withdraw);
    let second = ada.get(&link(&first, "next").unwrap()).await;
    assert_eq!(numbers(&second), (50..100).collect::<Vec<_>>());
    let third = ada.get(&link(&second, "next").unwrap()).await;
    assert_eq!((numbers(&third), link(&third, "next")), ((100..120).collect(), None));
    let back = ada.get(&link(&third, "prev").unwrap()).await;
    assert_eq!(numbers(&back), (50..100).collect::<Vec<_>>());
    let back = ada.get(&link(&back, "prev").unwrap()).await;
    assert_eq!((numbers(&back), link(&back, "prev")), ((0..49).collect(), None));
    let lines = ada.get(&format!("{QUEUE}?format=csv")).await;
    assert_eq!(lines.text.lines().count(), 120, "a head, and all but the one that was withdrawn");
}

#[tokio::test]
async fn page_has_all_to_decide_on_and_leads_to_the_next_one() {
    let market = market();
    let ada = reviewer(&market, "Ada").await;
    let page = open(&ada, &path_of("b")).await;
    for text in [
        "As buyers see it",
        "Of nine harbors.",
        "What has changed",
        "first round of its review",
        "Quality run",
        "Rounds of the review",
        "Round 1: submitted with 1 asset",
        "Seller house",
        "In the catalog",
        "1 of 3 in the queue",
        "review.",
        "data-key=\"a\"",
        "data-keys-switch",
        "<kbd>n</kbd>",
    ] {
        page.expect(200, text);
    }
    page.expect(200, &format!("href=\"{}\" data-next", path_of("c")));
    // The filters of the queue are kept, also after a decision.
    let page = open(&ada, &format!("{}?team=Seller+house", path_of("b"))).await;
    page.expect(200, &format!("href=\"{}?team=Seller+house\" data-next", path_of("a")));
    page.expect(200, "1 of 2 in the queue");
    let answer = decide(&ada, &page, "b", "approve", "").await;
    assert_eq!(
        answer.location(),
        format!("{}?team=Seller+house&about={}&notice=review_approved", path_of("a"), listing_id("b"))
    );
    let next = open(&ada, answer.location()).await;
    next.expect(200, "You approved <a").expect(200, "“<bdi>&lt;b&gt;Tides&lt;/b&gt;</bdi>”</a>. Its vendor");
    let answer = decide(&ada, &next, "a", "request_changes", "Say more.").await;
    let about = |key| format!("about={}", listing_id(key));
    assert_eq!(
        answer.location(),
        format!("{QUEUE}?team=Seller+house&{}&notice=review_sent_back", about("a"))
    );
    let page = open(&ada, &path_of("c")).await;
    assert!(!page.text.contains("data-next"), "{}", page.visible());
    let question = decide(&ada, &page, "c", "reject", "Not ours.").await;
    let answer = decide(&ada, &question, "c", "reject_for_good", "Not ours.").await;
    assert_eq!(answer.location(), format!("{QUEUE}?{}&notice=review_rejected", about("c")));
    open(&ada, answer.location()).await.expect(200, "No listing waits for a review");
}
