//! Turns the response of an operation into the output of a tool: sanitized, paged, reduced to the requested
//! fields, and truncated if it is too long, with directions for getting the rest.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    arguments::ToolCall,
    error::ToolError,
    evidence::{self, EVIDENCE},
    field_paths::{self, FieldPath, Origin},
    large_pages::{self, ItemRange, MAX_PARSED_BYTES, reserved_note_bytes},
    markdown, sanitize,
    schemas::{CUT, FIELDS, HINT, LIMIT, NEXT_OFFSET, NOTICE, OFFSET},
    signed_addresses::{self, SignedAddress},
    team_text::TeamText,
    truncate::{self, Truncation, json_size},
    variants::Paging,
};
use crate::{
    config::TextDetail,
    error::Error,
    rest::{
        Caller, InProcessResponse, InProcessRoutes,
        json_object::{ObjectWriter, RawObject},
    },
};

/// Maximum number of truncated parts that are described in one output.
const MAX_TRUNCATION_NOTES: usize = 8;

/// Hint for an empty list if a filter may be the reason.
const NO_MATCHES_HINT: &str = "Nothing matches all of these arguments. Slugs and statuses match exactly, and unknown \
                               ones match nothing: take them from list_taxonomy or `facets`, and drop arguments one \
                               at a time.";

/// Hint for a page of the catalog that is locked.
const LOCKED_HINT: &str = "The catalog is locked for the team, so rows have only the fields of summaries, and there is no \
                           other page. `browse_access` of get_current_team says what unlocks it.";

/// Page fields that are always returned, whatever `fields` selects, because an agent needs them to continue.
const PAGING_FIELDS: [&str; 6] = ["total", LIMIT, OFFSET, "next_cursor", "locked", "missing"];

/// The output of a tool, as a value and as text.
#[derive(Debug)]
pub struct ToolOutput {
    /// The output; always an object.
    pub value: Value,
    /// The same output as JSON text, with the notice first.
    pub text: String,
    /// Names of the fields with text that teams wrote.
    pub team_fields: Vec<&'static str>,
    /// Number of items in its list, and the number of all of them if it is known; `None` for a record.
    pub items: Option<(usize, Option<u64>)>,
}

impl ToolOutput {
    /// Creates the output from a value without fields that a tool adds.
    pub fn new(value: Value) -> ToolOutput {
        let team_fields = TeamText::find(&value).fields();
        // Faster than `Value::to_string`, which goes through a formatter.
        let text = serde_json::to_string(&value).expect("a value serializes to JSON");
        ToolOutput { value, text, team_fields, items: None }
    }

    /// Returns the text next to the structured content: the same, or one line for clients that read that.
    pub fn text_for(&mut self, detail: TextDetail) -> String {
        match (detail, self.items) {
            (TextDetail::Full, _) => std::mem::take(&mut self.text),
            (TextDetail::Short, Some((shown, Some(total)))) => {
                format!("{shown} of {total} items; see structuredContent.")
            }
            (TextDetail::Short, Some((shown, None))) => format!("{shown} items; see structuredContent."),
            (TextDetail::Short, None) => "One record; see structuredContent.".to_owned(),
        }
    }
}

/// Calls the operation and returns the tool's output.
pub async fn fetch(
    direct: &InProcessRoutes,
    caller: &Caller,
    call: &ToolCall<'_>,
) -> Result<ToolOutput, ToolError> {
    let failed = |error: serde_json::Error| ToolError::internal(&Error::internal(error), caller.request_id());
    let response = get_json(direct, caller, call, &call.path_and_query()).await?;
    let bytes = large_pages::without_unselected_fields(call, response.bytes.clone()).map_err(failed)?;
    // The cursor of a full page points past the items that would be truncated, so a shorter page is requested
    // instead. What is added to the response may be what makes it too long.
    let longest = bytes.len() + markdown::max_added_bytes(&bytes) + reserved_note_bytes(call.max_bytes);
    let is_too_long = call.variant.paging == Paging::Cursor && longest > call.max_bytes;
    let truncation = if is_too_long { count_items_to_keep(call, &bytes).map_err(failed)? } else { None };
    let Some((fitting, total)) = truncation else {
        return output_of(call, bytes, None, direct.serves_files()).map_err(failed);
    };
    // Releases the memory of the first response.
    drop((bytes, response));
    let response = get_json(direct, caller, call, &call.path_and_query_with_limit(fitting)).await?;
    output_of(call, response.bytes.clone(), Some((fitting, total)), direct.serves_files()).map_err(failed)
}

