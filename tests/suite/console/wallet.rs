//! Credits that a team asks for, its entries, and its notifications.

use marketplace::{
    clock::fixture_record_id,
    domain::{notifications::NotificationType, time::Timestamp},
    operations::notifications,
};
use serde_json::json;

use super::{BOTH, BUYER, OPERATOR, VENDOR};
use crate::harness::{self, TestMarket, browser::Browser, records::demo_records, teams};

#[tokio::test]
async fn credits_are_requested_and_canceled() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let form = "/console/wallet/buy-credits";
    let page = browser.get(form).await;
    for (amount, problem) in [
        ("", "Enter an amount"),
        ("x", "Enter an amount"),
        ("0", "at least"),
        ("2000000", "at most $1,000,000.00."),
        ("99999999999", "at most $1,000,000."),
    ] {
        browser.submit(&page, form, &[("amount", amount)]).await.expect(422, problem);
    }
    for _ in 0..2 {
        let answer = browser.submit(&page, form, &[("amount", "$1,450.50")]).await;
        assert_eq!(answer.location(), "/console/wallet/credit-purchases?notice=credits_requested");
    }
    let wallet = browser.get("/console/wallet").await;
    wallet.expect(200, "$1,450.50 requested");
    assert_eq!(wallet.text.matches("$1,450.50 requested").count(), 1, "pressed twice, requested once");
    let list = browser.get("/console/wallet/credit-purchases?status=pending").await;
    let (before, _) = list.text.split_once("/cancel\"").expect("a link that cancels");
    let cancel = format!("{}/cancel", before.rsplit('"').next().unwrap());
    let question = browser.get(&cancel).await;
    question.expect(200, "If you have paid already");
    let answer = browser.submit(&question, &cancel, &[]).await;
    assert_eq!(answer.location(), "/console/wallet/credit-purchases?notice=credit_request_canceled");
    browser.get(&cancel).await.expect(200, "It cannot be canceled");
}

#[tokio::test]
async fn entries_have_the_balance_after_them() {
    let browser = Browser::signed_in(harness::demo(), BOTH).await;
    let wallet = browser.get("/console/wallet").await;
    wallet.expect(200, "Latest entries of the credits").expect(200, "Latest entries of the earnings");
    for path in ["/console/wallet/entries", "/console/wallet/earnings-entries"] {
        browser.get(path).await.expect(200, "<h1");
        browser
            .get(&format!("{path}?format=csv"))
            .await
            .expect(200, "Time,Reason,About,\"Amount, USD\",\"Balance, USD\"");
        // A position that cannot be read is that of the first page.
        let first = browser.get(path).await;
        for position in ["x", "ox", "offffffffffffffff0"] {
            let page = browser.get(&format!("{path}?from={position}")).await;
            assert_eq!(page.status(), 200, "{position}: {}", page.visible());
            assert_eq!(page.text.matches("<tr>").count(), first.text.matches("<tr>").count());
        }
    }
}

#[tokio::test]
async fn notifications_are_in_the_order_of_their_times() {
    let market = TestMarket::demo();
    let times = regex::Regex::new("<time datetime=\"([^\"]+)\"[^>]*data-day").unwrap();
    for key in ["mkt_demo_vendor", BUYER] {
        let browser = Browser::signed_in(&market, key).await;
        let page = browser.get("/console/notifications").await;
        let found: Vec<&str> =
            times.captures_iter(&page.text).map(|time| time.get(1).unwrap().as_str()).collect();
        assert!(found.len() > 2, "{}", page.visible());
        assert!(found.is_sorted_by(|newer, older| newer >= older), "{found:?}");
    }
}

/// Vendors know opportunities as requests, and the titles of notifications call them so.
#[tokio::test]
async fn filter_of_notifications_calls_opportunities_requests() {
    for key in ["mkt_demo_vendor", BUYER] {
        let browser = Browser::signed_in(harness::demo(), key).await;
        let page = browser.get("/console/notifications").await;
        page.expect(200, "Request published").expect(200, "Request closed").expect(200, "Request canceled");
        assert!(!page.text.contains("Opportunity published"), "{}", page.visible());
    }
}

