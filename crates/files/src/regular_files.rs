//! Reading files that people name: regular files only, and no more of them than a limit.
//!
//! A named pipe would be waited for, and a device would never end.

use std::{
    fs::{self, File, FileType, OpenOptions},
    io::{self, ErrorKind, Read},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
};

use marketplace_text::encoding::without_byte_order_mark;
use rustix::fs::OFlags;

/// Opens a file for reading. Links are followed. Fails at once for anything but a regular file of at most `max_bytes`.
pub fn open(path: &Path, max_bytes: u64) -> io::Result<File> {
    // Opening a device can have effects, so it is not even tried.
    check_type(fs::metadata(path)?.file_type())?;
    // Something else may have taken the place of the file since.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    check_type(metadata.file_type())?;
    if metadata.len() > max_bytes { Err(too_large(max_bytes)) } else { Ok(file) }
}

/// Reads a file of at most `max_bytes`, also if it grows meanwhile.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, max_bytes)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large(max_bytes)) } else { Ok(bytes) }
}

/// Like [`read`], for text in UTF-8, without a byte order mark.
pub fn read_to_string(path: &Path, max_bytes: u64) -> io::Result<String> {
    let bytes = read(path, max_bytes)?;
    let invalid = |problem: &str| io::Error::new(ErrorKind::InvalidData, problem);
    if bytes.contains(&0) {
        return Err(invalid("it contains zero bytes, as UTF-16 does, and is not text in UTF-8"));
    }
    let text = std::str::from_utf8(without_byte_order_mark(&bytes));
    text.map(str::to_owned).map_err(|_| invalid("it is not text in UTF-8"))
}

fn too_large(max_bytes: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {max_bytes} bytes, which is the limit"))
}

fn check_type(file_type: FileType) -> io::Result<()> {
    if file_type.is_file() {
        return Ok(());
    }
    let what = if file_type.is_dir() {
        "a directory"
    } else if file_type.is_fifo() {
        "a named pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, and not a regular file")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use rustix::fs::{CWD, FileType as NodeType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "12345").unwrap();
        fs::write(at("marked"), "\u{feff}123").unwrap();
        fs::write(at("binary"), b"\xff").unwrap();
        fs::write(at("utf-16"), b"1\x002\0").unwrap();
        mknodat(CWD, at("pipe"), NodeType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        for (link, target) in [
            ("link", at("file")),
            ("link_to_pipe", at("pipe")),
            ("zero", "/dev/zero".into()),
            ("terminal", "/dev/tty".into()),
            ("dangling", at("missing")),
        ] {
            symlink(target, at(link)).unwrap();
        }
        for (name, max_bytes, expected) in [
            ("file", 5, Ok("12345")),
            ("link", 5, Ok("12345")),
            ("file", 4, Err("it has more than 4 bytes, which is the limit")),
            ("marked", 6, Ok("123")),
            ("marked", 5, Err("it has more than 5 bytes, which is the limit")),
            ("binary", 5, Err("it is not text in UTF-8")),
            ("utf-16", 5, Err("it contains zero bytes, as UTF-16 does, and is not text in UTF-8")),
            ("", 5, Err("it is a directory, and not a regular file")),
            ("pipe", 5, Err("it is a named pipe, and not a regular file")),
            ("link_to_pipe", 5, Err("it is a named pipe, and not a regular file")),
            ("socket", 5, Err("it is a socket, and not a regular file")),
            ("zero", u64::MAX, Err("it is a device, and not a regular file")),
            ("terminal", 5, Err("it is a device, and not a regular file")),
            ("dangling", 5, Err("No such file or directory (os error 2)")),
        ] {
            let read = read_to_string(&at(name), max_bytes).map_err(|error| error.to_string());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{name}");
        }
    }
}