/// Turns the body of a response into the output. If its list was already truncated, `truncation` is the
/// number of items left, and the number before. `is_served` says whether a server listens.
fn output_of(
    call: &ToolCall,
    bytes: Bytes,
    truncation: Option<(usize, usize)>,
    is_served: bool,
) -> serde_json::Result<ToolOutput> {
    let (bytes, range) = match large_pages::requested_items(call, &bytes)? {
        Some((bytes, range)) => (bytes, Some(range)),
        None => (bytes, None),
    };
    let mut page = Page::from_response(call, bytes, range, is_served)?;
    let truncation = truncation
        .or(range.filter(|range| range.parsed < range.on_page).map(|range| (range.parsed, range.on_page)));
    if truncation.is_some() || page.size() > call.max_bytes {
        // A page of a cursor was requested as short as it has to be; its cursor would skip items that are cut off now.
        let has_cursor = call.variant.paging == Paging::Cursor && truncation.is_some();
        let fitting = if has_cursor { None } else { page.count_fitting_items(call) };
        let truncation = match (fitting, truncation) {
            (Some((fitting, _)), Some((_, total))) => Some((fitting, total)),
            (fitting, truncation) => fitting.or(truncation),
        };
        if let Some((fitting, total)) = truncation {
            page.truncate(call, fitting, total);
        }
    }
    page.shorten(call);
    Ok(page.into_output(call.variant.call.list))
}

/// Sends the GET request and returns a successful response.
async fn get_json(
    direct: &InProcessRoutes,
    caller: &Caller,
    call: &ToolCall<'_>,
    address: &str,
) -> Result<InProcessResponse, ToolError> {
    let response = direct.get(caller, address).await;
    let response = response.map_err(|error| ToolError::internal(&error, caller.request_id()))?;
    if response.status != 200 {
        return Err(call.add_id_hint(ToolError::from_response(&response)));
    }
    Ok(response)
}

/// Returns how many of a page's items fit into an output, and how many there are; `None` if all fit. Without
/// a field selection the page is only scanned for item sizes, which costs a fraction of parsing it.
fn count_items_to_keep(call: &ToolCall, bytes: &Bytes) -> serde_json::Result<Option<(usize, usize)>> {
    if !call.fields.is_empty() && bytes.len() <= MAX_PARSED_BYTES {
        let page = Page::from_response(call, bytes.clone(), None, true)?;
        return Ok(if page.size() > call.max_bytes { page.count_fitting_items(call) } else { None });
    }
    let page: HashMap<&str, &RawValue> = serde_json::from_slice(bytes)?;
    let Some(list) = call.variant.call.list.and_then(|list| page.get(list)) else { return Ok(None) };
    let items: Vec<&RawValue> = serde_json::from_str(list.get())?;
    let added = |json: &str| markdown::max_added_bytes(json.as_bytes());
    let sizes: Vec<usize> = items.iter().map(|item| item.get().len() + added(item.get()) + 1).collect();
    Ok(count_fitting(&sizes, bytes.len() + markdown::max_added_bytes(bytes), call.max_bytes))
}

/// Returns how many items of the given sizes (at least one) of an output of `total_bytes` fit into `max_bytes`, and how many
/// there are; `None` if all fit.
fn count_fitting(sizes: &[usize], total_bytes: usize, max_bytes: usize) -> Option<(usize, usize)> {
    let other_bytes = total_bytes.saturating_sub(sizes.iter().sum());
    let available = max_bytes.saturating_sub(reserved_note_bytes(max_bytes) + other_bytes);
    let mut used = 0;
    let fits = |size: &&usize| {
        used += **size;
        used <= available
    };
    let fitting = sizes.iter().take_while(fits).count().max(1);
    (fitting < sizes.len()).then_some((fitting, sizes.len()))
}

