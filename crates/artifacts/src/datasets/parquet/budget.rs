//! How much may be read from Parquet files. A few bytes can declare any number of equal values or large pages, so
//! that what they take is counted while they are read. Their memory is limited by the child process alone.

use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::{
    column::page::{Page, PageMetadata, PageReader},
    errors::{ParquetError, Result},
};

/// Maximum decompressed size of a page in bytes.
const MAX_PAGE_BYTES: u64 = 128 << 20;

/// Number of values that all files of the data may have in addition to [`VALUES_PER_BYTE`].
const BASE_VALUES: u64 = 2_000_000_000;

/// Number of values that a file may have for each of its bytes.
const VALUES_PER_BYTE: u64 = 200;

/// Number of bytes that all files of the data may decompress to in addition to fifty times their size.
const BASE_DECOMPRESSED_BYTES: u64 = 2 << 30;

/// Number of bytes that reading a page costs in addition to its own.
const PAGE_COST_BYTES: u64 = 1_024;

/// How much more may be read: of the current file, and of all files of the data. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Budget(Arc<Mutex<Remaining>>);

#[derive(Debug)]
struct Remaining {
    /// What belongs to the current file alone.
    own: Amounts,
    /// What all files share.
    shared: Amounts,
}

/// Numbers of decompressed bytes, and of values.
#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    bytes: u64,
    values: u64,
}

impl Default for Remaining {
    fn default() -> Remaining {
        let shared = Amounts { bytes: BASE_DECOMPRESSED_BYTES, values: BASE_VALUES };
        Remaining { own: Amounts::default(), shared }
    }
}

impl Amounts {
    /// Takes as much as possible of what is needed, and returns the rest.
    fn take(&mut self, needed: Amounts) -> Amounts {
        let rest = Amounts {
            bytes: needed.bytes.saturating_sub(self.bytes),
            values: needed.values.saturating_sub(self.values),
        };
        self.bytes = self.bytes.saturating_sub(needed.bytes);
        self.values = self.values.saturating_sub(needed.values);
        rest
    }
}

impl Budget {
    /// Creates a budget of which nothing is left that files share.
    #[cfg(test)]
    pub fn without_shared() -> Budget {
        let remaining = Remaining { own: Amounts::default(), shared: Amounts::default() };
        Budget(Arc::new(Mutex::new(remaining)))
    }

    /// Begins a file of `size` bytes.
    pub(super) fn begin_file(&self, size: u64) {
        let own = Amounts { bytes: size.saturating_mul(50), values: size.saturating_mul(VALUES_PER_BYTE) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).own = own;
    }

    /// Takes what reading an empty page costs.
    pub(super) fn take_page(&self) -> Result<()> {
        self.take(Amounts { bytes: PAGE_COST_BYTES, values: 0 })
    }

    /// Takes what decoding costs in addition to the values that pages declare, in values.
    pub(super) fn take_values(&self, values: u64) -> Result<()> {
        self.take(Amounts { bytes: 0, values })
    }

    fn take(&self, needed: Amounts) -> Result<()> {
        let mut remaining = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = remaining.own.take(needed);
        let missing = remaining.shared.take(rest);
        if missing.bytes > 0 || missing.values > 0 {
            return Err(error("it decompresses to more data than is read. Split it"));
        }
        Ok(())
    }
}

/// Pages of a column that are counted when they are read.
pub(super) struct CountedPages<P> {
    pub(super) pages: P,
    pub(super) budget: Budget,
}

impl<P: PageReader> Iterator for CountedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for CountedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
        let bytes = page.buffer().len() as u64;
        if bytes > MAX_PAGE_BYTES {
            return Err(error("it has pages larger than 128 MiB. Write smaller pages"));
        }
        self.budget.take(Amounts { bytes: bytes + PAGE_COST_BYTES, values: page.num_values().into() })?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

fn error(message: &str) -> ParquetError {
    ParquetError::General(message.to_owned())
}
