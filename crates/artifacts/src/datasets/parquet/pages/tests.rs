//! Pages as hostile files may contain them.

use ::parquet::{
    column::reader::get_column_reader,
    schema::{parser::parse_message_type, types::SchemaDescriptor},
};
use bytes::Bytes;

use super::*;
use crate::datasets::{
    TableError,
    parquet::{catch_panics, count_rows},
};

/// Pages as a hostile file may contain them.
struct ListedPages(std::vec::IntoIter<Page>);

impl Iterator for ListedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.0.next().map(Ok)
    }
}

impl PageReader for ListedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        Ok(self.0.next())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Reads the pages of the only column of a schema, and returns the number of rows.
fn read(column: &str, pages: Vec<Page>) -> Result<u64> {
    let schema = parse_message_type(&format!("message rows {{ {column} }}")).unwrap();
    let column = SchemaDescriptor::new(Arc::new(schema)).column(0);
    let progress = SharedProgress::default();
    let pages = CheckedPages::new(ListedPages(pages.into_iter()), Arc::clone(&column), &progress);
    count_rows(get_column_reader(column, Box::new(pages)), &progress)
}

fn page(bytes: &[u8], num_values: u32, encoding: Encoding) -> Page {
    Page::DataPage {
        buf: Bytes::copy_from_slice(bytes),
        num_values,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    }
}

fn error_of(column: &str, page: Page) -> String {
    read(column, vec![page]).unwrap_err().to_string()
}

/// Encodes a run of equal levels.
fn run(level: u8, mut count: u64) -> Vec<u8> {
    count <<= 1;
    let mut bytes = Vec::new();
    while count >= 0x80 {
        bytes.push(count as u8 | 0x80);
        count >>= 7;
    }
    bytes.extend([count as u8, level]);
    bytes
}

#[test]
fn strings_are_counted_before_their_lengths_are_stored() {
    let strings = "required binary a;";
    // 2^33 strings, in six bytes of a header.
    let many = [0x80, 1, 4, 0x80, 0x80, 0x80, 0x80, 0x20, 0, 0, 0, 0, 0, 0];
    for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        let message = error_of(strings, page(&many, 100, encoding));
        assert!(message.contains("more strings than it declares"), "{message}");
    }
    let honest = [0x80, 1, 4, 0x80, 0x80, 0x80, 0x20, 0, 0, 0, 0, 0, 0];
    let message = error_of(strings, page(&honest, 1 << 26, Encoding::DELTA_LENGTH_BYTE_ARRAY));
    assert!(message.contains("more than 10 million"), "{message}");
    // Two strings, of which the second starts with the first.
    let prefixes = [0x80, 1, 4, 2, 0, 6, 0, 0, 0, 0];
    let suffixes = [0x80, 1, 4, 2, 6, 5, 0, 0, 0, 0, b'a', b'b', b'c'];
    let valid = [&prefixes[..], &suffixes].concat();
    assert_eq!(read(strings, vec![page(&valid, 2, Encoding::DELTA_BYTE_ARRAY)]).unwrap(), 2);
    // A million strings that each start with two hundred bytes of the previous one.
    let prefixes = [0x80, 1, 4, 0xc0, 0x84, 0x3d, 0x90, 3];
    let blocks = [0_u8, 0, 0, 0, 0].repeat(1_000_000 / 128 + 1);
    let message = error_of(
        strings,
        page(&[&prefixes[..], &blocks, &suffixes].concat(), 1_000_000, Encoding::DELTA_BYTE_ARRAY),
    );
    assert!(message.contains("larger than 128 MiB"), "{message}");
}

