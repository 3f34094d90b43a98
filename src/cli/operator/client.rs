//! How commands call the operator API: in process, on the data directory, or over HTTP, on a running server. Both run
//! the same routes, so a command behaves the same way.

use std::{
    io::{Read, Seek},
    path::Path,
};

use clap::{Args, Subcommand};
use serde_json::{Map, Value};
use tokio::runtime::Runtime;

use crate::{
    cli::{
        CommandError, CommandResult, GlobalOptions,
        lists::{print_json, print_table},
        print_line, process,
    },
    error::ErrorChain,
    http_client,
    rest::{self, OperatorRoutes},
    string_enum::StringEnum,
};

/// The variable with the operator key for `--url`.
const KEY_VARIABLE: &str = "MARKETPLACE_OPERATOR_KEY";

/// The variable with the URL of the server, if `--url` is not set.
const URL_VARIABLE: &str = "MARKETPLACE_OPERATOR_URL";

/// Seconds that a server may take to respond. Its own limit is shorter by default.
const RESPONSE_SECONDS: u64 = 120;

/// Maximum number of items that a command lists.
const MAX_ITEMS: usize = 100_000;

/// Number of items of a page that a command requests.
const PAGE_ITEMS: usize = 100;

/// Options of the commands that use the operator API.
#[derive(Debug, Args)]
pub struct OperatorOptions {
    /// URL of a running server to use instead of a data directory [default: the variable `MARKETPLACE_OPERATOR_URL`].
    /// The variable `MARKETPLACE_OPERATOR_KEY` must contain an operator key.
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// Print JSON: what the operator API responds.
    #[arg(long, global = true)]
    pub json: bool,
}

/// A command with subcommands that use the operator API.
#[derive(Debug, Args)]
pub struct OperatorCommand<C: Subcommand> {
    #[command(subcommand)]
    pub command: C,
    #[command(flatten)]
    pub options: OperatorOptions,
}

/// A connection to the operator API.
pub struct Client {
    target: Target,
    json: bool,
}

enum Target {
    /// The market in the data directory.
    Local(Box<Runtime>, OperatorRoutes),
    /// A running server.
    Remote { client: reqwest::blocking::Client, base_url: String, key: String },
}

impl OperatorOptions {
    /// Connects to the server that the options name, or else opens the data directory. Creates a market there if there
    /// is none and `may_create` is set.
    pub fn connect(&self, global: &GlobalOptions, may_create: bool) -> Result<Client, CommandError> {
        let from_variable = || std::env::var(URL_VARIABLE).ok().filter(|url| !url.is_empty());
        let target = match self.url.clone().or_else(from_variable) {
            Some(url) => connect_to_server(&url)?,
            None => {
                let market = global.open_market(may_create)?;
                let runtime = process::build_runtime(market.settings())?;
                Target::Local(Box::new(runtime), OperatorRoutes::new(market))
            }
        };
        Ok(Client { target, json: self.json })
    }
}

fn connect_to_server(url: &str) -> Result<Target, CommandError> {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(CommandError::Usage(format!(
            "{url:?} is not a URL that begins with http:// or https://"
        )));
    }
    let Some(key) = std::env::var(KEY_VARIABLE).ok().filter(|key| !key.is_empty()) else {
        let message = format!("the variable {KEY_VARIABLE} must contain an operator key of the server");
        return Err(CommandError::Usage(message));
    };
    Ok(Target::Remote { client: http_client()?, base_url: url.trim_end_matches('/').to_owned(), key })
}

fn http_client() -> Result<reqwest::blocking::Client, CommandError> {
    let builder = http_client::blocking().map_err(|cause| CommandError::Other(cause.to_string()))?;
    let client = builder.timeout(std::time::Duration::from_secs(RESPONSE_SECONDS)).build();
    client.map_err(|cause| CommandError::Other(ErrorChain(&cause).to_string()))
}

impl Client {
    /// Returns a record. `path` begins after the prefix of the API.
    pub fn get(&self, path: &str) -> Result<Value, CommandError> {
        self.request("GET", path, None)
    }

