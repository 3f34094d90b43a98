use std::{borrow::Cow, io::Read};

use proptest::prelude::*;

use super::*;

/// Returns a text in an encoding, with or without a mark.
fn encode(text: &str, encoding: Encoding, has_mark: bool) -> Vec<u8> {
    let mut bytes = if has_mark { encoding.mark().to_vec() } else { Vec::new() };
    match encoding {
        Encoding::Utf8 | Encoding::Utf32 => bytes.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
    }
    bytes
}

/// Decodes a text strictly in chunks of a length.
fn decode_strictly(bytes: &[u8], length: usize) -> Result<String, InvalidText> {
    let (mut decoder, mut text) = (StrictDecoder::default(), Vec::new());
    let mut decoded = Ok(());
    for chunk in bytes.chunks(length) {
        decoded =
            decoder.push(chunk, |part| text.extend_from_slice(std::str::from_utf8(part).unwrap().as_bytes()));
    }
    decoded.and_then(|()| decoder.finish(|part| text.extend_from_slice(part)))?;
    Ok(String::from_utf8(text).unwrap())
}

#[test]
fn encoding_of_text_is_decided_by_marks_and_zeros() {
    let long = "id,text\n".to_owned() + &"1,Zażółć 一二三 😀\n".repeat(2_000);
    let (long, chinese) = (long.as_str(), "编号,内容\n一,你好,世界\n");
    for text in ["id,text\n1,a\n", "x", "Grüße,\u{1f600}\r\n", chinese, long] {
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            for has_mark in [true, false] {
                let bytes = encode(text, encoding, has_mark);
                assert_eq!(Encoding::of_text(&bytes), encoding, "{text:.20} {has_mark}");
                assert_eq!(Encoding::of_file(&bytes), Some(encoding), "{text:.20} {has_mark}");
                assert_eq!(decode(&bytes).as_deref(), Some(text));
                assert_eq!(decode_for_display(&bytes), text);
                for length in [1, 3, 100, 8_192, 100_000] {
                    assert_eq!(decode_strictly(&bytes, length).as_deref(), Ok(text), "{encoding:?} {length}");
                }
                let mut read = String::new();
                TextReader::new(bytes.as_slice()).read_to_string(&mut read).unwrap();
                assert_eq!(read, text);
            }
        }
    }
    for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
        assert_eq!(decode(&encode("", encoding, true)).as_deref(), Some(""));
    }
}

#[test]
fn other_bytes_are_not_utf_8() {
    let latin_1: &[u8] = b"name\nJos\xe9,1\n";
    assert_eq!((Encoding::of_file(latin_1), decode(latin_1)), (Some(Encoding::Utf8), None));
    let utf_32: Vec<u8> = "\u{feff}a,b\n".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let utf_32_big: Vec<u8> = "\u{feff}a,b\n".chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    for bytes in [&utf_32, &utf_32_big] {
        assert_eq!((Encoding::of_file(bytes), decode(bytes)), (Some(Encoding::Utf32), None));
    }
    let late = [&b"x".repeat(20_000)[..], b"\xe9 and more"].concat();
    for (bytes, expected) in [
        (latin_1, InvalidText::Encoding),
        (&late, InvalidText::Encoding),
        (&utf_32, InvalidText::Encoding),
        (b"\xff\xfe\x00\xd8a\0", InvalidText::Encoding),
        (b"a,b\n1,\0\n", InvalidText::Zero),
        (&vec![0; 30_000], InvalidText::Zero),
        (b"\xff\xfea\0\0\0b\0", InvalidText::Zero),
        (b"a,b\n1,\xc3", InvalidText::CutOff),
        (b"\xff\xfea\0b", InvalidText::CutOff),
        (b"\xff\xfea\0\x3d\xd8", InvalidText::CutOff),
    ] {
        for length in [1, 7, 100_000] {
            assert_eq!(decode_strictly(bytes, length), Err(expected), "{:?}", &bytes[..bytes.len().min(20)]);
        }
    }
}

/// Numbers of 16 bits, images, and programs are not text.
#[test]
fn binary_files_are_not_text() {
    let samples: Vec<u8> = (0..4_000_u16).flat_map(|at| (at % 300).to_le_bytes()).collect();
    let pointers: Vec<u8> = (0..1_000_u64).flat_map(|at| (0x7f00 + at * 8).to_le_bytes()).collect();
    for bytes in [
        &samples[..],
        &pointers,
        &[0; 100],
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\x7fELF\x02\x01\x01\0\0",
        b"\xff\xfe\0\x01\x02\0\0\x03",
    ] {
        assert_eq!(Encoding::of_file(bytes), None, "{:?}", &bytes[..bytes.len().min(20)]);
    }
}

#[test]
fn one_byte_order_mark_at_the_beginning_is_removed() {
    for (text, expected) in [
        ("a", "a"),
        ("\u{feff}a", "a"),
        ("a\u{feff}", "a\u{feff}"),
        ("\u{feff}\u{feff}", "\u{feff}"),
        ("", ""),
    ] {
        assert_eq!(without_byte_order_mark(text.as_bytes()), expected.as_bytes());
    }
}

#[test]
fn displayed_text_has_no_replacement_characters() {
    for (bytes, expected) in [
        (&b"Caf\xe9 \x80 5"[..], "Café € 5"),
        (b"\xe9", "é"),
        ("Größe \u{2192} ".as_bytes(), "Größe → "),
        (b"\xc3\xa9 and \xe9", "é and é"),
        (b"\xef\xbb\xbfx", "x"),
    ] {
        assert_eq!(decode_for_display(bytes), expected);
    }
}

#[test]
fn reading_continues_at_a_position_in_the_text() {
    let text = "a\nZażółć\n".repeat(20_000);
    for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
        let bytes = encode(&text, encoding, true);
        for at in [0, 2, text.len() as u64 / 2, text.len() as u64] {
            let (mut reader, mut rest) = (TextReader::new(bytes.as_slice()), Vec::new());
            reader.skip(at).unwrap();
            reader.read_to_end(&mut rest).unwrap();
            assert!(rest == text.as_bytes()[at as usize..], "{encoding:?} {at}");
        }
    }
}

proptest! {
    /// Nothing panics, and the length of the chunks does not change the result.
    #[test]
    fn arbitrary_bytes_are_decoded_alike(
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..80),
            "[a-c\u{e9}\u{4e00}\u{1f600}]{0,30}".prop_map(|text| encode(&text, Encoding::Utf16Le, true)),
            "[a-c\u{e9}\u{4e00}\u{1f600}]{0,30}".prop_map(String::into_bytes),
        ],
        length in 1..9usize,
        cut in 0..4usize,
    ) {
        let bytes = &bytes[..bytes.len().saturating_sub(cut)];
        prop_assert_eq!(decode_strictly(bytes, length), decode_strictly(bytes, bytes.len().max(1)));
        prop_assert_eq!(decode_strictly(bytes, length).ok(), decode(bytes).filter(|text| !text.contains('\0')).map(Cow::into_owned));
        decode_for_display(bytes);
        Encoding::of_file(bytes);
    }
}
