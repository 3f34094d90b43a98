//! Validation of decompressed pages between the page reader and the decoders of the library, which allocate
//! what the pages declare.

use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::{
    basic::{Encoding, Type as Physical},
    column::page::{Page, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    schema::types::ColumnDescPtr,
};

use super::{
    parquet_limits::{DAMAGED_PAGES, LARGE_PAGES, MAX_PAGE_BYTES, MAX_PAGE_VALUES},
    runs::{self, Records},
};

/// Maximum number of values of a dictionary. Each takes up to 32 bytes of memory.
const MAX_DICTIONARY_VALUES: u64 = 4_000_000;

/// Maximum number of delta-encoded strings in a page. The decoder stores all of their lengths.
const MAX_DELTA_STRINGS: u64 = 10_000_000;

/// Maximum memory in bytes that the values and levels of one row of a column take.
const MAX_ROW_BYTES: u64 = 64 << 20;

/// Number of rows that are read at once.
const BATCH_ROWS: u64 = 1_024;

/// Number of values that are read at once, if no row has more.
const MAX_BATCH_VALUES: u64 = 1 << 20;

/// How far the pages of a column were read, shared with the code that reads rows.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Number of levels, and of started records, in the pages before the current one.
    levels_before: u64,
    rows_before: u64,
    /// Number of levels in the current page.
    levels: u64,
    records: Records,
}

/// [`Progress`] that both sides can change.
pub(super) type SharedProgress = Arc<Mutex<Progress>>;

/// Returns the number of rows to read next, so that their values fit into memory, after `rows` rows with
/// `levels` levels. The next page is only opened for one row, because its rows may be longer.
pub(super) fn next_rows(progress: &SharedProgress, rows: u64, levels: u64) -> usize {
    let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    if levels >= progress.levels_before + progress.levels {
        return 1;
    }
    let remaining = (progress.rows_before + progress.records.started).saturating_sub(rows);
    remaining.min(MAX_BATCH_VALUES / progress.records.longest.max(1)).clamp(1, BATCH_ROWS) as usize
}

/// Pages of a column that were validated.
pub(super) struct CheckedPages<P> {
    pages: P,
    column: ColumnDescPtr,
    progress: SharedProgress,
}

