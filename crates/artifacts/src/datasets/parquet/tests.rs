//! Parquet files: written here, then truncated, corrupted or replaced.

use std::{io::Cursor, sync::Arc};

use ::parquet::{
    basic::{Compression, GzipLevel},
    data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};
use bytes::Bytes;

use super::*;

const SCHEMA: &str = "message rows {
    required int64 id;
    optional binary name (STRING);
    optional group scores (LIST) { repeated group list { optional double element; } }
}";

/// Writes a file of two row groups with `rows` rows each.
pub fn write_file(codec: Compression, rows: i64) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(codec).build();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for group in 0..2 {
        let mut row_group = writer.next_row_group().unwrap();
        let ids: Vec<i64> = (0..rows).map(|row| row + group * rows).collect();
        let mut column = row_group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let names: Vec<ByteArray> = ids
            .iter()
            .filter(|id| *id % 2 == 0)
            .map(|id| ByteArray::from(format!("name {id}").as_str()))
            .collect();
        let levels: Vec<i16> = ids.iter().map(|id| i16::from(id % 2 == 0)).collect();
        let mut column = row_group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&names, Some(&levels), None).unwrap();
        column.close().unwrap();
        let scores: Vec<f64> = ids.iter().flat_map(|id| [*id as f64, 0.5]).collect();
        let repetitions: Vec<i16> = ids.iter().flat_map(|_| [0, 1]).collect();
        let mut column = row_group.next_column().unwrap().unwrap();
        let definitions = vec![3; scores.len()];
        column.typed::<DoubleType>().write_batch(&scores, Some(&definitions), Some(&repetitions)).unwrap();
        column.close().unwrap();
        row_group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn read_bytes(bytes: &[u8]) -> Result<FileSummary, TableError> {
    read_file(Bytes::copy_from_slice(bytes), &mut Budget::default())
}

fn read_error(bytes: &[u8]) -> String {
    match read_bytes(bytes) {
        Err(TableError(message)) => message,
        Ok(facts) => panic!("{facts:?}"),
    }
}

#[test]
fn files_of_every_codec_are_read() {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(::parquet::basic::ZstdLevel::default()),
        Compression::BROTLI(::parquet::basic::BrotliLevel::default()),
        Compression::LZ4_RAW,
    ];
    for codec in codecs {
        let bytes = write_file(codec, 3_000);
        let read = read_bytes(&bytes).unwrap();
        let columns: Vec<_> = read.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
        assert_eq!(columns, [("id", "int64"), ("name", "text"), ("scores", "list of float64")]);
        assert_eq!(read.rows, Some(6_000), "{codec:?}");
        assert_eq!(summarize_footer(&mut Cursor::new(&bytes), bytes.len() as u64).unwrap(), read);
    }
}

#[test]
fn types_are_those_of_the_values() {
    let schema = "message rows {
        required int32 small (INTEGER(8,true));
        required int32 unsigned (INTEGER(32,false));
        required int64 large (UINT_64);
        required int64 time (TIME_MICROS);
        optional int32 nulls (UNKNOWN);
        optional group no_values (LIST) { repeated group list { optional int32 element (UNKNOWN); } }
        repeated int32 numbers;
        required group lists (LIST) { repeated group array (LIST) { repeated int32 array; } }
        required group structs (LIST) { repeated group structs_tuple { required int32 x; } }
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let read = read_bytes(&writer.into_inner().unwrap()).unwrap();
    let kinds: Vec<_> = read.columns.iter().map(|column| column.kind.as_str()).collect();
    let lists = ["list", "list of int32", "list of list of int32", "list of struct"];
    assert_eq!(kinds[..5], ["int32", "uint32", "uint64", "time", ""]);
    assert_eq!(kinds[5..], lists);
}

#[test]
fn rows_are_those_that_were_read() {
    let mut file = write_file(Compression::SNAPPY, 3);
    // The number of rows of the whole file, and the beginning of the list of row groups.
    let at = file.windows(3).rposition(|bytes| bytes == [0x16, 12, 0x19]).unwrap();
    file[at + 1] = 126;
    assert_eq!(read_bytes(&file).unwrap().rows, Some(6));
}

#[test]
fn truncated_and_other_files_are_rejected() {
    let file = write_file(Compression::SNAPPY, 100);
    for length in [0, 3, 8, 11, 12, file.len() / 2, file.len() - 1] {
        assert!(read_bytes(&file[..length]).is_err(), "{length}");
        assert!(summarize_footer(&mut Cursor::new(&file[..length]), length as u64).is_err(), "{length}");
    }
    assert!(read_error(b"PAR1").contains("too short"));
    assert!(read_error(&[0; 100]).contains("truncated or in another format"));
    let mut long_footer = file.clone();
    let end = long_footer.len();
    long_footer[end - 8..end - 4].copy_from_slice(&[0xff; 4]);
    assert!(read_error(&long_footer).contains("longer than the file"));
    long_footer[end - 4..].copy_from_slice(b"PARE");
    assert!(read_error(&long_footer).contains("encrypted"));
    // The data is gone, but the footer is intact.
    let mut zeroed = file.clone();
    zeroed[4..200].fill(0);
    assert!(read_bytes(&zeroed).is_err());
}

