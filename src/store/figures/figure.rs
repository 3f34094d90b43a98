//! The declaration of a figure, and the statement that follows from it.

use rusqlite::types::ValueRef;

use crate::{
    domain::figures::{Range, Step},
    error::Result,
    store::Reader,
};

/// A figure: numbers of groups of records.
#[derive(Debug)]
pub struct Figure {
    /// Its name in addresses and names of files.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Description: what is counted, and at which time.
    pub explanation: &'static str,
    /// What the records are grouped by.
    pub by: Axis,
    /// By what each group is divided in addition; `None` if it is not.
    pub series: Option<Series>,
    /// The numbers of a group.
    pub values: &'static [Value],
    /// The tables and a condition: the text after `FROM`.
    pub(super) source: &'static str,
    /// The time at which a record counts.
    pub(super) at: &'static str,
}

/// Separates the parts of a name: `char(31)`, which no text of a team has.
pub const NAME_SEPARATOR: char = '\u{1f}';

/// What the records of a figure are grouped by.
#[derive(Debug)]
pub enum Axis {
    /// The steps of the range.
    Time,
    /// Bands of amounts.
    Bands {
        /// Head of the column.
        head: &'static str,
        /// The bounds between bands in cents.
        bounds: &'static [i64],
        /// The amount; null belongs to no band, and makes a group of its own.
        cents: &'static str,
    },
    /// Names.
    Names {
        /// Head of the column.
        head: &'static str,
        /// Whether they are names on the wire, which are shown as words.
        is_on_wire: bool,
        /// The name. If it has several parts, [`NAME_SEPARATOR`] is between them.
        sql: &'static str,
        /// The columns that records are grouped by, on which the name depends; empty if they are grouped by the name.
        key: &'static str,
    },
}

/// What the records of a figure are divided by, besides the totals.
#[derive(Debug)]
pub struct Series {
    /// Head of the column.
    pub head: &'static str,
    /// The name on the wire.
    pub(super) sql: &'static str,
    /// Where the totals come from.
    pub(super) totals: Totals,
}

/// Where totals come from.
#[derive(Debug)]
pub enum Totals {
    /// From another source, since a record can have several names, and totals are not the sums of the parts.
    Source(&'static str),
    /// From the same records, of which these columns are read once. Names and numbers are computed from these.
    Columns(&'static str),
}

/// A number of a group.
#[derive(Debug)]
pub struct Value {
    /// Head of its column.
    pub head: &'static str,
    /// What it measures.
    pub unit: Unit,
    /// Whether charts show it.
    pub is_drawn: bool,
    sql: &'static str,
}

impl Value {
    /// Returns a number that charts show.
    pub(super) const fn drawn(head: &'static str, unit: Unit, sql: &'static str) -> Value {
        Value { head, unit, is_drawn: true, sql }
    }

    /// Returns a number that only tables show.
    pub(super) const fn listed(head: &'static str, unit: Unit, sql: &'static str) -> Value {
        Value { head, unit, is_drawn: false, sql }
    }
}

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// How many there are.
    Count,
    /// An amount in cents.
    Cents,
    /// A size in bytes.
    Bytes,
    /// A share, in hundredths of a percent.
    Share,
    /// A time in microseconds, which is shown in hours.
    Hours,
    /// A time in microseconds, which is shown in seconds.
    Seconds,
}

/// The numbers of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureRow {
    /// The step, the number of the band (-1 without an amount), or the name.
    pub group: String,
    /// The name that it is divided by; `None` in totals.
    pub series: Option<String>,
    /// The numbers, in the order of [`Figure::values`]; `None` for a missing number.
    pub values: Vec<Option<i64>>,
}

/// Computes a figure with one statement. Steps and bands are in their order; names are sorted by their charted number, largest first.
pub fn read(reader: &Reader, figure: &Figure, range: &Range) -> Result<Vec<FigureRow>> {
    reader.query_all(&figure.statement(range.step), bounds(range), |row| {
        let group = match row.get_ref(0)? {
            ValueRef::Integer(month) if matches!(figure.by, Axis::Time) => {
                format!("{:04}-{:02}", month / 100, month % 100)
            }
            ValueRef::Integer(number) => number.to_string(),
            text => text.as_str()?.to_owned(),
        };
        let values = (0..figure.values.len()).map(|index| row.get(index + 2));
        Ok(FigureRow { group, series: row.get(1)?, values: values.collect::<rusqlite::Result<_>>()? })
    })
}

