//! Filters of lists of a team's records, as SQL.

use marketplace_text::equality_key;
use rusqlite::types::Value;

use crate::domain::{record_filters::RecordFilter, teams::TeamRowId};

/// The expressions that a filter of a list compares.
#[derive(Debug)]
pub struct FilterColumns {
    /// Status of a record, and the default status that a list is limited to.
    pub status: Option<(&'static str, Option<&'static str>)>,
    /// Kind of a record.
    pub kind: Option<&'static str>,
    /// Key of the vendor's name.
    pub vendor: Option<&'static str>,
    /// Row ID of the listing.
    pub listing: Option<&'static str>,
    /// ID of the opportunity.
    pub opportunity: Option<&'static str>,
    /// When a record happened.
    pub at: &'static str,
}

impl FilterColumns {
    /// Creates the columns of a list that can only be filtered by time.
    pub const fn by_time(at: &'static str) -> FilterColumns {
        FilterColumns { status: None, kind: None, vendor: None, listing: None, opportunity: None, at }
    }

    /// Returns the conditions of a filter, each with a leading ` AND `, and the parameters of a statement that states them
    /// after a condition on the team. A list without one of the columns ignores that part of the filter.
    pub fn conditions(&self, team: TeamRowId, filter: &RecordFilter) -> (String, Vec<Value>) {
        let (mut sql, mut values) = (String::new(), vec![Value::Integer(team.0)]);
        let mut add = |condition: String, value: Value| {
            sql.push_str(" AND ");
            sql.push_str(&condition);
            values.push(value);
        };
        let json = |texts: &[String]| Value::Text(serde_json::to_string(texts).unwrap_or_default());
        let status = self.status.map(|(column, _)| column);
        if let Some((column, Some(default))) = self.status.filter(|_| filter.statuses.is_empty()) {
            add(format!("{column} = ?"), Value::Text(default.to_owned()));
        }
        for (column, texts) in [(status, &filter.statuses), (self.kind, &filter.kinds)] {
            if let Some(column) = column.filter(|_| !texts.is_empty()) {
                add(format!("{column} IN (SELECT value FROM json_each(?))"), json(texts));
            }
        }
        if let Some((column, vendor)) = self.vendor.zip(filter.vendor.as_ref()) {
            add(format!("{column} = ?"), Value::Text(equality_key(vendor.trim())));
        }
        if let Some((column, listing)) = self.listing.zip(filter.listing) {
            let condition = format!("{column} = (SELECT id FROM listings WHERE uuid = ?)");
            add(condition, Value::Blob(listing.as_bytes().to_vec()));
        }
        if let Some((column, opportunity)) = self.opportunity.zip(filter.opportunity) {
            add(format!("{column} = ?"), Value::Blob(opportunity.as_bytes().to_vec()));
        }
        if let Some(since) = filter.period.since {
            add(format!("{} >= ?", self.at), Value::Integer(since.0));
        }
        if let Some(end) = filter.period.end {
            add(format!("{} < ?", self.at), Value::Integer(end.0));
        }
        (sql, values)
    }
}
