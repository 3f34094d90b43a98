//! The journals of worlds.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    access::{WorldOperator, WorldReader},
    worlds::{change, read_with},
};
use crate::{
    market::milliseconds,
    rest::{
        prelude::*,
        sandbox_api::{
            journal_files::{self, Addresses, ShownBody, ShownEntry},
            page_or_file::{FileFormats, PageOrFile},
        },
        shapes::RequestTime,
    },
    string_enum::string_enum,
    web::{served_market::LinkBaseUrl, world_host::SandboxHost},
    worlds::{
        World,
        journal::{Header, JournalEntry, JournalFilter, JournalPage, Origin, WorldApi},
    },
};

/// Number of entries of a page, unless stated otherwise.
const DEFAULT_LIMIT: usize = 100;

/// Bytes of bodies from which a page has no further entry.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// Content type of HTTP archives, as tools name it.
const HAR: &str = "application/har+json";

/// Content type of scripts.
const SCRIPT: &str = "text/x-shellscript";

string_enum! {
    /// The format of a journal.
    JournalFormat {
        /// A page of entries.
        Json = "json",
        /// An HTTP archive (HAR 1.2).
        Har = "har",
        /// A script for bash that sends the requests with curl.
        Curl = "curl",
    }
}

/// The other formats of a journal.
pub struct JournalFormats;

impl FileFormats for JournalFormats {
    const FORMATS: &'static [(&'static str, &'static str)] =
        &[(HAR, "An HTTP archive (HAR 1.2)."), (SCRIPT, "A script for bash, with the keys as variables.")];
}

/// A request to a world, and its answer.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "JournalEntry")]
pub struct JournalEntryOut {
    /// Number in the order in which requests were admitted, counted from 1.
    pub number: u64,
    /// Time of the world when the request was admitted.
    pub at: UtcTime,
    /// Time of the machine when the request arrived.
    pub received_at: UtcTime,
    /// Milliseconds that the request waited for its turn.
    pub waited_ms: f64,
    /// Milliseconds from then to the head of the answer; null if there is no answer.
    pub duration_ms: Option<f64>,
    /// Whether the request was to the world, or to the sandbox API about it.
    pub origin: EnumValue<Origin>,
    /// `operationId` in the document; null if the method and the path belong to none.
    pub operation: Option<String>,
    /// Method.
    pub method: String,
    /// Path, of a request to the world below its base address.
    pub path: String,
    /// Query, as it was sent; null if there was none.
    pub query: Option<String>,
    /// Team whose key was sent; null if there was none, or that of an operator.
    pub team: Option<JournalTeam>,
    /// Key that was sent; null if there was none, or none that exists.
    pub key: Option<JournalKey>,
    /// Headers of the request.
    pub request_headers: Vec<JournalHeader>,
    /// Body of the request.
    pub request_body: JournalBody,
    /// HTTP status; null if there is no answer.
    pub status: Option<u16>,
    /// Error code; null for success, and for 422, which lists problems instead.
    pub code: Option<EnumValue<Code>>,
    /// Headers of the answer.
    pub response_headers: Vec<JournalHeader>,
    /// Body of the answer, before compression.
    pub response_body: JournalBody,
    /// ID of the request, as in the `X-Request-Id` header of the answer.
    pub request_id: Option<String>,
    /// ID of the fault that the answer is the result of; null if there is none.
    pub fault_id: Option<String>,
}

/// The team of a request.
#[derive(Debug, Object, Serialize)]
pub struct JournalTeam {
    /// ID of the team.
    pub id: Uuid,
    /// Name of the team.
    pub name: String,
}

/// The key of a request.
#[derive(Debug, Object, Serialize)]
pub struct JournalKey {
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// Name of the key.
    pub name: String,
}

/// A header.
#[derive(Debug, Object, Serialize)]
pub struct JournalHeader {
    /// Name, in lower case.
    pub name: String,
    /// Value; `********` in place of a secret.
    pub value: String,
}

/// A body, with `********` in place of secrets.
#[derive(Debug, Object, Serialize)]
pub struct JournalBody {
    /// Number of bytes that were transferred.
    pub size_bytes: u64,
    /// Whether it was transferred to its end. Of a request, the server may need only a part.
    pub is_complete: bool,
    /// Whether `text` or `base64` is only the beginning, of 64 KB.
    pub is_cut: bool,
    /// The body, if it is text.
    pub text: Option<String>,
    /// The body in base64, if it is no text.
    pub base64: Option<String>,
}