#[test]
fn rows_are_measured_before_their_values_are_stored() {
    let list = "repeated int64 a;";
    let levels = |repetitions: &[u8], count: u64| {
        let definitions = run(1, count);
        let [first, second] =
            [repetitions, &definitions].map(|bytes| [&(bytes.len() as u32).to_le_bytes(), bytes].concat());
        [first, second].concat()
    };
    let one_row = [run(0, 1), run(1, 99_999_999)].concat();
    let message = error_of(list, page(&levels(&one_row, 100_000_000), 100_000_000, Encoding::PLAIN));
    assert!(message.contains("too many values"), "{message}");
    // The same row in many pages.
    let start =
        page(&[levels(&[run(0, 1), run(1, 9)].concat(), 10), vec![0; 80]].concat(), 10, Encoding::PLAIN);
    let more = page(&levels(&run(1, 3_000_000), 3_000_000), 3_000_000, Encoding::RLE);
    let mut pages = CheckedPages::new(
        ListedPages(vec![start.clone(), more.clone(), more].into_iter()),
        SchemaDescriptor::new(Arc::new(parse_message_type("message rows { repeated int64 a; }").unwrap()))
            .column(0),
        &SharedProgress::default(),
    );
    assert!(pages.get_next_page().is_ok() && pages.get_next_page().is_ok());
    assert!(pages.get_next_page().unwrap_err().to_string().contains("too many values"));
    assert_eq!(read(list, vec![start.clone(), start]).unwrap(), 2);
}

#[test]
fn batches_shrink_for_long_rows() {
    let progress = SharedProgress::default();
    assert_eq!(next_rows(&progress, 0, 0), 1, "the first page is not known");
    let mut records = Records::of_one_level(5_000);
    records.longest = 10;
    *progress.lock().unwrap() = Progress { levels: 50_000, records, ..Progress::default() };
    assert_eq!(next_rows(&progress, 1, 10), BATCH_ROWS as usize);
    assert_eq!(next_rows(&progress, 4_990, 49_900), 10);
    assert_eq!(next_rows(&progress, 5_000, 50_000), 1);
    progress.lock().unwrap().records.longest = MAX_BATCH_VALUES / 3;
    assert_eq!(next_rows(&progress, 1, 10), 3);
}

#[test]
fn dictionaries_have_as_many_values_as_bytes_allow() {
    let dictionary = |bytes: usize, num_values: u32| Page::DictionaryPage {
        buf: Bytes::from(vec![0; bytes]),
        num_values,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    };
    let message = error_of("required binary a;", dictionary(399, 100));
    assert!(message.contains("fewer values than it declares"), "{message}");
    assert_eq!(read("required binary a;", vec![dictionary(400, 100)]).unwrap(), 0);
    let message = error_of("required binary a;", dictionary(20_000_000, 5_000_000));
    assert!(message.contains("more than 4 million"), "{message}");
}

#[test]
fn split_bytes_are_counted_before_they_are_joined() {
    let large = "required fixed_len_byte_array(2000000000) a;";
    let message = error_of(large, page(&[], 1_000, Encoding::BYTE_STREAM_SPLIT));
    assert!(message.contains("larger than 128 MiB"), "{message}");
    let small = "required fixed_len_byte_array(2) a;";
    assert_eq!(read(small, vec![page(&[1, 2, 3, 4], 2, Encoding::BYTE_STREAM_SPLIT)]).unwrap(), 2);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1_000))]

    /// Reading pages with any declared values ends, and takes memory for at most the values of one batch.
    #[test]
    fn arbitrary_pages_are_read_or_rejected(
        bytes in proptest::collection::vec(proptest::sample::select(vec![0, 1, 2, 3, 4, 8, 0x7f, 0x80, 0xff]), 0..60),
        num_values in proptest::prop_oneof![0..20_000_u32, 100_000_000..u32::MAX],
        encoding in proptest::sample::select(vec![
            Encoding::PLAIN,
            Encoding::RLE,
            Encoding::DELTA_BINARY_PACKED,
            Encoding::DELTA_LENGTH_BYTE_ARRAY,
            Encoding::DELTA_BYTE_ARRAY,
            Encoding::BYTE_STREAM_SPLIT,
        ]),
        column in proptest::sample::select(vec![
            "required binary a;",
            "optional int64 a;",
            "repeated int32 a;",
            "required fixed_len_byte_array(1000000) a;",
            "repeated boolean a;",
        ]),
    ) {
        let pages = vec![page(&bytes, num_values, encoding); 2];
        // The library panics for some damaged pages.
        let _ = catch_panics(|| read(column, pages).map_err(|error| TableError::from_parquet_error(&error)));
    }
}
