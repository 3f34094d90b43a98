//! Reads commits like `git log`: a commit with unusual headers is still readable. Only a commit without a valid tree or with an
//! invalid parent is damaged, since Git itself stops there.

use std::borrow::Cow;

use gix::{
    ObjectId,
    objs::{FindExt, Kind},
};
use marketplace_text::encoding;

use super::{Repository, damaged_copy};
use crate::ReadError;

/// Maximum size in bytes of a commit that is decoded from another encoding than UTF-8. Larger ones are read as they are.
const MAX_DECODED_BYTES: usize = 1 << 20;

/// Length in bytes of a line with the ID of a parent.
const PARENT_LINE_BYTES: usize = "parent ".len() + 40 + "\n".len();

/// The objects that a commit refers to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Links {
    /// ID of the root directory.
    pub(super) tree: ObjectId,
    /// IDs of the parents.
    pub(super) parents: Vec<ObjectId>,
}

/// Returns the bytes of a commit.
pub(super) fn find<'b>(
    repository: &Repository,
    id: &ObjectId,
    buffer: &'b mut Vec<u8>,
) -> Result<&'b [u8], ReadError> {
    let object = repository.inner.objects.find(id, buffer).map_err(damaged_copy)?;
    if object.kind != Kind::Commit {
        return Err(damaged_copy("an object is not a commit"));
    }
    Ok(object.data)
}

/// Returns the root directory of the newest commit.
pub(super) fn root_of_newest(repository: &Repository) -> Result<ObjectId, ReadError> {
    let mut buffer = Vec::new();
    Ok(read_links(find(repository, &repository.head, &mut buffer)?)?.tree)
}

/// Reads the references of a commit. Like for Git, parents are only the lines that directly follow the tree.
pub(super) fn read_links(commit: &[u8]) -> Result<Links, ReadError> {
    parse_links(commit).ok_or_else(|| damaged_copy("a commit has no valid tree, or an invalid parent"))
}

fn parse_links(commit: &[u8]) -> Option<Links> {
    let (tree, mut rest) = parse_id_line(commit, b"tree ")?;
    if rest.is_empty() {
        return None;
    }
    let mut parents = Vec::new();
    while rest.len() >= PARENT_LINE_BYTES && rest.starts_with(b"parent ") {
        let (parent, after) = parse_id_line(rest, b"parent ")?;
        parents.push(parent);
        rest = after;
    }
    Some(Links { tree, parents })
}

/// Parses a line with a name and an ID. Returns the ID, and the text after the line.
fn parse_id_line<'a>(text: &'a [u8], name: &[u8]) -> Option<(ObjectId, &'a [u8])> {
    let (id, rest) = text.strip_prefix(name)?.split_at_checked(40)?;
    Some((ObjectId::from_hex(id).ok()?, rest.strip_prefix(b"\n")?))
}

/// Returns the text of a commit, in UTF-8 if the commit names another encoding that all of it is valid in. A text that is
/// converted ends at the first NUL.
pub(super) fn text_of(commit: &[u8]) -> Cow<'_, [u8]> {
    let visible = up_to_nul(commit);
    let name = header_lines(visible).find_map(|line| line.strip_prefix(b"encoding "));
    name.filter(|_| visible.len() <= MAX_DECODED_BYTES)
        .and_then(|name| encoding::decode_named(visible, name))
        .map_or(Cow::Borrowed(commit), |text| Cow::Owned(text.into_owned().into_bytes()))
}

fn up_to_nul(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(0, text).unwrap_or(text.len())]
}

/// Returns the lines before the first empty one. For Git, a NUL ends a line, too.
fn header_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b'\n' | b'\0')).take_while(|line| !line.is_empty())
}

/// The author and the time in the headers of a commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Headers<'a> {
    /// Name and email address of the author. `None` if there is no author, or if the header cannot be read.
    pub(super) author: Option<(&'a [u8], &'a [u8])>,
    /// Time of the commit in seconds since 1970. `None` if the header has none that can be read.
    pub(super) commit_time: Option<i64>,
    /// Whether an author, a committer, or a date is missing, occurs twice, or cannot be read, or whether text follows.
    pub(super) are_unusual: bool,
    /// The message after the headers, up to the first NUL.
    pub(super) message: &'a [u8],
}

impl<'a> Headers<'a> {
    /// Reads the [text](text_of) of a commit. If a header occurs twice, the last one counts.
    pub(super) fn read(text: &'a [u8]) -> Headers<'a> {
        let (mut length, mut signatures) = (0, 0);
        let (mut author, mut committer) = (None, None);
        for line in header_lines(text) {
            length += line.len() + 1;
            let (found, value) = match (line.strip_prefix(b"author "), line.strip_prefix(b"committer ")) {
                (Some(value), _) => (&mut author, value),
                (None, Some(value)) => (&mut committer, value),
                (None, None) => continue,
            };
            signatures += 1;
            *found = Signature::parse(value);
        }
        let is_usual = |signature: Option<&Signature<'_>>| signature.is_some_and(Signature::is_usual);
        Headers {
            author: author.as_ref().map(|author| (author.name, author.email)),
            commit_time: committer.as_ref().and_then(|committer| committer.time),
            are_unusual: signatures != 2 || !is_usual(author.as_ref()) || !is_usual(committer.as_ref()),
            // An empty line ends the headers.
            message: up_to_nul(text.get(length + 1..).unwrap_or_default()),
        }
    }
}

/// A name, an email address, and a time.
struct Signature<'a> {
    name: &'a [u8],
    email: &'a [u8],
    time: Option<i64>,
    /// What follows the time and its zone.
    rest: &'a [u8],
}

impl<'a> Signature<'a> {
    /// Parses the value of a header. `None` if it has no `<` with a `>` after it.
    fn parse(value: &'a [u8]) -> Option<Signature<'a>> {
        let (name, after_name) = split_at_byte(value, memchr::memchr(b'<', value)?);
        let (email, _) = split_at_byte(after_name, memchr::memchr(b'>', after_name)?);
        // An email address may have another `>`.
        let (_, after_email) = split_at_byte(value, memchr::memrchr(b'>', value)?);
        let (time, rest) =
            parse_time(after_email).map_or((None, b"".as_slice()), |(time, rest)| (Some(time), rest));
        Some(Signature { name: name.trim_ascii_end(), email, time, rest })
    }

    fn is_usual(&self) -> bool {
        self.time.is_some() && self.rest.trim_ascii().is_empty()
    }
}

fn split_at_byte(text: &[u8], at: usize) -> (&[u8], &[u8]) {
    (&text[..at], &text[at + 1..])
}

/// Parses a time in seconds since 1970 that a time zone follows. Also returns the text after the zone. Times that Git treats as
/// the beginning of 1970 are ignored.
fn parse_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let (digits, rest) = split_digits(text.trim_ascii_start())?;
    let zone = rest.trim_ascii_start();
    let (_, rest) = split_digits(zone.strip_prefix(b"+").or_else(|| zone.strip_prefix(b"-"))?)?;
    let time: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (time > 0).then_some((time, rest))
}

/// Splits text after the digits that it begins with. `None` if there are none.
fn split_digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}