/// Builds a file that consists of a footer only.
fn with_footer(footer: &[u8]) -> Vec<u8> {
    [&b"PAR1"[..], footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn deep_or_false_schemas_are_rejected() {
    // A list of elements, each a group with one child: field 4 is the name, field 5 the number of children.
    let deep = |levels: usize, children: &[u8]| {
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        let mut length = levels as u64;
        while length >= 0x80 {
            footer.push(length as u8 | 0x80);
            length >>= 7;
        }
        footer.push(length as u8);
        for _ in 0..levels {
            footer.extend([0x48, 1, b'a', 0x15]);
            footer.extend(children);
            footer.push(0);
        }
        footer.push(0);
        with_footer(&footer)
    };
    assert!(read_error(&deep(90_000, &[2])).contains("damaged footer"));
    assert!(read_error(&deep(1_000_000, &[2])).contains("damaged footer"));
    // The maximum number of children, for which the library would allocate memory.
    assert!(read_error(&deep(20, &[0xfe, 0xff, 0xff, 0xff, 0x0f])).contains("damaged footer"));
    assert!(read_error(&with_footer(&vec![0x1c; 50_000])).contains("damaged footer"));
    assert!(read_error(&with_footer(&[])).contains("damaged footer"));
}

#[test]
fn pages_with_false_sizes_are_rejected() {
    let schema = Arc::new(parse_message_type("message rows { required int32 id; }").unwrap());
    let codec = Compression::GZIP(GzipLevel::default());
    let properties = WriterProperties::builder().set_compression(codec).set_dictionary_enabled(false).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut row_group = writer.next_row_group().unwrap();
    let mut column = row_group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&vec![7; 200_000], None, None).unwrap();
    column.close().unwrap();
    row_group.close().unwrap();
    let file = writer.into_inner().unwrap();
    read_bytes(&file).unwrap();
    // The header of the first page follows the magic number: the page type, then the uncompressed size.
    assert_eq!(&file[4..7], &[0x15, 0, 0x15]);
    // That size takes three bytes. Replace them with three bytes for ten thousand.
    assert!(file[7] >= 0x80 && file[8] >= 0x80 && file[9] < 0x80, "{:?}", &file[7..10]);
    let mut forged = file.clone();
    forged[7..10].copy_from_slice(&[0xa0, 0x9c, 0x01]);
    assert!(read_error(&forged).contains("decompress to more than they declare"), "{}", read_error(&forged));
    // A page that declares almost two gigabytes.
    let large = [&file[..7], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &file[10..]].concat();
    assert!(read_error(&large).contains("larger than 128 MiB"), "{}", read_error(&large));
}

/// Encodes a list header of Thrift's compact protocol.
fn list_of_structs(mut length: usize) -> Vec<u8> {
    let mut bytes = vec![0xfc];
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes
}

#[test]
fn lists_in_footers_are_limited() {
    let schema = [0x15, 2, 0x19, 0x1c, 0x48, 1, b'a', 0];
    let with_groups = |groups: &[u8]| [&schema, &[0x16, 0, 0x19][..], groups, &[0]].concat();
    assert!(parquet_limits::is_safe_metadata(&with_groups(&[0x1c, 0])));
    let many_groups = [list_of_structs(300_000), vec![0; 300_000]].concat();
    assert!(!parquet_limits::is_safe_metadata(&with_groups(&many_groups)));
    // One row group with 300,000 columns.
    let columns = [&[0x1c, 0x19][..], &list_of_structs(300_000), &vec![0; 300_000], &[0]].concat();
    assert!(!parquet_limits::is_safe_metadata(&with_groups(&columns)));
    // A list of 150,000 key-value pairs.
    let pairs = [&schema, &[0x39][..], &list_of_structs(150_000), &vec![0; 150_000], &[0]].concat();
    assert!(!parquet_limits::is_safe_metadata(&pairs));
    // The schema again, after the one that was checked.
    let again = [&schema, &[0x09, 4][..], &schema[2..], &[0]].concat();
    assert!(!parquet_limits::is_safe_metadata(&again));
}

#[test]
fn files_share_a_budget() {
    let file = write_file(Compression::SNAPPY, 1_000);
    let mut budget = Budget::default();
    for _ in 0..3 {
        read_file(Bytes::copy_from_slice(&file), &mut budget).unwrap();
    }
    let mut empty = Budget::without_shared();
    let all_equal = write_equal_rows(5_000_000);
    assert!(all_equal.len() < 20_000, "{}", all_equal.len());
    let error = read_file(Bytes::from(all_equal.clone()), &mut empty).unwrap_err();
    assert!(error.0.contains("decompresses to more data than is read"), "{error:?}");
    assert_eq!(read_file(Bytes::from(all_equal), &mut budget).unwrap().rows, Some(5_000_000));
}

/// Writes a file with one column of equal values.
fn write_equal_rows(rows: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message rows { required int32 id; }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut row_group = writer.next_row_group().unwrap();
    let mut column = row_group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&vec![7; rows], None, None).unwrap();
    column.close().unwrap();
    row_group.close().unwrap();
    writer.into_inner().unwrap()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    /// Reading corrupted files neither panics nor runs forever.
    #[test]
    fn corrupted_file_does_not_panic(
        at in proptest::prelude::any::<usize>(),
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 1..6),
        is_late in proptest::prelude::any::<bool>(),
    ) {
        let mut file = write_file(Compression::GZIP(GzipLevel::default()), 20);
        let footer = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
        let from = if is_late { file.len() - 8 - footer } else { 4 };
        let at = from + at % (file.len() - 8 - bytes.len() - from);
        file[at..at + bytes.len()].copy_from_slice(&bytes);
        let _ = read_bytes(&file);
    }

    #[test]
    fn arbitrary_footer_does_not_panic(footer in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        let _ = read_bytes(&with_footer(&footer));
    }
}
