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
    TableError,
    thrift::{CompactReader, StructItem, ValueType},
};

/// Maximum decompressed size of a page in bytes.
pub(super) const MAX_PAGE_BYTES: u64 = 128 << 20;

/// Maximum number of values in a page.
pub(super) const MAX_PAGE_VALUES: u64 = 100_000_000;

/// Problem of a file with larger pages.
pub(super) const LARGE_PAGES: &str = "has pages larger than 128 MiB. Write smaller pages";

/// Problem of a file with pages that cannot be read.
pub(super) const DAMAGED_PAGES: &str = "has damaged pages";

/// Number of values that all files of the data may have in addition to [`VALUES_PER_BYTE`]. A few bytes can
/// encode very many equal values.
const BASE_VALUES: u64 = 2_000_000_000;

/// Number of values that a file may have for each of its bytes.
const VALUES_PER_BYTE: u64 = 200;

/// Number of bytes that all files of the data may decompress to in addition to fifty times their size.
const BASE_DECOMPRESSED_BYTES: u64 = 2 << 30;

/// Number of bytes that reading a page costs in addition to its own.
const PAGE_COST_BYTES: u64 = 1_024;

/// Maximum size of a page header in bytes.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// Maximum number of schema elements.
const MAX_SCHEMA_ELEMENTS: usize = 100_000;

/// Maximum nesting depth of a schema.
const MAX_SCHEMA_DEPTH: usize = 64;

/// Maximum number of columns in all row groups. The library uses several hundred bytes for each.
const MAX_COLUMN_CHUNKS: usize = 250_000;

/// Maximum number of elements of the other lists in a footer.
const MAX_LIST_ELEMENTS: usize = 100_000;

/// Maximum number of elements of a list in the metadata of one column.
const MAX_COLUMN_LIST_ELEMENTS: usize = 1_000;

/// Returns whether the file metadata is safe to pass to the library: its schema is a tree of limited depth with
/// as many elements as it declares, and no list has more elements than the library may allocate memory for.
pub fn is_safe_metadata(metadata: &[u8]) -> bool {
    check_metadata(metadata) == Some(true)
}

fn check_metadata(metadata: &[u8]) -> Option<bool> {
    let mut cursor = CompactReader::new(metadata);
    let (mut last, mut has_schema, mut chunks) = (0, false, 0);
    while let StructItem::Field(field) = cursor.read_field(last)? {
        if field.id <= last {
            return Some(false);
        }
        match (field.id, field.value_type) {
            (2, ValueType::List) => {
                has_schema = check_schema(&mut cursor)?;
                if !has_schema {
                    return Some(false);
                }
            }
            (4, ValueType::List) => {
                let (groups, kind) = cursor.read_list_header()?;
                for _ in 0..groups {
                    chunks += 1 + count_column_chunks(&mut cursor, kind)?;
                    if chunks > MAX_COLUMN_CHUNKS {
                        return Some(false);
                    }
                }
            }
            (_, kind) => cursor.skip_limited(kind, MAX_LIST_ELEMENTS)?,
        }
        last = field.id;
    }
    Some(has_schema)
}

/// Reads a row group and returns its number of columns.
fn count_column_chunks(cursor: &mut CompactReader<'_>, kind: ValueType) -> Option<usize> {
    let (mut last, mut chunks) = (0, 0);
    while let StructItem::Field(field) = cursor.read_field(last).filter(|_| kind == ValueType::Struct)? {
        if let (1, ValueType::List) = (field.id, field.value_type) {
            let (length, kind) = cursor.read_list_header()?;
            chunks += length;
            for _ in 0..length.min(MAX_COLUMN_CHUNKS) {
                cursor.skip_limited(kind, MAX_COLUMN_LIST_ELEMENTS)?;
            }
        } else {
            cursor.skip_limited(field.value_type, MAX_COLUMN_LIST_ELEMENTS)?;
        }
        last = field.id;
    }
    Some(chunks)
}

