//! Parquet: what its footer says, and whether all of it can be read.
//!
//! The library is given nothing that `pages.rs` has not judged, and what it panics at is a fault of the file. What is not
//! bounded is a single row of a nested column, and the tables of lengths that delta encodings begin with.

use std::{
    io::{Read, Seek, SeekFrom},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use ::parquet::{
    basic::{ConvertedType, LogicalType, Type as Physical},
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

use super::{
    Column, Facts, Fault,
    pages::{self, Budget},
};

/// Bytes of a footer at most.
const MAX_FOOTER: u64 = 16 << 20;

/// Bytes behind the footer: its length, and the format's mark.
const TAIL: u64 = 8;

/// Rows that are read at once.
const BATCH: usize = 1_024;

/// Levels of a column's type that are told.
const MAX_TOLD: u32 = 4;

/// What a file's footer says.
pub fn facts<R: Read + Seek>(reader: &mut R, size: u64) -> Result<Facts, Fault> {
    footer(reader, size).map(|metadata| describe(&metadata))
}

/// Reads all of a file.
pub fn read_all<R: ChunkReader + 'static>(reader: R) -> Result<Facts, Fault> {
    let size = reader.len();
    let get = |from: u64, length: u64| {
        let bytes = reader.get_bytes(from, length as usize);
        bytes.map(|bytes| bytes.to_vec()).map_err(|error| Fault::of_library(&error))
    };
    let length = footer_length(&get(size.saturating_sub(TAIL), TAIL.min(size))?, size)?;
    let metadata = decode(&get(size - TAIL - length, length)?)?;
    guarded(move || {
        let (reader, mut budget) = (Arc::new(reader), Budget::of(size));
        for group in metadata.row_groups() {
            for column in group.columns() {
                let path = column.column_path().string();
                read_column(&reader, group, column, &mut budget).map_err(|fault| fault.within(&path))?;
            }
        }
        Ok(describe(&metadata))
    })
}

/// Reads all of a column of a row group.
fn read_column<R: ChunkReader + 'static>(
    reader: &Arc<R>,
    group: &RowGroupMetaData,
    column: &ColumnChunkMetaData,
    budget: &mut Budget,
) -> Result<(), Fault> {
    let library = |error: ParquetError| Fault::of_library(&error);
    let stated = u64::try_from(group.num_rows()).map_err(|_| Fault::of("states less than no rows"))?;
    budget.judge(&**reader, column)?;
    let pages =
        SerializedPageReader::new(Arc::clone(reader), column, stated as usize, None).map_err(library)?;
    let rows = drain(get_column_reader(column.column_descr_ptr(), Box::new(pages))).map_err(library)?;
    if rows == stated { Ok(()) } else { Err(Fault(format!("has {rows} rows where {stated} are stated"))) }
}

