//! How commands call the operator API: in process, on the data directory, or over HTTP, on a running server. Both run
//! the same routes, so a command behaves the same way.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
};

use clap::{Args, Subcommand};
use marketplace_text::similar_names::most_similar;
use serde_json::{Map, Value};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::{
    file_parts::FilePart,
    server::{self, Server},
};
use crate::{
    cli::{
        CommandError, CommandResult, GlobalOptions,
        lists::{print_json, print_record, print_table},
        print_line, process,
    },
    rest::{self, OperatorRoutes},
    string_enum::StringEnum,
};

/// The variable with the URL of the server, if `--url` is not set.
const URL_VARIABLE: &str = "MARKETPLACE_OPERATOR_URL";

/// Maximum number of items that a command lists.
pub const MAX_ITEMS: usize = 100_000;

/// Number of items of a page that a command requests.
const PAGE_ITEMS: usize = 100;

/// Fields of records with the ID of a team, and the fields of tables with its name.
const TEAM_NAMES: [(&str, &str); 3] =
    [("team_id", "team"), ("vendor_team_id", "vendor"), ("buyer_id", "buyer")];

/// Maximum number of teams of a table whose names are read one by one.
const MAX_SINGLE_TEAMS: usize = 10;

/// Options of the commands that use the operator API.
#[derive(Debug, Args)]
pub struct OperatorOptions {
    /// URL of a running server to use instead of a data directory [default: the variable `MARKETPLACE_OPERATOR_URL`].
    /// The variable `MARKETPLACE_OPERATOR_KEY` must contain an operator key of the server.
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
    command: C,
    #[command(flatten)]
    options: OperatorOptions,
}

/// What a command does with the operator API.
pub trait ApiCommand {
    /// Whether the command creates a market in the data directory if there is none.
    fn may_create_market(&self) -> bool {
        false
    }

    /// Sends the requests of the command, and prints the results.
    fn run(&self, client: &Client) -> CommandResult;
}

impl<C: Subcommand + ApiCommand> OperatorCommand<C> {
    /// Connects to the market that the options name, and runs the command.
    pub fn run(&self, global: &GlobalOptions) -> CommandResult {
        self.command.run(&self.options.connect(global, self.command.may_create_market())?)
    }
}

/// A connection to the operator API.
pub struct Client {
    target: Target,
    json: bool,
    /// The names of teams that were read for tables, by their IDs.
    team_names: RefCell<HashMap<String, String>>,
}

enum Target {
    /// The market in the data directory.
    Local(Box<Runtime>, OperatorRoutes),
    /// A running server.
    Remote(Server),
}

impl OperatorOptions {
    /// Connects to the server that the options name, or else opens the data directory. Creates a market there if there
    /// is none and `may_create` is set.
    pub fn connect(&self, global: &GlobalOptions, may_create: bool) -> Result<Client, CommandError> {
        let target = match self.server_url(global)? {
            Some(url) => Target::Remote(Server::new(&url)?),
            None => {
                let market = global.open_market(may_create)?;
                let runtime = process::build_runtime(market.settings())?;
                Target::Local(Box::new(runtime), OperatorRoutes::new(market))
            }
        };
        Ok(Client { target, json: self.json, team_names: RefCell::default() })
    }

    /// Returns the URL of the server to use; `None` for the data directory. A data directory that was named explicitly
    /// takes precedence over the variable, so that no command on it reaches a server instead.
    fn server_url(&self, global: &GlobalOptions) -> Result<Option<String>, CommandError> {
        match (&self.url, &global.data) {
            (Some(_), Some(_)) => Err(CommandError::Usage("--url and --data exclude each other".to_owned())),
            (Some(url), None) => Ok(Some(url.clone())),
            (None, Some(_)) => Ok(None),
            (None, None) => Ok(std::env::var(URL_VARIABLE).ok().filter(|url| !url.is_empty())),
        }
    }
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

