//! Extracts an archive that may contain certain files and nothing else.

use std::{
    fs::File,
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use marketplace_files::private_files;

use super::{
    Limits, ReadError, archive,
    contents::{ArchiveProblem, Entry, FileAction, Visitor},
};

/// Why an archive was not extracted. Files that were already written stay.
#[derive(Debug)]
pub enum ExtractionError<E> {
    /// The caller does not allow a file. Holds the reason.
    NotAllowed(E),
    /// A file cannot be extracted. Holds its path in the archive, and the reason as a sentence.
    File(String, String),
    /// The archive as a whole is not valid, or it is too large.
    Archive,
    /// An error of this machine.
    Io(io::Error),
}

/// Extracts the files of an archive to a directory, up to `max_bytes` in all. `target` returns the path of each file below
/// the directory, or why the file is not allowed. Archives with links, encrypted files, or two files with one path are
/// refused before anything is written.
pub fn extract<E>(
    file: &Path,
    limits: Limits,
    max_bytes: u64,
    directory: &Path,
    target: &mut dyn FnMut(&Entry<'_>) -> Result<PathBuf, E>,
) -> Result<(), ExtractionError<E>> {
    archive::read_summary(file, limits, &|| true)?;
    let mut extractor =
        Extractor { directory, remaining_bytes: max_bytes, target, current: None, failure: None };
    archive::visit(file, limits, &mut extractor, &|| true)?;
    extractor.failure.map_or(Ok(()), Err)
}

impl<E> From<ReadError> for ExtractionError<E> {
    fn from(error: ReadError) -> ExtractionError<E> {
        match error {
            ReadError::Rejected(_) => ExtractionError::Archive,
            ReadError::Io(cause) => ExtractionError::Io(cause),
            ReadError::Canceled => ExtractionError::Io(io::Error::other("the extraction was canceled")),
            ReadError::ProcessEnded(reason) => ExtractionError::Io(io::Error::other(reason)),
        }
    }
}

/// Writes the files of an archive. Nothing is written after the first failure.
struct Extractor<'a, E> {
    directory: &'a Path,
    /// Number of bytes that may still be written.
    remaining_bytes: u64,
    target: &'a mut dyn FnMut(&Entry<'_>) -> Result<PathBuf, E>,
    /// The path of the file in the archive, and the file that is written.
    current: Option<(String, BufWriter<File>)>,
    failure: Option<ExtractionError<E>>,
}

impl<E> Extractor<'_, E> {
    fn start(&mut self, entry: &Entry<'_>) -> Result<(), ExtractionError<E>> {
        let target = (self.target)(entry).map_err(ExtractionError::NotAllowed)?;
        let remaining_bytes = self.remaining_bytes.checked_sub(entry.size);
        self.remaining_bytes = remaining_bytes.ok_or(ExtractionError::Archive)?;
        let target = self.directory.join(target);
        let open = || {
            if let Some(parent) = target.parent() {
                private_files::create_dir_all(parent)?;
            }
            private_files::open_options().write(true).create_new(true).open(&target)
        };
        let file = open().map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
                let message = "There is another file or directory in this place.";
                ExtractionError::File(entry.path.to_owned(), message.to_owned())
            }
            _ => ExtractionError::Io(cause),
        })?;
        self.current = Some((entry.path.to_owned(), BufWriter::new(file)));
        Ok(())
    }

    fn fail(&mut self, failure: ExtractionError<E>) {
        self.current = None;
        self.failure.get_or_insert(failure);
    }
}

impl<E> Visitor for Extractor<'_, E> {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        if self.failure.is_some() {
            return FileAction::Skip;
        }
        match self.start(entry) {
            Ok(()) => FileAction::Read,
            Err(failure) => {
                self.fail(failure);
                FileAction::Skip
            }
        }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        if let Some((_, file)) = &mut self.current
            && let Err(cause) = file.write_all(bytes)
        {
            self.fail(ExtractionError::Io(cause));
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some((path, mut file)) = self.current.take() else { return };
        match (problem, file.flush()) {
            (Some(problem), _) => self.fail(ExtractionError::File(path, format!("The file {problem}."))),
            (None, Err(cause)) => self.fail(ExtractionError::Io(cause)),
            (None, Ok(())) => {}
        }
    }

    fn archive_problem(&mut self, _: ArchiveProblem) {
        self.fail(ExtractionError::Archive);
    }
}