impl<P: PageReader> CheckedPages<P> {
    /// Validates the pages of a column when they are read.
    pub(super) fn new(pages: P, column: ColumnDescPtr, progress: &SharedProgress) -> CheckedPages<P> {
        CheckedPages { pages, column, progress: Arc::clone(progress) }
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                self.check_dictionary(u64::from(*num_values), buf.len() as u64)
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let (mut rest, values) = (&buf[..], u64::from(*num_values));
                let repetitions =
                    split_levels(&mut rest, *rep_level_encoding, self.column.max_rep_level(), values)?;
                split_levels(&mut rest, *def_level_encoding, self.column.max_def_level(), values)?;
                self.check_records(repetitions, is_bit_packed(*rep_level_encoding), values)?;
                self.check_values(*encoding, rest, values)
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let repetitions = *rep_levels_byte_len as usize;
                let levels = repetitions.checked_add(*def_levels_byte_len as usize).ok_or_else(damaged)?;
                let rest = buf.get(levels..).ok_or_else(damaged)?;
                self.check_records(&buf[..repetitions], false, u64::from(*num_values))?;
                self.check_values(*encoding, rest, u64::from(*num_values))
            }
        }
    }

    fn check_dictionary(&self, values: u64, bytes: u64) -> Result<()> {
        let max_values = match self.column.physical_type() {
            Physical::BOOLEAN => bytes.saturating_mul(8),
            Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY => bytes / 4,
            Physical::INT64 | Physical::DOUBLE => bytes / 8,
            Physical::INT96 => bytes / 12,
            Physical::FIXED_LEN_BYTE_ARRAY => match u64::try_from(self.column.type_length()) {
                Ok(length @ 1..) => bytes / length,
                _ => 1,
            },
        };
        if values > max_values {
            return Err(error("has a dictionary with fewer values than it declares"));
        }
        if values > MAX_DICTIONARY_VALUES {
            return Err(error("has a dictionary of more than 4 million values. Write smaller row groups"));
        }
        Ok(())
    }

    /// Checks how long records are, and makes the page the current one.
    fn check_records(&self, repetitions: &[u8], is_packed: bool, values: u64) -> Result<()> {
        if values > MAX_PAGE_VALUES {
            return Err(error("has pages with more than 100 million values. Write smaller pages"));
        }
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.levels_before += progress.levels;
        progress.rows_before += progress.records.started;
        progress.levels = values;
        let max_level = self.column.max_rep_level();
        if max_level == 0 {
            progress.records = Records::of_one_level(values);
            return Ok(());
        }
        progress.records.add_page(repetitions, is_packed, bit_width(max_level), values);
        let value_bytes = match self.column.physical_type() {
            Physical::BOOLEAN => 1,
            Physical::INT32 | Physical::FLOAT => 4,
            Physical::INT64 | Physical::DOUBLE => 8,
            Physical::INT96 => 12,
            Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => 32,
        };
        // Each level takes two bytes.
        if progress.records.longest > MAX_ROW_BYTES / (value_bytes + 4) {
            return Err(error("has a row with too many values for 64 MiB of memory. Split its list"));
        }
        Ok(())
    }

    /// Checks the encoded values of a data page.
    fn check_values(&self, encoding: Encoding, values: &[u8], declared: u64) -> Result<()> {
        let max_strings = declared.min(MAX_DELTA_STRINGS);
        let check_count = |bytes: &[u8]| match runs::delta_count(bytes) {
            Some(count) if count <= max_strings => Ok(()),
            Some(_) => Err(error("has a page with more strings than it declares, or more than 10 million")),
            None => Err(damaged()),
        };
        match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => check_count(values),
            Encoding::DELTA_BYTE_ARRAY => {
                check_count(values)?;
                let prefixes = runs::delta_lengths(values, max_strings).ok_or_else(damaged)?;
                // Every string is built from the end of the previous one.
                if prefixes.sum.saturating_add(values.len() as u64) > MAX_PAGE_BYTES {
                    return Err(error(LARGE_PAGES));
                }
                check_count(values.get(prefixes.bytes..).ok_or_else(damaged)?)
            }
            // The decoder allocates as many bytes as the values would have.
            Encoding::BYTE_STREAM_SPLIT
                if self.column.physical_type() == Physical::FIXED_LEN_BYTE_ARRAY
                    && declared.saturating_mul(self.column.type_length().unsigned_abs().into())
                        > MAX_PAGE_BYTES =>
            {
                Err(error(LARGE_PAGES))
            }
            Encoding::PLAIN
            | Encoding::PLAIN_DICTIONARY
            | Encoding::RLE_DICTIONARY
            | Encoding::RLE
            | Encoding::DELTA_BINARY_PACKED
            | Encoding::BYTE_STREAM_SPLIT => Ok(()),
            other => Err(error(&format!("uses the encoding {other}, which is not supported"))),
        }
    }
}

impl<P: PageReader> Iterator for CheckedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for CheckedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
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

/// Splits the levels off the start of a version 1 page. Empty if the column has none.
fn split_levels<'b>(
    rest: &mut &'b [u8],
    encoding: Encoding,
    max_level: i16,
    values: u64,
) -> Result<&'b [u8]> {
    if max_level == 0 {
        return Ok(&[]);
    }
    let (header, length) = if is_bit_packed(encoding) {
        (0, (values as usize).saturating_mul(bit_width(max_level)).div_ceil(8))
    } else {
        let length = rest.first_chunk::<4>().ok_or_else(damaged)?;
        (4, u32::from_le_bytes(*length) as usize)
    };
    let (levels, after) = rest[header..].split_at_checked(length).ok_or_else(damaged)?;
    *rest = after;
    Ok(levels)
}

#[expect(deprecated, reason = "old files use it")]
fn is_bit_packed(encoding: Encoding) -> bool {
    encoding == Encoding::BIT_PACKED
}

/// Returns the number of bits of a level.
fn bit_width(max_level: i16) -> usize {
    (i16::BITS - max_level.leading_zeros()) as usize
}

fn damaged() -> ParquetError {
    error(DAMAGED_PAGES)
}

fn error(message: &str) -> ParquetError {
    ParquetError::General(message.to_owned())
}

#[cfg(test)]
mod tests;
