//! Validation of Parquet metadata and page headers before the `parquet` library reads them. The library
//! allocates as much memory as they declare, recurses as deeply as the schema, and decompresses some codecs
//! without a limit.

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

/// Maximum decompressed size of a page in bytes.
const MAX_PAGE: u64 = 128 << 20;

/// Maximum number of values in a page.
const MAX_VALUES: u64 = 100_000_000;

/// Maximum number of values in a file. A few bytes can encode very many equal values.
const MAX_ALL_VALUES: u64 = 4_000_000_000;

/// Number of bytes that a file may decompress to in addition to fifty times its size.
const SPARE: u64 = 4 << 30;

/// Maximum size of a page header in bytes.
const MAX_HEADER: usize = 1 << 20;

/// Maximum number of schema elements.
const MAX_ELEMENTS: usize = 100_000;

/// Maximum nesting depth of a schema.
const MAX_LEVELS: usize = 64;

/// Returns whether the file metadata is safe to pass to the library: its schema is a tree of limited depth
/// with as many elements as it declares.
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
    // The number of remaining children of each open group.
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

/// Reads a schema element and returns its number of children.
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

/// The relevant fields of a page header.
#[derive(Debug, Default)]
struct Page {
    unpacked: u64,
    packed: u64,
    values: u64,
    /// Size in bytes of the levels of a version 2 page, which are never compressed.
    plain: u64,
    is_plain: bool,
    is_dictionary: bool,
    /// Size of the header itself in bytes.
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

/// Reads the header of a data page (version 1 or 2) or dictionary page into `page`.
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

/// How much more of a file may be read.
#[derive(Debug)]
pub struct Budget {
    size: u64,
    unpacked: u64,
    values: u64,
}

impl Budget {
    /// Creates the budget for a file of `size` bytes.
    pub fn of(size: u64) -> Budget {
        Budget { size, unpacked: SPARE.saturating_add(size.saturating_mul(50)), values: MAX_ALL_VALUES }
    }

    /// Checks that every page of a column is safe to pass to the library. Decompressed data is counted, not
    /// stored.
    pub fn judge<R: ChunkReader>(&mut self, reader: &R, column: &ColumnChunkMetaData) -> Result<(), Fault> {
        let broken = || Fault::of("has damaged pages");
        let (mut at, length) = column.byte_range();
        let end = at.checked_add(length).filter(|end| *end <= self.size).ok_or_else(broken)?;
        while at < end {
            let page = header(reader, at, end)?.ok_or_else(broken)?;
            at += page.header;
            // Each value of a dictionary has at least one byte.
            let is_thin = page.is_dictionary && page.values > page.unpacked;
            if page.packed > end - at || page.plain > page.packed || page.plain > page.unpacked || is_thin {
                return Err(broken());
            }
            if page.unpacked > MAX_PAGE || page.values > MAX_VALUES || page.packed > MAX_PAGE {
                return Err(Fault::of("has pages larger than 128 MiB. Write smaller pages"));
            }
            let left = (self.unpacked.checked_sub(page.unpacked), self.values.checked_sub(page.values));
            let (Some(unpacked), Some(values)) = left else {
                return Err(Fault::of("decompresses to more data than is read. Split it"));
            };
            (self.unpacked, self.values) = (unpacked, values);
            let is_bounded = page.is_plain || is_bounded(column.compression());
            if !is_bounded {
                let packed = get(reader, at + page.plain, (page.packed - page.plain) as usize)?;
                if !is_within(column.compression(), &packed, page.unpacked - page.plain) {
                    return Err(Fault::of("has pages that decompress to more than they declare"));
                }
            }
            at += page.packed;
        }
        Ok(())
    }
}

/// Reads the page header at an offset. `None` if there is no valid header.
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

/// Whether the library itself limits decompression to the declared size.
fn is_bounded(codec: Compression) -> bool {
    !matches!(codec, Compression::GZIP(_) | Compression::BROTLI(_) | Compression::LZ4)
}

/// Whether compressed bytes decompress to at most the declared size.
fn is_within(codec: Compression, packed: &[u8], stated: u64) -> bool {
    let count = |reader: &mut dyn Read| io::copy(&mut reader.take(stated + 1), &mut io::sink());
    let unpacked = match codec {
        Compression::GZIP(_) => count(&mut flate2::read::MultiGzDecoder::new(packed)),
        Compression::BROTLI(_) => count(&mut brotli::Decompressor::new(packed, 4_096)),
        // The library also accepts LZ4 frames, whose decompressed size has no limit. Writers produced them
        // only for a short time, so they are rejected.
        _ => return !packed.starts_with(&[0x04, 0x22, 0x4d, 0x18]),
    };
    // Leave it to the library to report damaged data.
    unpacked.map_or(true, |bytes| bytes <= stated)
}

impl Fault {
    /// Converts an error of the library: removes its prefix and control characters, and truncates it.
    pub fn of_library(error: &ParquetError) -> Fault {
        let said = error.to_string();
        let said = said.strip_prefix("Parquet error: ").unwrap_or(&said);
        Fault(format!(
            "cannot be read: {}",
            said.chars().filter(|c| !c.is_control()).take(150).collect::<String>()
        ))
    }
}
