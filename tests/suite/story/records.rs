//! All records of the story: every notification, history entry, event, message, and audit entry, in order, once.

use marketplace::domain::webhook_messages::{SigningSecret, signature_header};
use serde_json::{Value, json};

use super::{OPERATOR, Story, Webhook, text};
use crate::harness::{receiver::Received, waiting::poll_until};

/// Types of the vendor's notifications, oldest first.
const VENDOR_NOTIFICATIONS: [&str; 5] =
    ["quality_check_completed", "listing_approved", "sale_completed", "offer_received", "sale_completed"];

/// Types of the buyer's notifications, oldest first.
const BUYER_NOTIFICATIONS: [&str; 1] = ["offer_accepted"];

/// History of the listing, oldest first: the event, who did it, and the stage after it.
const HISTORY: [(&str, &str, &str); 5] = [
    ("created", "team", "draft"),
    ("asset_attached", "team", "draft"),
    ("submitted", "team", "review"),
    ("approved", "platform", "ready"),
    ("published", "team", "active"),
];

/// Events, oldest first: the type, and whose view it is.
const EVENTS: [(&str, &str); 38] = [
    ("key.created", ""),
    ("webhook.created", ""),
    ("team.created", "vendor"),
    ("key.created", "vendor"),
    ("webhook.created", "vendor"),
    ("wallet.credited", "vendor"),
    ("team.created", "buyer"),
    ("key.created", "buyer"),
    ("webhook.created", "buyer"),
    ("wallet.credited", "buyer"),
    ("asset.created", "vendor"),
    ("upload_grant.created", "vendor"),
    ("upload.completed", "vendor"),
    ("asset.created", "vendor"),
    ("upload_grant.consumed", "vendor"),
    ("asset.data_analyzed", "vendor"),
    ("asset.updated", "vendor"),
    ("asset.stage_changed", "vendor"),
    ("listing.created", "vendor"),
    ("listing.assets_attached", "vendor"),
    ("listing.submitted", "vendor"),
    ("wallet.debited", "vendor"),
    ("quality_run.started", "vendor"),
    ("quality_run.completed", "vendor"),
    ("listing.approved", "vendor"),
    ("listing.published", "vendor"),
    ("purchase.created", "buyer"),
    ("purchase.completed", "buyer"),
    ("purchase.completed", "vendor"),
    ("offer.submitted", "buyer"),
    ("offer.submitted", "vendor"),
    ("offer.accepted", "buyer"),
    ("offer.accepted", "vendor"),
    ("purchase.created", "buyer"),
    ("purchase.completed", "buyer"),
    ("purchase.completed", "vendor"),
    ("earnings.available", "vendor"),
    ("earnings.available", "vendor"),
];

/// Operations in the audit, oldest first.
const AUDIT: [&str; 17] = [
    "create_webhook",
    "create_team",
    "create_key",
    "create_webhook",
    "create_credit_purchase",
    "create_team",
    "create_key",
    "create_webhook",
    "create_credit_purchase",
    "create_grant",
    "create_listing",
    "submit_listing",
    "approve_listing",
    "publish_listing",
    "create_purchase",
    "create_offer",
    "accept_offer",
];

impl Story {
    async fn operator_list(&self, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/operator/v1/{path}limit=100{cursor}");
            let page = self.market.call(OPERATOR, "GET", &path, &Value::Null).await.ok();
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }

    pub async fn assert_notifications(&self) {
        let types = |feed: &Value| -> Vec<String> {
            let items = feed["notifications"].as_array().unwrap().iter();
            items.rev().map(|item| text(&item["type"])).collect()
        };
        let of_vendor = self.sell("GET", "/v2/vendor/notifications", Value::Null).await;
        let of_buyer = self.browse("/v2/vendor/notifications").await;
        assert_eq!(types(&of_vendor), VENDOR_NOTIFICATIONS);
        assert_eq!(types(&of_buyer), BUYER_NOTIFICATIONS);
        let all = self.operator_list("notifications?").await;
        assert_eq!(all.len(), VENDOR_NOTIFICATIONS.len() + BUYER_NOTIFICATIONS.len());
    }

