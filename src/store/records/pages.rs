//! Pages of rows, newest first. A page continues below a row, so rows that are inserted meanwhile neither repeat nor hide others.
//! Rows are sorted by a time, or else by the order of their insertion.

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

/// Where a page of a list of a team begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// With the newest row.
    #[default]
    Newest,
    /// Below this row ID.
    Below(i64),
    /// Above this row ID: the page ends with the row that follows it, and is read when one goes back.
    Above(i64),
}

/// Which page of a list of a team to return.
#[derive(Clone, Copy, Debug)]
pub struct TeamPageRequest {
    /// Where the page begins.
    pub start: Start,
    /// Maximum number of rows.
    pub limit: u32,
    /// Whether to count the rows of all pages.
    pub counts: bool,
}

/// A page of a list of a team, newest first, which can be left in both directions.
#[derive(Debug)]
pub struct TeamPage<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where the next page begins, which has older rows; `None` if this is the last page.
    pub next: Option<Start>,
    /// Where the previous page begins, which has newer rows; `None` if this is the first page.
    pub previous: Option<Start>,
    /// Number of rows on all pages; `None` if it was not requested, or if there are more than 10,000.
    pub total: Option<u64>,
}

impl<T> TeamPage<T> {
    /// Creates the page of a request from its rows with their row IDs, beginning with the one next to the start. One more than
    /// the page can have means that others follow.
    pub(in crate::store) fn new(
        mut found: Vec<(i64, T)>,
        request: TeamPageRequest,
        total: Option<u64>,
    ) -> TeamPage<T> {
        let limit = request.limit as usize;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let is_upward = matches!(request.start, Start::Above(_));
        if is_upward {
            found.reverse();
        }
        // The page that one comes from is on the other side.
        let has_next = if is_upward { true } else { has_more };
        let has_previous = if is_upward { has_more } else { request.start != Start::Newest };
        let next = found.last().map(|(id, _)| Start::Below(*id)).filter(|_| has_next);
        let previous = found.first().map(|(id, _)| Start::Above(*id)).filter(|_| has_previous);
        TeamPage { rows: found.into_iter().map(|(_, row)| row).collect(), next, previous, total }
    }

    /// Returns the page with another type of rows.
    pub fn map<U>(self, map: impl FnMut(T) -> U) -> TeamPage<U> {
        let TeamPage { rows, next, previous, total } = self;
        TeamPage { rows: rows.into_iter().map(map).collect(), next, previous, total }
    }
}

/// A query for a page: columns, tables, and the conditions of the filters that a request has.
pub struct PageQuery {
    /// The time of the request.
    pub(super) now: Timestamp,
    columns: String,
    tables: String,
    row_id: &'static str,
    sort: Option<&'static str>,
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
            sort: None,
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

    /// Sorts by a column of times, which every row must have. Rows with the same time are sorted by row ID.
    #[must_use]
    pub(super) fn sorted_by(mut self, column: Option<&'static str>) -> PageQuery {
        self.sort = column;
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
    pub(super) fn fetch<T: FromRow>(self, reader: &Reader, request: PageRequest) -> Result<RowPage<T>> {
        let start = request.before.map_or(Start::Newest, Start::Below);
        let request = TeamPageRequest { start, limit: request.limit, counts: request.before.is_none() };
        let TeamPage { rows, next, total, .. } = self.fetch_from(reader, request)?;
        let next = next.and_then(|start| if let Start::Below(id) = start { Some(id) } else { None });
        Ok(RowPage { rows, next, total })
    }

    /// Like [`PageQuery::fetch`], in both directions.
    pub(super) fn fetch_from<T: FromRow>(
        mut self,
        reader: &Reader,
        request: TeamPageRequest,
    ) -> Result<TeamPage<T>> {
        let total = if request.counts { self.count(reader)? } else { None };
        let direction = match request.start {
            Start::Newest => "DESC",
            Start::Below(id) => {
                self = self.beside("<", id);
                "DESC"
            }
            Start::Above(id) => {
                self = self.beside(">", id);
                "ASC"
            }
        };
        let PageQuery { columns, tables, row_id, sort, .. } = &self;
        let order = sort.map(|sort| format!("{sort} {direction}, ")).unwrap_or_default();
        let sql = format!(
            "SELECT {columns}, {row_id} AS page_id FROM {tables} {} ORDER BY {order}{row_id} {direction} LIMIT {}",
            self.conditions(),
            u64::from(request.limit) + 1
        );
        #[cfg(test)]
        super::query_plans::record(reader, &sql, &self.parameters());
        let found = reader
            .query_all(&sql, &*self.parameters(), |row| Ok((row.get("page_id")?, T::from_row(row)?)))?;
        Ok(TeamPage::new(found, request, total))
    }

    /// Adds the condition that rows are before or after the row with this ID.
    fn beside(self, comparison: &str, id: i64) -> PageQuery {
        let PageQuery { tables, row_id, sort, .. } = &self;
        let condition = match sort {
            Some(sort) => format!(
                "({sort}, {row_id}) {comparison} (SELECT {sort}, {row_id} FROM {tables} WHERE {row_id} = ?)"
            ),
            None => format!("{row_id} {comparison} ?"),
        };
        self.filter(&condition, id)
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
