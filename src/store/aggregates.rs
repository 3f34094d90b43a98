//! The lists of a team's records that can be aggregated, as SQL: which properties and numbers their records have.

use rusqlite::types::Value;

use super::{Reader, changed_data, inventory::Query, record_filters::FilterColumns};
use crate::{
    domain::{
        aggregation::{self, Aggregation, GroupKey, MAX_DIMENSIONS, Unit},
        record_filters::RecordFilter,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// A list of records of a team.
#[derive(Debug)]
pub struct RecordList {
    /// The tables, and the condition that selects the records of team `?`.
    source: &'static str,
    /// What the list can be filtered by.
    filters: FilterColumns,
    /// What records can be grouped by.
    pub properties: &'static [Property],
    /// What numbers records have.
    pub numbers: &'static [Number],
}

/// A property by which records are grouped.
#[derive(Debug)]
pub struct Property {
    /// Name of the property.
    pub name: &'static str,
    sql: &'static str,
    form: Form,
}

/// How a property is stored.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// As text, or as a whole number.
    Plain,
    /// As a time, of which the month is the property.
    Month,
    /// As several words, each between two commas.
    Words,
}

/// A number that records have.
#[derive(Debug)]
pub struct Number {
    /// Name of the number.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    sql: &'static str,
}

const fn property(name: &'static str, sql: &'static str) -> Property {
    Property { name, sql, form: Form::Plain }
}

const fn by_month(sql: &'static str) -> Property {
    Property { name: "month", sql, form: Form::Month }
}

const fn cents(name: &'static str, sql: &'static str) -> Number {
    Number { name, unit: Unit::UsDollars, sql }
}

const fn count(name: &'static str, sql: &'static str) -> Number {
    Number { name, unit: Unit::Count, sql }
}

/// Returns the SQL of a record of a table as people recognize it, and as no two records have it: its title and its ID.
macro_rules! title_with_id {
    ($table:literal) => {
        concat!(
            $table,
            ".title || ' (' || lower(substr(hex(",
            $table,
            ".uuid), 1, 8) || '-' || substr(hex(",
            $table,
            ".uuid), 9, 4) || '-' || substr(hex(",
            $table,
            ".uuid), 13, 4) || '-' || substr(hex(",
            $table,
            ".uuid), 17, 4) || '-' || substr(hex(",
            $table,
            ".uuid), 21)) || ')'"
        )
    };
}

const LISTING: &str = title_with_id!("l");
const OPPORTUNITY: &str = title_with_id!("o");

/// Purchases of a buyer: the completed ones unless a filter states other statuses.
pub static PURCHASES: RecordList = RecordList {
    source: "purchases p JOIN listings l ON l.id = p.listing JOIN teams v ON v.id = l.team
             WHERE p.buyer = ?",
    filters: FilterColumns {
        status: Some(("p.status", Some("completed"))),
        kind: Some("p.kind"),
        vendor: Some("v.name_key"),
        listing: Some("p.listing"),
        ..FilterColumns::by_time("p.created_at")
    },
    properties: &[
        property("status", "p.status"),
        property("kind", "p.kind"),
        property("vendor", "v.name"),
        property("listing", LISTING),
        by_month("p.created_at"),
    ],
    numbers: &[
        cents("price", "p.price_cents"),
        cents("buyer_fee", "p.buyer_fee_cents"),
        cents("total", "p.price_cents + p.buyer_fee_cents"),
    ],
};

/// Offers of a buyer.
pub static OFFERS: RecordList = RecordList {
    source: "offers p JOIN listings l ON l.id = p.listing JOIN teams v ON v.id = l.team WHERE p.buyer = ?",
    filters: FilterColumns {
        status: Some(("p.status", None)),
        vendor: Some("v.name_key"),
        listing: Some("p.listing"),
        ..FilterColumns::by_time("p.created_at")
    },
    properties: &[
        property("status", "p.status"),
        property("vendor", "v.name"),
        property("listing", LISTING),
        by_month("p.created_at"),
    ],
    numbers: &[cents("amount", "p.amount_cents")],
};

/// Settled sales of a vendor.
pub static SALES: RecordList = RecordList {
    source: "listings l JOIN purchases p ON p.listing = l.id AND p.status = 'completed' WHERE l.team = ?",
    filters: FilterColumns {
        kind: Some("p.kind"),
        listing: Some("p.listing"),
        ..FilterColumns::by_time("p.paid_at")
    },
    properties: &[property("kind", "p.kind"), property("listing", LISTING), by_month("p.paid_at")],
    numbers: &[
        cents("price", "p.price_cents"),
        cents("platform_fee", "p.platform_fee_cents"),
        cents("amount", "p.price_cents - p.platform_fee_cents"),
    ],
};

/// Entries of a vendor's earnings.
pub static EARNINGS: RecordList = RecordList {
    source:
        "ledger_postings b JOIN ledger_entries e ON e.id = b.entry LEFT JOIN purchases p ON p.id = e.purchase
             LEFT JOIN listings l ON l.id = p.listing WHERE b.team = ? AND b.account = 'earnings'",
    filters: FilterColumns {
        kind: Some("e.entry_type"),
        listing: Some("p.listing"),
        ..FilterColumns::by_time("e.created_at")
    },
    properties: &[property("kind", "e.entry_type"), property("listing", LISTING), by_month("e.created_at")],
    numbers: &[cents("amount", "b.cents")],
};

/// What a quality run checks.
const SUBJECT: &str = "iif(r.listing IS NULL, 'asset', 'listing')";

/// Quality runs of a vendor's listings and assets.
pub static QUALITY_RUNS: RecordList = RecordList {
    source: "quality_runs r LEFT JOIN listings l ON l.id = r.listing WHERE r.team = ?",
    filters: FilterColumns {
        status: Some(("r.status", None)),
        kind: Some(SUBJECT),
        listing: Some("r.listing"),
        ..FilterColumns::by_time("r.started_at")
    },
    properties: &[
        property("status", "r.status"),
        property("kind", SUBJECT),
        property("listing", LISTING),
        by_month("r.started_at"),
    ],
    numbers: &[cents("charge", "r.charge_cents")],
};

/// Requests for data of a buyer.
pub static OPPORTUNITIES: RecordList = RecordList {
    source: "opportunities o WHERE o.owner = ?",
    filters: FilterColumns {
        status: Some(("o.status", None)),
        kind: Some("o.kind"),
        ..FilterColumns::by_time("o.created_at")
    },
    properties: &[
        property("status", "o.status"),
        property("kind", "o.kind"),
        property("budget_unit", "o.metadata ->> 'budget_unit'"),
        by_month("o.created_at"),
    ],
    numbers: &[
        cents("budget_min", "CAST(round((o.metadata ->> 'budget_min') * 100) AS INTEGER)"),
        cents("budget_max", "CAST(round((o.metadata ->> 'budget_max') * 100) AS INTEGER)"),
    ],
};

/// Bids of a vendor on requests for custom task work.
pub static PROJECT_BIDS: RecordList = RecordList {
    source: "project_bids b JOIN opportunities o ON o.id = b.opportunity WHERE b.team = ?",
    filters: PROJECT_BIDS_FILTERS,
    properties: PROJECT_BID_PROPERTIES,
    numbers: PROJECT_BID_NUMBERS,
};

const PROJECT_BIDS_FILTERS: FilterColumns = FilterColumns {
    status: Some(("b.status", None)),
    opportunity: Some("o.uuid"),
    ..FilterColumns::by_time("b.created_at")
};
const PROJECT_BID_PROPERTIES: &[Property] =
    &[property("status", "b.status"), property("opportunity", OPPORTUNITY), by_month("b.created_at")];
const PROJECT_BID_NUMBERS: &[Number] = &[count("num_tasks", "b.num_tasks")];

/// Vendors' bids on a buyer's requests for custom task work.
pub static RECEIVED_PROJECT_BIDS: RecordList = RecordList {
    source: "project_bids b JOIN opportunities o ON o.id = b.opportunity WHERE o.owner = ?",
    filters: PROJECT_BIDS_FILTERS,
    properties: PROJECT_BID_PROPERTIES,
    numbers: PROJECT_BID_NUMBERS,
};

/// Notifications of a team.
pub static NOTIFICATIONS: RecordList = RecordList {
    source: "notifications n WHERE n.team = ?",
    filters: FilterColumns { kind: Some("n.type"), ..FilterColumns::by_time("n.created_at") },
    properties: &[
        property("kind", "n.type"),
        property("read", "iif(n.is_read, 'true', 'false')"),
        by_month("n.created_at"),
    ],
    numbers: &[],
};

/// The properties of assets, as lists of the inventory `i` have them.
pub static ASSET_PROPERTIES: &[Property] = &[
    property("sku", "i.kind"),
    property("stage", "CASE i.stage WHEN 0 THEN 'incomplete' WHEN 1 THEN 'proposed' ELSE 'complete' END"),
    property("channel", "coalesce(i.channel, 'not_linked')"),
    property("qc", changed_data::OUTCOME_OF_ASSET),
    property("exclusivity", "i.exclusivity"),
    property("private_data", "CASE i.private_data WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"),
    property("task_type", "i.task_type"),
    property("has_traces", "CASE i.has_traces WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"),
    property("has_qa_results", "CASE i.has_qa_results WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"),
    property("has_environment", "CASE i.has_environment WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"),
    property("group", "(SELECT g.name FROM groups g WHERE g.id = i.group_id)"),
    Property { name: "domain", sql: "i.domains", form: Form::Words },
    by_month("i.created_at"),
];

/// The numbers of assets.
pub static ASSET_NUMBERS: &[Number] = &[
    cents("price", "i.price_cents"),
    cents("estimate", "i.estimate_cents"),
    count("lines_of_code", "i.lines_of_code"),
    count("commits", "i.commits"),
    count("contributors", "i.contributors"),
    count("merged_prs", "i.merged_prs"),
];

impl RecordList {
    /// Returns the tables and the condition of the records of a team that a filter allows, and their parameters.
    pub(super) fn of_team(&self, team: TeamRowId, filter: &RecordFilter) -> (String, Vec<Value>) {
        let (conditions, values) = self.filters.conditions(team, filter);
        (format!("{}{conditions}", self.source), values)
    }

    /// Returns the names of the properties by which records can be grouped, and of their numbers.
    pub fn names(&self) -> [Vec<&'static str>; 2] {
        names(self.properties, self.numbers)
    }
}

/// Returns the names of the properties by which assets can be grouped, and of their numbers.
pub fn asset_names() -> [Vec<&'static str>; 2] {
    names(ASSET_PROPERTIES, ASSET_NUMBERS)
}

fn names(properties: &[Property], numbers: &[Number]) -> [Vec<&'static str>; 2] {
    [
        properties.iter().map(|property| property.name).collect(),
        numbers.iter().map(|number| number.name).collect(),
    ]
}

/// What to aggregate of a list.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The properties to group by.
    pub properties: Vec<&'static Property>,
    /// The number to aggregate; `None` to count records only.
    pub number: Option<&'static Number>,
}

