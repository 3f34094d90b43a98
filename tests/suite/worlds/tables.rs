//! All rows of a market, as text, for comparisons. No API shows all of them.

use std::collections::BTreeMap;

use marketplace::market::Market;
use rusqlite::{Connection, types::Value};

use crate::harness::database::connect_to_copy;

/// The rows of each table, in the order of their keys. Each row has its columns by name.
pub type Tables = BTreeMap<String, Vec<BTreeMap<String, String>>>;

/// Returns all rows of a market. Which programs have written its database is no part of it.
pub fn tables(market: &Market) -> Tables {
    let rows = connect_to_copy(market);
    let list = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%'
        AND name <> 'program_versions'";
    let mut list = rows.prepare(list).unwrap();
    let names: Vec<String> = list.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    names.into_iter().map(|name| (name.clone(), table(&rows, &name))).collect()
}

fn table(rows: &Connection, name: &str) -> Vec<BTreeMap<String, String>> {
    let mut statement = rows.prepare(&format!("SELECT * FROM {name}")).unwrap();
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let read = |row: &rusqlite::Row| {
        let value = |(index, column): (usize, &String)| (column.clone(), text(row.get(index).unwrap()));
        Ok(columns.iter().enumerate().map(value).collect())
    };
    statement.query_map([], read).unwrap().map(Result::unwrap).collect()
}

fn text(value: Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => {
            let hex = |text: String, byte: &u8| text + &format!("{byte:02x}");
            bytes.iter().fold(String::new(), hex)
        }
    }
}

/// Asserts that two markets have the same rows, and shows the first differences of each table.
pub fn assert_same(one: &Tables, other: &Tables, description: &str) {
    assert!(one.keys().eq(other.keys()), "{description}: the tables differ");
    let mut differences = Vec::new();
    for (name, rows) in one {
        let others = &other[name];
        if rows.len() != others.len() {
            differences.push(format!("{name} has {} rows, and {}", rows.len(), others.len()));
        }
        let pairs = rows.iter().zip(others).filter(|(row, other)| row != other);
        differences.extend(pairs.take(3).map(|(row, other)| {
            let columns = row.iter().filter(|(column, value)| other.get(*column) != Some(value));
            let columns: Vec<String> =
                columns.map(|(column, value)| format!("{column} = {value} and {}", other[column])).collect();
            format!("{name}: {}", columns.join(", "))
        }));
    }
    assert!(differences.is_empty(), "{description}: {differences:#?}");
}