/// Requests to a world, and their answers.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "JournalPage")]
pub struct JournalPageOut {
    /// The entries, oldest first.
    pub items: Vec<JournalEntryOut>,
    /// Number of the last entry of the journal; 0 if there is none.
    pub last: u64,
    /// Number of entries that were dropped since there were too many.
    pub dropped: u64,
}

/// Which entries are returned, and how.
#[derive(Debug, Object)]
pub struct JournalQuery {
    /// Returns only entries with a greater number.
    #[oai(default, validator(minimum(value = "0")))]
    after: i64,
    /// Maximum number of entries; if absent, 100 of a page, and all of a file. A page can have fewer if they are large.
    #[oai(validator(minimum(value = "1"), maximum(value = "5000")))]
    limit: Option<u32>,
    /// Returns only requests of this operation. Operations of several APIs can have the same ID.
    operation: Option<String>,
    /// Returns only requests of operations that this API has.
    api: Option<EnumValue<WorldApi>>,
    /// Returns only requests with this method.
    method: Option<String>,
    /// Returns only requests with this path, in which `*` matches any text.
    path: Option<String>,
    /// Returns only requests with a key of this team, given by its ID or its name.
    team: Option<String>,
    /// Returns only requests that were answered with this HTTP status.
    #[oai(validator(minimum(value = "100"), maximum(value = "599")))]
    status: Option<u32>,
    /// Returns only requests that were answered with this error code.
    code: Option<EnumValue<Code>>,
    /// Returns only requests that were admitted at this time of the world or later.
    from: Option<RequestTime>,
    /// Returns only requests that were admitted before this time of the world.
    until: Option<RequestTime>,
    /// Format of the response; `json` if absent.
    format: Option<EnumValue<JournalFormat>>,
}

impl JournalQuery {
    fn filter(&self) -> JournalFilter {
        JournalFilter {
            operation: self.operation.clone(),
            api: self.api.as_ref().map(|api| api.0),
            method: self.method.clone(),
            path: self.path.clone(),
            team: self.team.clone().map(Into::into),
            status: self.status.map(|status| status as u16),
            code: self.code.as_ref().map(|code| code.0),
            from: self.from.map(|at| at.0),
            until: self.until.map(|at| at.0),
        }
    }

    fn list(&self, world: &World, filter: &JournalFilter, limit: usize) -> JournalPage {
        let limit = self.limit.map_or(limit, |limit| limit as usize);
        world.journal().list(self.after.unsigned_abs(), limit, |entry| filter.accepts(entry))
    }
}

impl JournalEntryOut {
    /// Returns what is shown of an entry. May read files.
    fn new(entry: &JournalEntry) -> JournalEntryOut {
        let shown = ShownEntry::new(entry);
        let (request, answer, key) = (&entry.request, entry.answer(), entry.key());
        let team = key.and_then(|key| key.team.clone());
        JournalEntryOut {
            number: entry.number,
            at: entry.at.into(),
            received_at: entry.received_at.into(),
            waited_ms: milliseconds(entry.waited),
            duration_ms: answer.map(|answer| milliseconds(answer.duration)),
            origin: EnumValue(request.origin),
            operation: request.operation.as_ref().map(|operation| operation.id.clone()),
            method: request.method.clone(),
            request_headers: JournalHeader::list(&request.headers),
            team: team.map(|(id, name)| JournalTeam { id, name }),
            key: key.map(|key| JournalKey { id: key.id, name: key.name.clone() }),
            request_body: JournalBody::new(&shown.request_body),
            status: answer.map(|answer| answer.status),
            code: answer.and_then(|answer| answer.code).map(EnumValue),
            response_headers: JournalHeader::list(answer.map_or(&[][..], |answer| &answer.headers)),
            response_body: JournalBody::new(&shown.response_body),
            request_id: answer.and_then(|answer| answer.request_id.clone()),
            fault_id: entry.fault_id().map(str::to_owned),
            path: shown.path,
            query: shown.query,
        }
    }

