//! Zips of bare repositories: puts all of their objects into one pack. The zip is not unpacked into files, and its
//! configuration, hooks, and references to other repositories have no effect. The input is untrusted, so this runs in a child
//! process.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::Path,
};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde::{Deserialize, Serialize};

use super::{
    Limits,
    bundle::{default_commit, is_id},
    formats::UnsupportedFormat,
};
use crate::{
    ReadError, Rejection, archive,
    contents::{ArchiveProblem, Entry, FileAction, Visitor, quoted},
};

/// Name of the file that the pack is written to.
pub const REPACKED: &str = "repacked";

/// Size in bytes of the header of a pack, and of the digest at its end.
const PACK_HEADER_BYTES: u64 = 12;
const PACK_TRAILER_BYTES: u64 = 20;

/// Maximum size in bytes of the files with refs together.
const MAX_REF_BYTES: usize = 1 << 20;

/// Buffer size in bytes for computing the digest of the pack.
const BUFFER_BYTES: usize = 1 << 16;

/// A zipped repository whose objects are in one pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepackedRepository {
    /// ID of the newest commit of the default branch, in hexadecimal.
    pub head: String,
}

/// Writes the objects of the zipped repository at a path to a pack in `directory`, which is named [`REPACKED`].
pub fn repack(
    archive: &Path,
    archive_limits: crate::Limits,
    limits: Limits,
    directory: &Path,
) -> Result<RepackedRepository, ReadError> {
    let path = directory.join(REPACKED);
    let mut file =
        File::options().read(true).write(true).create_new(true).open(path).map_err(ReadError::Io)?;
    file.write_all(&[0; PACK_HEADER_BYTES as usize]).map_err(ReadError::Io)?;
    let mut visitor =
        Repacker { file, limits, objects: 0, bytes: 0, refs: BTreeMap::new(), current: None, failure: None };
    archive::visit(archive, archive_limits, &mut visitor, &|| true)?;
    visitor.finish()
}

/// A file of the zip that is being read.
struct Current {
    /// Path in the repository.
    path: String,
    kind: Kind,
    /// Size in bytes that the zip states.
    size: u64,
    /// Number of bytes that were read.
    position: u64,
    /// The bytes, except those of packs.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `HEAD`, `packed-refs`, or a file with one ref.
    Refs,
    /// A pack whose objects are copied unchanged. A delta refers to another object by its distance or its ID.
    Pack,
    /// A compressed object with its type and its size.
    Object,
}

/// Collects the objects and the refs of a repository.
struct Repacker {
    file: File,
    limits: Limits,
    objects: u32,
    /// Number of bytes of the objects that were written.
    bytes: u64,
    /// Contents of the files with refs, by path.
    refs: BTreeMap<String, String>,
    current: Option<Current>,
    /// The first error. Nothing is written after it.
    failure: Option<ReadError>,
}

/// Directories of a repository that have files of the same names as its root.
const SIMILAR_DIRECTORIES: [&str; 3] = ["logs", "modules", "worktrees"];

/// Returns the path of a file in the repository, which may be a directory of the zip.
fn path_in_repository(path: &str) -> &str {
    let is_in_root = |path: &str| {
        ["HEAD", "packed-refs"].contains(&path)
            || ["refs/", "objects/", "reftable/"].iter().any(|directory| path.starts_with(directory))
    };
    match path.split_once('/') {
        Some((first, rest))
            if !is_in_root(path) && is_in_root(rest) && !SIMILAR_DIRECTORIES.contains(&first) =>
        {
            rest
        }
        _ => path,
    }
}

fn kind_of(path: &str) -> Option<Kind> {
    if ["HEAD", "packed-refs"].contains(&path) || path.starts_with("refs/") {
        return Some(Kind::Refs);
    }
    let in_objects = path.strip_prefix("objects/")?;
    if let Some(name) = in_objects.strip_prefix("pack/") {
        return name.strip_suffix(".pack").map(|_| Kind::Pack);
    }
    is_id(&in_objects.replacen('/', "", 1)).then_some(Kind::Object)
}

