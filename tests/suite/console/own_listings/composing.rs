//! Writing and editing a listing: problems, previews, samples, and edits of two people at once.

use marketplace::domain::{listing_lifecycle::Operation, listings::ReviewStatus, money::Cents};

use super::{
    BUYER, LISTINGS, SELLER, asset_id, decide, draft, edit, edited, fields, market, market_with, row,
};
use crate::{harness::browser::Browser, sales::listing_id};
use serde_json::json;

#[tokio::test]
async fn all_problems_are_shown_with_what_was_typed() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    let new = format!("{LISTINGS}/new");
    let page = seller.get(&new).await;
    let typed = [
        ("title", ""),
        ("description", "All of <it>"),
        ("price", "cheap"),
        ("sample_price", "-1"),
        ("delivery_method", "download"),
        ("delivery_days", ""),
        ("available_from", "soon"),
        ("terms", "a\u{0}b"),
    ];
    let refused = seller.submit(&page, &new, &typed).await;
    refused.expect(422, "These things have to be corrected").expect(422, "All of &lt;it&gt;");
    for problem in ["title", "price", "sample_price", "delivery_days", "available_from", "terms"] {
        refused.expect(422, &format!("<a href=\"#{problem}\">")).expect(422, &format!("id=\"{problem}-p\""));
    }
    refused.expect(422, "value=\"cheap\"").expect(422, "value=\"soon\"");
    // References to missing records are found last, in the same transaction as the change.
    let unknown = [("title", "Maps"), ("domain_tags", "nowhere")];
    seller.submit(&page, &new, &unknown).await.expect(422, "The market does not have one of these");
    let listings = seller.get(LISTINGS).await;
    listings.expect(200, "2 listings.");
    // Corrected in the page that says so, it is saved.
    let corrected = [
        ("title", "Maps"),
        ("price", "$27,000"),
        ("sample_price", "0"),
        ("delivery_days", "3"),
        ("available_from", "2026-04-01"),
        ("terms", "For training."),
    ];
    let saved = seller.submit(&refused, &new, &corrected).await;
    assert_eq!(saved.status(), 303, "{}", saved.visible());
    let page = seller.get(saved.location()).await;
    page.expect(200, "$27,000.00").expect(200, "Free").expect(200, "3 days").expect(200, "For training.");
    page.expect(200, "A sample that says what it has").expect(200, "Choose what the sample has");
}

#[tokio::test]
async fn preview_shows_markdown_and_saves_nothing() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    for path in [format!("{LISTINGS}/new"), format!("{}/edit", draft())] {
        let page = seller.get(&path).await;
        let typed = [
            ("preview", "yes"),
            ("title", "Maps <1>"),
            ("description", "Of **nine** harbors. <script>alert(1)</script>"),
            ("price", "not yet"),
        ];
        let shown = seller.submit(&page, &path, &typed).await;
        shown.expect(200, "<strong>nine</strong>").expect(200, "It is not saved yet.");
        shown.expect(200, "Maps &lt;1&gt;").expect(200, "value=\"not yet\"");
        assert!(!shown.text.contains("<script>alert"), "{}", shown.text);
        let saved = seller.submit(&shown, &path, &[("price", "27")]).await;
        assert_eq!(saved.status(), 303, "{}", saved.visible());
    }
    assert_eq!(fields(&market, listing_id("draft")).title, "Maps <1>");
    let preview = seller.get(&format!("{}/preview", draft())).await;
    preview.expect(200, "As buyers see it").expect(200, "<strong>nine</strong>");
}

/// One reads first what was wrong, in the order of the fields.
#[tokio::test]
async fn refused_form_begins_with_its_problems() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    let path = "/console/selling/listings/new";
    let page = seller.get(path).await;
    assert!(!page.text.contains("<title>Error: ") && !page.text.contains(" autofocus"), "{}", page.visible());
    let refused = seller.submit(&page, path, &[("title", ""), ("price", "much")]).await;
    refused.expect(422, "<title>Error: ").expect(422, "role=\"alert\" tabindex=\"-1\" autofocus>");
    let place = |field: &str| refused.text.find(&format!("href=\"#{field}\"")).expect("a link to the field");
    assert!(place("title") < place("price"), "{}", refused.visible());
}

