//! The answers of an agent: untrusted JSON Lines.

use std::collections::BTreeMap;

use marketplace_text::encoding::without_byte_order_mark;
use serde_json::Value;

/// Maximum size of a line in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Answers by the IDs of their questions.
#[derive(Clone, Debug, Default)]
pub struct Answers(BTreeMap<String, Value>);

impl Answers {
    /// Adds the answer to a question. The first one counts.
    pub fn insert(&mut self, id: &str, answer: Value) {
        self.0.entry(id.to_owned()).or_insert(answer);
    }

    /// Adds the answer of a line, `{"id": …, "answer": …}`, to one of the questions with these IDs. Returns why the line is
    /// ignored otherwise; an empty line is skipped without a reason.
    pub fn add_line(&mut self, line: &[u8], is_question: impl Fn(&str) -> bool) -> Result<(), String> {
        if line.len() > MAX_LINE_BYTES {
            return Err(format!("a line has more than {MAX_LINE_BYTES} bytes"));
        }
        let line = without_byte_order_mark(line);
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let parsed: Value =
            serde_json::from_slice(line).map_err(|cause| format!("a line is not JSON: {cause}"))?;
        let Some(id) = parsed["id"].as_str() else { return Err("a line has no `id`".to_owned()) };
        if !is_question(id) {
            return Err("a line has the `id` of no question".to_owned());
        }
        if self.0.contains_key(id) {
            return Err(format!("{id} was already answered; the first answer counts"));
        }
        let Some(answer) = parsed.get("answer") else {
            return Err(format!("the line of {id} has no `answer`"));
        };
        self.0.insert(id.to_owned(), answer.clone());
        Ok(())
    }

    /// Returns the answer to a question.
    pub fn get(&self, id: &str) -> Option<&Value> {
        self.0.get(id)
    }

    /// Returns the number of answers.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn first_answer_of_a_known_question_counts() {
        let mut answers = Answers::default();
        let mut add = |line: &str| answers.add_line(line.as_bytes(), |id| id.starts_with('q'));
        assert!(add(" \r\n").is_ok());
        assert!(add("\u{feff}{\"id\": \"q1\", \"answer\": 1}").is_ok());
        assert!(add(r#"{"id": "q2", "answer": null}"#).is_ok());
        for (line, reason) in [
            (r#"{"id": "q1", "answer": 2}"#, "already answered"),
            (r#"{"id": "x1", "answer": 2}"#, "no question"),
            (r#"{"id": "q3"}"#, "no `answer`"),
            (r#"{"answer": 2}"#, "no `id`"),
            ("[]", "no `id`"),
            ("q3: 2", "not JSON"),
            (&format!("{{\"id\": \"q3\", \"answer\": \"{}\"}}", "x".repeat(MAX_LINE_BYTES)), "more than"),
        ] {
            assert!(add(line).unwrap_err().contains(reason), "{reason}");
        }
        assert_eq!(
            (answers.get("q1"), answers.get("q2"), answers.len()),
            (Some(&json!(1)), Some(&Value::Null), 2)
        );
    }
}