/// Reads a column to its end, and answers how many rows it has.
fn drain(reader: ColumnReader) -> Result<u64, ParquetError> {
    fn typed<T: DataType>(mut reader: ColumnReaderImpl<T>) -> Result<u64, ParquetError> {
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        let mut rows = 0;
        loop {
            values.clear();
            definitions.clear();
            repetitions.clear();
            let (records, _, levels) =
                reader.read_records(BATCH, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
            rows += records as u64;
            if records == 0 && levels == 0 {
                return Ok(rows);
            }
        }
    }
    match reader {
        ColumnReader::BoolColumnReader(reader) => typed(reader),
        ColumnReader::Int32ColumnReader(reader) => typed(reader),
        ColumnReader::Int64ColumnReader(reader) => typed(reader),
        ColumnReader::Int96ColumnReader(reader) => typed(reader),
        ColumnReader::FloatColumnReader(reader) => typed(reader),
        ColumnReader::DoubleColumnReader(reader) => typed(reader),
        ColumnReader::ByteArrayColumnReader(reader) => typed(reader),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => typed(reader),
    }
}

/// The length of a footer, from the bytes behind it.
fn footer_length(end: &[u8], size: u64) -> Result<u64, Fault> {
    let (Some((length, mark)), true) = (end.split_first_chunk::<4>(), size >= TAIL + 4) else {
        return Err(Fault::of("is too short to be Parquet"));
    };
    match mark {
        b"PAR1" => {}
        b"PARE" => return Err(Fault::of("is encrypted. Write it without encryption")),
        _ => return Err(Fault::of("does not end as Parquet does: it is cut off, or something else")),
    }
    let length = u64::from(u32::from_le_bytes(*length));
    if length > size - TAIL - 4 {
        return Err(Fault::of("states a footer that is longer than the file"));
    }
    if length > MAX_FOOTER {
        return Err(Fault::of("has a footer of more than 16 MiB. Write fewer row groups"));
    }
    Ok(length)
}

/// The metadata at the end of a file of this size.
fn footer<R: Read + Seek>(reader: &mut R, size: u64) -> Result<ParquetMetaData, Fault> {
    let mut read = |from: u64, count: u64| {
        let mut bytes = vec![0; count as usize];
        let read = reader.seek(SeekFrom::Start(from)).and_then(|_| reader.read_exact(&mut bytes));
        read.map(|()| bytes).map_err(|_| Fault::of("cannot be read to its end"))
    };
    let length = footer_length(&read(size.saturating_sub(TAIL), TAIL.min(size))?, size)?;
    decode(&read(size - TAIL - length, length)?)
}

fn decode(footer: &[u8]) -> Result<ParquetMetaData, Fault> {
    if !pages::is_sound(footer) {
        return Err(Fault::of("has a footer that is damaged"));
    }
    guarded(|| ParquetMetaDataReader::decode_metadata(footer).map_err(|error| Fault::of_library(&error)))
}

/// What comes of work in the library, whose panics are faults of what it was given.
fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Fault::of("is damaged in a way that no reader bears")))
}

fn describe(metadata: &ParquetMetaData) -> Facts {
    let schema = metadata.file_metadata().schema_descr().root_schema();
    let columns =
        schema.get_fields().iter().map(|field| Column::new(field.name(), &told(field, 0))).collect();
    Facts { columns, rows: u64::try_from(metadata.file_metadata().num_rows()).ok(), sample: Vec::new() }
}

/// A column's type in words, as deep as is told.
fn told(kind: &Type, depth: u32) -> String {
    let info = kind.get_basic_info();
    let name = match info.logical_type_ref() {
        Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => Some("text"),
        Some(LogicalType::Date) => Some("date"),
        Some(LogicalType::Time(_)) => Some("time"),
        Some(LogicalType::Timestamp(_)) => Some("timestamp"),
        Some(LogicalType::Decimal(_)) => Some("decimal"),
        Some(LogicalType::Uuid) => Some("uuid"),
        Some(LogicalType::Float16) => Some("float16"),
        Some(LogicalType::List) => Some("list"),
        Some(LogicalType::Map) => Some("map"),
        _ => match info.converted_type() {
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Some("text"),
            ConvertedType::DATE => Some("date"),
            ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS => Some("timestamp"),
            ConvertedType::DECIMAL => Some("decimal"),
            ConvertedType::LIST => Some("list"),
            ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE => Some("map"),
            _ => None,
        },
    };
    let Type::GroupType { fields, .. } = kind else { return name.unwrap_or(physical(kind)).to_owned() };
    if depth >= MAX_TOLD || fields.len() != 1 || name != Some("list") {
        return name.unwrap_or("struct").to_owned();
    }
    // A list holds a group that repeats, which holds the element; older writers leave out one of them.
    let inner = &fields[0];
    let element = match inner.as_ref() {
        Type::GroupType { fields, .. } if fields.len() == 1 => &fields[0],
        _ => inner,
    };
    format!("list of {}", told(element, depth + 1))
}

fn physical(kind: &Type) -> &'static str {
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
