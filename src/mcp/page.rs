//! A page of a list, or a record, on its way to the output of a tool: sanitized, paged, reduced to the requested fields, and
//! truncated if it is too long, with directions for getting the rest.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{
    arguments::ToolCall,
    bundle_manifest,
    evidence::{self, EVIDENCE},
    field_paths::{self, FieldPath, Origin},
    large_pages::{ITEM_NOTE_BYTES, ItemRange, reserved_note_bytes},
    sanitize,
    schemas::{CUT, FIELDS, HINT, LIMIT, NEXT_OFFSET, NOTICE, OFFSET, SIMILAR_VENDORS},
    signed_addresses::{self, SignedAddress},
    team_text::TeamText,
    tool_output::ToolOutput,
    truncate::{self, Truncation, json_size},
    variants::Paging,
};
use crate::{
    domain::time::Timestamp,
    rest::shapes::json_object::{ObjectWriter, RawObject},
};

/// Maximum number of truncated parts that are described in one output.
const MAX_TRUNCATION_NOTES: usize = 8;

/// Number of bytes of an answer that may be left unused when parts of it are truncated.
const MAX_UNUSED_BYTES: usize = 200;

/// Hint for an empty list if a filter may be the reason.
const NO_MATCHES_HINT: &str = "Nothing matches all of these arguments. Drop them one at a time to see which of them excludes all records.";

/// Hint for a page of the catalog that is locked.
const LOCKED_HINT: &str = "The catalog is locked for the team, so rows have only the fields of summaries, and there is no \
                           other page. `browse_access` of get_current_team says what unlocks it.";

/// Page fields that are always returned, whatever `fields` selects, because an agent needs them to continue, or to cite.
const PAGING_FIELDS: [&str; 8] =
    ["total", LIMIT, OFFSET, "next_cursor", "locked", "missing", "vendor_count", EVIDENCE];

/// What an output depends on besides the response of the operation.
pub struct AnswerContext {
    /// Whether a server listens, which signed addresses need.
    pub is_served: bool,
    /// Time of the market.
    pub now: Timestamp,
    /// The basis of the record, if another operation names it.
    pub evidence: Option<String>,
}

/// Returns how many items of the given sizes (at least one) of an output of `total_bytes` fit into `max_bytes`, and how many
/// there are; `None` if all fit.
pub fn count_fitting(sizes: &[usize], total_bytes: usize, max_bytes: usize) -> Option<(usize, usize)> {
    let other_bytes = total_bytes.saturating_sub(sizes.iter().sum());
    let available = max_bytes.saturating_sub(ITEM_NOTE_BYTES + other_bytes);
    let mut used = 0;
    let fits = |size: &&usize| {
        used += **size;
        used <= available
    };
    let fitting = sizes.iter().take_while(fits).count().max(1);
    (fitting < sizes.len()).then_some((fitting, sizes.len()))
}

/// The part of a response's list that is on a page.
struct ListPart {
    item_count: usize,
    /// Position of the first item of the next page, if there is one.
    next: Option<usize>,
    /// Whether it is the list in the response.
    is_whole: bool,
}

impl ListPart {
    /// Reduces the list in a response to the items of the page that a call requests.
    fn select(call: &ToolCall, value: &mut Value, range: Option<ItemRange>, total: Option<u64>) -> ListPart {
        let mut part = ListPart { item_count: 0, next: None, is_whole: true };
        let list = call.variant.call.list.unwrap_or_default();
        let Some(Value::Array(items)) = value.get_mut(list) else { return part };
        let before = range.map_or(items.len(), |range| range.total);
        let paging = call.variant.paging;
        if matches!(paging, Paging::FullList | Paging::LimitOnly(_)) {
            part.next = (before > call.offset + call.limit).then(|| call.offset + call.limit);
            if range.is_none() {
                *items = items.drain(..).skip(call.offset).take(call.limit).collect();
            }
            part.is_whole = items.len() == before;
        } else if paging == Paging::Offset {
            let end = call.offset + before;
            part.next = (before > 0 && total.is_some_and(|total| total > end as u64)).then_some(end);
        }
        part.item_count = items.len();
        part
    }
}

