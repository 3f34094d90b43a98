//! Reduces responses before they are parsed. Parsed values take many times their bytes and their time, so only the part
//! that a tool can return is parsed; the rest is only scanned for its structure.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{arguments::ToolCall, field_paths::FieldPath, variants::Paging};
use crate::rest::shapes::json_object::ObjectWriter;

/// Maximum size in bytes of a page that is parsed as a whole, and of the items of a larger one that are parsed.
/// Parsed values take many times their bytes.
pub const MAX_PARSED_BYTES: usize = 1 << 20;

/// Maximum number of bytes of an answer that are reserved for the truncation notes.
const RESERVED_NOTE_BYTES: usize = 2_500;

/// Number of bytes of an answer that are reserved for the note that items are left out.
pub const ITEM_NOTE_BYTES: usize = 400;

/// Returns how many bytes of an answer of this size are reserved for the truncation notes.
pub fn reserved_note_bytes(max_bytes: usize) -> usize {
    RESERVED_NOTE_BYTES.min(max_bytes / 4)
}

/// The fields of an object, unparsed.
type RawFields<'a> = BTreeMap<&'a str, &'a RawValue>;

/// The items of a large list that are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemRange {
    /// Number of items in the operation's response.
    pub total: usize,
    /// Number of items on the requested page.
    pub on_page: usize,
    /// How many of these are parsed, from the first; less than `on_page` if that would take much memory.
    pub parsed: usize,
}

/// Removes the fields that no path selects from the items of a list, or from a record if that is large. This costs less than
/// parsing these fields.
pub fn without_unselected_fields(call: &ToolCall, bytes: Bytes) -> serde_json::Result<Bytes> {
    if call.fields.is_empty() {
        return Ok(bytes);
    }
    let names: Vec<&str> = call.fields.iter().filter_map(FieldPath::first_name).collect();
    let Some(list) = call.variant.call.list else {
        if bytes.len() <= MAX_PARSED_BYTES {
            return Ok(bytes);
        }
        return Ok(selected_fields(std::str::from_utf8(&bytes).unwrap_or_default(), &names)?.into());
    };
    let page: RawFields = serde_json::from_slice(&bytes)?;
    let Some(items) = page.get(list) else { return Ok(bytes) };
    let items: Vec<&RawValue> = serde_json::from_str(items.get())?;
    let mut reduced_items = Vec::with_capacity(bytes.len().min(MAX_PARSED_BYTES));
    for item in &items {
        if !reduced_items.is_empty() {
            reduced_items.push(b',');
        }
        reduced_items.extend(selected_fields(item.get(), &names)?);
    }
    Ok(with_list(&page, list, &reduced_items))
}

/// Returns an object with only the named fields.
fn selected_fields(object: &str, names: &[&str]) -> serde_json::Result<Vec<u8>> {
    let fields: RawFields = serde_json::from_str(object)?;
    let mut selected = ObjectWriter::with_capacity(256);
    for (name, value) in fields.iter().filter(|(name, _)| names.contains(name)) {
        selected.raw_field(name, value.get().as_bytes());
    }
    Ok(selected.finish())
}

/// Reduces a large list to the items of the requested page, and to as many of these as may be parsed, at least
/// one. Returns none for a response that is not large or has no list.
pub fn requested_items(call: &ToolCall, bytes: &[u8]) -> serde_json::Result<Option<(Bytes, ItemRange)>> {
    let (skipped, limit) = match call.variant.paging {
        Paging::FullList | Paging::LimitOnly(_) => (call.offset, call.limit),
        // The operation has selected the page.
        Paging::Offset => (0, usize::MAX),
        Paging::Cursor | Paging::None => return Ok(None),
    };
    match call.variant.call.list {
        Some(list) if bytes.len() > MAX_PARSED_BYTES => take_items(bytes, list, skipped, limit),
        _ => Ok(None),
    }
}

/// Reduces the list of a page to `limit` items after the first `skipped`, and to as many of these as may be
/// parsed. Returns none if the page has no such list.
fn take_items(
    bytes: &[u8],
    list: &str,
    skipped: usize,
    limit: usize,
) -> serde_json::Result<Option<(Bytes, ItemRange)>> {
    let page: RawFields = serde_json::from_slice(bytes)?;
    let Some(items) = page.get(list) else { return Ok(None) };
    let items: Vec<&RawValue> = serde_json::from_str(items.get())?;
    let total = items.len();
    let items: Vec<&RawValue> = items.into_iter().skip(skipped).take(limit).collect();
    let mut parsed_items = Vec::new();
    let mut parsed = 0;
    for item in &items {
        let item = item.get().as_bytes();
        if parsed > 0 && parsed_items.len() + item.len() > MAX_PARSED_BYTES {
            break;
        }
        if parsed > 0 {
            parsed_items.push(b',');
        }
        parsed_items.extend_from_slice(item);
        parsed += 1;
    }
    let range = ItemRange { total, on_page: items.len(), parsed };
    Ok(Some((with_list(&page, list, &parsed_items), range)))
}

/// Returns a page with other items, given as serialized values separated by commas.
fn with_list(page: &RawFields, list: &str, items: &[u8]) -> Bytes {
    let mut reduced = ObjectWriter::with_capacity(items.len() + RESERVED_NOTE_BYTES);
    for (name, value) in page.iter().filter(|(name, _)| **name != list) {
        reduced.raw_field(name, value.get().as_bytes());
    }
    reduced.array_field(list, items);
    reduced.finish().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns a page of 2,000 items with about 1 KB each.
    fn large_page() -> Vec<u8> {
        let items: Vec<Value> = (0..2_000).map(|id| json!({"id": id, "text": "x".repeat(1_000)})).collect();
        json!({"total": 2_000, "items": items}).to_string().into_bytes()
    }

    #[test]
    fn only_requested_items_are_parsed() {
        let (page, range) = take_items(&large_page(), "items", 1_995, 30).unwrap().unwrap();
        assert_eq!(range, ItemRange { total: 2_000, on_page: 5, parsed: 5 });
        let page: Value = serde_json::from_slice(&page).unwrap();
        let ids: Vec<u64> =
            page["items"].as_array().unwrap().iter().map(|item| item["id"].as_u64().unwrap()).collect();
        assert_eq!((ids, &page["total"]), ((1_995..2_000).collect(), &json!(2_000)));
        let (_, range) = take_items(&large_page(), "items", 2_001, 30).unwrap().unwrap();
        assert_eq!((range.on_page, range.parsed), (0, 0));
        assert_eq!(take_items(&large_page(), "none", 0, 30).unwrap(), None);
    }

    #[test]
    fn parsed_items_have_a_maximum_size_but_are_at_least_one() {
        let (page, range) = take_items(&large_page(), "items", 10, usize::MAX).unwrap().unwrap();
        assert!(page.len() <= MAX_PARSED_BYTES + RESERVED_NOTE_BYTES);
        assert!((range.total, range.on_page) == (2_000, 1_990) && range.parsed > 900 && range.parsed < 1_100);
        let parsed: Value = serde_json::from_slice(&page).unwrap();
        assert_eq!(parsed["items"].as_array().unwrap().len(), range.parsed);
        let huge = json!({"items": ["x".repeat(MAX_PARSED_BYTES + 1), "y"]}).to_string();
        let (_, range) = take_items(huge.as_bytes(), "items", 0, 30).unwrap().unwrap();
        assert_eq!(range, ItemRange { total: 2, on_page: 2, parsed: 1 });
    }
}
