//! What metadata and pages of Parquet may claim, judged before the library believes it: it takes as much memory as they
//! state, follows schemas as deep as they are, and unpacks some codecs without end.

use std::io::{self, Read};

use ::parquet::{
    basic::Compression,
    errors::ParquetError,
    file::{metadata::ColumnChunkMetaData, reader::ChunkReader},
};

use super::{
    Fault,
    thrift::{Cursor, Kind, Step},
};

/// Bytes that a page may unpack to.
const MAX_PAGE: u64 = 128 << 20;

/// Values of a page at most.
const MAX_VALUES: u64 = 100_000_000;

/// Values of a file at most: a few bytes can state very many that are alike.
const MAX_ALL_VALUES: u64 = 4_000_000_000;

/// Bytes that a file may unpack to beyond fifty times its size.
const SPARE: u64 = 4 << 30;

/// Bytes of a page's header at most.
const MAX_HEADER: usize = 1 << 20;

/// Elements of a schema at most.
const MAX_ELEMENTS: usize = 100_000;

/// Levels of a schema at most.
const MAX_LEVELS: usize = 64;

/// Whether the metadata of a file can be handed to the library: its schema is a tree that is neither deep nor larger than
/// it is.
pub fn is_sound(metadata: &[u8]) -> bool {
    let mut cursor = Cursor::new(metadata);
    let mut last = 0;
    loop {
        match cursor.field(last) {
            Some(Step::Field(field)) if field.id == 2 && field.kind == Kind::List => {
                return schema(&mut cursor) == Some(true);
            }
            Some(Step::Field(field)) => {
                if cursor.skip(field.kind).is_none() {
                    return false;
                }
                last = field.id;
            }
            _ => return false,
        }
    }
}