    pub async fn assert_histories(&self, listing: &str, offer: &str, purchases: [&str; 2]) {
        let page = self.sell("GET", &format!("/v2/listings/{listing}/history"), Value::Null).await;
        let entries = page["events"].as_array().unwrap_or_else(|| panic!("{page}")).iter().rev();
        let of_vendor: Vec<_> = entries
            .map(|entry| (text(&entry["event_type"]), text(&entry["actor"]), text(&entry["to_status"])))
            .collect();
        let expected =
            HISTORY.map(|(event, actor, stage)| (event.to_owned(), actor.to_owned(), stage.to_owned()));
        assert_eq!(of_vendor, expected);
        let bids = self.browse("/v2/listings/browse/offers").await;
        let bids: Vec<_> = bids["offers"].as_array().unwrap().iter().map(|bid| &bid["offer"]).collect();
        assert_eq!(bids.len(), 1);
        assert_eq!((&bids[0]["id"], &bids[0]["status"]), (&json!(offer), &json!("accepted")));
        let bought = self.browse("/v2/listings/browse/purchases").await;
        let bought = bought["purchases"].as_array().unwrap().iter().rev().map(|bought| &bought["purchase"]);
        let bought: Vec<_> = bought.map(|bought| (&bought["id"], &bought["purchase_kind"])).collect();
        let [sample, bid] = purchases.map(|id| json!(id));
        assert_eq!(bought, [(&sample, &json!("sample")), (&bid, &json!("accepted_bid"))]);
        assert_eq!(self.operator_list("offers?").await.len(), 1);
        assert_eq!(self.operator_list("purchases?status=completed&").await.len(), 2);
    }

    pub async fn assert_events_and_webhooks(&self) {
        let events = self.operator_list("events?").await;
        let found: Vec<_> = events.iter().map(|event| (text(&event["type"]), self.view_of(event))).collect();
        let expected = EVENTS.map(|(kind, view)| (kind.to_owned(), view));
        assert_eq!(found, expected);
        let places: Vec<String> = events.iter().map(|event| text(&event["id"])).collect();
        assert!(places.is_sorted_by(|before, after| before < after), "{places:?}");
        let parties = [(&self.vendor, "vendor"), (&self.buyer, "buyer")];
        for (party, view) in parties {
            let own = self.operator_list(&format!("events?team={}&", party.id)).await;
            assert!(own.iter().all(|event| self.view_of(event) == view));
            assert_eq!(own.len(), EVENTS.iter().filter(|event| event.1 == view).count());
            self.assert_received(&party.webhook, &own, false).await;
        }
        self.assert_received(&self.operators, &events, true).await;
    }

    fn view_of(&self, event: &Value) -> &'static str {
        let Some(team) = event["team_id"].as_str() else { return "" };
        if team == self.vendor.id { "vendor" } else { "buyer" }
    }

    /// Checks that a webhook got each event since its creation once, with a signature, and nothing else.
    async fn assert_received(&self, webhook: &Webhook, events: &[Value], is_of_operators: bool) {
        // A webhook gets no events about itself, and nothing that was before it.
        let is_itself = |event: &Value| event["subject"]["id"] == webhook.id.as_str();
        let begin = events.iter().position(is_itself).unwrap();
        let expected: Vec<(String, String)> = events[begin + 1..]
            .iter()
            .map(|event| {
                let mut data = event["data"].clone();
                data["subject"] = event["subject"].clone();
                if is_of_operators {
                    data["team_id"] = event["team_id"].clone();
                }
                let message = json!({"type": event["type"], "timestamp": event["occurred_at"], "data": data});
                (text(&event["occurred_at"]), message.to_string())
            })
            .collect();
        let received = webhook.endpoint.wait_for(expected.len()).await;
        self.wait_until_recorded(webhook, expected.len()).await;
        assert_eq!(webhook.endpoint.received().len(), expected.len(), "nothing is sent twice");
        let message = |request: &Received| (text(&request.json()["timestamp"]), request.json().to_string());
        // The order is that of the timestamps, which the events of an operation share.
        assert_eq!(sorted(received.iter().map(message).collect()), sorted(expected));
        let secret = SigningSecret::parse(&webhook.secret).unwrap();
        for request in &received {
            let (id, at) = (request.header("webhook-id"), request.header("webhook-timestamp"));
            let signature = signature_header(&[secret], id, at.parse().unwrap(), &request.body);
            assert_eq!(request.header("webhook-signature"), signature);
        }
        let ids = sorted(received.iter().map(|request| request.header("webhook-id").to_owned()).collect());
        assert!(ids.is_sorted_by(|before, after| before < after), "each message has its own ID");
    }

    /// Waits until all deliveries to a webhook have succeeded, each with one attempt.
    async fn wait_until_recorded(&self, webhook: &Webhook, count: usize) {
        poll_until("the record of the attempts", async || {
            let sent = self.operator_list(&format!("webhook-deliveries?webhook_id={}&", webhook.id)).await;
            assert_eq!(sent.len(), count);
            let have_succeeded = sent.iter().all(|delivery| delivery["status"] == "succeeded");
            assert!(!have_succeeded || sent.iter().all(|delivery| delivery["attempt_count"] == 1));
            have_succeeded
        })
        .await;
    }

    pub async fn assert_audit(&self) {
        let entries = self.operator_list("audit?").await;
        let found: Vec<String> = entries.iter().rev().map(|entry| text(&entry["operation"])).collect();
        assert_eq!(found, AUDIT);
    }
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items
}
