//! Journals as scripts for bash, which send the requests with curl.

use std::{collections::HashMap, fmt::Write as _, ops::Range};

use base64::{Engine, engine::general_purpose::STANDARD};
use uuid::Uuid;

use crate::{
    rest::sandbox_api::journal_files::{
        addresses::Addresses,
        shown::{ShownBody, ShownEntry},
    },
    web::key_headers::KEY_HEADERS,
    worlds::journal::{Header, JournalEntry, KeyLabel, Origin, secrets},
};

/// Headers that curl sends by itself, or that belong to a connection.
const OMITTED: [&str; 6] =
    ["host", "content-length", "connection", "transfer-encoding", "accept-encoding", "expect"];

/// Headers that curl sends by default.
const DEFAULTS: [&str; 3] = ["accept", "content-type", "user-agent"];

/// Size in bytes up to which a body is an argument.
const MAX_ARGUMENT: usize = 16 * 1024;

/// Number of characters in a line of base64.
const LINE: usize = 76;

/// Returns a script that sends the requests of entries in their order. May read files.
pub fn curl_script<'a>(entries: impl Iterator<Item = &'a JournalEntry>, addresses: &Addresses) -> String {
    let mut writer =
        ScriptWriter { addresses, keys: HashMap::new(), head: String::new(), body: String::new() };
    let (mut uses_server, mut uses_port) = (false, false);
    for entry in entries {
        uses_server |= entry.request.origin == Origin::Sandbox;
        uses_port |= entry.request.is_by_port;
        writer.add(&ShownEntry::new(entry));
    }
    let mut script = "#!/usr/bin/env bash\n".to_owned();
    let _ =
        writeln!(script, "# The requests to the world {}, in the order of their admission.", addresses.world);
    script.push_str("set -u\n");
    let _ = writeln!(
        script,
        "BASE=\"${{BASE:-}}\"; [ -n \"$BASE\" ] || BASE={}",
        quoted(addresses.base.as_bytes())
    );
    if uses_port {
        script.push_str("PORT_BASE=\"${PORT_BASE:-$BASE}\"\n");
    }
    if uses_server {
        let server = quoted(addresses.server.as_bytes());
        let _ = writeln!(script, "SERVER=\"${{SERVER:-}}\"; [ -n \"$SERVER\" ] || SERVER={server}");
        let _ = writeln!(script, "WORLD=\"${{WORLD:-{}}}\"", addresses.world);
    }
    script + &writer.head + &writer.body
}

struct ScriptWriter<'a> {
    addresses: &'a Addresses,
    /// The variables of keys.
    keys: HashMap<(Uuid, bool), String>,
    head: String,
    body: String,
}

