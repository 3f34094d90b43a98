//! Nothing that a vendor gets identifies a buyer: responses, events, and webhooks, in the demo market and in the markets of
//! random operations. Requests in the name of a buyer have its name wherever a client may write a text of its own.

mod attestations;
mod console;
mod demo;
pub mod random;
mod trades;

use marketplace::{
    domain::{events::EventRowId, webhook_messages::Message},
    market::Market,
    store::{self, events::Event},
    string_enum::StringEnum,
};
use serde_json::Value;
use uuid::Uuid;

use crate::harness::TestResponse;

/// Texts that identify teams, in the spellings that a URL or a request ID could have. Lower case.
#[derive(Clone, Debug, Default)]
pub struct Hidden(Vec<String>);

impl Hidden {
    /// Adds IDs, names, or keys.
    pub fn add(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            let text = text.to_lowercase();
            self.0.extend(["-", "_", "+", "%20"].map(|space| text.replace(' ', space)));
            if Uuid::try_parse(&text).is_ok() {
                self.0.push(text.replace('-', ""));
            }
            self.0.push(text);
        }
        self.0.sort();
        self.0.dedup();
    }

    /// Returns the first of them that a text has.
    fn find_in(&self, text: &str) -> Option<&String> {
        let lower = text.to_lowercase();
        self.0.iter().find(|hidden| lower.contains(*hidden))
    }

    /// Asserts that a text contains none of them. `what` names the text.
    pub fn assert_absent(&self, what: &str, text: &str) {
        let found = self.find_in(text);
        assert!(found.is_none(), "{what} shows {found:?}: {text}");
    }
}

/// Returns the head and the body of a response.
pub fn text_of(response: &TestResponse) -> String {
    let headers = response.headers.iter().map(|(name, value)| format!("{name}: {value:?}\n"));
    headers.collect::<String>() + &String::from_utf8_lossy(&response.bytes)
}

/// Returns a text that clients may send as the ID of a request and as idempotency key, with a name in it.
pub fn planted(name: &str, number: usize) -> String {
    format!("{}-{number}", name.to_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"))
}

/// Removes notifications about opportunities, which buyers publish under their own name.
fn without_opportunities(mut feed: Value) -> Value {
    if let Some(messages) = feed["notifications"].as_array_mut() {
        let is_about_opportunity =
            |kind: &str| kind.starts_with("opportunity_") || kind.starts_with("project_bid_");
        messages.retain(|message| !is_about_opportunity(message["type"].as_str().unwrap()));
    }
    feed
}

/// Whether an event shows another team that is no secret: buyers publish opportunities under their own name, and see who
/// bids on them.
fn is_about_opportunity(event_type: &str, data: &Value, team: Uuid) -> bool {
    match event_type.split_once('.') {
        Some(("opportunity", _)) => true,
        Some(("project_bid", _)) => data["vendor_id"] != team.to_string(),
        _ => false,
    }
}

/// Returns the events in the view of a team, except about opportunities.
fn events(market: &Market, team: Uuid) -> Vec<Event> {
    let all = market.read_blocking(|reader| store::events::list_after(reader.rows, EventRowId(0), 1_000_000));
    let own = all.unwrap().into_iter().filter(|event| event.team == Some(team));
    own.filter(|event| {
        let data = serde_json::from_str(&event.data).unwrap();
        !is_about_opportunity(event.event_type.as_str(), &data, team)
    })
    .collect()
}

/// Returns the message of an event to a webhook of the team in whose view it is.
fn message(event: &Event) -> String {
    let message = Message {
        event_type: event.event_type,
        occurred_at: event.occurred_at,
        subject: &event.subject,
        data: &event.data,
    };
    message.body_for_team().unwrap()
}
