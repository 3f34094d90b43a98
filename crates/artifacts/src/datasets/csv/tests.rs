use super::*;

fn read(format: Format, text: &[u8], length: usize) -> Result<FileSummary, TableError> {
    let mut csv = CsvReader::new(format);
    text.chunks(length).for_each(|bytes| csv.push(bytes));
    csv.finish()
}

fn columns(facts: &FileSummary) -> Vec<(&str, &str)> {
    facts.columns.iter().map(|column| (column.name.as_str(), column.kind.as_str())).collect()
}

#[test]
fn delimiters_headers_and_types_are_detected() {
    for (format, text, expected, rows) in [
        (Format::Csv, "id,name\n1,a\n2,\"b, c\"\n", &[("id", "integer"), ("name", "text")][..], 2),
        (Format::Csv, "id;x\r\n1;0,5\r\n2;1,5", &[("id", "integer"), ("x", "text")], 2),
        (
            Format::Csv,
            "\u{feff}a|b|c\n1|2.5|true\n",
            &[("a", "integer"), ("b", "number"), ("c", "boolean")],
            1,
        ),
        (Format::Csv, "1,2\n3,4\n", &[("column 1", "integer"), ("column 2", "integer")], 2),
        (Format::Csv, ",a\n0,x\n", &[("", "integer"), ("a", "text")], 1),
        (Format::Csv, "a,a\nx,y\n", &[("a", "text"), ("a", "text")], 1),
        (
            Format::Csv,
            "country,2019,2020\nFR,67,68\nDE,83,83\n",
            &[("country", "text"), ("2019", "integer"), ("2020", "integer")],
            2,
        ),
        (Format::Csv, "id,, id \n1,2,NA\n", &[("id", "integer"), ("", "integer"), (" id ", "text")], 1),
        (Format::Csv, "NA,EU\n1,2\n", &[("NA", "integer"), ("EU", "integer")], 1),
        (Format::Csv, "1,NA\n2,5\n", &[("column 1", "integer"), ("column 2", "integer")], 2),
        (Format::Csv, "sep=;\na;b;c\n1;2,5;x\n", &[("a", "integer"), ("b", "text"), ("c", "text")], 1),
        (Format::Csv, "\u{feff}SEP=|\r\na|b\r\n1|2\r\n", &[("a", "integer"), ("b", "integer")], 1),
        (Format::Csv, "\"sep=,\"\r1,2\r3,4", &[("column 1", "integer"), ("column 2", "integer")], 2),
        (Format::Csv, "sep=\t\na\tb;c\n1\t2\n", &[("a", "integer"), ("b;c", "integer")], 1),
        (Format::Tsv, "sep=;\na;b\tc\n1;2\n", &[("a", "integer"), ("b\tc", "integer")], 1),
        (Format::Csv, "sep=;\n", &[], 0),
        (Format::Csv, "sep=;", &[], 0),
        (Format::Csv, "sep=\n1\n2\n", &[("sep=", "integer")], 2),
        (Format::Csv, "sep=ab\n1\n2\n", &[("sep=ab", "integer")], 2),
        (Format::Csv, "name\njo\n\nmo\n", &[("name", "text")], 2),
        (Format::Tsv, "a\tb,c,d\n1\t2\n", &[("a", "integer"), ("b,c,d", "integer")], 1),
        (Format::Csv, "a,b\n1,\n2,NA\n", &[("a", "integer"), ("b", "text")], 2),
        (Format::Tsv, "# made\n#\tby\na\tb\n1\t2\n", &[("a", "integer"), ("b", "integer")], 1),
        (Format::Csv, "#a,b\n1,2\n", &[("#a", "integer"), ("b", "integer")], 1),
        (
            Format::Csv,
            "zip,n,x\n00501,0,0.5\n10001,7,-07\n",
            &[("zip", "text"), ("n", "integer"), ("x", "text")],
            2,
        ),
        (Format::Csv, "n,x\n-0,0e1\n1,00.5\n", &[("n", "integer"), ("x", "text")], 2),
        (
            Format::Csv,
            "n,is,x\n 1 , true,  \n2,false,3\n",
            &[("n", "integer"), ("is", "text"), ("x", "text")],
            2,
        ),
        (Format::Csv, "n,x\n1, NA\n2,3\n", &[("n", "integer"), ("x", "text")], 2),
        (
            Format::Csv,
            "id,sum,x\n18446744073709551616,-1,1e19\n7,-123456789012345678901,2\n",
            &[("id", "integer"), ("sum", "integer"), ("x", "number")],
            2,
        ),
        (Format::Csv, "", &[], 0),
    ] {
        for length in [1, 3, 1_000] {
            let facts = read(format, text.as_bytes(), length).unwrap();
            assert_eq!((columns(&facts), facts.rows), (expected.to_vec(), Some(rows)), "{text:?}");
        }
        assert_eq!(summarize_head(format, text.as_bytes()).rows, None);
    }
    let facts = read(Format::Csv, b"a,b\n1,\"x\ny\"\n2,z\n", 5).unwrap();
    assert_eq!(facts.sample, ["1,\"x\ny\"", "2,z"]);
}