/// Two people edit the same listing: the second one is told, and loses nothing.
#[tokio::test]
async fn stale_edit_keeps_what_was_typed() {
    let market = market();
    let (first, second) =
        (Browser::signed_in(&market, SELLER).await, Browser::signed_in(&market, SELLER).await);
    let path = format!("{}/edit", draft());
    let stale = second.get(&path).await;
    edited(&first, &draft(), &[("price", "77"), ("description", "By the first.")]).await;
    let typed = [("title", "By the second"), ("description", "Also\r\nby the second.")];
    let refused = second.submit(&stale, &path, &typed).await;
    refused.expect(409, "This listing was changed after you opened it.");
    refused.expect(409, "value=\"By the second\"").expect(409, "by the second.</textarea>");
    refused.expect(409, "$77.00").expect(409, "By the first.");
    assert_eq!(fields(&market, listing_id("draft")).price, Some(Cents(7_700)), "nothing was saved");
    assert_eq!(row(&market, listing_id("draft")).title, "Listing draft");
    let saved = second.submit(&refused, &path, &[]).await;
    assert_eq!(saved.location(), format!("{}?notice=saved", draft()), "{}", saved.visible());
    let saved = fields(&market, listing_id("draft"));
    assert_eq!((saved.title.as_str(), saved.price), ("By the second", Some(Cents(5_000))));
    // A revision that nobody showed is stale, too.
    first
        .post(&path, &[("texts", "yes"), ("title", "x")])
        .await
        .expect(409, "was changed after you opened it");
}

/// Saving the form without a change, and a change of terms, end no approval. Other texts do, and the form says so.
#[tokio::test]
async fn only_other_texts_end_the_approval() {
    let texts = "First line.\nSecond line, with \"quotes\" & more.\n\n- a list  \n";
    let market = market_with(&json!({"description": texts, "terms": "\n  For training.\n"}));
    let seller = Browser::signed_in(&market, SELLER).await;
    let listing = listing_id("draft");
    super::done(&seller, &draft(), "submit", "listing_submitted").await;
    decide(&market, listing, Operation::Approve, None);
    let before = fields(&market, listing);
    seller.get(&format!("{}/edit", draft())).await.expect(200, "ends the approval");
    // Browsers send line ends as two characters.
    let as_sent = texts.replace('\n', "\r\n");
    edited(&seller, &draft(), &[("description", &as_sent)]).await;
    assert_eq!(fields(&market, listing), before);
    edited(&seller, &draft(), &[("terms", "For nothing."), ("accepts_bids", "")]).await;
    let state = row(&market, listing).status;
    assert_eq!(state.review, ReviewStatus::Approved);
    assert!(!fields(&market, listing).accepts_bids);
    edited(&seller, &draft(), &[("description", "Other.")]).await;
    assert_eq!(row(&market, listing).status.review, ReviewStatus::Draft);
}

#[tokio::test]
async fn longest_texts_are_saved() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    let long = "\u{10437}".repeat(20_000);
    edited(&seller, &draft(), &[("description", &long), ("terms", &long)]).await;
    assert_eq!(fields(&market, listing_id("draft")).terms, long);
    let longer = long.clone() + "x";
    edit(&seller, &draft(), &[("description", &longer)]).await.expect(422, "href=\"#description\"");
}

