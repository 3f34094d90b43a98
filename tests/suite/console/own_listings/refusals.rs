//! Who cannot do what: other teams, and steps that a state forbids. What the list shows, and what pages cost.

use marketplace::domain::listing_lifecycle::Operation;
use serde_json::{Value, json};

use super::{BUYER, LISTINGS, Menu, OTHER, SELLER, draft, market, market_and, row};
use crate::{
    harness::browser::Browser,
    sales::{codebase, listing_id},
};

const STEPS: [&str; 6] = ["submit", "withdraw", "publish", "unpublish", "restore", "archive"];

#[tokio::test]
async fn listing_of_another_team_is_nowhere() {
    let market = market();
    let other = Browser::signed_in(&market, OTHER).await;
    let buyer = Browser::signed_in(&market, BUYER).await;
    for path in [draft(), super::path_of(listing_id("plain"))] {
        for page in ["", "/changes", "/reviews", "/edit", "/assets", "/preview"] {
            other.get(&format!("{path}{page}")).await.expect(404, "This is not here");
            buyer.get(&format!("{path}{page}")).await.expect(403, "which your team does not have");
        }
        for form in ["/edit", "/assets", "/assets/detach"] {
            let fields = [("asset", &*super::asset_id("c1").to_string()), ("title", "x"), ("scope", "all")];
            let answer = other.post(&format!("{path}{form}"), &fields).await;
            assert_eq!(answer.status(), 404, "{form}: {}", answer.visible());
        }
        for step in STEPS {
            let step = format!("{path}/{step}");
            other.get(&step).await.expect(404, "This is not here");
            other.post(&step, &[]).await.expect(404, "This is not here");
        }
        market.clock().advance(super::MINUTE);
    }
    let list = other.get(LISTINGS).await;
    assert!(!list.text.contains("Listing draft"), "{}", list.visible());
    assert_eq!(row(&market, listing_id("draft")).title, "Listing draft");
}

/// Every step that the menu does not offer says the same reason in the menu, on its page, and when its form is sent anyway.
#[tokio::test]
async fn refused_steps_say_why_everywhere() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    for path in [draft(), super::path_of(listing_id("plain"))] {
        let menu = Menu::of(&seller.get(&path).await, &path);
        let titles = [
            "Submit for review",
            "Withdraw from review",
            "Publish",
            "Take out of the catalog",
            "Restore",
            "Archive",
        ];
        for (step, title) in STEPS.iter().zip(titles) {
            if menu.offered.iter().any(|offered| offered == step) {
                continue;
            }
            let reason = menu.reason(title);
            assert!(reason.ends_with('.') && reason.len() > 10, "{reason}");
            let address = format!("{path}/{step}");
            let question = seller.get(&address).await;
            question.expect(200, "This cannot be done now.").expect(200, reason);
            assert!(!question.text.contains(&format!("action=\"{address}\"")), "{}", question.visible());
            let answer = seller.post(&address, &[]).await;
            answer.expect(409, "class=\"flash bad\"").expect(409, reason);
            assert!(!answer.visible().contains("allowed"), "{}", answer.visible());
        }
    }
}

/// The word for leaving the catalog is the same everywhere.
#[tokio::test]
async fn pages_say_take_out_of_the_catalog() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    let path = super::path_of(listing_id("plain"));
    let asset = format!("/console/inventory/{}/delete", super::asset_id("plain-files"));
    for page in
        [path.clone(), format!("{path}/edit"), format!("{path}/assets"), format!("{path}/unpublish"), asset]
    {
        let shown = seller.get(&page).await;
        assert_eq!(shown.status(), 200, "{page}");
        let text = shown.visible().to_lowercase();
        assert!(!text.contains("unpublish"), "{page}: {text}");
        assert!(text.contains("out of the catalog"), "{page}: {text}");
    }
    // A price is needed in the catalog, and the problem uses the same word.
    let refused = super::edit(&seller, &path, &[("price", "")]).await;
    refused.expect(422, "Take it out of the catalog first");
}

#[tokio::test]
async fn list_filters_by_state_and_has_a_file() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    let (plain, draft) = (super::path_of(listing_id("plain")), draft());
    for (query, has_plain, has_draft) in [
        ("", true, true),
        ("workspace_view=live", true, false),
        ("workspace_view=drafts", false, true),
        ("lifecycle_stages=draft", false, true),
        ("review=approved", true, false),
        ("review=draft&review=approved", true, true),
        ("query=draft", false, true),
        ("no_assets=true", false, false),
    ] {
        let page = seller.get(&format!("{LISTINGS}?{query}")).await;
        assert_eq!(page.status(), 200, "{query}: {}", page.visible());
        assert_eq!(page.text.contains(&format!("\"{plain}\"")), has_plain, "{query}: {}", page.visible());
        assert_eq!(page.text.contains(&format!("\"{draft}\"")), has_draft, "{query}");
        let separator = if query.is_empty() { "" } else { "&" };
        let file = seller.get(&format!("{LISTINGS}?{query}{separator}format=csv")).await;
        assert_eq!(file.text.contains("Listing plain,Live,50.00,1,0"), has_plain, "{query}: {}", file.text);
        assert_eq!(file.text.contains("Listing draft,Draft,50.00,2,0"), has_draft, "{query}: {}", file.text);
    }
}

/// A page executes as many statements for many assets as for few.
#[tokio::test]
async fn statements_do_not_grow_with_the_assets() {
    let keys: Vec<String> = (0..30).map(|number| format!("n{number}")).collect();
    let more: Vec<Value> = keys.iter().map(|key| codebase(key, &json!(1))).collect();
    let mut counts = Vec::new();
    for added in [&more[..1], &more] {
        let market = market_and(added);
        let seller = Browser::signed_in(&market, SELLER).await;
        let attach = format!("{}/assets?query=code+n", draft());
        seller.post(&attach, &[("scope", "all"), ("confirmed", "yes")]).await.expect(200, "attached");
        super::done(&seller, &draft(), "submit", "listing_submitted").await;
        super::decide(&market, listing_id("draft"), Operation::Approve, None);
        let mut of_market = Vec::new();
        for page in ["", "/changes", "/reviews", "/edit", "/assets", "/preview", "/publish"] {
            let before = market.market().statement_count();
            super::check_markup(seller.get(&format!("{}{page}", draft())).await.expect(200, ""));
            of_market.push((page, market.market().statement_count() - before));
        }
        counts.push(of_market);
    }
    assert_eq!(counts[0], counts[1]);
    assert!(counts[0].iter().all(|(_, count)| *count <= 40), "{:?}", counts[0]);
}