fn check_schema(cursor: &mut CompactReader<'_>) -> Option<bool> {
    let (length, kind) = cursor.read_list_header()?;
    if kind != ValueType::Struct || length > MAX_SCHEMA_ELEMENTS {
        return Some(false);
    }
    // The number of remaining children of each open group.
    let mut open: Vec<usize> = Vec::new();
    for index in 0..length {
        let children = usize::try_from(read_child_count(cursor)?).ok()?;
        if index > 0 {
            let remaining = open.last_mut()?;
            *remaining -= 1;
        }
        if children > length - index - 1 || open.len() >= MAX_SCHEMA_DEPTH {
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
fn read_child_count(cursor: &mut CompactReader<'_>) -> Option<i64> {
    let (mut last, mut children) = (0, 0);
    while let StructItem::Field(field) = cursor.read_field(last)? {
        match (field.id, field.value_type) {
            (5, ValueType::Int) => children = cursor.read_int()?,
            (_, kind) => cursor.skip(kind)?,
        }
        last = field.id;
    }
    Some(children)
}

/// The relevant fields of a page header.
#[derive(Debug, Default)]
struct PageHeader {
    uncompressed_bytes: u64,
    compressed_bytes: u64,
    values: u64,
    /// Size in bytes of the levels of a version 2 page, which are never compressed.
    level_bytes: u64,
    is_uncompressed: bool,
    is_dictionary: bool,
    /// Size of the header itself in bytes.
    header_bytes: u64,
}

fn parse_page_header(bytes: &[u8]) -> Option<PageHeader> {
    let (mut cursor, mut last, mut page) = (CompactReader::new(bytes), 0, PageHeader::default());
    let mut has_data_header = false;
    while let StructItem::Field(field) = cursor.read_field(last)? {
        // The library would use the last of equal fields, and only the header of the page's type.
        let is_data_header = matches!(field.id, 5 | 7 | 8);
        if field.id <= last || is_data_header && has_data_header {
            return None;
        }
        has_data_header |= is_data_header;
        match (field.id, field.value_type) {
            (2, ValueType::Int) => page.uncompressed_bytes = u64::try_from(cursor.read_int()?).ok()?,
            (3, ValueType::Int) => page.compressed_bytes = u64::try_from(cursor.read_int()?).ok()?,
            (5 | 7 | 8, ValueType::Struct) => {
                page.is_dictionary |= field.id == 7;
                parse_data_header(&mut cursor, field.id == 8, &mut page)?;
            }
            (_, kind) => cursor.skip(kind)?,
        }
        last = field.id;
    }
    page.header_bytes = cursor.position() as u64;
    Some(page)
}

/// Reads the header of a data page (version 1 or 2) or dictionary page into `page`.
fn parse_data_header(
    cursor: &mut CompactReader<'_>,
    is_version_2: bool,
    page: &mut PageHeader,
) -> Option<()> {
    let mut last = 0;
    while let StructItem::Field(field) = cursor.read_field(last)? {
        if field.id <= last {
            return None;
        }
        match (field.id, field.value_type) {
            (1, ValueType::Int) => page.values = u64::try_from(cursor.read_int()?).ok()?,
            (5 | 6, ValueType::Int) if is_version_2 => {
                page.level_bytes = page.level_bytes.checked_add(u64::try_from(cursor.read_int()?).ok()?)?;
            }
            (7, ValueType::Bool(is_compressed)) if is_version_2 => page.is_uncompressed = !is_compressed,
            (_, kind) => cursor.skip(kind)?,
        }
        last = field.id;
    }
    Some(())
}

/// How much more may be read: of the current file, and of all files of the data.
#[derive(Debug)]
pub struct Budget {
    file_bytes: u64,
    /// What belongs to the current file alone.
    own: Amounts,
    /// What all files share.
    shared: Amounts,
}

/// Numbers of decompressed bytes, and of values.
#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    bytes: u64,
    values: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        let shared = Amounts { bytes: BASE_DECOMPRESSED_BYTES, values: BASE_VALUES };
        Budget { file_bytes: 0, own: Amounts::default(), shared }
    }
}

impl Amounts {
    /// Takes as much as possible of the needed amount, and returns the rest.
    fn take(&mut self, needed: Amounts) -> Amounts {
        let rest = Amounts {
            bytes: needed.bytes.saturating_sub(self.bytes),
            values: needed.values.saturating_sub(self.values),
        };
        self.bytes = self.bytes.saturating_sub(needed.bytes);
        self.values = self.values.saturating_sub(needed.values);
        rest
    }
}

impl Budget {
    /// Creates a budget whose shared part is used up.
    #[cfg(test)]
    pub fn without_shared() -> Budget {
        Budget { shared: Amounts::default(), ..Budget::default() }
    }

    /// Begins a file of `size` bytes.
    pub fn add_file(&mut self, size: u64) {
        self.file_bytes = size;
        self.own = Amounts { bytes: size.saturating_mul(50), values: size.saturating_mul(VALUES_PER_BYTE) };
    }

    fn take(&mut self, bytes: u64, values: u64) -> Result<(), TableError> {
        let rest = self.own.take(Amounts { bytes, values });
        let missing = self.shared.take(rest);
        if missing.bytes > 0 || missing.values > 0 {
            return Err(TableError::new("decompresses to more data than is read. Split it"));
        }
        Ok(())
    }

    /// Checks that every page of a column is safe to pass to the library. Decompressed data is counted, not
    /// stored.
    pub fn check_column<R: ChunkReader>(
        &mut self,
        reader: &R,
        column: &ColumnChunkMetaData,
    ) -> Result<(), TableError> {
        let damaged = || TableError::new(DAMAGED_PAGES);
        let (mut at, length) = column.byte_range();
        let end = at.checked_add(length).filter(|end| *end <= self.file_bytes).ok_or_else(damaged)?;
        self.take(PAGE_COST_BYTES, 0)?;
        while at < end {
            let (page, bytes_read) = read_page_header(reader, at, end)?.ok_or_else(damaged)?;
            at += page.header_bytes;
            // Each value of a dictionary has at least one byte.
            let has_too_many_values = page.is_dictionary && page.values > page.uncompressed_bytes;
            if page.compressed_bytes > end - at
                || page.level_bytes > page.compressed_bytes
                || page.level_bytes > page.uncompressed_bytes
                || has_too_many_values
            {
                return Err(damaged());
            }
            if page.uncompressed_bytes > MAX_PAGE_BYTES
                || page.values > MAX_PAGE_VALUES
                || page.compressed_bytes > MAX_PAGE_BYTES
            {
                return Err(TableError::new(LARGE_PAGES));
            }
            self.take(page.uncompressed_bytes + bytes_read + PAGE_COST_BYTES, page.values)?;
            let is_bounded = page.is_uncompressed || is_decompression_bounded(column.compression());
            if !is_bounded {
                let packed = read_bytes(
                    reader,
                    at + page.level_bytes,
                    (page.compressed_bytes - page.level_bytes) as usize,
                )?;
                if !decompresses_within(
                    column.compression(),
                    &packed,
                    page.uncompressed_bytes - page.level_bytes,
                ) {
                    return Err(TableError::new("has pages that decompress to more than they declare"));
                }
            }
            at += page.compressed_bytes;
        }
        Ok(())
    }
}

/// Reads the page header at an offset. Returns it with the number of bytes that were read, or `None` if there
/// is no valid header.
fn read_page_header<R: ChunkReader>(
    reader: &R,
    at: u64,
    end: u64,
) -> Result<Option<(PageHeader, u64)>, TableError> {
    for length in [1 << 10, 1 << 14, 1 << 17, MAX_HEADER_BYTES] {
        let length = length.min((end - at) as usize);
        if let Some(page) = parse_page_header(&read_bytes(reader, at, length)?) {
            return Ok(Some((page, length as u64)));
        }
    }
    Ok(None)
}

/// Reads a number of bytes at an offset.
pub(super) fn read_bytes<R: ChunkReader>(reader: &R, at: u64, length: usize) -> Result<Vec<u8>, TableError> {
    reader
        .get_bytes(at, length)
        .map(|bytes| bytes.to_vec())
        .map_err(|error| TableError::from_parquet_error(&error))
}

/// Whether the library itself limits decompression to the declared size.
fn is_decompression_bounded(codec: Compression) -> bool {
    !matches!(codec, Compression::GZIP(_) | Compression::BROTLI(_) | Compression::LZ4)
}

/// Whether compressed bytes decompress to at most the declared size.
fn decompresses_within(codec: Compression, compressed: &[u8], declared: u64) -> bool {
    let count = |reader: &mut dyn Read| io::copy(&mut reader.take(declared + 1), &mut io::sink());
    let decompressed = match codec {
        Compression::GZIP(_) => count(&mut flate2::read::MultiGzDecoder::new(compressed)),
        Compression::BROTLI(_) => count(&mut brotli::Decompressor::new(compressed, 4_096)),
        // The library also accepts LZ4 frames, whose decompressed size has no limit. Writers produced them
        // only for a short time, so they are rejected.
        _ => return !compressed.starts_with(&[0x04, 0x22, 0x4d, 0x18]),
    };
    // Leave it to the library to report damaged data.
    decompressed.map_or(true, |bytes| bytes <= declared)
}

impl TableError {
    /// Converts an error of the library: removes its prefix and control characters, and truncates it.
    pub fn from_parquet_error(error: &ParquetError) -> TableError {
        let message = error.to_string();
        let message = message.strip_prefix("Parquet error: ").unwrap_or(&message);
        TableError(format!(
            "cannot be read: {}",
            message.chars().filter(|c| !c.is_control()).take(150).collect::<String>()
        ))
    }
}
