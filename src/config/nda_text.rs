//! The text of the mutual NDA: from the file that a setting names, or the included one.

use std::{path::Path, sync::Arc};

use data_encoding::HEXLOWER;
use marketplace_text::is_blank;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use sha2::{Digest, Sha256};

use crate::regular_files;

/// The included text.
const DEFAULT: &str = include_str!("../operations/nda.md");

/// Maximum number of bytes of the file.
const MAX_BYTES: u64 = 256 * 1024;

/// The text of the mutual NDA, as Markdown. The setting is the path of a file, which is read with the settings. With an
/// empty path, it is the included text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NdaText {
    path: String,
    text: Arc<str>,
    digest: [u8; 32],
}

impl Default for NdaText {
    fn default() -> NdaText {
        NdaText::new(String::new(), DEFAULT)
    }
}

impl NdaText {
    fn new(path: String, text: &str) -> NdaText {
        NdaText { path, text: text.into(), digest: Sha256::digest(text).into() }
    }

    /// Reads the text from a file. Fails with what is wrong with it.
    fn read(path: String) -> Result<NdaText, String> {
        if path.is_empty() {
            return Ok(NdaText::default());
        }
        let fail = |problem: &str| format!("cannot read {path:?}: {problem}");
        let text = regular_files::read_to_string(Path::new(&path), MAX_BYTES)
            .map_err(|cause| fail(&cause.to_string()))?;
        if is_blank(&text) {
            return Err(fail("it is empty"));
        }
        Ok(NdaText::new(path, &text))
    }

    /// Returns the text, as Markdown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the SHA-256 digest of the text.
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Returns the SHA-256 digest of the text in hexadecimal.
    pub fn hex_digest(&self) -> String {
        HEXLOWER.encode(&self.digest)
    }
}

impl<'de> Deserialize<'de> for NdaText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NdaText, D::Error> {
        NdaText::read(String::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl Serialize for NdaText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.path.serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_within_its_limits() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nda.md");
        let read = |text: &[u8]| {
            std::fs::write(&path, text).unwrap();
            NdaText::read(path.to_str().unwrap().to_owned())
        };
        let limit = vec![b'a'; MAX_BYTES as usize];
        for text in ["# Terms\n", "\u{feff}# Terms\n"] {
            assert_eq!(read(text.as_bytes()).unwrap().text(), "# Terms\n");
        }
        assert_eq!(read(&limit).unwrap().text().len(), limit.len());
        for (text, problem) in [
            ([&limit[..], b"a"].concat(), "more than"),
            (b"\xff\xfe".to_vec(), "UTF-8"),
            (b" \n".to_vec(), "empty"),
            ("\u{200b}".into(), "empty"),
        ] {
            assert!(read(&text).unwrap_err().contains(problem), "{problem}");
        }
        assert!(NdaText::read("/does/not/exist".to_owned()).is_err());
        assert_eq!(NdaText::read(String::new()).unwrap(), NdaText::default());
    }

    #[test]
    fn different_texts_have_different_digests() {
        let (one, other) = (NdaText::new(String::new(), "one"), NdaText::new(String::new(), "other"));
        assert_ne!(one.digest(), other.digest());
        assert_eq!(one.hex_digest().len(), 64);
    }
}