    /// Performs a POST, with a body unless it is null, and returns the response.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, CommandError> {
        self.request("POST", path, Some(body).filter(|body| !body.is_null()))
    }

    /// Changes the fields of a record, and returns it.
    pub fn patch(&self, path: &str, body: &Value) -> Result<Value, CommandError> {
        self.request("PATCH", path, Some(body))
    }

    /// Deletes a record.
    pub fn delete(&self, path: &str) -> Result<(), CommandError> {
        self.request("DELETE", path, None).map(drop)
    }

    /// Returns the items of a list, at most `limit`, with these query parameters. Parameters with null are left out.
    pub fn list(
        &self,
        path: &str,
        filters: &[(&str, Value)],
        limit: Option<usize>,
    ) -> Result<Vec<Value>, CommandError> {
        let limit = limit.unwrap_or(MAX_ITEMS);
        let (mut items, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page_limit = (limit - items.len()).min(PAGE_ITEMS);
            let parameters = [("limit", Value::from(page_limit)), ("cursor", cursor)];
            let query = encode_query(filters.iter().chain(&parameters));
            let mut page = self.get(&format!("{path}?{query}"))?;
            match page["items"].take() {
                Value::Array(found) => items.extend(found),
                _ => return Err(CommandError::Other(format!("the response of {path} is not a list"))),
            }
            cursor = page["next_cursor"].take();
            if cursor.is_null() || items.len() >= limit {
                return Ok(items);
            }
        }
    }

    /// Returns a page of events after a place.
    pub fn event_page(
        &self,
        filters: &[(&str, Value)],
        cursor: &Value,
        limit: usize,
    ) -> Result<Value, CommandError> {
        let parameters = [("limit", Value::from(limit.min(PAGE_ITEMS))), ("cursor", cursor.clone())];
        self.get(&format!("/events?{}", encode_query(filters.iter().chain(&parameters))))
    }

    /// Sends a part of a file to where a plan of an upload says: `length` bytes from `start` on.
    pub fn put_part(&self, part: &Value, file: &Path, start: u64, length: u64) -> CommandResult {
        let url = part["url"].as_str().unwrap_or_default();
        let headers: Vec<(String, String)> = part["headers"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect();
        let cannot_read =
            |cause: std::io::Error| CommandError::Other(format!("cannot read {}: {cause}", file.display()));
        let mut opened = std::fs::File::open(file).map_err(cannot_read)?;
        opened.seek(std::io::SeekFrom::Start(start)).map_err(cannot_read)?;
        let status = match &self.target {
            Target::Local(runtime, routes) if routes.serves(url) => {
                runtime.block_on(routes.put(url, &headers, opened, length))?
            }
            target => {
                let client = match target {
                    Target::Remote { client, .. } => client.clone(),
                    Target::Local(..) => http_client()?,
                };
                let body = reqwest::blocking::Body::sized(opened.take(length), length);
                let request = headers
                    .iter()
                    .fold(client.put(url).body(body), |request, (name, value)| request.header(name, value));
                send(request)?.0
            }
        };
        match status {
            200..300 => Ok(()),
            _ => Err(CommandError::Other(format!("the upload of a part was refused with status {status}"))),
        }
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, CommandError> {
        let path = format!("{}{path}", rest::OPERATOR.prefix);
        let (status, bytes) = match &self.target {
            Target::Local(runtime, routes) => runtime.block_on(routes.request(method, &path, body))?,
            Target::Remote { client, base_url, key } => {
                let method = reqwest::Method::from_bytes(method.as_bytes())
                    .map_err(|cause| CommandError::Other(cause.to_string()))?;
                let request = client.request(method, format!("{base_url}{path}")).bearer_auth(key);
                let request = match body {
                    Some(body) => request.header("content-type", "application/json").body(body.to_string()),
                    None => request,
                };
                send(request)?
            }
        };
        let json = if bytes.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&bytes) };
        match (status, json) {
            (200..300, Ok(json)) => Ok(json),
            (_, Ok(json)) if status >= 400 => Err(refusal(&json)),
            _ => Err(CommandError::Other(format!(
                "the server responded with status {status}, and not as the operator API does; check the URL"
            ))),
        }
    }

    /// Prints a list: JSON, or else a table with these columns.
    pub fn print_list(&self, columns: &[&str], items: Vec<Value>) {
        if self.json { print_json(&items.into()) } else { print_table(columns, &items) }
    }

    /// Prints a new record: JSON, or else its ID.
    pub fn print_id(&self, record: &Value) {
        self.print(record, |record| print_line(record["id"].as_str().unwrap_or_default()));
    }

    /// Prints a result: JSON, or else what `print` prints.
    pub fn print(&self, result: &Value, print: impl FnOnce(&Value)) {
        if self.json { print_json(result) } else { print(result) }
    }
}

fn send(request: reqwest::blocking::RequestBuilder) -> Result<(u16, Vec<u8>), CommandError> {
    let to_error = |cause: reqwest::Error| CommandError::Other(ErrorChain(&cause.without_url()).to_string());
    let response = request.send().map_err(to_error)?;
    let status = response.status().as_u16();
    Ok((status, response.bytes().map_err(to_error)?.to_vec()))
}

/// Returns the error for a response: its message, or all problems of the request.
fn refusal(json: &Value) -> CommandError {
    if let Some(message) = json["error"]["message"].as_str() {
        return CommandError::Other(message.to_owned());
    }
    let problems = json["detail"].as_array().into_iter().flatten();
    let messages: Vec<&str> = problems.filter_map(|problem| problem["msg"].as_str()).collect();
    CommandError::Other(messages.join(" "))
}

/// Returns a query string. Arrays become repeated parameters.
fn encode_query<'a>(parameters: impl Iterator<Item = &'a (&'a str, Value)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        match value {
            Value::Null => {}
            Value::Array(values) => {
                query.extend_pairs(values.iter().map(|value| (*name, plain(value))));
            }
            value => {
                query.append_pair(name, &plain(value));
            }
        }
    }
    query.finish()
}

/// Returns a value as a parameter.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Parses a value of a string enum.
pub fn parse_value<T: StringEnum>(text: &str) -> Result<T, String> {
    T::parse(text).ok_or_else(|| {
        let values: Vec<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
        format!("must be one of {}", values.join(", "))
    })
}

/// Returns a body with the fields that are not null.
pub fn body_of<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