fn schema(cursor: &mut Cursor<'_>) -> Option<bool> {
    let (length, kind) = cursor.list()?;
    if kind != Kind::Struct || length > MAX_ELEMENTS {
        return Some(false);
    }
    // For each group that is open how many of its children are to come.
    let mut open: Vec<usize> = Vec::new();
    for index in 0..length {
        let children = usize::try_from(children(cursor)?).ok()?;
        if index > 0 {
            let rest = open.last_mut()?;
            *rest -= 1;
        }
        if children > length - index - 1 || open.len() >= MAX_LEVELS {
            return Some(false);
        }
        if children > 0 {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(open.is_empty())
}

/// How many children an element of a schema has.
fn children(cursor: &mut Cursor<'_>) -> Option<i64> {
    let (mut last, mut children) = (0, 0);
    while let Step::Field(field) = cursor.field(last)? {
        match (field.id, field.kind) {
            (5, Kind::Int) => children = cursor.int()?,
            (_, kind) => cursor.skip(kind)?,
        }
        last = field.id;
    }
    Some(children)
}

/// What a page's header states.
#[derive(Debug, Default)]
struct Page {
    unpacked: u64,
    packed: u64,
    values: u64,
    /// Bytes of its second version that are never packed.
    plain: u64,
    is_plain: bool,
    is_dictionary: bool,
    /// Bytes of the header itself.
    header: u64,
}

fn page(bytes: &[u8]) -> Option<Page> {
    let (mut cursor, mut last, mut page) = (Cursor::new(bytes), 0, Page::default());
    while let Step::Field(field) = cursor.field(last)? {
        match (field.id, field.kind) {
            (2, Kind::Int) => page.unpacked = u64::try_from(cursor.int()?).ok()?,
            (3, Kind::Int) => page.packed = u64::try_from(cursor.int()?).ok()?,
            (5 | 7 | 8, Kind::Struct) => {
                page.is_dictionary |= field.id == 7;
                values(&mut cursor, field.id == 8, &mut page)?;
            }
            (_, kind) => cursor.skip(kind)?,
        }
        last = field.id;
    }
    page.header = cursor.position() as u64;
    Some(page)
}

/// Reads what a page states of its values.
fn values(cursor: &mut Cursor<'_>, is_second: bool, page: &mut Page) -> Option<()> {
    let mut last = 0;
    while let Step::Field(field) = cursor.field(last)? {
        match (field.id, field.kind) {
            (1, Kind::Int) => page.values = u64::try_from(cursor.int()?).ok()?,
            (5 | 6, Kind::Int) if is_second => {
                page.plain = page.plain.checked_add(u64::try_from(cursor.int()?).ok()?)?;
            }
            (7, Kind::Bool(is_packed)) if is_second => page.is_plain = !is_packed,
            (_, kind) => cursor.skip(kind)?,
        }
        last = field.id;
    }
    Some(())
}

/// What may still be read of a file.
#[derive(Debug)]
pub struct Budget {
    size: u64,
    unpacked: u64,
    values: u64,
}

impl Budget {
    /// What may be read of a file of this size.
    pub fn of(size: u64) -> Budget {
        Budget { size, unpacked: SPARE.saturating_add(size.saturating_mul(50)), values: MAX_ALL_VALUES }
    }

    /// Whether every page of a column can be handed to the library; nothing is unpacked into memory.
    pub fn judge<R: ChunkReader>(&mut self, reader: &R, column: &ColumnChunkMetaData) -> Result<(), Fault> {
        let broken = || Fault::of("has pages that are damaged");
        let (mut at, length) = column.byte_range();
        let end = at.checked_add(length).filter(|end| *end <= self.size).ok_or_else(broken)?;
        while at < end {
            let page = header(reader, at, end)?.ok_or_else(broken)?;
            at += page.header;
            // A value of a dictionary has a byte at least.
            let is_thin = page.is_dictionary && page.values > page.unpacked;
            if page.packed > end - at || page.plain > page.packed || page.plain > page.unpacked || is_thin {
                return Err(broken());
            }
            if page.unpacked > MAX_PAGE || page.values > MAX_VALUES || page.packed > MAX_PAGE {
                return Err(Fault::of("has pages of more than 128 MiB. Write smaller ones"));
            }
            let left = (self.unpacked.checked_sub(page.unpacked), self.values.checked_sub(page.values));
            let (Some(unpacked), Some(values)) = left else {
                return Err(Fault::of("unpacks to more than is read here. Split it"));
            };
            (self.unpacked, self.values) = (unpacked, values);
            let is_bounded = page.is_plain || is_bounded(column.compression());
            if !is_bounded {
                let packed = get(reader, at + page.plain, (page.packed - page.plain) as usize)?;
                if !is_within(column.compression(), &packed, page.unpacked - page.plain) {
                    return Err(Fault::of("has pages that unpack to more than they state"));
                }
            }
            at += page.packed;
        }
        Ok(())
    }
}

/// The header at a place; nothing where there is none.
fn header<R: ChunkReader>(reader: &R, at: u64, end: u64) -> Result<Option<Page>, Fault> {
    for length in [1_024, MAX_HEADER] {
        let length = length.min((end - at) as usize);
        if let Some(page) = page(&get(reader, at, length)?) {
            return Ok(Some(page));
        }
    }
    Ok(None)
}

fn get<R: ChunkReader>(reader: &R, at: u64, length: usize) -> Result<Vec<u8>, Fault> {
    reader.get_bytes(at, length).map(|bytes| bytes.to_vec()).map_err(|error| Fault::of_library(&error))
}

/// Whether the library unpacks no more than is stated.
fn is_bounded(codec: Compression) -> bool {
    !matches!(codec, Compression::GZIP(_) | Compression::BROTLI(_) | Compression::LZ4)
}

/// Whether packed bytes unpack to no more than is stated.
fn is_within(codec: Compression, packed: &[u8], stated: u64) -> bool {
    let count = |reader: &mut dyn Read| io::copy(&mut reader.take(stated + 1), &mut io::sink());
    let unpacked = match codec {
        Compression::GZIP(_) => count(&mut flate2::read::MultiGzDecoder::new(packed)),
        Compression::BROTLI(_) => count(&mut brotli::Decompressor::new(packed, 4_096)),
        // Frames of LZ4 are tried, too, whose length nothing bounds; they were written for a short time only.
        _ => return !packed.starts_with(&[0x04, 0x22, 0x4d, 0x18]),
    };
    // What is damaged is for the library to tell.
    unpacked.map_or(true, |bytes| bytes <= stated)
}

impl Fault {
    /// What the library says, without what it says of itself.
    pub fn of_library(error: &ParquetError) -> Fault {
        let said = error.to_string();
        let said = said.strip_prefix("Parquet error: ").unwrap_or(&said);
        Fault(format!(
            "cannot be read: {}",
            said.chars().filter(|c| !c.is_control()).take(150).collect::<String>()
        ))
    }
}
