//! Puts the notice of an answer before the text that it covers. Values of the MCP library have their fields in the order of
//! names, so its messages are changed after it has written them. They are objects of JSON, whose order clients keep when they
//! show them to a model.

use memchr::memmem;

use super::schemas::NOTICE;
use crate::rest::shapes::json_object::{ObjectWriter, RawObject};

const RESULT: &str = "result";
const STRUCTURED: &str = "structuredContent";

/// Returns a message with the notice as the first field of the structured content; `None` if it has no notice.
pub fn with_notice_first(message: &[u8]) -> Option<Vec<u8>> {
    let (structured, notice) = (format!("\"{STRUCTURED}\":"), format!("\"{NOTICE}\":"));
    let start = memmem::find(message, structured.as_bytes())?;
    memmem::find(&message[start..], notice.as_bytes())?;
    let fields = RawObject::parse(message).ok()?;
    let result = RawObject::parse(fields.get(RESULT)?).ok()?;
    let content = RawObject::parse(result.get(STRUCTURED)?).ok()?;
    let notice = content.get(NOTICE)?;
    let mut ordered = ObjectWriter::with_capacity(message.len());
    ordered.raw_field(NOTICE, notice);
    ordered.fields(&content.without(NOTICE));
    Some(fields.with(RESULT, &result.with(STRUCTURED, &ordered.finish())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notice_becomes_the_first_field() {
        let message = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"items":[{"b":1,"a":2}],"notice":"N","total":1},"isError":false}}"#;
        let expected = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"notice":"N","items":[{"b":1,"a":2}],"total":1},"isError":false}}"#;
        let changed = with_notice_first(message).unwrap();
        assert_eq!(String::from_utf8(changed).unwrap(), expected);
        for other in [
            r#"{"id":7,"result":{"structuredContent":{"items":[{"notice":"N"}]}}}"#,
            r#"{"id":7,"result":{"content":[{"text":"\"structuredContent\":{\"notice\":1}"}]}}"#,
            r#"{"id":7,"error":{"message":"x"}}"#,
            "nonsense",
        ] {
            assert_eq!(with_notice_first(other.as_bytes()), None, "{other}");
        }
    }
}
