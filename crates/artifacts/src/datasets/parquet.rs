//! Parquet: what the footer declares, and whether the whole file can be read.
//!
//! The library only gets data that was validated: footers and page headers by `parquet_limits.rs`, decompressed
//! pages by `pages.rs`. A panic of the library is reported as damage of the file.

mod pages;
mod runs;

use std::{
    io::{Read, Seek, SeekFrom},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use ::parquet::{
    basic::{ConvertedType, LogicalType, Repetition, Type as Physical},
    column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader},
    data_type::DataType,
    errors::ParquetError,
    file::{
        metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData},
        reader::ChunkReader,
        serialized_reader::SerializedPageReader,
    },
    schema::types::Type,
};
use marketplace_domain::written::{counted, grouped};

use self::pages::{CheckedPages, SharedProgress, next_rows};
use super::parquet_limits::Budget;
use super::{Column, FileSummary, TableError, parquet_limits};

/// Maximum size of a footer in bytes.
const MAX_FOOTER_BYTES: u64 = 16 << 20;

/// Size in bytes of the trailer after the footer: its length, and the magic number.
const TRAILER_BYTES: u64 = 8;

/// Maximum number of columns in a description.
const MAX_COLUMNS: usize = 10_000;

/// Maximum nesting depth of lists in the description of a column type.
const MAX_TYPE_DEPTH: u32 = 4;

/// Returns the facts that the footer of a file of `size` bytes declares.
pub fn summarize_footer<R: Read + Seek>(reader: &mut R, size: u64) -> Result<FileSummary, TableError> {
    let read = |from: u64, count: u64| {
        let mut bytes = vec![0; count as usize];
        let read = reader.seek(SeekFrom::Start(from)).and_then(|_| reader.read_exact(&mut bytes));
        read.map(|()| bytes).map_err(|_| TableError::new("cannot be read to its end"))
    };
    read_footer(size, read).map(|metadata| summarize(&metadata))
}

/// Reads a file completely, and returns the facts that its footer declares. All files of the data share the
/// `budget`.
pub fn read_file<R: ChunkReader + 'static>(
    reader: R,
    budget: &mut Budget,
) -> Result<FileSummary, TableError> {
    let size = reader.len();
    let metadata =
        read_footer(size, |from, count| parquet_limits::read_bytes(&reader, from, count as usize))?;
    catch_panics(move || {
        let reader = Arc::new(reader);
        budget.add_file(size);
        for group in metadata.row_groups() {
            if group.columns().is_empty() && group.num_rows() > 0 {
                return Err(TableError::new("declares rows without columns"));
            }
            for column in group.columns() {
                let path = column.column_path().string();
                read_column(&reader, group, column, budget).map_err(|error| error.in_column(&path))?;
            }
        }
        Ok(summarize(&metadata))
    })
}

/// Reads one column of a row group completely.
fn read_column<R: ChunkReader + 'static>(
    reader: &Arc<R>,
    group: &RowGroupMetaData,
    column: &ColumnChunkMetaData,
    budget: &mut Budget,
) -> Result<(), TableError> {
    let convert_error = |error: ParquetError| TableError::from_parquet_error(&error);
    let declared_rows =
        u64::try_from(group.num_rows()).map_err(|_| TableError::new("declares a negative number of rows"))?;
    budget.check_column(&**reader, column)?;
    let pages = SerializedPageReader::new(Arc::clone(reader), column, declared_rows as usize, None)
        .map_err(convert_error)?;
    let progress = SharedProgress::default();
    let pages = Box::new(CheckedPages::new(pages, column.column_descr_ptr(), &progress));
    let rows =
        count_rows(get_column_reader(column.column_descr_ptr(), pages), &progress).map_err(convert_error)?;
    if rows == declared_rows {
        Ok(())
    } else {
        let (rows, declared) = (counted(rows, "row", "rows"), grouped(declared_rows));
        Err(TableError(format!("has {rows}, but declares {declared}")))
    }
}

/// Reads a column to its end and returns the number of rows.
fn count_rows(reader: ColumnReader, progress: &SharedProgress) -> Result<u64, ParquetError> {
    fn count_typed_rows<T: DataType>(
        mut reader: ColumnReaderImpl<T>,
        progress: &SharedProgress,
    ) -> Result<u64, ParquetError> {
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rows, mut total_levels) = (0, 0);
        loop {
            values.clear();
            definitions.clear();
            repetitions.clear();
            let (records, _, levels) = reader.read_records(
                next_rows(progress, rows, total_levels),
                Some(&mut definitions),
                Some(&mut repetitions),
                &mut values,
            )?;
            rows += records as u64;
            total_levels += levels as u64;
            if records == 0 && levels == 0 {
                return Ok(rows);
            }
        }
    }
    match reader {
        ColumnReader::BoolColumnReader(reader) => count_typed_rows(reader, progress),
        ColumnReader::Int32ColumnReader(reader) => count_typed_rows(reader, progress),
        ColumnReader::Int64ColumnReader(reader) => count_typed_rows(reader, progress),
        ColumnReader::Int96ColumnReader(reader) => count_typed_rows(reader, progress),
        ColumnReader::FloatColumnReader(reader) => count_typed_rows(reader, progress),
        ColumnReader::DoubleColumnReader(reader) => count_typed_rows(reader, progress),
        ColumnReader::ByteArrayColumnReader(reader) => count_typed_rows(reader, progress),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => count_typed_rows(reader, progress),
    }
}

