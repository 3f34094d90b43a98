//! Pages of rows, newest first. A page continues below a row ID, so rows that are inserted meanwhile neither repeat nor
//! hide others.

use rusqlite::ToSql;
use uuid::Uuid;

use super::Reader;
use crate::error::Result;

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

impl<T> RowPage<T> {
    /// Converts the rows.
    pub(super) fn map<U>(self, convert: impl FnMut(T) -> U) -> RowPage<U> {
        let RowPage { rows, next, total } = self;
        RowPage { rows: rows.into_iter().map(convert).collect(), next, total }
    }
}

/// A query for a page: columns, tables, and the conditions of the filters that a request has.
///
/// Tables of which only columns are shown are joined by `LEFT JOIN`, since the count of the rows then leaves them out.
pub(super) struct PageQuery<'q> {
    columns: &'q str,
    tables: &'q str,
    id: &'q str,
    conditions: Vec<String>,
    parameters: Vec<Box<dyn ToSql + 'q>>,
}

impl<'q> PageQuery<'q> {
    /// Creates a query of `columns` from `tables` without conditions. `id` is the column of the row IDs, by which the
    /// rows are ordered.
    pub(super) fn new(columns: &'q str, tables: &'q str, id: &'q str) -> PageQuery<'q> {
        PageQuery { columns, tables, id, conditions: Vec::new(), parameters: Vec::new() }
    }

    /// Adds a condition without parameters.
    #[must_use]
    pub(super) fn when(mut self, applies: bool, condition: &str) -> PageQuery<'q> {
        if applies {
            self.conditions.push(condition.to_owned());
        }
        self
    }

    /// Adds a condition with a parameter, written as `?`, if there is a value.
    #[must_use]
    pub(super) fn filter<T: ToSql + 'q>(mut self, condition: &str, value: Option<T>) -> PageQuery<'q> {
        if let Some(value) = value {
            self.parameters.push(Box::new(value));
            self.conditions.push(condition.replacen('?', &format!("?{}", self.parameters.len()), 1));
        }
        self
    }

    /// Adds the condition that a column is the row ID of the record with this ID in a table. An unknown ID matches
    /// nothing.
    #[must_use]
    pub(super) fn refers_to(self, column: &str, table: &str, id: Option<Uuid>) -> PageQuery<'q> {
        self.filter(&format!("{column} = (SELECT id FROM {table} WHERE uuid = ?)"), id)
    }

    /// Returns the page, and the number of rows on all pages if it is the first.
    pub(super) fn fetch<T>(
        mut self,
        reader: &Reader,
        request: PageRequest,
        mut read: impl FnMut(&rusqlite::Row) -> rusqlite::Result<T>,
    ) -> Result<RowPage<T>> {
        let total = if request.before.is_none() { self.count(reader)? } else { None };
        let is_below = format!("{} < ?", self.id);
        self = self.filter(&is_below, request.before);
        let PageQuery { columns, tables, id, .. } = &self;
        let limit = request.limit as usize;
        let sql = format!(
            "SELECT {columns}, {id} AS page_id FROM {tables} {} ORDER BY {id} DESC LIMIT {}",
            self.conditions(),
            limit + 1
        );
        #[cfg(test)]
        super::query_plans::record(reader, &sql, &self.parameters());
        let mut found =
            reader.query_all(&sql, &*self.parameters(), |row| Ok((row.get("page_id")?, read(row)?)))?;
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