impl Visitor for Repacker {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        let path = path_in_repository(entry.path);
        if path == "objects/info/alternates" {
            self.fail(
                "Objects of the repository are in another one. Copy it with `git clone --bare --no-local`.",
            );
        }
        if let Some(format) = UnsupportedFormat::of_file(path) {
            self.failure.get_or_insert_with(|| format.rejection().into());
        }
        let kind = match kind_of(path) {
            Some(kind) if self.failure.is_none() => kind,
            _ => return FileAction::Skip,
        };
        let max_bytes = match kind {
            Kind::Refs => MAX_REF_BYTES as u64,
            Kind::Pack => self.limits.bytes,
            Kind::Object => self.limits.file_bytes,
        };
        if !entry.is_file() || entry.size > max_bytes {
            self.fail(&format!("{} is too large, encrypted, or no file.", quoted(path)));
            return FileAction::Skip;
        }
        self.current =
            Some(Current { path: path.to_owned(), kind, size: entry.size, position: 0, bytes: Vec::new() });
        FileAction::Read
    }

    fn chunk(&mut self, bytes: &[u8]) {
        let Some(current) = &mut self.current else { return };
        let start = current.position;
        current.position += bytes.len() as u64;
        if current.kind != Kind::Pack {
            // The zip may contain more bytes than it states; each file is limited to its stated size.
            let room = (current.size as usize).saturating_sub(current.bytes.len());
            current.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
            return;
        }
        if start < PACK_HEADER_BYTES {
            let wanted = PACK_HEADER_BYTES as usize - current.bytes.len();
            current.bytes.extend_from_slice(&bytes[..bytes.len().min(wanted)]);
        }
        let objects = PACK_HEADER_BYTES..current.size.saturating_sub(PACK_TRAILER_BYTES);
        let from = objects.start.clamp(start, current.position) - start;
        let to = objects.end.clamp(start, current.position) - start;
        if from < to {
            self.write(&bytes[from as usize..to as usize]);
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some(current) = self.current.take() else { return };
        let is_complete = current.position == current.size;
        if let Some(problem) = problem.or((!is_complete).then_some("is damaged")) {
            self.fail(&format!("{} {problem}.", quoted(&current.path)));
            return;
        }
        match current.kind {
            Kind::Refs => self.add_refs(current),
            Kind::Pack => self.count_pack(&current),
            Kind::Object => match self.encode_object(&current.bytes) {
                Some(object) => {
                    self.write(&object);
                    self.count_objects(1);
                }
                None => self.fail(&format!("{} is damaged or too large.", quoted(&current.path))),
            },
        }
    }

    fn archive_problem(&mut self, problem: ArchiveProblem) {
        match problem {
            ArchiveProblem::Inconsistent => self.fail("The headers of the zip contradict each other."),
            ArchiveProblem::TooDense { .. } => self.fail("The zip unpacks to far more than its size."),
        }
    }
}

impl Repacker {
    fn fail(&mut self, message: &str) {
        self.failure.get_or_insert_with(|| Rejection(message.to_owned()).into());
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.limits.bytes {
            let max_bytes = self.limits.bytes;
            self.fail(&format!(
                "The repository is larger than {max_bytes} bytes, which is the setting `repositories.max_bytes`."
            ));
        }
        if self.failure.is_none()
            && let Err(cause) = self.file.write_all(bytes)
        {
            self.failure = Some(ReadError::Io(cause));
        }
    }

    fn add_refs(&mut self, file: Current) {
        let length: usize = self.refs.values().map(String::len).sum();
        if length + file.bytes.len() > MAX_REF_BYTES {
            self.fail("The repository has too many refs.");
            return;
        }
        self.refs.insert(file.path, String::from_utf8_lossy(&file.bytes).into_owned());
    }

    fn count_pack(&mut self, pack: &Current) {
        let header = pack.bytes.as_slice();
        match (header.get(..8), header.get(8..12).and_then(|count| count.try_into().ok())) {
            (Some(b"PACK\0\0\0\x02"), Some(count)) => self.count_objects(u32::from_be_bytes(count)),
            _ => self.fail(&format!("{} is no pack of version 2.", quoted(&pack.path))),
        }
    }

    fn count_objects(&mut self, count: u32) {
        match self.objects.checked_add(count) {
            Some(objects) => self.objects = objects,
            None => self.fail("The repository has too many objects."),
        }
    }

    /// Returns an object as it is in a pack. `None` if it is damaged or larger than the limit.
    fn encode_object(&self, compressed: &[u8]) -> Option<Vec<u8>> {
        let max_bytes = self.limits.file_bytes.saturating_add(32);
        let mut object = Vec::new();
        ZlibDecoder::new(compressed).take(max_bytes.saturating_add(1)).read_to_end(&mut object).ok()?;
        let end = object.iter().take(32).position(|byte| *byte == 0)?;
        let (kind, size) = std::str::from_utf8(&object[..end]).ok()?.split_once(' ')?;
        let kind = ["commit", "tree", "blob", "tag"].iter().position(|known| *known == kind)? as u8 + 1;
        let data = &object[end + 1..];
        if object.len() as u64 > max_bytes || size.parse() != Ok(data.len()) {
            return None;
        }
        let mut encoded = object_header(kind, data.len());
        let mut encoder = ZlibEncoder::new(&mut encoded, Compression::fast());
        encoder.write_all(data).and_then(|()| encoder.finish().map(drop)).ok()?;
        Some(encoded)
    }