/// Returns the length of the footer, given the last bytes of a file of `size` bytes.
fn footer_length(end: &[u8], size: u64) -> Result<u64, TableError> {
    let (Some((length, magic)), true) = (end.split_first_chunk::<4>(), size >= TRAILER_BYTES + 4) else {
        return Err(TableError::new("is too short for a Parquet file"));
    };
    match magic {
        b"PAR1" => {}
        b"PARE" => return Err(TableError::new("is encrypted. Write it without encryption")),
        _ => {
            return Err(TableError::new(
                "does not end like a Parquet file: it is truncated or in another format",
            ));
        }
    }
    let length = u64::from(u32::from_le_bytes(*length));
    if length > size - TRAILER_BYTES - 4 {
        return Err(TableError::new("declares a footer longer than the file"));
    }
    if length > MAX_FOOTER_BYTES {
        return Err(TableError::new("has a footer larger than 16 MiB. Write fewer row groups"));
    }
    Ok(length)
}

/// Reads the metadata at the end of a file of `size` bytes. `read` returns a number of bytes at an offset.
fn read_footer(
    size: u64,
    mut read: impl FnMut(u64, u64) -> Result<Vec<u8>, TableError>,
) -> Result<ParquetMetaData, TableError> {
    let length = footer_length(&read(size.saturating_sub(TRAILER_BYTES), TRAILER_BYTES.min(size))?, size)?;
    let footer = read(size - TRAILER_BYTES - length, length)?;
    if !parquet_limits::is_safe_metadata(&footer) {
        return Err(TableError::new("has a damaged footer"));
    }
    catch_panics(|| {
        ParquetMetaDataReader::decode_metadata(&footer)
            .map_err(|error| TableError::from_parquet_error(&error))
    })
}

/// Calls the library, and converts a panic into an error: damaged input causes it.
fn catch_panics<T>(work: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(TableError::new("is damaged so that the Parquet reader fails")))
}

fn summarize(metadata: &ParquetMetaData) -> FileSummary {
    let schema = metadata.file_metadata().schema_descr().root_schema();
    let columns = schema
        .get_fields()
        .iter()
        .take(MAX_COLUMNS)
        .map(|field| Column::new(field.name(), &column_type(field)))
        .collect();
    // The number that the footer states for the whole file is compared with nothing, and some writers leave it out.
    let rows = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).ok());
    FileSummary {
        columns,
        rows: rows.reduce(|sum, rows| sum?.checked_add(rows?)).unwrap_or(Some(0)),
        sample: Vec::new(),
        peculiarity: None,
    }
}

/// Describes the type of a column. A field may be a list without being called one.
fn column_type(field: &Type) -> String {
    let kind = type_description(field, 0);
    if is_repeated(field) { list_of(&kind) } else { kind }
}

fn is_repeated(field: &Type) -> bool {
    let info = field.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REPEATED
}

/// Describes a type. Empty for a type that has no values but null. Deeply nested lists are described without their elements.
fn type_description(kind: &Type, depth: u32) -> String {
    let info = kind.get_basic_info();
    let integer = info.logical_type_ref().filter(|logical| matches!(logical, LogicalType::Integer(_)));
    let name = match info.logical_type_ref() {
        Some(LogicalType::Unknown) => Some(""),
        Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => Some("text"),
        Some(LogicalType::Date) => Some("date"),
        Some(LogicalType::Time(_)) => Some("time"),
        Some(LogicalType::Timestamp(_)) => Some("timestamp"),
        Some(LogicalType::Decimal(_)) => Some("decimal"),
        Some(LogicalType::Uuid) => Some("uuid"),
        Some(LogicalType::Float16) => Some("float16"),
        Some(LogicalType::List) => Some("list"),
        Some(LogicalType::Map) => Some("map"),
        _ => match integer.map_or(info.converted_type(), |integer| Some(integer.clone()).into()) {
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Some("text"),
            ConvertedType::DATE => Some("date"),
            ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS => Some("time"),
            ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS => Some("timestamp"),
            ConvertedType::DECIMAL => Some("decimal"),
            ConvertedType::LIST => Some("list"),
            ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE => Some("map"),
            // Signed integers have the range of their physical type.
            ConvertedType::UINT_8 => Some("uint8"),
            ConvertedType::UINT_16 => Some("uint16"),
            ConvertedType::UINT_32 => Some("uint32"),
            ConvertedType::UINT_64 => Some("uint64"),
            _ => None,
        },
    };
    let Type::GroupType { fields, .. } = kind else {
        return name.unwrap_or(physical_type_name(kind)).to_owned();
    };
    if depth >= MAX_TYPE_DEPTH || fields.len() != 1 || name != Some("list") {
        return name.unwrap_or("struct").to_owned();
    }
    // A list contains a repeated group that contains the element. Older writers leave out one of the two
    // levels, and name the element in one of two ways.
    let inner = &fields[0];
    let is_element = |only: &Type| {
        is_repeated(only)
            || inner.name() == "array"
            || inner.name().strip_suffix("_tuple") == Some(kind.name())
    };
    let element = match inner.as_ref() {
        Type::GroupType { fields, .. } if fields.len() == 1 && !is_element(&fields[0]) => &fields[0],
        _ => inner,
    };
    list_of(&type_description(element, depth + 1))
}

fn list_of(element: &str) -> String {
    if element.is_empty() { "list".to_owned() } else { format!("list of {element}") }
}

fn physical_type_name(kind: &Type) -> &'static str {
    match kind.get_physical_type() {
        Physical::BOOLEAN => "boolean",
        Physical::INT32 => "int32",
        Physical::INT64 => "int64",
        Physical::INT96 => "timestamp",
        Physical::FLOAT => "float32",
        Physical::DOUBLE => "float64",
        Physical::BYTE_ARRAY => "binary",
        Physical::FIXED_LEN_BYTE_ARRAY => "fixed binary",
    }
}

#[cfg(test)]
pub(super) mod tests;
