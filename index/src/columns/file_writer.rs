//! Writes a columns file, array by array.

use std::io::{self, Write};

use super::{ALIGNMENT, ARRAYS, HEADER_BYTES, MAGIC};

/// The width of an array's cells in bytes, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) width: u8,
    pub(super) len: usize,
}

/// A columns file that is being written. The arrays follow in order, each with the number of cells that the header
/// states.
pub(super) struct FileWriter<'a, W> {
    out: &'a mut W,
    shapes: &'a [Shape; ARRAYS],
    started: usize,
    /// Cells of the current array that are not written yet, and their width.
    missing: usize,
    width: usize,
    /// Bytes of the file so far, with the current array as a whole.
    end: usize,
}

impl<'a, W: Write> FileWriter<'a, W> {
    /// Writes the header of a segment with this many documents.
    pub(super) fn new(
        docs: usize,
        shapes: &'a [Shape; ARRAYS],
        out: &'a mut W,
    ) -> io::Result<FileWriter<'a, W>> {
        out.write_all(MAGIC)?;
        out.write_all(&(docs as u64).to_le_bytes())?;
        for shape in shapes {
            out.write_all(&u64::from(shape.width).to_le_bytes())?;
            out.write_all(&(shape.len as u64).to_le_bytes())?;
        }
        Ok(FileWriter { out, shapes, started: 0, missing: 0, width: 0, end: HEADER_BYTES })
    }

    /// Starts the next array. The one before has to be complete.
    pub(super) fn start_array(&mut self) -> io::Result<Shape> {
        self.check_complete()?;
        let shape = self.shapes[self.started];
        let start = self.end.next_multiple_of(ALIGNMENT);
        self.out.write_all(&[0; ALIGNMENT][..start - self.end])?;
        self.started += 1;
        (self.missing, self.width) = (shape.len, usize::from(shape.width));
        self.end = start + self.missing * self.width;
        Ok(shape)
    }

    /// Appends a value, which has to fit into a cell.
    #[inline]
    pub(super) fn push(&mut self, value: u64) -> io::Result<()> {
        self.push_cells(&value.to_le_bytes()[..self.width])
    }

    /// Appends cells of the array's width.
    #[inline]
    pub(super) fn push_cells(&mut self, cells: &[u8]) -> io::Result<()> {
        self.missing = self.missing.wrapping_sub(cells.len() / self.width);
        self.out.write_all(cells)
    }

    /// Ends the file. Fails if not all arrays are complete.
    pub(super) fn finish(self) -> io::Result<()> {
        self.check_complete()?;
        if self.started == ARRAYS { Ok(()) } else { Err(incomplete()) }
    }

    fn check_complete(&self) -> io::Result<()> {
        if self.missing == 0 { Ok(()) } else { Err(incomplete()) }
    }
}

fn incomplete() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a columns file has another number of cells than it states")
}