impl ScriptWriter<'_> {
    fn add(&mut self, shown: &ShownEntry) {
        let entry = shown.entry;
        let request = &entry.request;
        let operation = request.operation.as_ref().map_or("no operation", |operation| &operation.id);
        let outcome = match entry.answer() {
            Some(answer) => answer.status.to_string(),
            None => "no answer".to_owned(),
        };
        let (number, at) = (entry.number, entry.at);
        let _ = writeln!(self.body, "\n# {number}, {at}: {operation}, {outcome}");
        let url = self.url(entry);
        let mut command =
            format!("curl -sS -g --path-as-is -w '\\n%{{http_code}}\\n' {} {url}", method(&request.method));
        for line in self.headers(entry) {
            let _ = write!(command, " \\\n  -H {line}");
        }
        let body = self.add_body(number, &shown.request_body, &mut command);
        match body {
            Some(document) => {
                let _ = writeln!(self.body, "base64 -d <<'BODY' | {command}\n{document}BODY");
            }
            None => {
                let _ = writeln!(self.body, "{command}");
            }
        }
    }

    /// Returns the address, with variables for what is masked.
    fn url(&mut self, entry: &JournalEntry) -> String {
        let request = &entry.request;
        let sandbox = format!("/sandbox/v1/worlds/{}", self.addresses.world);
        let (base, path) = match request.origin {
            Origin::World if request.is_by_port => ("\"$PORT_BASE\"", request.path.as_str()),
            Origin::World => ("\"$BASE\"", request.path.as_str()),
            Origin::Sandbox => (
                "\"$SERVER/sandbox/v1/worlds/$WORLD\"",
                request.path.strip_prefix(&sandbox).unwrap_or(&request.path),
            ),
        };
        let (mut url, mut masked, mut literal) = (base.to_owned(), 0, Vec::new());
        let mut add = |text: &str, places: Vec<Range<usize>>| {
            let mut end = 0;
            for place in places {
                masked += 1;
                let variable = self.secret(entry.number, masked);
                literal.extend_from_slice(&text.as_bytes()[end..place.start]);
                let _ = write!(url, "{}\"${variable}\"", take_quoted(&mut literal));
                end = place.end;
            }
            literal.extend_from_slice(&text.as_bytes()[end..]);
        };
        add(path, secrets::find_in_path(path));
        if let Some(query) = &request.query {
            add("?", Vec::new());
            add(query, secrets::find(query.as_bytes(), false));
        }
        url + &take_quoted(&mut literal)
    }

    /// Declares the variable of a secret in an address.
    fn secret(&mut self, number: u64, count: u32) -> String {
        let variable = format!("SECRET_{number}_{count}");
        let _ = writeln!(
            self.head,
            "{variable}=\"${{{variable}:-}}\" # a secret in the address of request {number}, from an earlier answer"
        );
        variable
    }

    /// Returns the arguments for headers.
    fn headers(&mut self, entry: &JournalEntry) -> Vec<String> {
        let request = &entry.request;
        let is_sent = |name: &str| request.headers.iter().any(|header| header.name == name);
        // Only the first of the headers with a key counts.
        let carrier = KEY_HEADERS.iter().find(|carrier| is_sent(carrier.as_str()));
        let mut lines = Vec::new();
        for Header { name, value } in &request.headers {
            if OMITTED.contains(&name.as_str()) {
                continue;
            }
            let key = entry.key().filter(|_| carrier.is_some_and(|carrier| carrier.as_str() == name));
            if let Some(key) = key {
                let variable = self.key(key);
                let scheme = if name == "authorization" { "Bearer " } else { "" };
                lines.push(format!("\"{name}: {scheme}${variable}\""));
            } else if value.is_empty() {
                lines.push(quoted(format!("{name};").as_bytes()));
            } else {
                lines.push(quoted(&[name.as_bytes(), b": ", value].concat()));
            }
        }
        let unwanted = DEFAULTS.into_iter().filter(|name| !is_sent(name));
        lines.extend(unwanted.map(|name| quoted(format!("{name}:").as_bytes())));
        lines
    }

    /// Returns the variable of a key, which is declared at its first use.
    fn key(&mut self, key: &KeyLabel) -> String {
        if let Some(known) = self.keys.get(&(key.id, key.is_of_server)) {
            return known.clone();
        }
        let (owner, description) = match &key.team {
            Some((_, team)) => (team.as_str(), format!("the API key {} of {team}", key.name)),
            None if key.is_of_server => ("SERVER", format!("the operator key {} of the server", key.name)),
            None => ("OPERATOR", format!("the operator key {}", key.name)),
        };
        let base = format!("KEY_{}", variable_name(owner));
        let is_free = |name: &String| !self.keys.values().any(|used| used == name);
        let numbered = (2..).map(|number: u32| format!("{base}_{number}"));
        let variable = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or_default();
        let description: String = description
            .chars()
            .filter(|character| character.is_alphanumeric() || *character == ' ')
            .collect();
        let _ = writeln!(self.head, ": \"${{{variable}:?{description}}}\"");
        self.keys.insert((key.id, key.is_of_server), variable.clone());
        variable
    }

    /// Adds the body to the arguments of a command. Returns its base64 if it is to be standard input instead.
    fn add_body(&mut self, number: u64, body: &ShownBody, command: &mut String) -> Option<String> {
        if body.length == 0 {
            return None;
        }
        if body.is_cut {
            let variable = format!("BODY_{number}");
            let _ = writeln!(self.head, ": \"${{{variable}:?a file with the body of request {number}}}\"");
            let _ = write!(command, " \\\n  --data-binary \"@${variable}\"");
            return None;
        }
        if body.bytes.len() <= MAX_ARGUMENT && !body.bytes.contains(&0) {
            let _ = write!(command, " \\\n  --data-raw {}", quoted(&body.bytes));
            return None;
        }
        command.push_str(" \\\n  --data-binary @-");
        let encoded = STANDARD.encode(&body.bytes);
        let lines = encoded.as_bytes().chunks(LINE).map(String::from_utf8_lossy);
        Some(lines.fold(String::new(), |text, line| text + &line + "\n"))
    }
}

/// Returns the arguments for a method.
fn method(method: &str) -> String {
    match method {
        "HEAD" => "--head".to_owned(),
        other => format!("-X {}", quoted(other.as_bytes())),
    }
}

/// Returns a text as part of the name of a variable.
fn variable_name(text: &str) -> String {
    let part = |character: char| {
        if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' }
    };
    text.chars().take(40).map(part).collect()
}

/// Takes bytes as a word of bash; empty if there are none.
fn take_quoted(bytes: &mut Vec<u8>) -> String {
    let taken = std::mem::take(bytes);
    if taken.is_empty() { String::new() } else { quoted(&taken) }
}

/// Returns bytes other than 0 as one word of bash.
pub fn quoted(bytes: &[u8]) -> String {
    let is_plain = |character: char| !character.is_control() || character == '\n';
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(is_plain) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => {
            let mut word = "$'".to_owned();
            for byte in bytes {
                match byte {
                    b'\'' | b'\\' => {
                        word.push('\\');
                        word.push(char::from(*byte));
                    }
                    b' '..=b'~' => word.push(char::from(*byte)),
                    // Always three digits, so that a following digit is not part of it.
                    other => {
                        let _ = write!(word, "\\{other:03o}");
                    }
                }
            }
            word + "'"
        }
    }
}
