//! Texts for agents only mention existing things: they do not send users to a web application.

use serde_json::json;

use super::{initialize, result};
use crate::{
    contract::cases::{BOTH, BUYER, VENDOR},
    harness::demo,
};

#[tokio::test]
async fn no_text_for_agents_mentions_a_web_app() {
    let mut texts = Vec::new();
    for key in [VENDOR, BUYER, BOTH] {
        texts.push(result(demo(), key, "tools/list", json!({})).await.to_string());
        texts.push(result(demo(), key, "prompts/list", json!({})).await.to_string());
        texts.push(initialize(key).await["instructions"].to_string());
        let guide = json!({"uri": "marketplace://guide"});
        texts.push(result(demo(), key, "resources/read", guide).await.to_string());
    }
    texts.push(include_str!("../../../src/mcp/text/guide.md").to_owned());
    for text in texts {
        let text = text.to_lowercase();
        for absent in ["web app", "website", "team's settings", "team settings"] {
            assert!(!text.contains(absent), "{absent} in {text}");
        }
    }
}