/// Changes of the credits that are no sales have a reason of their own each.
#[tokio::test]
async fn changes_of_credits_say_their_reason() {
    let market = TestMarket::demo();
    let team = fixture_record_id("teams", demo_records().team_of(VENDOR));
    let adjust = async |amount: &str| {
        let body = json!({"team_id": team, "amount": amount, "description": "Test"});
        market.call(OPERATOR, "POST", "/operator/v1/adjustments", &body).await.expect_status(201);
    };
    adjust("20.00").await;
    adjust("-1.25").await;
    let browser = Browser::signed_in(&market, VENDOR).await;
    let check = "/console/inventory/changes/new";
    let page = browser.get(&format!("{check}?all=1&action=check&query=tide")).await;
    assert_eq!(browser.submit(&page, check, &[]).await.status(), 303);
    let file = browser.get("/console/wallet/entries?format=csv").await;
    let reason = |amount: &str| {
        let line = file.text.lines().find(|line| line.contains(&format!(",{amount},")));
        line.unwrap_or_else(|| panic!("{amount}: {}", file.text)).split(',').nth(1).unwrap()
    };
    assert_eq!((reason("20.00"), reason("-1.25")), ("Credits from the market", "Correction"));
    assert_eq!(reason("-5.00"), "Quality checks");
}

#[tokio::test]
async fn notifications_are_marked_as_read() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, "mkt_demo_vendor").await;
    let page = browser.get("/console/notifications?state=unread").await;
    page.expect(200, "Mark as read");
    let button = regex::Regex::new("action=\"(/console/notifications/[^\"/]{36}/read)\"").unwrap();
    let one = button.captures(&page.text).expect("buttons of single notifications")[1].to_owned();
    let file = browser.get("/console/notifications?state=unread&format=csv").await;
    let id = one.rsplit('/').nth(1).unwrap();
    file.expect(200, "Notification,Message,Received,Status,ID\r\n").expect(200, &format!(",Unread,{id}\r\n"));
    assert_eq!(
        browser.submit(&page, &one, &[]).await.location(),
        "/console/notifications?state=unread&notice=marked_read"
    );
    let again = browser.get("/console/notifications?state=unread").await;
    assert!(!again.text.contains(&one), "it is read");
    // Of two positions on either side of the same number, one has no records.
    let empty = async |side: &str| {
        let page =
            browser.get(&format!("/console/notifications?state=unread&from={side}0123456789abcdef")).await;
        (page.status() == 303).then(|| page.location().to_owned())
    };
    let first = Some("/console/notifications?state=unread".to_owned());
    assert_eq!(empty("o").await.or(empty("n").await), first, "an empty page leads to the first one");
    // Opening what a notification is about marks it as read; a link to it does not.
    let listed = again.text.matches("Mark as read<").count();
    let title =
        again.text.split("button class=\"link long\"><bdi><b>").nth(1).expect("a notification to open");
    let opened = browser.open_notification(title.split('<').next().unwrap()).await;
    browser.get(&opened).await;
    let again = browser.get("/console/notifications?state=unread").await;
    assert_eq!(again.text.matches("Mark as read<").count() + 1, listed, "{}", again.visible());
    // What has arrived since the list was shown stays unread, also if it has the time at which a step was due before.
    let all = "/console/notifications/read";
    let later = market.market().write_blocking(|writer| {
        let team = teams::team(writer.rows, demo_records().team_of(VENDOR)).row_id;
        notifications::send(
            &writer.as_of(Timestamp(writer.now.0 - 60_000_000)),
            team,
            NotificationType::SaleCompleted,
            ("Sold since", "A listing was sold."),
            "/wallet",
        )
    });
    later.unwrap();
    assert_eq!(browser.submit(&again, all, &[]).await.status(), 303);
    let left = browser.get("/console/notifications?state=unread").await;
    left.expect(200, "Sold since");
    assert_eq!(left.text.matches("Mark as read<").count(), 1, "{}", left.visible());
    for (newest, status) in [("", 422), ("now", 422), ("4c1852a8-6f3e-4cbb-9d3e-111111111111", 404)] {
        let refused = browser.submit(&left, all, &[("newest", newest)]).await;
        assert_eq!(refused.status(), status, "{newest}: {}", refused.visible());
    }
    assert!(!left.text.contains("not only these"), "{}", left.visible());
    let of_kind = browser.get("/console/notifications?type=estimation_completed").await;
    of_kind.expect(200, "Mark all as read, not only these");
    // There is nothing to mark in a list of what was read.
    let read = browser.get("/console/notifications?state=read").await;
    read.expect(200, "Notifications");
    assert!(!read.text.contains("Mark all as read"), "{}", read.visible());
    // The list stays as it was filtered.
    let marked = browser.submit(&left, all, &[]).await;
    assert_eq!(marked.status(), 303);
    assert!(marked.location().starts_with("/console/notifications?state=unread&"), "{}", marked.location());
    let none = browser.get("/console/notifications?state=unread").await;
    none.expect(200, "Nothing matches");
    assert!(!none.text.contains("Mark all as read"), "{}", none.visible());
    let other = Browser::signed_in(&market, BUYER).await;
    other.post(&one, &[]).await.expect(404, "This is not here");
}
