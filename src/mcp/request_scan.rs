//! Checks the shape of an agent's request before the MCP library parses it: its depth, its number of values,
//! and that no object has a name twice. The library builds a tree of any JSON, more than once.

use std::collections::HashSet;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess};

use crate::json_values::{Name, Next, ReadJson};

/// Maximum depth of nested arrays and objects. Requests of the protocol have about five levels.
const MAX_DEPTH: usize = 32;

/// Maximum number of values and names.
const MAX_VALUES: usize = 10_000;

/// Maximum number of bytes of a name, which messages may repeat.
const MAX_NAME_BYTES: usize = 1_000;

/// Maximum number of bytes of a request ID, which the response repeats.
const MAX_ID_BYTES: usize = 1_000;

/// What is wrong with the shape of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeFault {
    /// Arrays and objects are nested too deeply.
    TooDeep,
    /// There are too many values.
    TooManyValues,
    /// A name is too long.
    LongName,
    /// The ID of the request is too long.
    LongId,
    /// An object has a name twice.
    DuplicateName,
}

impl ShapeFault {
    /// Returns the message for the agent.
    pub fn message(self) -> String {
        match self {
            ShapeFault::TooDeep => {
                format!("The request is nested more than {MAX_DEPTH} levels deep. Flatten it.")
            }
            ShapeFault::TooManyValues => {
                format!("The request has more than {MAX_VALUES} values. Send fewer in each call.")
            }
            ShapeFault::LongName => {
                format!(
                    "A name in the request has more than {MAX_NAME_BYTES} bytes. Use the documented names."
                )
            }
            ShapeFault::LongId => format!("`id` has more than {MAX_ID_BYTES} bytes. Send a shorter one."),
            ShapeFault::DuplicateName => {
                "An object in the request has the same name twice. Send each name once.".to_owned()
            }
        }
    }
}

/// Checks the shape of a request. Syntax errors are not reported, since the library reports them.
pub fn check_shape(bytes: &[u8]) -> Result<(), ShapeFault> {
    let mut scan = Scan { values: 0, fault: None };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let scanner = Scanner { scan: &mut scan, depth: 0, max_text_bytes: usize::MAX };
    // A syntax error ends the scan, too; then there is no fault.
    let _ = Next(scanner).deserialize(&mut deserializer);
    scan.fault.map_or(Ok(()), Err)
}

struct Scan {
    values: usize,
    fault: Option<ShapeFault>,
}

/// Scans a value at a depth.
struct Scanner<'a> {
    scan: &'a mut Scan,
    depth: usize,
    max_text_bytes: usize,
}

impl Scanner<'_> {
    fn fail<E: Error>(&mut self, fault: ShapeFault) -> E {
        self.scan.fault = Some(fault);
        E::custom("invalid shape")
    }

    fn nested(&mut self, max_text_bytes: usize) -> Next<Scanner<'_>> {
        Next(Scanner { scan: &mut *self.scan, depth: self.depth + 1, max_text_bytes })
    }
}

impl ReadJson for Scanner<'_> {
    type Output = ();

    fn begin<E: Error>(&mut self) -> Result<(), E> {
        self.scan.values += 1;
        if self.scan.values > MAX_VALUES { Err(self.fail(ShapeFault::TooManyValues)) } else { Ok(()) }
    }

    fn text<E: Error>(mut self, text: &str) -> Result<(), E> {
        if text.len() > self.max_text_bytes { Err(self.fail(ShapeFault::LongId)) } else { Ok(()) }
    }

    fn array<'de, A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(ShapeFault::TooDeep));
        }
        while items.next_element_seed(self.nested(usize::MAX))?.is_some() {}
        Ok(())
    }

    fn object<'de, A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(ShapeFault::TooDeep));
        }
        let mut names = HashSet::new();
        while let Some(Name(name)) = entries.next_key()? {
            // A name counts like a value.
            self.begin::<A::Error>()?;
            if name.len() > MAX_NAME_BYTES {
                return Err(self.fail(ShapeFault::LongName));
            }
            let is_request_id = self.depth == 0 && name == "id";
            if !names.insert(name) {
                return Err(self.fail(ShapeFault::DuplicateName));
            }
            entries.next_value_seed(self.nested(if is_request_id { MAX_ID_BYTES } else { usize::MAX }))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_is_checked_before_a_tree_is_built() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#.to_owned(), Ok(())),
            (nested(MAX_DEPTH), Ok(())),
            (nested(MAX_DEPTH + 1), Err(ShapeFault::TooDeep)),
            ("[".repeat(1_000_000), Err(ShapeFault::TooDeep)),
            (format!("[{}0]", "0,".repeat(MAX_VALUES)), Err(ShapeFault::TooManyValues)),
            (format!("{{\"{}\":0}}", "x".repeat(MAX_NAME_BYTES + 1)), Err(ShapeFault::LongName)),
            (format!(r#"{{"id":"{}"}}"#, "x".repeat(MAX_ID_BYTES + 1)), Err(ShapeFault::LongId)),
            (r#"{"params":{"a":1,"\u0061":2}}"#.to_owned(), Err(ShapeFault::DuplicateName)),
            ("nonsense".to_owned(), Ok(())),
            (String::new(), Ok(())),
        ] {
            assert_eq!(check_shape(text.as_bytes()), expected, "{}", &text[..text.len().min(60)]);
        }
    }
}
