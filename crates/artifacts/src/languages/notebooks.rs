//! Code of Jupyter notebooks, which are JSON with code, prose, and outputs. Never keeps more than the code in memory.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};

/// Name that Linguist gives to notebooks.
pub(super) const LANGUAGE: &str = "Jupyter Notebook";

/// Language of a notebook that states none.
const DEFAULT_LANGUAGE: &str = "python";

/// The code cells of a notebook.
#[derive(Deserialize)]
pub(super) struct Notebook {
    #[serde(default)]
    metadata: Metadata,
    cells: Code,
}

#[derive(Default, Deserialize)]
struct Metadata {
    language_info: Option<LanguageInfo>,
}

#[derive(Deserialize)]
struct LanguageInfo {
    name: String,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: Source,
}

/// Text of all code cells, each on lines of its own.
struct Code(String);

/// Text of a cell, which is a string or several.
#[derive(Default)]
struct Source(String);

impl Notebook {
    /// Parses a notebook. Returns `None` if it is not valid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Notebook> {
        serde_json::from_slice(bytes).ok()
    }

    /// Returns the language of the code, as the notebook names it.
    pub(super) fn language(&self) -> &str {
        self.metadata.language_info.as_ref().map_or(DEFAULT_LANGUAGE, |info| &info.name)
    }

    /// Returns the text of all code cells.
    pub(super) fn code(&self) -> &str {
        &self.cells.0
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        deserializer.deserialize_seq(CodeVisitor)
    }
}

struct CodeVisitor;

impl<'de> Visitor<'de> for CodeVisitor {
    type Value = Code;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<Code, A::Error> {
        let mut code = String::new();
        while let Some(cell) = cells.next_element::<Cell>()? {
            if cell.cell_type == "code" {
                code.push_str(&cell.source.0);
                code.push('\n');
            }
        }
        Ok(Code(code))
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Source, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = Source;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or several")
    }

    fn visit_str<E>(self, text: &str) -> Result<Source, E> {
        Ok(Source(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Source, A::Error> {
        let mut source = String::new();
        while let Some(part) = parts.next_element::<std::borrow::Cow<'_, str>>()? {
            source.push_str(&part);
        }
        Ok(Source(source))
    }
}
