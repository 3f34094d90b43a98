//! The columns that a vendor defines for an asset, as lines of text: a name, a colon, and a value.

use std::collections::BTreeMap;

use serde_json::Value;

/// The columns by name.
pub type Columns = BTreeMap<String, Value>;

/// Returns the text of a value: texts as they are, unless they could be read as something else.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => text.clone(),
        value => value.to_string(),
    }
}

/// Returns the lines for columns; `None` if lines cannot express them, such as texts with line breaks.
pub fn to_lines(columns: &Columns) -> Option<String> {
    let lines: Vec<String> =
        columns.iter().map(|(name, value)| format!("{name}: {}", value_text(value))).collect();
    let text = lines.join("\n");
    (parse(&text).as_ref() == Some(columns)).then_some(text)
}

/// Parses lines; `None` if one of them has no colon, or no name before it, or a name occurs twice.
pub fn parse(text: &str) -> Option<Columns> {
    let mut columns = Columns::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        let (name, value) = (name.trim(), value.trim());
        let parsed = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        if name.is_empty() || columns.insert(name.to_owned(), parsed).is_some() {
            return None;
        }
    }
    Some(columns)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_keep_the_columns() {
        let columns: Columns = serde_json::from_value(json!({
            "Ticket": "AB-12", "Count": 12, "Text": "12", "Paid": true, "Ratio": "1:2", "List": ["a", 1], "None": null
        }))
        .unwrap();
        let lines = to_lines(&columns).unwrap();
        assert_eq!(parse(&lines), Some(columns));
        assert_eq!(
            parse("a: 1\n\n b :  x y "),
            Some(serde_json::from_value(json!({"a": 1, "b": "x y"})).unwrap())
        );
        for text in ["a", ": b", "a: 1\na: 2"] {
            assert_eq!(parse(text), None, "{text}");
        }
        for other in [json!({"a:b": 1}), json!({"a": "x\ny"}), json!({"a": " x"})] {
            assert_eq!(to_lines(&serde_json::from_value(other).unwrap()), None);
        }
    }
}