#[tokio::test]
async fn sample_has_the_chosen_assets_and_parts() {
    let market = market_with(&json!({"assets": ["c1", "c2", "c3"]}));
    let seller = Browser::signed_in(&market, SELLER).await;
    let (path, first, second) = (draft(), asset_id("c1").to_string(), asset_id("c3").to_string());
    let paths = format!("paths_{first}");
    edited(&seller, &path, &[("sample_price", "2")]).await;
    seller.get(&path).await.expect(200, "Choose what the sample has.");
    let values = [("sample", second.as_str()), ("sample", &first), (&paths, "docs/\r\n src/main.c ")];
    let refused = edit(&seller, &path, &[values[0], values[1], (&paths, "../up")]).await;
    refused.expect(422, &format!("id=\"{paths}-p\"")).expect(422, "../up");
    edited(&seller, &path, &values).await;
    let sample = fields(&market, listing_id("draft")).sample;
    let assets: Vec<_> = sample.iter().map(|sampled| sampled.asset_id).collect();
    assert_eq!(assets, [asset_id("c1"), asset_id("c3")], "in the order of the listing");
    assert_eq!(sample[0].selection.paths, Some(vec!["docs/".to_owned(), "src/main.c".to_owned()]));
    assert_eq!(sample[1].selection.paths, None);
    // An asset of the sample that is detached is a problem, which the form solves.
    let assets = seller.get(&format!("{path}/assets")).await;
    let detach = format!("{path}/assets/detach");
    assets.expect(200, &detach);
    let detached = seller.post(&detach, &[("asset", &first)]).await;
    assert_eq!(detached.location(), format!("{path}/assets?notice=detached"));
    let refused = seller.get(&format!("{path}/submit")).await;
    refused.expect(200, "Something is missing").expect(200, "is not on the listing");
    seller.get(&format!("{path}/edit")).await.expect(200, "no longer on the listing");
    edited(&seller, &path, &[("sample", &second)]).await;
    seller.get(&format!("{path}/submit")).await.expect(200, "Cost of the run");
}

/// Without enough credits, the listing is reviewed without a run, and the question says so.
#[tokio::test]
async fn cost_of_a_run_is_said_before() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    let price = marketplace::operations::quality_runs::price(market.market().settings());
    let question = seller.get(&format!("{}/submit", draft())).await;
    question
        .expect(200, &format!("<dd>${price}</dd>"))
        .expect(200, &format!("${}", Cents(100_000 - price.0)));
    question.expect(200, "cannot be deleted or separated from their data");
    seller.get(&draft()).await.expect(200, "Checks are run when you submit it. They cost");
    crate::sales::give_credits(&market, "seller", 1 - 100_000);
    let question = seller.get(&format!("{}/submit", draft())).await;
    question.expect(200, "reviews the listing without a run").expect(200, "$0.01");
    let page = seller.get(&draft()).await;
    page.expect(200, "Submitting it now starts no checks")
        .expect(200, "href=\"/console/wallet/buy-credits\"");
    let page = super::done(&seller, &draft(), "submit", "listing_submitted").await;
    page.expect(200, "No checks were run with the last submission");
    assert!(!page.text.contains("Checks are run when you submit it"), "{}", page.visible());
    assert_eq!(super::credits(&market), 1);
    let buyer = Browser::signed_in(&market, BUYER).await;
    buyer.get(&format!("{}/submit", draft())).await.expect(403, "which your team does not have");
}

/// Each page on which a vendor sets a price, or accepts one, says what the vendor earns.
#[tokio::test]
async fn earnings_are_said_beside_the_price() {
    let market = market();
    let seller = Browser::signed_in(&market, SELLER).await;
    let settings = market.market().settings();
    let earned = |cents| {
        let earned = marketplace::operations::proposed_sales::charges(settings, Cents(cents)).proceeds();
        format!("You earn <b>${earned}</b> of ${}", Cents(cents))
    };
    let edit = format!("{}/edit", draft());
    for path in [&draft(), &edit, &format!("{}/preview", draft()), &format!("{}/submit", draft())] {
        seller.get(path).await.expect(200, &earned(5_000));
    }
    let page = seller.get(&edit).await;
    let typed = [("preview", "yes"), ("price", "12.34"), ("sample_price", "5")];
    let shown = seller.submit(&page, &edit, &typed).await;
    shown.expect(200, &earned(1_234)).expect(200, &earned(500));
    seller.get(&format!("{LISTINGS}/new")).await.expect(200, "The market keeps");
    super::done(&seller, &draft(), "submit", "listing_submitted").await;
    decide(&market, listing_id("draft"), Operation::Approve, None);
    seller.get(&format!("{}/publish", draft())).await.expect(200, &earned(5_000));
}