/// Aggregates the records of a team that a filter allows. Reads each of them once.
pub fn aggregate(
    reader: &Reader,
    list: &RecordList,
    team: TeamRowId,
    filter: &RecordFilter,
    selection: &Selection,
) -> Result<Aggregation> {
    let (source, values) = list.of_team(team, filter);
    read(reader, &source, values, selection)
}

/// Aggregates the assets of a team that a query allows. Reads each of them once.
pub fn aggregate_assets(reader: &Reader, query: &Query, selection: &Selection) -> Result<Aggregation> {
    let (condition, values) = query.condition();
    read(reader, &format!("inventory i WHERE {condition}"), values, selection)
}

fn read(reader: &Reader, source: &str, values: Vec<Value>, selection: &Selection) -> Result<Aggregation> {
    let mut columns: Vec<&str> = selection.properties.iter().map(|property| property.sql).collect();
    columns.push(selection.number.map_or("NULL", |number| number.sql));
    let sql = format!("SELECT {} FROM {source}", columns.join(", "));
    let mut aggregation = Aggregation::default();
    reader.for_each_row(&sql, rusqlite::params_from_iter(values), |row| {
        let mut keys: [Vec<GroupKey>; MAX_DIMENSIONS] = Default::default();
        for (index, (keys, property)) in keys.iter_mut().zip(&selection.properties).enumerate() {
            *keys = property.read_keys(row, index, &mut aggregation)?;
        }
        Ok(aggregation.add(&keys, row.get(selection.properties.len())?)?)
    })?;
    Ok(aggregation)
}

impl Property {
    /// Reads the values of a record.
    fn read_keys(
        &self,
        row: &rusqlite::Row,
        column: usize,
        aggregation: &mut Aggregation,
    ) -> Result<Vec<GroupKey>> {
        let text: Option<String> = match self.form {
            Form::Month => row.get::<_, Option<i64>>(column)?.map(|at| aggregation::month(Timestamp(at))),
            Form::Plain | Form::Words => row.get(column)?,
        };
        let text = text.unwrap_or_default();
        let words = match self.form {
            Form::Words => text.split(',').filter(|word| !word.is_empty()).collect(),
            _ if text.is_empty() => Vec::new(),
            _ => vec![text.as_str()],
        };
        Ok(words.into_iter().map(|word| aggregation.key(word)).collect::<std::result::Result<_, _>>()?)
    }
}
