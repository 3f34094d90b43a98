//! Descriptions of datasets in zips.

use ::parquet::basic::Compression;
use zip::CompressionMethod;

use super::*;
use crate::{
    Limits, ReadError,
    test_zips::{file_of, zip_of},
};

const LIMITS: Limits = Limits { max_files: 10_000, max_ratio: 200 };

fn describe(method: CompressionMethod, files: &[(&str, &[u8])]) -> Option<Dataset> {
    let file = file_of(&zip_of(method, files));
    assert!(
        matches!(describe_zip(file.path(), LIMITS, &|| false), Err(ReadError::Canceled)) || files.is_empty()
    );
    describe_zip(file.path(), LIMITS, &|| true).unwrap()
}

#[test]
fn tables_are_described_from_heads_and_footers() {
    let rows = parquet::tests::write_file(Compression::SNAPPY, 50);
    let long = format!("a,b\n{}", "1,2\n".repeat(50_000));
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let dataset = describe(
            method,
            &[
                ("README.md", b"Words."),
                ("d/part-00000.parquet", &rows),
                ("d/part-00001.parquet", &rows),
                ("d/long.csv", long.as_bytes()),
                ("d/a.jsonl", b"{\"k\": 1}\n{\"k\": 2}"),
                ("__MACOSX/d/._long.csv", b"x"),
                ("d/._long.csv", b"\0\x05\x16\x07"),
            ],
        );
        let dataset = dataset.unwrap();
        let tables: Vec<_> = dataset
            .tables
            .iter()
            .map(|table| {
                (table.path.as_str(), table.files, table.columns.len(), table.rows, table.sample.len())
            })
            .collect();
        assert_eq!(
            tables,
            [
                ("d/a.jsonl", 1, 1, None, 2),
                ("d/long.csv", 1, 2, None, 5),
                ("d/part-*.parquet", 2, 3, Some(200), 0),
            ]
        );
        assert_eq!((dataset.rows, dataset.further_tables, &dataset.robotics), (None, 0, &None));
        let json = serde_json::to_string(&dataset).unwrap();
        assert_eq!(serde_json::from_str::<Dataset>(&json).unwrap(), dataset);
    }
    assert_eq!(describe(CompressionMethod::Stored, &[("a.txt", b"x")]), None);
}

#[test]
fn files_whose_columns_programs_do_not_find_are_peculiar() {
    let utf_16: Vec<u8> = "id,name\n1,x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let lines_in_utf_16: Vec<u8> =
        "\u{feff}{\"id\": 1}\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (name, bytes, expected) in [
        ("a.csv", &b"id,name\n1,x\n"[..], None),
        ("a.csv", b"\xef\xbb\xbfid,name\n1,x\n", None),
        ("a.tsv", b"id\tname\n1\tx\n", None),
        ("a.jsonl", b"{\"id\": 1}\n", None),
        ("a.csv", b"id;name\n1;x\n", Some(Peculiarity::Separator)),
        ("a.csv", b"id\tname\n1\tx\n", Some(Peculiarity::Separator)),
        ("a.csv", b"sep=;\nid;name\n1;x\n", Some(Peculiarity::Separator)),
        ("a.csv", b"sep=,\nid,name\n1,x\n", Some(Peculiarity::Preamble)),
        ("a.csv", b"# Readings\nid,name\n1,x\n", Some(Peculiarity::Preamble)),
        ("a.csv", &utf_16, Some(Peculiarity::Encoding)),
        ("a.jsonl", &lines_in_utf_16, Some(Peculiarity::Encoding)),
        ("a.tsv", b"id\tname\n1\t\"x\n2\ty\n", Some(Peculiarity::Quotes)),
        ("a.tsv", b"id\t\"name\"\n1\tx\n", Some(Peculiarity::Quotes)),
        ("a.tsv", b"id\tname\n1\t\"x\"\n2\t5\" disks\n", None),
        ("a.csv", b"id,name\n1,\"x\ny\"\n", None),
    ] {
        let table = describe(CompressionMethod::Deflated, &[(name, bytes)]).unwrap().tables.remove(0);
        assert_eq!((table.columns[0].name.as_str(), table.peculiarity), ("id", expected), "{bytes:?}");
        let json = serde_json::to_value(&table).unwrap();
        assert_eq!(json.get("peculiarity").is_some(), expected.is_some(), "{json}");
    }
}

/// A pointer of Git LFS has lines, but no rows of the table.
#[test]
fn pointers_are_not_described() {
    for name in ["train.csv", "train.tsv", "train.jsonl", "train.parquet"] {
        let files = [(name, crate::lfs_pointers::tests::POINTER.as_bytes())];
        let table = describe(CompressionMethod::Deflated, &files).unwrap().tables.remove(0);
        assert_eq!((table.columns.len(), table.rows, table.sample.len()), (0, None, 0), "{name}");
    }
}

#[test]
fn damaged_files_are_counted_but_not_described() {
    let rows = parquet::tests::write_file(Compression::SNAPPY, 50);
    let truncated = &rows[..rows.len() - 9];
    let dataset =
        describe(CompressionMethod::Stored, &[("0.parquet", truncated), ("1.parquet", &rows)]).unwrap();
    let table = &dataset.tables[0];
    assert_eq!(
        (table.path.as_str(), table.files, table.rows, table.columns.len()),
        ("*.parquet", 2, None, 0)
    );
}

#[test]
fn lerobot_metadata_is_described() {
    let rows = parquet::tests::write_file(Compression::SNAPPY, 5);
    let info = br#"{"codebase_version": "v2.1", "robot_type": "so100", "total_episodes": 50, "total_frames": 11939, "fps": 30}"#;
    let dataset = describe(
        CompressionMethod::Deflated,
        &[
            ("pick/meta/info.json", info),
            ("pick/meta/episodes.jsonl", b"{\"episode_index\": 0}\n"),
            ("pick/data/chunk-000/episode_000000.parquet", &rows),
        ],
    );
    let robotics = Robotics {
        format: RoboticsFormat::LerobotV2,
        episodes: Some(50),
        frames: Some(11_939),
        fps: Some(30.0),
        robot: Some("so100".to_owned()),
    };
    assert_eq!(dataset.unwrap().robotics, Some(robotics));
}

#[test]
fn at_most_a_hundred_tables_are_described() {
    // Names without digits, because names that differ only in numbers form one table.
    let letters =
        |number: u8| format!("{}{}.csv", char::from(b'a' + number / 26), char::from(b'a' + number % 26));
    let names: Vec<String> = (0..103).map(letters).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"a\n1\n"[..])).collect();
    let dataset = describe(CompressionMethod::Stored, &files).unwrap();
    assert_eq!((dataset.tables.len(), dataset.further_tables), (100, 3));
}

#[test]
fn formats_and_table_paths_come_from_file_names() {
    assert_eq!(detect_format("a.CSV"), Some(Format::Csv));
    assert_eq!((detect_format(".csv"), detect_format("csv"), detect_format("a.csv.txt")), (None, None, None));
    for (path, expected) in [
        ("d1/part-00000.parquet", "d1/part-*.parquet"),
        ("train-00001-of-00004.csv", "train-*-of-*.csv"),
        ("a.csv", "a.csv"),
    ] {
        assert_eq!(table_path(path), expected);
    }
}