/// A page of a list, or a record.
struct Page {
    value: Value,
    /// Fields that the tool adds to the response.
    added_fields: Map<String, Value>,
    team_text: TeamText,
    /// Number of items of the whole list, if the response states it.
    total: Option<u64>,
    /// The operation's response body, if the value is unchanged from it.
    unchanged: Option<Bytes>,
    /// Positions of the value's parts in the operation's response.
    origin: Origin,
}

impl Page {
    /// Creates the requested page from an operation's response body. `range` is given if that was reduced to
    /// these items. `is_served` says whether a server listens.
    fn from_response(
        call: &ToolCall,
        bytes: Bytes,
        range: Option<ItemRange>,
        is_served: bool,
    ) -> serde_json::Result<Page> {
        let mut value: Value = serde_json::from_slice(&bytes)?;
        let is_plain = sanitize::is_plain_json(&bytes);
        let mut is_unchanged = is_plain && range.is_none();
        if !is_plain {
            sanitize::sanitize_value(&mut value);
        }
        let address = signed_addresses::remove_unnamed(&call.fields, &bytes, &mut value);
        is_unchanged &= address == SignedAddress::Unchanged;
        let list = call.variant.call.list.unwrap_or_default();
        let total = value["total"].as_u64().or_else(|| value["counts"]["all"].as_u64());
        let paging = call.variant.paging;
        let (mut item_count, mut next) = (0, None);
        if let Some(Value::Array(items)) = value.get_mut(list) {
            let before = range.map_or(items.len(), |range| range.total);
            if matches!(paging, Paging::FullList | Paging::LimitOnly(_)) {
                next = (before > call.offset + call.limit).then(|| call.offset + call.limit);
                if range.is_none() {
                    *items = items.drain(..).skip(call.offset).take(call.limit).collect();
                }
                is_unchanged &= items.len() == before;
            } else if paging == Paging::Offset {
                let end = call.offset + before;
                next = (before > 0 && total.is_some_and(|total| total > end as u64)).then_some(end);
            }
            item_count = items.len();
        }
        let evidence = evidence::of_output(call.row.text.name, &value);
        let mut origin = Origin::Unchanged;
        if !call.fields.is_empty() {
            (value, origin) = select_fields(value, call);
            is_unchanged = false;
        }
        let unchanged = is_unchanged.then_some(bytes);
        let team_text =
            if call.row.text.has_team_text { TeamText::find(&value) } else { TeamText::default() };
        let mut page = Page { added_fields: Map::new(), team_text, total, unchanged, origin, value };
        if paging == Paging::Cursor && page.value["next_cursor"].is_string() {
            next = Some(call.offset + item_count);
        }
        if call.is_paged_by_offset() {
            page.add_field(NEXT_OFFSET, json!(next));
        }
        let is_empty = item_count == 0 && call.variant.call.list.is_some();
        if let Some(notice) = page.team_text.notice() {
            page.add_field(NOTICE, json!(notice));
        }
        if let Some(hint) = &call.hint {
            page.add_hint(hint);
        }
        if page.value["locked"] == true {
            page.add_hint(LOCKED_HINT);
        }
        if is_empty && call.is_filtered && call.offset == 0 {
            page.add_hint(NO_MATCHES_HINT);
        }
        if let Some(evidence) = evidence.or_else(|| evidence::of_rows(call.row.text.name, &page.value)) {
            page.add_field(EVIDENCE, json!(evidence));
        }
        if call.is_brief {
            page.shorten_maps(call);
        }
        if let Some(hint) = signed_addresses::hint(&call.fields, address, &page.value, is_served) {
            page.add_hint(&hint);
        }
        Ok(page)
    }

    fn add_field(&mut self, name: &str, value: Value) {
        self.added_fields.insert(name.to_owned(), value);
    }

    /// Adds advice to that which was added before.
    fn add_hint(&mut self, hint: &str) {
        self.add_sentence(HINT, hint);
    }

    /// Adds a sentence to a field of the output.
    fn add_sentence(&mut self, name: &str, sentence: &str) {
        let before = self.added_fields.get(name).and_then(Value::as_str);
        let text = before.map_or_else(|| sentence.to_owned(), |before| format!("{before} {sentence}"));
        self.add_field(name, json!(text));
    }

    /// Returns the size of the output in bytes.
    fn size(&self) -> usize {
        let value = self.unchanged.as_ref().map_or_else(|| json_size(&self.value), Bytes::len);
        value + json_size(&self.added_fields)
    }