/// Computes the numbers of all records of a range together, with one statement. They are not always sums: a median is
/// the median of all records.
pub fn read_whole(reader: &Reader, figure: &Figure, range: &Range) -> Result<Vec<Option<i64>>> {
    reader.query_one(&figure.whole_statement(), bounds(range), |row| {
        (0..figure.values.len()).map(|index| row.get(index)).collect()
    })
}

/// Returns the first moment of a range, and the first one after it.
fn bounds(range: &Range) -> [i64; 2] {
    let period = range.period;
    [period.since.map_or(i64::MIN, |since| since.0), period.end.map_or(i64::MAX, |end| end.0)]
}

impl Figure {
    fn whole_statement(&self) -> String {
        let (source, at) = (self.source, self.at);
        let (numbers, within) = (self.numbers(), format!("{at} >= ?1 AND {at} < ?2"));
        match &self.series {
            None => format!("SELECT {numbers} FROM {source} AND {within}"),
            Some(Series { totals: Totals::Source(totals), .. }) => {
                format!("SELECT {numbers} FROM {totals} AND {within}")
            }
            Some(Series { totals: Totals::Columns(columns), .. }) => {
                format!("SELECT {numbers} FROM (SELECT {columns} FROM {source} AND {within})")
            }
        }
    }

    fn statement(&self, step: Step) -> String {
        let drawn = self.values.iter().position(|value| value.is_drawn).unwrap_or_default();
        match &self.series {
            None => {
                let order = match self.by {
                    Axis::Names { .. } => format!("{} DESC, 1", drawn + 3),
                    Axis::Time | Axis::Bands { .. } => "1".to_owned(),
                };
                format!("{} ORDER BY {order}", self.select(step, "NULL", self.source))
            }
            Some(Series { sql: series, totals: Totals::Source(totals), .. }) => {
                let totals = self.select(step, "NULL", totals);
                format!("{totals} UNION ALL {} ORDER BY 1, 2", self.select(step, series, self.source))
            }
            Some(Series { sql: series, totals: Totals::Columns(columns), .. }) => format!(
                "WITH r AS MATERIALIZED (SELECT {columns}, {} AS x FROM {} AND {at} >= ?1 AND {at} < ?2)
                 SELECT x, NULL AS series, {values} FROM r GROUP BY 1
                 UNION ALL SELECT x, {series}, {values} FROM r GROUP BY 1, 2 ORDER BY 1, 2",
                self.group(step),
                self.source,
                at = self.at,
                values = self.numbers(),
            ),
        }
    }

    fn numbers(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|value| value.sql).collect();
        values.join(", ")
    }

    fn select(&self, step: Step, series: &str, source: &str) -> String {
        let key = match self.by {
            Axis::Names { key, .. } if !key.is_empty() => key,
            _ => "1",
        };
        format!(
            "SELECT {} AS x, {series} AS series, {} FROM {source} AND {at} >= ?1 AND {at} < ?2 GROUP BY {key}, 2",
            self.group(step),
            self.numbers(),
            at = self.at,
        )
    }

    /// Returns the expression by which records are grouped. Steps are those of [`Step::name_of`], but months are numbers such as
    /// 202603, which sort faster.
    fn group(&self, step: Step) -> String {
        let at = self.at;
        match (&self.by, step) {
            (Axis::Time, Step::Day) => format!("date({at} / 1000000, 'unixepoch')"),
            (Axis::Time, Step::Week) => {
                format!("date({at} / 1000000, 'unixepoch', 'weekday 0', '-6 days')")
            }
            (Axis::Time, Step::Month) => {
                format!("CAST(strftime('%Y%m', {at} / 1000000, 'unixepoch') AS INTEGER)")
            }
            (Axis::Bands { bounds, cents, .. }, _) => {
                let below = |(number, bound): (usize, &i64)| format!(" WHEN {cents} < {bound} THEN {number}");
                let cases: String = bounds.iter().enumerate().map(below).collect();
                format!("CASE WHEN {cents} IS NULL THEN -1{cases} ELSE {} END", bounds.len())
            }
            (Axis::Names { sql, .. }, _) => (*sql).to_owned(),
        }
    }
}