    /// Writes the number of objects and the digest of the pack.
    fn finish(mut self) -> Result<RepackedRepository, ReadError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.objects == 0 {
            return Err(Rejection("The zip has no bare repository with objects.".to_owned()).into());
        }
        let refs = resolve_refs(&self.refs);
        let head = default_commit(&refs)?.to_owned();
        seal(&mut self.file, self.objects).map_err(ReadError::Io)?;
        Ok(RepackedRepository { head })
    }
}

/// Returns the header of an object in a pack: its type, and its size: first 4 bits, then groups of 7 bits.
fn object_header(kind: u8, size: usize) -> Vec<u8> {
    let (mut byte, mut rest) = ((kind << 4) | (size & 15) as u8, size >> 4);
    let mut header = Vec::new();
    while rest > 0 {
        header.push(byte | 0x80);
        (byte, rest) = ((rest & 127) as u8, rest >> 7);
    }
    header.push(byte);
    header
}

fn seal(file: &mut File, objects: u32) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(b"PACK\0\0\0\x02")?;
    file.write_all(&objects.to_be_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, &*file);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    let digest = hasher.try_finalize().map_err(io::Error::other)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(digest.as_slice())
}

/// Returns the commits of refs by name, from the files of a repository. A file with one ref takes precedence.
fn resolve_refs(files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut refs = BTreeMap::new();
    for line in files.get("packed-refs").map(String::as_str).unwrap_or_default().lines() {
        if let Some((id, name)) = line.split_once(' ')
            && is_id(id)
        {
            refs.insert(name.to_owned(), id.to_owned());
        }
    }
    for (name, text) in files {
        if is_id(text.trim_end()) {
            refs.insert(name.clone(), text.trim_end().to_owned());
        }
    }
    let head = files.get("HEAD").and_then(|text| text.trim_end().strip_prefix("ref: "));
    if let Some(id) = head.and_then(|name| refs.get(name)).cloned() {
        refs.insert("HEAD".to_owned(), id);
    }
    refs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_that_of_the_files() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let packed =
            format!("# pack-refs with: peeled\n{one} refs/heads/dev\n{one} refs/heads/main\n^{two}\n");
        for (files, expected) in [
            (vec![("HEAD", "ref: refs/heads/dev\n"), ("packed-refs", packed.as_str())], &one),
            (
                vec![
                    ("HEAD", "ref: refs/heads/dev"),
                    ("packed-refs", packed.as_str()),
                    ("refs/heads/dev", two.as_str()),
                ],
                &two,
            ),
            (vec![("HEAD", two.as_str()), ("packed-refs", packed.as_str())], &two),
            (vec![("packed-refs", packed.as_str())], &one),
        ] {
            let files = files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            assert_eq!(default_commit(&resolve_refs(&files)), Ok(expected.as_str()));
        }
    }

    #[test]
    fn only_refs_and_objects_are_read() {
        let object = format!("objects/12/{}", "3".repeat(38));
        assert!(
            kind_of(&object) == Some(Kind::Object) && kind_of("objects/pack/pack-1.pack") == Some(Kind::Pack)
        );
        for path in
            ["config", "hooks/post-checkout", "objects/info/packs", "objects/pack/pack-1.idx", "src/HEAD"]
        {
            assert!(kind_of(path).is_none(), "{path}");
        }
        for (path, expected) in [
            ("a.git/HEAD", "HEAD"),
            ("refs/objects/a", "refs/objects/a"),
            ("a/b/HEAD", "a/b/HEAD"),
            ("logs/HEAD", "logs/HEAD"),
            ("a.git/logs/HEAD", "a.git/logs/HEAD"),
        ] {
            assert_eq!(path_in_repository(path), expected);
        }
    }

    #[test]
    fn size_of_an_object_is_in_groups_of_bits() {
        assert_eq!(object_header(3, 5), [0x35]);
        assert_eq!(object_header(1, 0x123), [0x93, 0x12]);
    }
}
