//! Journals as HTTP archives, which browsers and other tools read: HAR 1.2.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use crate::{
    market::milliseconds,
    rest::sandbox_api::journal_files::{
        addresses::Addresses,
        shown::{ShownBody, ShownEntry},
    },
    worlds::journal::{Header, JournalEntry, Origin, find_header},
};

/// Returns an archive of entries. May read files.
pub fn har<'a>(entries: impl Iterator<Item = &'a JournalEntry>, addresses: &Addresses) -> Value {
    json!({
        "log": {
            "version": "1.2",
            "creator": {"name": "marketplace", "version": env!("CARGO_PKG_VERSION")},
            "entries": entries.map(|entry| har_entry(&ShownEntry::new(entry), addresses)).collect::<Vec<_>>(),
        }
    })
}

fn har_entry(shown: &ShownEntry, addresses: &Addresses) -> Value {
    let entry = shown.entry;
    let (answer, waited) = (entry.answer(), milliseconds(entry.waited));
    let answered = answer.map_or(0.0, |answer| milliseconds(answer.duration));
    let mut har = json!({
        "startedDateTime": entry.received_at.to_string(),
        "time": waited + answered,
        "request": har_request(shown, addresses),
        "response": har_response(shown),
        "cache": {},
        "timings": {"blocked": waited, "send": 0, "wait": answered, "receive": 0},
        "_number": entry.number,
        "_world_time": entry.at.to_string(),
    });
    let fields = [
        ("_operation", entry.request.operation.as_ref().map(|operation| operation.id.clone())),
        ("_team", entry.key().and_then(|key| key.team.as_ref()).map(|(_, name)| name.clone())),
        ("_key", entry.key().map(|key| key.name.clone())),
        ("_request_id", answer.and_then(|answer| answer.request_id.clone())),
        ("_fault_id", entry.fault_id().map(str::to_owned)),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            har[name] = json!(value);
        }
    }
    har
}

fn har_request(shown: &ShownEntry, addresses: &Addresses) -> Value {
    let request = &shown.entry.request;
    let base = match (request.origin, &addresses.port) {
        (Origin::Sandbox, _) => &addresses.server,
        (Origin::World, Some(port)) if request.is_by_port => port,
        (Origin::World, _) => &addresses.base,
    };
    let query = shown.query.as_deref().unwrap_or_default();
    let parameters = form_urlencoded::parse(query.as_bytes());
    let mut har = json!({
        "method": request.method,
        "url": format!("{base}{}", shown.path_and_query()),
        "httpVersion": request.version,
        "cookies": [],
        "headers": har_headers(&request.headers),
        "queryString": parameters.map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
        "headersSize": -1,
        "bodySize": shown.request_body.length,
    });
    if shown.request_body.length > 0 {
        let mut data = har_content(&shown.request_body);
        data.insert("mimeType".to_owned(), json!(content_type(&request.headers)));
        // Only the content of responses may state an encoding.
        if let Some(encoding) = data.remove("encoding") {
            data.insert("_encoding".to_owned(), encoding);
        }
        har["postData"] = Value::Object(data);
    }
    har
}

fn har_response(shown: &ShownEntry) -> Value {
    let answer = shown.entry.answer();
    let headers = answer.map_or(&[][..], |answer| &answer.headers);
    let status = answer.map_or(0, |answer| answer.status);
    let reason = poem::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let mut content = har_content(&shown.response_body);
    content.insert("size".to_owned(), json!(shown.response_body.bytes.len()));
    content.insert("mimeType".to_owned(), json!(content_type(headers)));
    json!({
        "status": status,
        "statusText": reason.unwrap_or_default(),
        "httpVersion": shown.entry.request.version,
        "cookies": [],
        "headers": har_headers(headers),
        "content": content,
        "redirectURL": find_header(headers, "location").map(String::from_utf8_lossy).unwrap_or_default(),
        "headersSize": -1,
        "bodySize": shown.response_body.length,
    })
}

/// Returns the text of a body, with a comment if it is not complete.
fn har_content(body: &ShownBody) -> Map<String, Value> {
    let mut content = Map::new();
    match body.text() {
        Some(text) => {
            content.insert("text".to_owned(), json!(text));
        }
        None => {
            content.insert("text".to_owned(), json!(STANDARD.encode(&body.bytes)));
            content.insert("encoding".to_owned(), json!("base64"));
        }
    }
    let comment = match body {
        ShownBody { is_cut: true, .. } => "This is only the beginning.",
        ShownBody { is_complete: false, .. } => "The transfer ended early, or has not ended.",
        _ => return content,
    };
    content.insert("comment".to_owned(), json!(comment));
    content
}

fn har_headers(headers: &[Header]) -> Vec<Value> {
    let header =
        |Header { name, value }: &Header| json!({"name": name, "value": String::from_utf8_lossy(value)});
    headers.iter().map(header).collect()
}

fn content_type(headers: &[Header]) -> String {
    find_header(headers, "content-type")
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .unwrap_or_default()
}
