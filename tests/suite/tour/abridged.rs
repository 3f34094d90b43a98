//! Responses as pages print them: shortened, and with placeholders for what varies.

use serde_json::{Map, Value};

/// Placeholder for omitted parts.
pub const CUT: &str = "…";

/// Whether a printed value equals the real one, except for omitted parts.
pub fn matches_abridged(printed: &Value, real: &Value) -> bool {
    match (printed, real) {
        (Value::String(text), _) if text == CUT => true,
        (Value::Object(printed), Value::Object(real)) => {
            let is_abridged = printed.contains_key(CUT);
            let kept_fields: Vec<_> = printed.iter().filter(|(name, _)| *name != CUT).collect();
            (is_abridged || kept_fields.len() == real.len())
                && kept_fields
                    .iter()
                    .all(|(name, value)| real.get(*name).is_some_and(|real| matches_abridged(value, real)))
        }
        (Value::Array(printed), Value::Array(real)) => {
            let is_abridged = printed.last().is_some_and(|last| last == CUT);
            let kept_fields = if is_abridged { &printed[..printed.len() - 1] } else { printed };
            (if is_abridged { kept_fields.len() <= real.len() } else { kept_fields.len() == real.len() })
                && kept_fields.iter().zip(real).all(|(printed, real)| matches_abridged(printed, real))
        }
        _ => printed == real,
    }
}

/// Shortens a response for the tour: omits times, cursors, long texts, most fields, and all but the first
/// elements.
pub fn abridge(name: &str, real: &Value, depth: usize) -> Value {
    const SHOWN: [&str; 43] = [
        "summary",
        "offset",
        "purchases",
        "purchase",
        "listing",
        "purchase_kind",
        "listing_detail_available",
        "stage",
        "missing",
        "locked_fields",
        "sku",
        "total",
        "items",
        "id",
        "title",
        "team_name",
        "catalog_scale",
        "asset_counts",
        "task_count",
        "limit",
        "counts",
        "all",
        "owned",
        "facets",
        "asset_types",
        "locked",
        "next_cursor",
        "price",
        "price_per_task",
        "sample_price",
        "currency",
        "tasksets",
        "name",
        "certified",
        "checks",
        "environment_checks_passed",
        "environment_checks_total",
        "tasks",
        "task",
        "task_stats",
        "traces",
        "detail",
        "platform_quality_certified",
    ];
    const WHOLE: [&str; 7] =
        ["summary", "counts", "checks", "traces", "detail", "asset_counts", "locked_fields"];
    match real {
        Value::Object(fields) => {
            let keeps_all_fields = WHOLE.contains(&name) || depth > 0 && name == "asset_types";
            let mut abridged = Map::new();
            for (field, value) in fields {
                if keeps_all_fields || SHOWN.contains(&field.as_str()) {
                    abridged.insert(
                        field.clone(),
                        abridge(if keeps_all_fields { name } else { field }, value, depth + 1),
                    );
                }
            }
            if abridged.len() < fields.len() {
                abridged.insert(CUT.to_owned(), Value::from(CUT));
            }
            Value::Object(abridged)
        }
        Value::Array(elements) => {
            let maximum = match name {
                "items" => 2,
                "detail" | "missing" => usize::MAX,
                _ => 1,
            };
            let mut abridged: Vec<Value> =
                elements.iter().take(maximum).map(|element| abridge(name, element, depth + 1)).collect();
            if elements.len() > maximum {
                abridged.push(Value::from(CUT));
            }
            Value::Array(abridged)
        }
        Value::String(text) if name == "next_cursor" || text.len() > 120 || is_time(text) => Value::from(CUT),
        value => value.clone(),
    }
}

fn is_time(text: &str) -> bool {
    text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T'
}

/// Returns what two values have in common, with placeholders for the rest.
pub fn common(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) => {
            let both =
                fields.iter().filter_map(|(name, value)| Some((name, common(value, others.get(name)?))));
            let mut shared: Map<String, Value> = both.map(|(name, value)| (name.clone(), value)).collect();
            if shared.len() < fields.len().max(others.len()) {
                shared.insert(CUT.to_owned(), Value::from(CUT));
            }
            Value::Object(shared)
        }
        (Value::Array(elements), Value::Array(others)) => {
            let pairs = elements.iter().zip(others);
            let mut shared: Vec<Value> = pairs.map(|(one, other)| common(one, other)).collect();
            if elements.len() != others.len() && shared.last().is_none_or(|last| last != CUT) {
                shared.push(Value::from(CUT));
            }
            Value::Array(shared)
        }
        _ if one == other => one.clone(),
        _ => Value::from(CUT),
    }
}

#[test]
fn values_are_compared_except_for_placeholders() {
    use serde_json::json;
    let (one, other) = (
        json!({"count": 107, "items": [{"id": 1, "title": "a"}, {"id": 2}], "same": [1, 2], "only": 1}),
        json!({"count": 108, "items": [{"id": 1, "title": "b"}], "same": [1, 2]}),
    );
    let shared = common(&one, &other);
    assert_eq!(
        shared,
        json!({"count": "…", "items": [{"id": 1, "title": "…"}, "…"], "same": [1, 2], "…": "…"})
    );
    assert!(matches_abridged(&shared, &one) && matches_abridged(&shared, &other));
    for different in [
        json!({"count": 107, "items": [{"id": 2, "title": "a"}], "same": [1, 2]}),
        json!({"count": 107, "items": [{"id": 1, "title": "a"}], "same": [1]}),
        json!({"count": 107, "items": [], "same": [1, 2]}),
    ] {
        assert!(!matches_abridged(&shared, &different), "{different}");
    }
}
