//! The rows of lists: their place in a response, and their identity.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::documents::Source;

/// Fields that identify a row, in the order in which they are looked for.
const IDENTITIES: [&str; 4] = ["id", "slug", "run_id", "asset_id"];

/// Maximum number of bytes of an ID or a cursor of the deployment that is sent back to it.
pub const MAX_VALUE: usize = 4_096;

/// Returns the rows of a list: the field `items`, or else the only field that is an array.
pub fn of(body: &Value) -> Option<&[Value]> {
    if let Some(items) = body["items"].as_array() {
        return Some(items);
    }
    let mut arrays = body.as_object()?.values().filter_map(Value::as_array);
    let first = arrays.next()?;
    arrays.next().is_none().then_some(first)
}

/// Returns the identity of a row: its ID, or else a digest of the row.
pub fn identity(row: &Value) -> String {
    let found = IDENTITIES.iter().find_map(|name| row[name].as_str()).filter(|id| id.len() <= MAX_VALUE);
    found.map_or_else(|| format!("row-{:016x}", xxh3_64(row.to_string().as_bytes())), str::to_owned)
}

/// Returns the identities of the rows of a list; none if it is no list.
pub fn identities(body: &Value) -> Vec<String> {
    of(body).into_iter().flatten().map(identity).collect()
}

/// Returns the number of rows that a list reports.
pub fn total(body: &Value) -> Option<u64> {
    body["total"].as_u64().or_else(|| body["counts"]["all"].as_u64())
}

/// Returns the values at a place of a response that names parameters of another operation. Those that the response
/// declares to be unavailable are left out.
pub fn values_at(body: &Value, source: &Source) -> Vec<String> {
    let Source::Body(steps) = source else { return Vec::new() };
    let mut found = Vec::new();
    collect(body, steps, &mut found);
    found
}

fn collect(value: &Value, steps: &[Option<String>], found: &mut Vec<String>) {
    if value["listing_detail_available"] == false {
        return;
    }
    match steps.split_first() {
        None => {
            // A step that is empty or a dot would lead to another path.
            let text =
                value.as_str().filter(|text| text.len() <= MAX_VALUE && !["", ".", ".."].contains(text));
            found.extend(text.map(str::to_owned));
        }
        Some((Some(name), steps)) => collect(&value[name], steps, found),
        Some((None, steps)) => {
            value.as_array().into_iter().flatten().for_each(|element| collect(element, steps, found));
        }
    }
}

/// Returns at most `count` elements of a list, evenly spread over it.
pub fn spread<T: Clone>(list: &[T], count: usize) -> Vec<T> {
    let step = list.len().div_ceil(count.max(1)).max(1);
    list.iter().step_by(step).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_and_ids_are_found() {
        let body = json!({"purchases": [
            {"listing": {"id": "a"}, "listing_detail_available": true},
            {"listing": {"id": "b"}, "listing_detail_available": false},
            {"listing": {"id": null}, "listing_detail_available": true},
            {"listing": {"id": ".."}, "listing_detail_available": true},
        ]});
        assert_eq!(of(&body).unwrap().len(), 4);
        let steps = ["purchases", "", "listing", "id"];
        let steps = steps.map(|step| (!step.is_empty()).then(|| step.to_owned()));
        assert_eq!(values_at(&body, &Source::Body(steps.to_vec())), ["a"]);
        assert!(of(&json!({"a": [], "b": []})).is_none() && of(&json!([])).is_none());
        assert_eq!(identity(&json!({"run_id": "r"})), "r");
        assert_eq!(spread(&[1, 2, 3, 4, 5, 6, 7], 3), [1, 4, 7]);
        assert!(spread::<u8>(&[], 3).is_empty());
    }
}
