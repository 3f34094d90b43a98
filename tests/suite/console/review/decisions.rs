//! The effects of decisions, and their required fields.

use marketplace::domain::{listing_lifecycle::Operation, principals::KeyScope};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{QUEUE, decide, market, open, path_of, perform, review_status, reviewer};
use crate::{
    catalog::small_market::{listing, seed_market},
    harness::{TestMarket, browser::Browser, markup},
    sales::listing_id,
};

/// The query for the events of decisions.
const EVENTS: &str = "types=listing.approved&types=listing.changes_requested&types=listing.rejected&\
                      types=listing.certified&types=listing.certification_revoked";

/// The records of a decision, without values that differ between two markets.
async fn effects(market: &TestMarket, key: &str, listing: Uuid) -> Value {
    let get =
        async |path: String| market.call(key, "GET", &format!("/operator/v1{path}"), &Value::Null).await.ok();
    let mut all = json!({
        "listing": get(format!("/listings/{listing}")).await,
        "history": get(format!("/listings/{listing}/history")).await,
        "notifications": get("/notifications".to_owned()).await,
        "events": get(format!("/events?{EVENTS}")).await,
        "audit": get(format!("/audit?subject_id={listing}")).await,
    });
    remove(
        &mut all,
        &["id", "request_id", "session_id", "operator_key_id", "key_id", "next_cursor", "number"],
    );
    all
}

fn remove(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !names.contains(&name.as_str()));
            fields.values_mut().for_each(|value| remove(value, names));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| remove(value, names)),
        _ => {}
    }
}

#[tokio::test]
async fn each_decision_does_what_the_operator_api_does() {
    for (pressed, verb, note) in [
        ("approve", "approve", ""),
        ("request_changes", "request-changes", "Say whose harbors.\nAnd when."),
        ("reject_for_good", "reject", "Not ours."),
        ("certify", "certify", ""),
        ("revoke", "revoke", ""),
    ] {
        let (by_form, by_api) = (market(), market());
        let mut found = Vec::new();
        for market in [&by_form, &by_api] {
            let key = market.operator_key("Ada", KeyScope::All);
            if verb == "revoke" {
                perform(market, "b", Operation::Certify);
            }
            if std::ptr::eq(market, &raw const by_form) {
                let ada = Browser::signed_in(market, &key).await;
                let page = open(&ada, &path_of("b")).await;
                let answer = decide(&ada, &page, "b", pressed, &note.replace('\n', "\r\n")).await;
                assert_eq!(answer.status(), 303, "{pressed}: {}", answer.visible());
            } else {
                let body = if note.is_empty() { Value::Null } else { json!({"note": note}) };
                let path = format!("/operator/v1/listings/{}/{verb}", listing_id("b"));
                market.call(&key, "POST", &path, &body).await.ok();
            }
            market.run_background();
            found.push(effects(market, &key, listing_id("b")).await);
        }
        assert_eq!(found[0], found[1], "{pressed}");
        assert!(found[0]["audit"].to_string().contains("_listing"), "{}", found[0]["audit"]);
    }
}

#[tokio::test]
async fn note_is_required_where_the_vendor_has_to_do_something() {
    let market = market();
    let ada = reviewer(&market, "Ada").await;
    let page = open(&ada, &path_of("b")).await;
    decide(&ada, &page, "b", "request_changes", "").await.expect(422, "Say what the vendor should change.");
    decide(&ada, &page, "b", "reject", " ").await.expect(422, "Say why the listing is rejected.");
    decide(&ada, &page, "b", "reject_for_good", "").await.expect(422, "Say why the listing is rejected.");
    let long = decide(&ada, &page, "b", "request_changes", &"x".repeat(2_001)).await;
    assert_eq!(long.status(), 422, "{}", long.visible());
    let refused = decide(&ada, &page, "b", "approve", "Well done.").await;
    refused.expect(422, "The vendor gets no note with an approval.").expect(422, "Well done.");
    let unknown = decide(&ada, &page, "b", "dance", "").await;
    assert_eq!(unknown.status(), 400, "{}", unknown.visible());
    assert_eq!(review_status(&market, "b"), "in_review");
    // Rejecting asks first, and keeps the note.
    let question = decide(&ada, &page, "b", "reject", "Not <ours>.").await;
    question.expect(200, "Reject &lt;b&gt;Tides&lt;/b&gt;?").expect(200, "cannot submit it again");
    markup::parse(&question.text).unwrap();
    assert_eq!(review_status(&market, "b"), "in_review");
    ada.submit(&question, &path_of("b"), &[("decision", "reject_for_good")]).await;
    assert_eq!(review_status(&market, "b"), "rejected");
    open(&ada, &path_of("b")).await.expect(200, "Not &lt;ours&gt;.");
}

