//! Bids and purchases never identify the buyer to the vendor.

use marketplace::domain::principals::PrincipalKind;

use crate::{
    contract::cases::{Case, RequiredAccess, cases},
    harness::{
        demo,
        documents::vendor_document,
        records::{self, demo_records, key},
    },
};

/// Returns the texts that identify a team: its ID, its name, and its API keys.
fn identifying_texts(team: &serde_json::Value) -> Vec<String> {
    let secrets = demo_records().collection("keys").iter().filter(|key| key["team"] == team["key"]);
    let secrets = secrets.filter_map(|key| key["secret"].as_str().map(str::to_owned));
    [records::id("teams", team).to_string(), team["name"].as_str().unwrap().to_owned()]
        .into_iter()
        .chain(secrets)
        .collect()
}

/// No response to a vendor in the demo market contains a buyer that has made a purchase or an offer, except
/// the vendor itself. Opportunities are left out, because they show their owner.
#[tokio::test]
async fn responses_to_vendors_never_identify_buyers() {
    let has_traded = |team: &serde_json::Value| {
        let of = |collection: &str| {
            demo_records().collection(collection).iter().any(|deal| deal["buyer"] == *key(team))
        };
        of("purchases") || of("offers")
    };
    let buyers: Vec<_> = demo_records().collection("teams").iter().filter(|team| has_traded(team)).collect();
    assert!(buyers.len() >= 4, "the demo market must have at least 4 buyers with purchases or offers");
    let mut checked = 0;
    let extra = ["get_wallet", "list_notifications"];
    let of_teams = cases().filter(|row: &&Case| row.access.key_kind() == PrincipalKind::Team);
    for row in of_teams.filter(|row| row.access == RequiredAccess::Vendor || extra.contains(&row.operation)) {
        let is_read =
            vendor_document().operation(row.operation).is_some_and(|operation| operation.method == "GET");
        if !is_read || row.operation.contains("opportunit") {
            continue;
        }
        for (secret, path) in row.ok_requests() {
            let own = demo_records().team_of(secret);
            let is_vendor = demo_records().find("teams", own)["roles"].to_string().contains("vendor");
            if !is_vendor {
                continue;
            }
            let mut response = demo().get(secret, &path).await.json();
            if let Some(messages) = response["notifications"].as_array_mut() {
                // These notifications are about opportunities, which buyers publish under their own name.
                let is_published =
                    |kind: &str| kind.starts_with("opportunity_") || kind.starts_with("project_bid_");
                messages.retain(|message| !is_published(message["type"].as_str().unwrap()));
            }
            let response = response.to_string();
            for buyer in buyers.iter().filter(|buyer| key(buyer) != own) {
                for name in identifying_texts(buyer) {
                    // A buyer that also sells is named as the vendor of its own listings.
                    assert!(!response.contains(&name), "{path} shows {name} to {secret}");
                }
            }
            checked += 1;
        }
    }
    assert!(checked > 300, "only {checked} responses were checked");
}