/// A page of a list, or a record.
pub struct Page {
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
    /// these items.
    pub fn from_response(
        call: &ToolCall,
        bytes: Bytes,
        range: Option<ItemRange>,
        context: &AnswerContext,
    ) -> serde_json::Result<Page> {
        let mut value: Value = serde_json::from_slice(&bytes)?;
        let is_plain = sanitize::is_plain_json(&bytes);
        let mut is_unchanged = is_plain && range.is_none();
        if !is_plain {
            sanitize::sanitize_value(&mut value);
        }
        let address = signed_addresses::remove_unnamed(&call.fields, &bytes, &mut value);
        is_unchanged &= address == SignedAddress::Unchanged;
        let total = value["total"].as_u64().or_else(|| value["counts"]["all"].as_u64());
        let paging = call.variant.paging;
        let ListPart { item_count, mut next, is_whole } = ListPart::select(call, &mut value, range, total);
        is_unchanged &= is_whole;
        let of_record = context.evidence.clone();
        let evidence = evidence::of_output(call.row.text.name, &call.fields, &value, context.now, of_record);
        let cut_lists = if call.is_brief { cut_lists(call, &value) } else { Vec::new() };
        let mut origin = Origin::Unchanged;
        if !call.fields.is_empty() {
            (value, origin) = select_fields(value, call);
            is_unchanged = false;
        }
        let has_summary = bundle_manifest::is_summarized(&call.fields, call.is_brief)
            && bundle_manifest::summarize(&mut value);
        is_unchanged &= !has_summary;
        if !call.advice.similar_vendors.is_empty() {
            // With its name, so that it is treated as text of teams.
            let mut added = json!({(SIMILAR_VENDORS): call.advice.similar_vendors});
            sanitize::sanitize_value(&mut added);
            value[SIMILAR_VENDORS] = added[SIMILAR_VENDORS].take();
            is_unchanged = false;
        }
        let unchanged = is_unchanged.then_some(bytes);
        let team_text = if call.has_team_text() { TeamText::find(&value) } else { TeamText::default() };
        let mut page = Page { added_fields: Map::new(), team_text, total, unchanged, origin, value };
        if paging == Paging::Cursor && page.value["next_cursor"].is_string() {
            next = Some(call.offset + item_count);
        }
        if call.is_paged_by_offset() {
            page.add_field(NEXT_OFFSET, json!(next));
        }
        let is_empty = item_count == 0 && call.variant.call.list.is_some();
        let is_without_matches = is_empty && call.is_filtered && call.offset == 0;
        page.add_notes(call, is_without_matches, evidence, &cut_lists, has_summary);
        if let Some(hint) = signed_addresses::hint(&call.fields, address, &page.value, context.is_served) {
            page.add_hint(&hint);
        }
        Ok(page)
    }

    /// Adds what the page says about itself.
    fn add_notes(
        &mut self,
        call: &ToolCall,
        is_without_matches: bool,
        evidence: Option<String>,
        cut_lists: &[(&str, usize, usize)],
        has_summary: bool,
    ) {
        if let Some(notice) = self.team_text.notice() {
            self.add_field(NOTICE, json!(notice));
        }
        if let Some(hint) = &call.advice.hint {
            self.add_hint(hint);
        }
        if self.value["locked"] == true {
            self.add_hint(LOCKED_HINT);
        }
        if is_without_matches {
            self.add_hint(NO_MATCHES_HINT);
        }
        if let Some(evidence) = evidence {
            self.add_field(EVIDENCE, json!(evidence));
        }
        for (name, shown, count) in cut_lists {
            self.add_truncation_note(&format!(
                "`{name}` shows {shown} of {count}; for the rest, set `{FIELDS}` to [\"{name}[{shown}:]\"]."
            ));
        }
        if has_summary {
            self.add_truncation_note(&bundle_manifest::note());
        }
        if call.is_brief {
            self.shorten_maps(call);
        }
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
    pub fn size(&self) -> usize {
        let value = self.unchanged.as_ref().map_or_else(|| json_size(&self.value), Bytes::len);
        value + json_size(&self.added_fields)
    }

    /// Returns the output. If the value is unchanged, the text is the operation's JSON, with its order of
    /// fields.
    pub fn into_output(self, list: Option<&str>) -> ToolOutput {
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
    pub fn count_fitting_items(&self, call: &ToolCall) -> Option<(usize, usize)> {
        let items = self.value[call.variant.call.list?].as_array()?;
        let sizes: Vec<usize> = items.iter().map(|item| json_size(item) + 1).collect();
        count_fitting(&sizes, self.size(), call.max_bytes)
    }

    /// Keeps the first `count` items of the list, and adds a note on how to get the rest.
    pub fn truncate(&mut self, call: &ToolCall, count: usize, total: usize) {
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
    pub fn shorten(&mut self, call: &ToolCall) {
        if self.size() <= call.max_bytes {
            return;
        }
        self.unchanged = None;
        let (value, added_fields) = (self.value.clone(), self.added_fields.clone());
        let reserved = reserved_note_bytes(call.max_bytes);
        self.truncate_parts(call, reserved);
        // The notes are often shorter than the reserved space. Another attempt uses the remaining space.
        let unused = call.max_bytes.saturating_sub(self.size());
        if unused > MAX_UNUSED_BYTES {
            let first_value = std::mem::replace(&mut self.value, value);
            let first_fields = std::mem::replace(&mut self.added_fields, added_fields);
            self.truncate_parts(call, (reserved + MAX_UNUSED_BYTES).saturating_sub(unused));
            if self.size() > call.max_bytes {
                (self.value, self.added_fields) = (first_value, first_fields);
            }
        }
        self.leave_out_fields(call);
    }

    /// Truncates the longest parts until the output has room for notes of `reserved` bytes, and adds these.
    fn truncate_parts(&mut self, call: &ToolCall, reserved: usize) {
        let other_bytes = json_size(&self.added_fields) + reserved;
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
                    !["id", EVIDENCE, list].contains(&name.as_str())
                        && !PAGING_FIELDS.contains(&name.as_str())
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

/// Returns the lists of a record of which a call without `fields` shows the first items only: the name of each, how many it
/// shows, and how many there are.
fn cut_lists<'c>(call: &'c ToolCall, value: &Value) -> Vec<(&'c str, usize, usize)> {
    let mut cut: Vec<(&str, usize, usize)> = Vec::new();
    for (name, shown) in call.fields.iter().filter_map(FieldPath::first_items) {
        let count = value[name].as_array().map_or(0, Vec::len);
        if count > shown && !cut.iter().any(|(other, ..)| *other == name) {
            cut.push((name, shown, count));
        }
    }
    cut
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
    let (of_items, of_page): (Vec<FieldPath>, Vec<FieldPath>) =
        call.fields.iter().cloned().partition(|path| path.begins_in(subject));
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
