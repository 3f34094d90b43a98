//! Pages of rows, newest first. A page continues below a row ID, so rows that are inserted meanwhile neither repeat nor
//! hide others.

use rusqlite::ToSql;

use super::{FromRow, Reader};
use crate::{domain::time::Timestamp, error::Result};

/// Maximum number of rows that a list counts. Counting more would cost more than the page itself.
const MAX_COUNTED: u64 = 10_000;

/// Which page of a list to return.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    /// The row ID below which the page begins; `None` for the first page.
    pub before: Option<i64>,
    /// Maximum number of rows.
    pub limit: u32,
}

/// A page of a list.
#[derive(Debug)]
pub struct RowPage<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The row ID below which the next page begins; `None` if this is the last page.
    pub next: Option<i64>,
    /// Number of rows on all pages; `None` if there are more than 10,000, or if this is not the first page.
    pub total: Option<u64>,
}

/// A query for a page: columns, tables, and the conditions of the filters that a request has.
pub struct PageQuery {
    /// The time of the request.
    pub(super) now: Timestamp,
    columns: String,
    tables: String,
    row_id: &'static str,
    conditions: Vec<String>,
    parameters: Vec<Box<dyn ToSql>>,
}

impl PageQuery {
    /// Creates a query of these columns and tables, in the order of the row IDs, with the condition that all rows fulfill.
    pub(super) fn new(
        (columns, tables): (&[&str], &[&str]),
        row_id: &'static str,
        condition: Option<&str>,
        now: Timestamp,
    ) -> PageQuery {
        PageQuery {
            now,
            columns: columns.join(" "),
            tables: tables.join(" "),
            row_id,
            conditions: condition.into_iter().map(str::to_owned).collect(),
            parameters: Vec::new(),
        }
    }

    /// Replaces the tables, and the column of the row IDs.
    #[must_use]
    pub(super) fn with_tables(mut self, tables: &[&str], row_id: &'static str) -> PageQuery {
        (self.tables, self.row_id) = (tables.join(" "), row_id);
        self
    }

    /// Adds a condition without parameters.
    #[must_use]
    pub(super) fn when(mut self, condition: &str) -> PageQuery {
        self.conditions.push(condition.to_owned());
        self
    }

    /// Adds a condition with a parameter, written as `?`.
    #[must_use]
    pub(super) fn filter(mut self, condition: &str, value: impl ToSql + 'static) -> PageQuery {
        self.parameters.push(Box::new(value));
        self.conditions.push(condition.replacen('?', &format!("?{}", self.parameters.len()), 1));
        self
    }

    /// Returns the page, and the number of rows on all pages if it is the first.
    pub(super) fn fetch<T: FromRow>(mut self, reader: &Reader, request: PageRequest) -> Result<RowPage<T>> {
        let total = if request.before.is_none() { self.count(reader)? } else { None };
        if let Some(before) = request.before {
            let is_below = format!("{} < ?", self.row_id);
            self = self.filter(&is_below, before);
        }
        let PageQuery { columns, tables, row_id, .. } = &self;
        let limit = request.limit as usize;
        let sql = format!(
            "SELECT {columns}, {row_id} AS page_id FROM {tables} {} ORDER BY {row_id} DESC LIMIT {}",
            self.conditions(),
            limit + 1
        );
        #[cfg(test)]
        super::query_plans::record(reader, &sql, &self.parameters());
        let mut found = reader
            .query_all(&sql, &*self.parameters(), |row| Ok((row.get("page_id")?, T::from_row(row)?)))?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().map(|(id, _): &(i64, T)| *id).filter(|_| has_more);
        Ok(RowPage { rows: found.into_iter().map(|(_, row)| row).collect(), next, total })
    }

    fn count(&self, reader: &Reader) -> Result<Option<u64>> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {} {} LIMIT {})",
            self.tables,
            self.conditions(),
            MAX_COUNTED + 1
        );
        #[cfg(test)]
        super::query_plans::record(reader, &sql, &self.parameters());
        let count: u64 = reader.query_one(&sql, &*self.parameters(), |row| row.get(0))?;
        Ok(Some(count).filter(|count| *count <= MAX_COUNTED))
    }

    fn conditions(&self) -> String {
        if self.conditions.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", self.conditions.join(" AND "))
        }
    }

    fn parameters(&self) -> Vec<&dyn ToSql> {
        self.parameters.iter().map(AsRef::as_ref).collect()
    }
}