#[test]
fn types_are_those_of_all_rows_of_the_head() {
    let text = format!("n,zip,x\n{}no,02139,0.5\n", "1,10001,2\n".repeat(100));
    let expected = [("n", "text"), ("zip", "text"), ("x", "number")];
    for length in [7, 100_000] {
        assert_eq!(columns(&read(Format::Csv, text.as_bytes(), length).unwrap()), expected);
    }
    assert_eq!(columns(&summarize_head(Format::Csv, text.as_bytes())), expected);
    // The head ends after `t`.
    let text = format!("\u{feff}is,n\n{}", "true,1\n".repeat(20_000));
    let head = &text.as_bytes()[..HEAD_BYTES];
    assert!(head.ends_with(b"\nt"));
    assert_eq!(columns(&summarize_head(Format::Csv, head)), [("is", "boolean"), ("n", "integer")]);
}

#[test]
fn ragged_row_is_reported_with_its_line() {
    for (text, line) in [
        ("a,b\n1,2\n3\n4,5\n", 3),
        ("a,b\r\n1,2\r\n3\r\n", 3),
        ("a,b\n\n1,2,3\n", 3),
        ("a,b\n\"x\ny\",2\n3", 4),
        ("sep=,\na,b\n1,2\n3\n", 4),
        ("sep=,\r\na,b\r\n1,2\r\n3\r\n", 4),
    ] {
        for length in [1, 4, 100] {
            let Err(TableError(error)) = read(Format::Csv, text.as_bytes(), length) else {
                panic!("{text:?}")
            };
            assert!(error.ends_with(&format!("in line {line}")), "{text:?} {length} {error}");
        }
    }
    let long = format!("a,b\n{}9\n", "1,2\n".repeat(100_000));
    let Err(TableError(error)) = read(Format::Csv, long.as_bytes(), 65_536) else { panic!() };
    assert_eq!(error, "has 1 field instead of 2 in line 100002");
}

/// Quotes in TSV are text, so that a cell that starts with one is like any other.
#[test]
fn file_of_blank_cells_has_no_rows() {
    for text in ["\n\n \n", " , \n,\n", "\"\",\" \"\n"] {
        assert_eq!(read(Format::Csv, text.as_bytes(), 2).unwrap().rows, Some(0), "{text:?}");
    }
    assert_eq!(read(Format::Csv, b"1, \n ,2\n", 2).unwrap().rows, Some(2));
}

#[test]
fn quotes_in_tsv_are_text() {
    let text = "id\ttext\n1\t\"hello\n2\tworld\n3\t\"a\"\"b\"\n4\tmore\n";
    for length in [1, 6, 100] {
        let facts = read(Format::Tsv, text.as_bytes(), length).unwrap();
        assert_eq!((columns(&facts), facts.rows), (vec![("id", "integer"), ("text", "text")], Some(4)));
        assert_eq!(facts.sample, ["1\t\"hello", "2\tworld", "3\t\"a\"\"b\"", "4\tmore"]);
    }
}

