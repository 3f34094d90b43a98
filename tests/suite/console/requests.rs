//! A vendor answers requests of buyers, has repositories estimated, and reads what its quality runs found.

use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
};

const BUYER: &str = "mkt_demo_buyer";
const VENDOR: &str = "mkt_demo_vendor";

const NEW_PROJECT: &str = "/console/opportunities/new?kind=project";
const NEW_ESTIMATION: &str = "/console/estimations/new";

/// Opens a page, sends its form, and returns the answer.
async fn send(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Page {
    let page = browser.get(path).await;
    let answer = browser.submit(&page, path, fields).await;
    assert_eq!(answer.status(), 303, "{path}: {}", answer.visible());
    answer
}

/// Returns the address that an answer leads to, without its query.
fn target(answer: &Page) -> String {
    answer.location().split('?').next().unwrap().to_owned()
}

#[tokio::test]
async fn vendor_bids_on_a_project_and_is_led_to_its_bid() {
    let market = TestMarket::demo();
    let (buyer, vendor) =
        (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, VENDOR).await);
    let project = target(&send(&buyer, NEW_PROJECT, &[("title", "Tasks about tides")]).await);
    send(&buyer, &format!("{project}/publish"), &[]).await;
    let id = project.rsplit('/').next().unwrap();
    let request = format!("/console/requests/{id}");
    vendor.get("/console/requests?text=TIDES&kind=project").await.expect(200, &request);
    vendor.get("/console/requests?max_budget=1").await.expect(200, "Nothing matches");
    vendor.get("/console/requests?format=csv").await.expect(200, "Tasks about tides,Project");
    vendor.get(&request).await.expect(200, "Bid on the project").expect(200, "What you have that fits");
    assert_eq!(vendor.get(&project).await.location(), request);
    buyer.get(&request).await.expect(403, "which your team does not have");

    let form = format!("{request}/bid");
    let page = vendor.get(&form).await;
    let refused = vendor.submit(&page, &form, &[("num_tasks", "many"), ("attachments", "notes")]).await;
    refused.expect(422, "Enter a whole number from 1 to 1,000,000.").expect(422, "a comma, and a size");
    let fields = [("num_tasks", "40"), ("attachments", "plan.pdf, 1.2 MB")];
    let bid = target(&send(&vendor, &form, &fields).await);
    vendor.get(&bid).await.expect(200, "plan.pdf").expect(200, "Withdraw the bid");
    vendor.get(&form).await.expect(200, "Withdraw it before you make another one.");
    vendor.get("/console/requests/bids").await.expect(200, &bid);

    let bid_id = bid.rsplit('/').next().unwrap();
    send(&buyer, &format!("{project}/bids/{bid_id}/accept"), &[]).await;
    vendor.get("/console/notifications").await.expect(200, &bid);
    vendor.get(&bid).await.expect(200, "Deliver tasksets").expect(200, "Notifications about this");
    vendor.get(&format!("{bid}/withdraw")).await.expect(200, "Only a bid that waits for the buyer");
    vendor.get(&format!("{bid}/deliver")).await.expect(200, "You offered 40 tasks.");
    buyer.get(&bid).await.expect(403, "which your team does not have");
}

#[tokio::test]
async fn repository_is_estimated_and_added_once() {
    let market = TestMarket::demo();
    let vendor = Browser::signed_in(&market, VENDOR).await;
    let page = vendor.get(NEW_ESTIMATION).await;
    let refused =
        vendor.submit(&page, NEW_ESTIMATION, &[("repo_full_name", "https://evil.example/a/b")]).await;
    refused.expect(422, "Enter the address of a repository");
    let address = [("repo_full_name", "https://github.com/tideclock/harbour")];
    let estimation = target(&send(&vendor, NEW_ESTIMATION, &address).await);
    vendor.get(&estimation).await.expect(200, "tideclock/harbour");
    let add = format!("{estimation}/add");
    let question = vendor.get(&add).await;
    question.expect(200, "A codebase with the title");
    let asset = target(&vendor.submit(&question, &add, &[]).await);
    assert!(asset.starts_with("/console/inventory/"), "{asset}");
    vendor.get(&add).await.expect(200, "The repository is in your inventory already.");
    vendor.get("/console/estimations?inventory=added").await.expect(200, &asset);
    vendor.get("/console/estimations/quotes").await.expect(200, "All estimations");
}

#[tokio::test]
async fn runs_and_findings_are_shown() {
    let market = TestMarket::demo();
    let vendor = Browser::signed_in(&market, VENDOR).await;
    for (path, expected) in [
        ("/console/quality", "Checks passed"),
        ("/console/quality?subject=listing&result=passed", "Quality"),
        ("/console/quality?format=csv", "Checked,Kind,Result,Checks passed"),
        ("/console/quality/findings", "Findings"),
    ] {
        vendor.get(path).await.expect(200, expected);
    }
}
