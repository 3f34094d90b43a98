//! Unsupported formats of archives and of compression, with messages for vendors.

use zip::CompressionMethod;

use crate::Rejection;

/// Returns the problem of a file that is compressed with an unsupported method, as a predicate that follows its path in a
/// message. `None` if the method is supported.
pub(super) fn unsupported_compression(method: CompressionMethod) -> Option<String> {
    let name = match method {
        CompressionMethod::Stored | CompressionMethod::Deflated | CompressionMethod::Zstd => return None,
        CompressionMethod::SHRINK => "Shrink",
        CompressionMethod::REDUCE_1
        | CompressionMethod::REDUCE_2
        | CompressionMethod::REDUCE_3
        | CompressionMethod::REDUCE_4 => "Reduce",
        CompressionMethod::IMPLODE | CompressionMethod::PKWARE_IMPLODE => "Implode",
        CompressionMethod::DEFLATE64 => "Deflate64",
        CompressionMethod::BZIP2 => "bzip2",
        CompressionMethod::LZMA => "LZMA",
        CompressionMethod::IBM_ZOS_CMPSC | CompressionMethod::IBM_TERSE => "one for IBM mainframes",
        CompressionMethod::ZSTD_DEPRECATED => "Zstandard under its old number",
        CompressionMethod::MP3 => "MP3",
        CompressionMethod::XZ => "xz",
        CompressionMethod::JPEG => "JPEG",
        CompressionMethod::WAVPACK => "WavPack",
        CompressionMethod::PPMD => "PPMd",
        _ => "an unknown one",
    };
    Some(format!("uses an unsupported compression method, {name} (Deflate and Zstandard are supported)"))
}

/// Signatures of other formats: the bytes, their position, and the name of the format.
const OTHER_FORMATS: [(usize, &[u8], &str); 8] = [
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"Rar!\x1a\x07", "RAR"),
    (0, b"\x1f\x8b", "gzip"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\0", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard"),
    (0, b"\x04\x22\x4d\x18", "LZ4"),
    (257, b"ustar", "tar"),
];

/// Number of bytes at the beginning of a file that show whether it has another format.
pub(super) const START_BYTES: usize = 262;

/// Returns the name of the archive or compression format of a file that is no ZIP archive, by its first bytes.
pub(super) fn other_format(start: &[u8]) -> Option<&'static str> {
    let is_at = |at: usize, mark: &[u8]| start.get(at..).is_some_and(|start| start.starts_with(mark));
    OTHER_FORMATS.into_iter().find(|(at, mark, _)| is_at(*at, mark)).map(|(.., name)| name)
}

/// Returns the message for the vendor about a file of another format than ZIP.
pub(super) fn not_a_zip(format: &str) -> Rejection {
    Rejection(format!(
        "The file is not a ZIP archive: its format is {format}, which is not supported. Pack the files as a ZIP archive, \
         and upload it."
    ))
}