    fn body_bytes(&self) -> usize {
        let bytes = |body: &JournalBody| body.text.iter().chain(&body.base64).map(String::len).sum::<usize>();
        bytes(&self.request_body) + bytes(&self.response_body)
    }
}

impl JournalHeader {
    fn list(headers: &[Header]) -> Vec<JournalHeader> {
        let header = |Header { name, value }: &Header| JournalHeader {
            name: name.clone(),
            value: String::from_utf8_lossy(value).into_owned(),
        };
        headers.iter().map(header).collect()
    }
}

impl JournalBody {
    fn new(body: &ShownBody) -> JournalBody {
        let text = body.text().map(str::to_owned);
        let base64 = text.is_none().then(|| STANDARD.encode(&body.bytes));
        JournalBody {
            size_bytes: body.length,
            is_complete: body.is_complete,
            is_cut: body.is_cut,
            text,
            base64,
        }
    }
}

impl JournalPageOut {
    fn new(page: &JournalPage) -> JournalPageOut {
        let (mut items, mut bytes) = (Vec::new(), 0);
        for entry in &page.entries {
            let entry = JournalEntryOut::new(entry);
            bytes += entry.body_bytes();
            items.push(entry);
            if bytes > MAX_PAGE_BYTES {
                break;
            }
        }
        JournalPageOut { items, last: page.last, dropped: page.dropped }
    }
}

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl JournalApi {
    /// List the requests to a world
    ///
    /// Returns the requests to the world with their answers, oldest first, and the requests to the sandbox API that changed it.
    /// Keys are given by their names, and other secrets are masked. A reset does not delete them. The newest 5,000 are kept,
    /// with bodies of up to 8 MB in all.
    #[get(
        "/worlds/{world}/journal",
        read_with(
            Contract::new(Target::World)
                .with_queries(&[
                    "after=0",
                    "limit=1",
                    "operation=get_wallet&api=vendor&method=GET",
                    "path=/v2/*",
                    "team=Lumen%20Codeworks",
                    "status=200",
                    "code=not_found",
                    "from=2026-03-01T09:00:00Z&until=2026-03-02T09:00:00Z",
                    "format=json",
                ])
                .with_misspelled("limi=1", "limit"),
        ),
    )]
    async fn list_world_journal(
        call: Call<WorldReader>,
        base: LinkBaseUrl,
        /// Name of the world.
        world: Path<String>,
        query: Params<JournalQuery>,
    ) -> std::result::Result<PageOrFile<JournalPageOut, JournalFormats>, ApiError> {
        let query = query.0;
        let filter = query.filter();
        let world = call.served.require_sandbox()?.worlds().require(&world.0)?;
        let format = query.format.as_ref().map_or(JournalFormat::Json, |format| format.0);
        if format == JournalFormat::Json {
            let work = move || Ok(JournalPageOut::new(&query.list(&world, &filter, DEFAULT_LIMIT)));
            return Json::of_blocking(&call.served, work).await.map(PageOrFile::Page);
        }
        let work = move |_: &_| {
            let page = query.list(&world, &filter, usize::MAX);
            let entries = page.entries.iter().map(AsRef::as_ref);
            let addresses = Addresses {
                world: world.name().to_owned(),
                base: SandboxHost::world_url(&base.0, &world),
                port: SandboxHost::port_url(&base.0, &world),
                server: base.0,
            };
            Ok(match format {
                JournalFormat::Curl => {
                    PageOrFile::file(SCRIPT, journal_files::curl_script(entries, &addresses))
                }
                _ => PageOrFile::file(HAR, journal_files::har(entries, &addresses).to_string()),
            })
        };
        Ok(call.served.market().spawn_blocking(work).await?)
    }

    /// Delete the journal of a world
    ///
    /// Deletes all entries. Their numbers are not given again.
    #[delete("/worlds/{world}/journal", change(Target::World))]
    async fn clear_world_journal(
        call: Call<WorldOperator>,
        /// Name of the world.
        world: Path<String>,
    ) -> std::result::Result<NoContent, ApiError> {
        let sandbox = call.served.require_sandbox()?;
        let world = sandbox.worlds().require(&world.0)?;
        let clear = move |_: &_| {
            sandbox.worlds().clear_journal(&world);
            Ok(NoContent)
        };
        Ok(call.served.market().spawn_blocking(clear).await?)
    }
}