    /// Returns the output. If the value is unchanged, the text is the operation's JSON, with its order of
    /// fields.
    fn into_output(self, list: Option<&str>) -> ToolOutput {
        let Page { mut value, mut added_fields, team_text, unchanged, total, .. } = self;
        let items = list.and_then(|list| value[list].as_array()).map(|items| (items.len(), total));
        let notice = added_fields.remove(NOTICE);
        let bytes = unchanged.map_or_else(|| serde_json::to_vec(&value).map(Bytes::from), Ok);
        let text = bytes.ok().and_then(|bytes| with_added_fields(&bytes, notice.as_ref(), &added_fields));
        if let Value::Object(fields) = &mut value {
            fields.extend(added_fields);
            fields.extend(notice.map(|notice| (NOTICE.to_owned(), notice)));
        }
        let text = text.unwrap_or_else(|| value.to_string());
        ToolOutput { value, text, team_fields: team_text.fields(), items }
    }

    /// Returns how many of the list's items fit, and how many there are; `None` if there is no list or all
    /// items fit.
    fn count_fitting_items(&self, call: &ToolCall) -> Option<(usize, usize)> {
        let items = self.value[call.variant.call.list?].as_array()?;
        let sizes: Vec<usize> = items.iter().map(|item| json_size(item) + 1).collect();
        count_fitting(&sizes, self.size(), call.max_bytes)
    }

    /// Keeps the first `count` items of the list, and adds a note on how to get the rest.
    fn truncate(&mut self, call: &ToolCall, count: usize, total: usize) {
        let list = call.variant.call.list.unwrap_or_default();
        let Some(Value::Array(items)) = self.value.get_mut(list) else { return };
        if items.len() > count {
            items.truncate(count);
            self.unchanged = None;
        }
        let count = items.len();
        let is_by_cursor = call.variant.paging == Paging::Cursor;
        let next = if is_by_cursor && !self.value["next_cursor"].is_string() {
            // A page behind the browse gate has no next page.
            None
        } else if is_by_cursor && call.offset == 0 {
            Some("Continue with `cursor` set to `next_cursor`. ".to_owned())
        } else {
            self.add_field(NEXT_OFFSET, json!(call.offset + count));
            Some(format!("Continue with `{OFFSET}` {}. ", call.offset + count))
        };
        self.add_truncation_note(&format!(
            "{count} of {total} items are shown, because a response has at most {} bytes. {}Select fewer `fields` to \
             fit more.",
            call.max_bytes,
            next.unwrap_or_default()
        ));
    }

    /// Shortens the long maps of a brief output to their first entries, and says how many they have.
    fn shorten_maps(&mut self, call: &ToolCall) {
        let shortened = truncate::shorten_maps(&mut self.value, &call.variant.operation.response);
        if shortened.is_empty() {
            return;
        }
        self.unchanged = None;
        let parts: Vec<String> = shortened
            .iter()
            .take(MAX_TRUNCATION_NOTES)
            .map(|(path, total)| format!("`{path}` {} of {total}", truncate::BRIEF_MAP_ENTRIES))
            .collect();
        self.add_truncation_note(&format!(
            "Long maps show only some entries: {}. Name a map in `fields` for all.",
            parts.join(", ")
        ));
    }

    /// Truncates the longest parts until the output fits, and adds notes on how to get the rest.
    fn shorten(&mut self, call: &ToolCall) {
        if self.size() <= call.max_bytes {
            return;
        }
        self.unchanged = None;
        let other_bytes = json_size(&self.added_fields) + reserved_note_bytes(call.max_bytes);
        let variant = call.variant;
        // If a page's only remaining item is still too long, the item itself is truncated, and paths start
        // from the item.
        let list = variant
            .call
            .list
            .filter(|list| self.value[*list].as_array().is_some_and(|items| items.len() == 1));
        let truncations = match list.map(|list| (list, json_size(&self.value[list]))) {
            Some((list, length)) if length * 2 > json_size(&self.value) => {
                let available = call.max_bytes.saturating_sub(other_bytes + json_size(&self.value) - length);
                let origin = self.origin.part(Some(list), 0).part(None, 0);
                truncate::truncate_value(&mut self.value[list][0], variant.item_shape(), origin, available)
            }
            _ => truncate::truncate_value(
                &mut self.value,
                &variant.operation.response,
                &self.origin,
                call.max_bytes.saturating_sub(other_bytes),
            ),
        };
        let described_count = truncations.len().min(MAX_TRUNCATION_NOTES);
        for Truncation { path, shown, total, rest } in &truncations[..described_count] {
            self.add_truncation_note(&format!(
                "`{path}` shows {shown} of {total}; for the rest, set `fields` to [\"{rest}\"]."
            ));
        }
        if truncations.len() > described_count {
            self.add_truncation_note("More fields were truncated; request them by name.");
        }
        self.leave_out_fields(call);
    }

