//! Joins texts at compile time. So a resource or a list states only its path, and other paths and names are derived from it.

/// Number of bytes that a text can have.
const MAX_BYTES: usize = 96;

/// A text that is built at compile time.
#[derive(Clone, Copy, Debug)]
pub struct ConstText {
    bytes: [u8; MAX_BYTES],
    length: usize,
}

impl ConstText {
    /// Joins two texts.
    pub const fn new(first: &str, second: &str) -> ConstText {
        ConstText { bytes: [0; MAX_BYTES], length: 0 }.with(first).with(second)
    }

    /// Converts a name to a word: spaces become underscores.
    pub const fn word(name: &str) -> ConstText {
        let mut joined = ConstText::new(name, "");
        let mut index = 0;
        while index < joined.length {
            if joined.bytes[index] == b' ' {
                joined.bytes[index] = b'_';
            }
            index += 1;
        }
        joined
    }

    const fn with(mut self, text: &str) -> ConstText {
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            self.bytes[self.length] = bytes[index];
            self.length += 1;
            index += 1;
        }
        self
    }

    /// Returns the text.
    pub const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => panic!("joined texts consist of whole characters"),
        }
    }
}

/// Returns the rest of a path after a prefix.
pub const fn below(path: &'static str, part: &str) -> &'static str {
    path.split_at(part.len()).1
}

/// Returns the last segment of a path.
pub const fn last_segment(path: &'static str) -> &'static str {
    let bytes = path.as_bytes();
    let mut start = bytes.len();
    while start > 0 && bytes[start - 1] != b'/' {
        start -= 1;
    }
    path.split_at(start).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_at_compile_time() {
        const WORD: &str = ConstText::word("credit purchase").as_str();
        const PATH: ConstText = ConstText::new("/operator/keys", "/{id}");
        assert_eq!((WORD, PATH.as_str()), ("credit_purchase", "/operator/keys/{id}"));
        assert_eq!(last_segment("/operator/operator-keys"), "operator-keys");
        assert_eq!(below("/operator/keys", "/operator"), "/keys");
    }
}