#[test]
fn table_that_ends_inside_a_quoted_field_is_cut_off() {
    for (text, line) in [
        ("id,text\n1,ok\n2,\"cut off he", 3),
        ("id,text\r\n1,ok\r\n2,\"cut off he\r\n", 3),
        ("id,text\n1,\"two\nlines\"\n2,\"cut, off\nhere\n", 4),
        ("id,text\n1,\"", 2),
        ("id,text\n1,\"a\"\"", 2),
        ("id;text\n1;\"a\n2;b\n3;c\n", 2),
        ("\"a", 1),
    ] {
        for length in [1, 3, 100] {
            let Err(TableError(error)) = read(Format::Csv, text.as_bytes(), length) else {
                panic!("{text:?}")
            };
            let expected = format!("ends inside a quoted field, which starts in line {line}.");
            assert!(error.starts_with(&expected), "{text:?} {length} {error}");
        }
    }
    for text in [
        "a,b\n1,\"x\"",
        "a,b\n1,\"x\"\"\"",
        "a,b\n1,x\"\n",
        "#a\"b,c\n1,\n",
        "a,b\n1,\"\"",
        "# \"x\na,b\n1,2\n# \"",
    ] {
        let facts = read(Format::Csv, text.as_bytes(), 2).unwrap();
        assert_eq!(facts.rows, Some(1), "{text:?}");
    }
}

#[test]
fn table_is_read_in_unicode_and_refused_in_other_encodings() {
    let text = "id,name\n1,Jos\u{e9}\n2,\u{1f600}\n";
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let with_mark = format!("\u{feff}{text}");
    for bytes in [
        text.as_bytes(),
        with_mark.as_bytes(),
        &little(text),
        &little(&with_mark),
        &big(text),
        &big(&with_mark),
    ] {
        for length in [1, 7, 1_000] {
            let facts = read(Format::Csv, bytes, length).unwrap();
            assert_eq!((columns(&facts), facts.rows), (vec![("id", "integer"), ("name", "text")], Some(2)));
            assert_eq!(facts.sample, ["1,Jos\u{e9}", "2,\u{1f600}"]);
            assert_eq!(summarize_head(Format::Csv, bytes).sample, facts.sample);
        }
    }
    let late = [&b"a,b\n"[..], &b"1,2\n".repeat(30_000), b"3,Jos\xe9\n"].concat();
    for (bytes, expected) in [
        (&b"id,name\n1,Jos\xe9\n"[..], "is not UTF-8 (line 2). Save it as UTF-8"),
        (&late, "is not UTF-8 (line 30002). Save it as UTF-8"),
        (
            b"a,b\n1,\0\n",
            "has bytes of zero, so it is damaged or not text (line 2). Include the original file",
        ),
        (
            &vec![0; 70_000],
            "has bytes of zero, so it is damaged or not text (line 1). Include the original file",
        ),
        (b"a,b\n1,\xc3", "ends in the middle of a character (line 2). Include the whole file"),
    ] {
        for length in [1, 7, 100_000] {
            let error = read(Format::Csv, bytes, length).unwrap_err();
            assert_eq!(error.0, expected, "{length}");
        }
    }
}

#[test]
fn malicious_tables_use_little_memory() {
    let wide = "x,".repeat(3_000_000);
    let facts = read(Format::Csv, wide.as_bytes(), 65_536).unwrap();
    assert!(facts.columns.len() <= MAX_FIELDS);
    let text = format!("a,b\n1,\"{}\"", "x".repeat(3_000_000));
    let mut csv = CsvReader::new(Format::Csv);
    for bytes in text.as_bytes().chunks(65_536) {
        csv.push(bytes);
        assert!(csv.head.len() < HEAD_BYTES);
    }
    assert!(csv.finish().unwrap().sample.iter().all(|row| row.len() <= 2_100));
    let rows = "1,2\n".repeat(100_000);
    let mut whole = CsvReader::new(Format::Csv);
    whole.push(rows.as_bytes());
    assert_eq!(whole.head.capacity(), 0, "what exceeds the head is not stored");
    assert_eq!(whole.finish().unwrap().rows, Some(100_000));
}

proptest::proptest! {
    /// The size of the chunks does not change the result.
    #[test]
    fn chunk_size_does_not_change_the_result(text in "([a-c1-3]{0,3}[,;\"\n\r]){0,60}", length in 1..20usize) {
        let expected = read(Format::Csv, text.as_bytes(), text.len().max(1));
        proptest::prop_assert_eq!(read(Format::Csv, text.as_bytes(), length), expected);
    }
}
