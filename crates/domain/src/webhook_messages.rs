//! Messages to webhooks, as Standard Webhooks prescribes: the body, the ID, and the signatures.

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use uuid::Uuid;

use super::{
    events::{EventRowId, EventSubject, EventType},
    time::Timestamp,
};
use crate::string_enum::StringEnum;

/// Prefix of a signing secret.
const SECRET_PREFIX: &str = "whsec_";

/// Prefix of the ID of a message.
const ID_PREFIX: &str = "msg_";

/// Maximum number of bytes of a body.
pub const MAX_BODY_BYTES: usize = 20_000;

/// A secret that signs messages. Its `Debug` output does not reveal it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SigningSecret(pub [u8; 32]);

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningSecret")
    }
}

impl SigningSecret {
    /// Returns the secret as the owner of the endpoint gets it.
    pub fn reveal(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(self.0))
    }

    /// Parses a secret as its owner has it.
    pub fn parse(text: &str) -> Option<SigningSecret> {
        let bytes = STANDARD.decode(text.strip_prefix(SECRET_PREFIX)?).ok()?;
        Some(SigningSecret(bytes.try_into().ok()?))
    }

    /// Signs a message. `timestamp` is in seconds since 1970.
    fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body.as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// Returns the header `webhook-signature`: the signatures with each secret. `timestamp` is in seconds since 1970.
pub fn signature_header(secrets: &[SigningSecret], id: &str, timestamp: i64, body: &str) -> String {
    secrets.iter().map(|secret| secret.sign(id, timestamp, body)).collect::<Vec<_>>().join(" ")
}

/// Returns the ID of the delivery of an event to an endpoint. Without the endpoint's `id_secret`, the ID reveals nothing about
/// the event, such as the number of events. `number` is the row ID of the event. In a world, reports of clock advances are not
/// counted, so another event may have the same number.
pub fn delivery_id(id_secret: &[u8; 32], event_type: EventType, number: EventRowId) -> Uuid {
    let mut mac = Hmac::<Sha256>::new_from_slice(id_secret).expect("HMAC takes keys of any length");
    mac.update(&number.0.to_be_bytes());
    if event_type == EventType::ClockAdvanced {
        mac.update(event_type.as_str().as_bytes());
    }
    let digest: [u8; 32] = mac.finalize().into_bytes().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// Returns the header `webhook-id` of a delivery, which is the same at each attempt.
pub fn message_id(delivery: Uuid) -> String {
    format!("{ID_PREFIX}{}", delivery.simple())
}

/// An event, as a body is made from it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Type of the event.
    pub event_type: EventType,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// The record that the event is about.
    pub subject: &'a EventSubject,
    /// Data of the event, a JSON object.
    pub data: &'a str,
}

impl Message<'_> {
    /// Returns the body for the team whose view the event is. Its data names the subject, too.
    pub fn body_for_team(&self) -> serde_json::Result<String> {
        self.body(Map::new())
    }

    /// Returns the body for operators. Its data also names the team whose view the event is, or `null` if it
    /// affects none.
    pub fn body_for_operators(&self, team: Option<Uuid>) -> serde_json::Result<String> {
        self.body(Map::from_iter([("team_id".to_owned(), json!(team))]))
    }

    /// Returns the body, with `added` in its data. If the body would be too large, its data is only `added`.
    fn body(&self, mut added: Map<String, Value>) -> serde_json::Result<String> {
        let subject = json!({"kind": self.event_type.resource(), "id": self.subject.0});
        added.insert("subject".to_owned(), subject);
        let mut data = added.clone();
        // The fields of the event itself take precedence.
        data.extend(serde_json::from_str::<Map<String, Value>>(self.data)?);
        let body = self.body_with(data);
        if body.len() <= MAX_BODY_BYTES {
            return Ok(body);
        }
        added.insert("truncated".to_owned(), json!(true));
        Ok(self.body_with(added))
    }

    fn body_with(&self, data: Map<String, Value>) -> String {
        let body = json!({"type": self.event_type.as_str(), "timestamp": self.occurred_at, "data": Value::Object(data)});
        body.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signed message that was checked with other implementations: `.ci/webhooks`.
    #[derive(serde::Deserialize)]
    struct Vector {
        secrets: Vec<String>,
        id: String,
        timestamp: i64,
        body: String,
        signature: String,
    }

    #[test]
    fn signatures_are_those_of_the_vectors() {
        let vectors: Vec<Vector> =
            serde_json::from_str(include_str!("../../../tests/suite/webhooks/signatures.json")).unwrap();
        assert!(vectors.len() >= 4);
        for vector in vectors {
            let secrets: Vec<SigningSecret> =
                vector.secrets.iter().map(|secret| SigningSecret::parse(secret).unwrap()).collect();
            let signature = signature_header(&secrets, &vector.id, vector.timestamp, &vector.body);
            assert_eq!(signature, vector.signature, "{}", vector.id);
            assert!(secrets.iter().zip(&vector.secrets).all(|(secret, text)| secret.reveal() == *text));
        }
    }

    #[test]
    fn secret_is_not_in_debug_output() {
        assert_eq!(format!("{:?}", SigningSecret([7; 32])), "SigningSecret");
    }

    #[test]
    fn ids_differ_by_event_and_endpoint_and_have_no_period() {
        let id_of = |secret: u8, event_type, number| {
            message_id(delivery_id(&[secret; 32], event_type, EventRowId(number)))
        };
        let id = |secret, number| id_of(secret, EventType::TeamRenamed, number);
        assert_ne!(
            id(1, 7),
            id_of(1, EventType::ClockAdvanced, 7),
            "it may have the number of another event"
        );
        assert_eq!(id(1, 7), id(1, 7));
        assert_ne!(id(1, 7), id(1, 8));
        assert_ne!(id(1, 7), id(2, 7));
        assert!(id(1, 7).starts_with("msg_") && id(1, 7).len() == 36 && !id(1, 7).contains('.'));
    }

    fn message<'a>(subject: &'a EventSubject, data: &'a str) -> Message<'a> {
        let occurred_at = Timestamp::parse("2026-03-01T09:00:00Z").unwrap();
        Message { event_type: EventType::TeamRenamed, occurred_at, subject, data }
    }

    fn parse(body: &str) -> Value {
        serde_json::from_str(body).unwrap()
    }

    #[test]
    fn body_has_type_timestamp_and_data() {
        let subject = EventSubject("s-1".to_owned());
        let message = message(&subject, r#"{"name":"A"}"#);
        let subject = json!({"kind": "team", "id": "s-1"});
        let expected = |data: Value| json!({"type": "team.renamed", "timestamp": "2026-03-01T09:00:00.000Z", "data": data});
        let team = parse(&message.body_for_team().unwrap());
        assert_eq!(team, expected(json!({"name": "A", "subject": subject})));
        let operators = parse(&message.body_for_operators(None).unwrap());
        assert_eq!(operators, expected(json!({"name": "A", "subject": subject, "team_id": null})));
        let id = Uuid::from_u128(5);
        let operators = parse(&message.body_for_operators(Some(id)).unwrap());
        assert_eq!(operators["data"]["team_id"], id.to_string());
    }

    #[test]
    fn data_that_is_too_large_is_left_out() {
        let subject = EventSubject("s-1".to_owned());
        let data = json!({"name": "x".repeat(MAX_BODY_BYTES)}).to_string();
        let body = message(&subject, &data).body_for_team().unwrap();
        let subject = json!({"kind": "team", "id": "s-1"});
        assert_eq!(parse(&body)["data"], json!({"subject": subject, "truncated": true}));
    }
}