    /// Leaves out the largest fields of the record, or of the only item of a list, until the output fits: their parts are
    /// too short to be truncated, but too many.
    fn leave_out_fields(&mut self, call: &ToolCall) {
        let mut names: Vec<String> = Vec::new();
        let note =
            |names: &[String]| format!("There is no room for {}; name them in `{FIELDS}`.", names.join(", "));
        while self.size() + note(&names).len() > call.max_bytes {
            let list = call.variant.call.list.unwrap_or_default();
            let largest = |record: &Value| {
                let others = record.as_object()?.iter().filter(|(name, _)| {
                    *name != "id" && *name != list && !PAGING_FIELDS.contains(&name.as_str())
                });
                others.map(|(name, value)| (name.len() + json_size(value), name.clone())).max()
            };
            let items = self.value[list].as_array();
            let item = items.filter(|items| items.len() == 1).and_then(|items| largest(&items[0]));
            let of_page = largest(&self.value);
            let record = if item > of_page { &mut self.value[list][0] } else { &mut self.value };
            let Some((_, name)) = item.max(of_page) else { break };
            if let Some(fields) = record.as_object_mut() {
                fields.remove(&name);
            }
            names.push(name);
        }
        if !names.is_empty() {
            self.add_truncation_note(&note(&names));
        }
    }

    fn add_truncation_note(&mut self, note: &str) {
        self.add_sentence(CUT, note);
    }
}

/// Returns the JSON of an object with the notice before its fields, since it is about them, and more fields at its end;
/// `None` if it is not an object.
fn with_added_fields(object: &[u8], notice: Option<&Value>, added: &Map<String, Value>) -> Option<String> {
    let mut json = ObjectWriter::with_capacity(object.len() + json_size(added) + 1_024);
    if let Some(notice) = notice {
        json.field(NOTICE, notice);
    }
    json.fields(&RawObject::parse(object).ok()?);
    for (name, value) in added {
        json.field(name, value);
    }
    String::from_utf8(json.finish()).ok()
}

/// Reduces a value to the selected fields (at least one), and returns it with the original positions of its
/// parts. On a page, paths apply to each item, or to the page itself if they start with one of its other
/// fields.
fn select_fields(value: Value, call: &ToolCall) -> (Value, Origin) {
    let (list, mut fields) = match (call.variant.call.list, value) {
        (Some(list), Value::Object(fields)) => (list, fields),
        (_, value) => return field_paths::select(value, &call.fields),
    };
    let subject = call.variant.item_shape();
    let is_of_item = |path: &FieldPath| path.first_name().is_some_and(|name| subject.at_path(name).is_some());
    let (of_items, of_page): (Vec<FieldPath>, Vec<FieldPath>) =
        call.fields.iter().cloned().partition(is_of_item);
    let items = fields.remove(list).unwrap_or_default();
    let paging_fields: Map<String, Value> =
        PAGING_FIELDS.iter().filter_map(|name| fields.remove_entry(*name)).collect();
    let (page, origin) = field_paths::select(Value::Object(fields), &of_page);
    let (mut page, mut origins) = match (page, origin) {
        (Value::Object(page), Origin::Fields(origins)) => (page, origins),
        (Value::Object(page), _) => (page, BTreeMap::new()),
        _ => (Map::new(), BTreeMap::new()),
    };
    page.extend(paging_fields);
    if !of_items.is_empty() {
        let (items, origin) = field_paths::select(items, &of_items);
        page.insert(list.to_owned(), items);
        origins.insert(list.to_owned(), origin);
    }
    (Value::Object(page), Origin::Fields(origins))
}