    /// Replaces the only record at a path, and returns it.
    pub fn put(&self, path: &str, body: &Value) -> Result<Value, CommandError> {
        self.request("PUT", path, Some(body))
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

    /// Sends a part of a file to where a plan of an upload says.
    pub fn put_part(&self, address: &Value, part: FilePart) -> CommandResult {
        let url = address["url"].as_str().unwrap_or_default();
        let headers: Vec<(String, String)> = address["headers"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), parameter_text(value)))
            .collect();
        let (status, bytes) = match &self.target {
            Target::Local(runtime, routes) if routes.serves(url) => {
                let length = part.length();
                runtime.block_on(routes.put(url, &headers, part.into_file(), length))?
            }
            _ => server::put_part(url, &headers, part)?,
        };
        match serde_json::from_slice(&bytes) {
            _ if (200..300).contains(&status) => Ok(()),
            Ok(json) if is_refusal(&json) => Err(refusal(&json)),
            _ => {
                let message = format!("the upload of a part was refused with status {status}");
                Err(CommandError::Refused { code: status.to_string(), message })
            }
        }
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, CommandError> {
        let path = format!("{}{path}", rest::OPERATOR.prefix);
        let (status, bytes) = match &self.target {
            Target::Local(runtime, routes) => runtime.block_on(routes.request(method, &path, body))?,
            Target::Remote(server) => server.request(method, &path, body)?,
        };
        let json = if bytes.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&bytes) };
        match (status, json, &self.target) {
            (200..300, Ok(json), _) => Ok(json),
            (404, Ok(_), Target::Remote(server)) if !server.has_operator_api()? => {
                Err(server.unexpected(status))
            }
            (400.., Ok(json), _) if is_refusal(&json) => Err(refusal(&json)),
            (_, _, Target::Remote(server)) => Err(server.unexpected(status)),
            (_, _, Target::Local(..)) => {
                Err(CommandError::Other(format!("the operation failed with status {status}")))
            }
        }
    }

    /// Prints a list: JSON, or else a table with these columns.
    pub fn print_list(&self, columns: &str, mut items: Vec<Value>) -> CommandResult {
        if self.json {
            print_json(&items.into());
        } else {
            self.add_team_names(columns, &mut items)?;
            print_table(columns, &items);
        }
        Ok(())
    }

    /// Prints a record: JSON, or else a line for each of these fields.
    pub fn print_record(&self, columns: &str, mut record: Value) -> CommandResult {
        if self.json {
            print_json(&record);
        } else {
            self.add_team_names(columns, std::slice::from_mut(&mut record))?;
            print_record(columns, &record);
        }
        Ok(())
    }

    /// Prints a record like [`Client::print_record`], and the records of its field `rows.0` as a table with the columns
    /// `rows.1`.
    pub fn print_record_with_rows(
        &self,
        columns: &str,
        mut record: Value,
        rows: (&str, &str),
    ) -> CommandResult {
        let (field, row_columns) = rows;
        let rows = if self.json { Value::Null } else { record[field].take() };
        self.print_record(columns, record)?;
        if let Value::Array(rows) = rows
            && !rows.is_empty()
        {
            print_line("");
            print_table(row_columns, &rows);
        }
        Ok(())
    }

    /// Adds the fields of `TEAM_NAMES` that a table has to its records.
    pub fn add_team_names(&self, columns: &str, records: &mut [Value]) -> CommandResult {
        let shown = TEAM_NAMES
            .into_iter()
            .filter(|(_, name)| columns.split_whitespace().any(|column| column == *name));
        for (id_field, name_field) in shown {
            let ids = records.iter().filter_map(|record| record[id_field].as_str());
            let unknown: BTreeSet<String> = {
                let known = self.team_names.borrow();
                ids.filter(|id| !known.contains_key(*id)).map(str::to_owned).collect()
            };
            self.read_team_names(&unknown)?;
            for record in records.iter_mut() {
                let name = record[id_field].as_str().and_then(|id| self.team_names.borrow().get(id).cloned());
                record[name_field] = name.into();
            }
        }
        Ok(())
    }

    /// Reads the names of teams: of these, or of all if that takes fewer requests.
    fn read_team_names(&self, ids: &BTreeSet<String>) -> CommandResult {
        let teams = if ids.len() > MAX_SINGLE_TEAMS {
            self.list("/teams", &[], None)?
        } else {
            ids.iter().map(|id| self.get(&format!("/teams/{id}"))).collect::<Result<_, _>>()?
        };
        let name = |team: &Value| Some((team["id"].as_str()?.to_owned(), team["name"].as_str()?.to_owned()));
        self.team_names.borrow_mut().extend(teams.iter().filter_map(name));
        Ok(())
    }

    /// Whether results are printed as JSON.
    pub const fn prints_json(&self) -> bool {
        self.json
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

/// Whether a response is an error of the API.
fn is_refusal(json: &Value) -> bool {
    json["error"]["message"].is_string() || json["detail"].is_array()
}

/// Returns the error for a response: its message, or all problems of the request.
fn refusal(json: &Value) -> CommandError {
    if let Some(message) = json["error"]["message"].as_str() {
        let code = json["error"]["code"].as_str().unwrap_or_default();
        return CommandError::Refused { code: code.to_owned(), message: with_commands(message) };
    }
    let problems = json["detail"].as_array().into_iter().flatten();
    let messages: Vec<&str> = problems.filter_map(|problem| problem["msg"].as_str()).collect();
    CommandError::Refused { code: "invalid".to_owned(), message: messages.join(" ") }
}

/// Requests about a team that messages advise, and the commands that do the same: what stands before the ID of the team, and after
/// it.
const COMMANDS: [[(&str, &str); 2]; 2] = [
    [("`POST /operator/v1/teams/", "/accept-nda`"), ("`marketplace team accept-nda ", "`")],
    [("`PATCH /operator/v1/teams/", "`"), ("`marketplace team edit ", "` and its option `--role`")],
];

/// Returns a message that names commands in place of requests.
fn with_commands(message: &str) -> String {
    COMMANDS.iter().fold(message.to_owned(), |text, [(before, after), (command, end)]| {
        let request =
            text.split_once(before).and_then(|(begin, rest)| Some((begin, rest.split_once(after)?)));
        request.map_or_else(|| text.clone(), |(begin, (id, rest))| format!("{begin}{command}{id}{end}{rest}"))
    })
}

/// Returns a query string. Arrays become repeated parameters.
fn encode_query<'a>(parameters: impl Iterator<Item = &'a (&'a str, Value)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        match value {
            Value::Null => {}
            Value::Array(values) => {
                query.extend_pairs(values.iter().map(|value| (*name, parameter_text(value))));
            }
            value => {
                query.append_pair(name, &parameter_text(value));
            }
        }
    }
    query.finish()
}

/// Returns a value as a parameter.
fn parameter_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Parses a value of a string enum. An error suggests the most similar value, or lists all if none is similar.
pub fn parse_value<T: StringEnum>(text: &str) -> Result<T, String> {
    T::parse(text).ok_or_else(|| {
        let values: Vec<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
        match most_similar(text, &values) {
            Some(similar) => format!("did you mean {similar:?}?"),
            None => format!("must be one of {}", values.join(", ")),
        }
    })
}

/// Parses the ID of a record.
pub fn parse_id(text: &str) -> Result<Uuid, String> {
    Uuid::try_parse(text)
        .map_err(|_| "must be an ID, such as 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11".to_owned())
}

/// Returns a body with the fields that are not null.
pub fn body_of<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
