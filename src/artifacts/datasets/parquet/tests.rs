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
pub fn written(codec: Compression, rows: i64) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(codec).build();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for group in 0..2 {
        let mut out = writer.next_row_group().unwrap();
        let ids: Vec<i64> = (0..rows).map(|row| row + group * rows).collect();
        let mut column = out.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let names: Vec<ByteArray> = ids
            .iter()
            .filter(|id| *id % 2 == 0)
            .map(|id| ByteArray::from(format!("name {id}").as_str()))
            .collect();
        let levels: Vec<i16> = ids.iter().map(|id| i16::from(id % 2 == 0)).collect();
        let mut column = out.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&names, Some(&levels), None).unwrap();
        column.close().unwrap();
        let scores: Vec<f64> = ids.iter().flat_map(|id| [*id as f64, 0.5]).collect();
        let repetitions: Vec<i16> = ids.iter().flat_map(|_| [0, 1]).collect();
        let mut column = out.next_column().unwrap().unwrap();
        let definitions = vec![3; scores.len()];
        column.typed::<DoubleType>().write_batch(&scores, Some(&definitions), Some(&repetitions)).unwrap();
        column.close().unwrap();
        out.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn all(bytes: &[u8]) -> Result<Facts, Fault> {
    read_all(Bytes::copy_from_slice(bytes))
}

fn fault(bytes: &[u8]) -> String {
    match all(bytes) {
        Err(Fault(what)) => what,
        Ok(facts) => panic!("{facts:?}"),
    }
}

#[test]
fn columns_and_rows_are_told_and_all_of_it_read() {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(::parquet::basic::ZstdLevel::default()),
        Compression::BROTLI(::parquet::basic::BrotliLevel::default()),
        Compression::LZ4_RAW,
    ];
    for codec in codecs {
        let bytes = written(codec, 3_000);
        let read = all(&bytes).unwrap();
        let columns: Vec<_> = read.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
        assert_eq!(columns, [("id", "int64"), ("name", "text"), ("scores", "list of float64")]);
        assert_eq!(read.rows, Some(6_000), "{codec:?}");
        assert_eq!(facts(&mut Cursor::new(&bytes), bytes.len() as u64).unwrap(), read);
    }
}

#[test]
fn what_is_cut_off_or_something_else_is_told() {
    let whole = written(Compression::SNAPPY, 100);
    for length in [0, 3, 8, 11, 12, whole.len() / 2, whole.len() - 1] {
        assert!(all(&whole[..length]).is_err(), "{length}");
        assert!(facts(&mut Cursor::new(&whole[..length]), length as u64).is_err(), "{length}");
    }
    assert!(fault(b"PAR1").contains("too short"));
    assert!(fault(&[0; 100]).contains("truncated or in another format"));
    let mut far = whole.clone();
    let end = far.len();
    far[end - 8..end - 4].copy_from_slice(&[0xff; 4]);
    assert!(fault(&far).contains("longer than the file"));
    far[end - 4..].copy_from_slice(b"PARE");
    assert!(fault(&far).contains("encrypted"));
    // The data is gone, but the footer is intact.
    let mut hollow = whole.clone();
    hollow[4..200].fill(0);
    assert!(all(&hollow).is_err());
}

/// Builds a file that consists of a footer only.
fn footed(footer: &[u8]) -> Vec<u8> {
    [&b"PAR1"[..], footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn schemas_that_are_deep_or_lie_are_refused_before_they_are_believed() {
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
        footed(&footer)
    };
    assert!(fault(&deep(90_000, &[2])).contains("damaged footer"));
    assert!(fault(&deep(1_000_000, &[2])).contains("damaged footer"));
    // The maximum number of children, for which the library would allocate memory.
    assert!(fault(&deep(20, &[0xfe, 0xff, 0xff, 0xff, 0x0f])).contains("damaged footer"));
    assert!(fault(&footed(&vec![0x1c; 50_000])).contains("damaged footer"));
    assert!(fault(&footed(&[])).contains("damaged footer"));
}

#[test]
fn pages_that_unpack_to_more_than_they_state_are_refused() {
    let schema = Arc::new(parse_message_type("message rows { required int32 id; }").unwrap());
    let codec = Compression::GZIP(GzipLevel::default());
    let properties = WriterProperties::builder().set_compression(codec).set_dictionary_enabled(false).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut out = writer.next_row_group().unwrap();
    let mut column = out.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&vec![7; 200_000], None, None).unwrap();
    column.close().unwrap();
    out.close().unwrap();
    let whole = writer.into_inner().unwrap();
    all(&whole).unwrap();
    // The header of the first page follows the magic number: the page type, then the uncompressed size.
    assert_eq!(&whole[4..7], &[0x15, 0, 0x15]);
    // That size takes three bytes. Replace them with three bytes for ten thousand.
    assert!(whole[7] >= 0x80 && whole[8] >= 0x80 && whole[9] < 0x80, "{:?}", &whole[7..10]);
    let mut lying = whole.clone();
    lying[7..10].copy_from_slice(&[0xa0, 0x9c, 0x01]);
    assert!(fault(&lying).contains("decompress to more than they declare"), "{}", fault(&lying));
    // A page that declares almost two gigabytes.
    let large = [&whole[..7], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &whole[10..]].concat();
    assert!(fault(&large).contains("larger than 128 MiB"), "{}", fault(&large));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    /// Reading corrupted files neither panics nor runs forever.
    #[test]
    fn any_damage_is_told(
        at in proptest::prelude::any::<usize>(),
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 1..6),
        is_late in proptest::prelude::any::<bool>(),
    ) {
        let mut file = written(Compression::GZIP(GzipLevel::default()), 20);
        let footer = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
        let from = if is_late { file.len() - 8 - footer } else { 4 };
        let at = from + at % (file.len() - 8 - bytes.len() - from);
        file[at..at + bytes.len()].copy_from_slice(&bytes);
        let _ = all(&file);
    }

    #[test]
    fn any_footer_is_read_or_refused(footer in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        let _ = all(&footed(&footer));
    }
}