#[tokio::test]
async fn keys_that_only_read_decide_nothing() {
    let market = market();
    let key = market.operator_key("Eve", KeyScope::Read);
    let (eve, ada) = (Browser::signed_in(&market, &key).await, reviewer(&market, "Ada").await);
    open(&eve, QUEUE).await.expect(200, "Both house");
    let page = open(&eve, &path_of("b")).await;
    page.expect(200, "Your key can only read").expect(200, "As buyers see it");
    assert!(!page.text.contains("name=\"decision\"") && !page.text.contains("data-review"), "{}", page.text);
    let form = open(&ada, &path_of("b")).await.form(&path_of("b"));
    let mut fields: Vec<(&str, &str)> =
        form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for decision in ["approve", "certify", "reject"] {
        fields.push(("decision", decision));
        let refused = eve.post(&path_of("b"), &fields).await;
        assert_eq!(refused.status(), 403, "{decision}: {}", refused.visible());
        fields.pop();
    }
    assert_eq!(review_status(&market, "b"), "in_review");
}

#[tokio::test]
async fn notes_begin_with_templates_of_the_settings() {
    let market = TestMarket::with_settings(|settings| {
        settings.review.templates = vec!["Say whose <data> it is.".to_owned(), "x".repeat(200)];
    });
    let mut waiting = listing("b", &json!({}));
    waiting["history"] = json!([{"event": "submitted", "at": "-P3D"}]);
    seed_market(&market, &[waiting], &json!({}));
    let ada = reviewer(&market, "Ada").await;
    let page = open(&ada, &path_of("b")).await;
    page.expect(200, "Begin the note with").expect(200, "Say whose &lt;data&gt; it is.</option>");
    page.expect(200, &format!(">{}…</option>", "x".repeat(70)));
    let template = |number: &'static str| [("decision", "request_changes"), ("template", number)];
    for number in ["", "2", "x"] {
        ada.submit(&page, &path_of("b"), &template(number))
            .await
            .expect(422, "Say what the vendor should change.");
    }
    let fields = [("decision", "request_changes"), ("template", "0"), ("note", "And since when.")];
    assert_eq!(ada.submit(&page, &path_of("b"), &fields).await.status(), 303);
    open(&ada, &path_of("b")).await.expect(200, "Say whose &lt;data&gt; it is.\n\nAnd since when.");
    let market = TestMarket::with_settings(|settings| settings.review.templates.clear());
    let mut waiting = listing("b", &json!({}));
    waiting["history"] = json!([{"event": "submitted", "at": "-P3D"}]);
    seed_market(&market, &[waiting], &json!({}));
    let page = open(&reviewer(&market, "Ada").await, &path_of("b")).await;
    assert!(!page.text.contains("Begin the note with"), "{}", page.visible());
}

#[tokio::test]
async fn certification_is_decided_apart() {
    let market = market();
    let ada = reviewer(&market, "Ada").await;
    for key in ["b", "old"] {
        let page = open(&ada, &path_of(key)).await;
        let answer = decide(&ada, &page, key, "certify", "").await;
        assert_eq!(answer.location(), format!("{}?notice=listing_certified", path_of(key)));
        let page = open(&ada, answer.location()).await;
        let answer = decide(&ada, &page, key, "revoke", "").await;
        assert_eq!(answer.location(), format!("{}?notice=certification_revoked", path_of(key)));
        decide(&ada, &page, key, "revoke", "").await;
    }
    assert_eq!(review_status(&market, "b"), "in_review");
}
