//! Databases that are created from the rows of all tables, as [`table_rows`](super::table_rows) writes them. The rows may come
//! from anyone: names are compared with the schema, values with the types of their columns, and all constraints hold.

use std::{collections::BTreeMap, path::Path};

use rusqlite::{Connection, Transaction, types::Value};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{
    import_rules::{self, Rule, Violation},
    migrations, sql_functions,
    table_schema::{self, Column, ColumnKind, Table},
};
use crate::{
    error::{Error, ErrorChain, Problem, Result},
    private_files, store,
};

/// Number of insert statements that are kept prepared. The rows of a table come one after another.
const STATEMENTS: usize = 4;

/// Creates a database with the schema of a version, and with the rows that `fill` inserts, and migrates it. The file must not
/// exist. Nothing is synchronized with the disk. Fails if the rows violate the schema or the rules in [`import_rules`], before
/// or after the migrations. The error names the first such table and row.
///
/// The triggers that maintain numbers and refuse changes do not run: the rows already contain their results.
pub fn create(
    path: &Path,
    schema_version: u32,
    sequences: &BTreeMap<String, i64>,
    fill: impl FnOnce(&Filling) -> Result<()>,
) -> Result<()> {
    let latest = migrations::latest_version();
    if !(1..=latest).contains(&(schema_version as usize)) {
        let message = format!(
            "The file has version {schema_version} of the database; this server has {latest}. Use the version of \
             marketplace that exported it, or a newer one."
        );
        return Err(refused(&["schema_version"], message));
    }
    private_files::open_options().write(true).create_new(true).open(path).map_err(Error::internal)?;
    let mut connection = Connection::open(path)?;
    sql_functions::register(&connection)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    migrations::migrate_to(&mut connection, schema_version as usize)?;
    // They are checked at the end, since tables refer to each other.
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let transaction = connection.transaction()?;
    let triggers = remove_triggers(&transaction)?;
    let tables = table_schema::list(&transaction)?;
    for table in &tables {
        // Rows that migrations have inserted.
        transaction.execute(&table.clear(), [])?;
    }
    // The rules are for the latest version.
    let is_latest = schema_version as usize == latest;
    let with_rules = |table: Table| {
        let rules = table.columns.iter().map(|column| Rule::of(&table.name, column)).collect();
        (table.name.clone(), FilledTable { rules: if is_latest { rules } else { Vec::new() }, table })
    };
    let filling = Filling { tables: tables.into_iter().map(with_rules).collect(), connection: &transaction };
    fill(&filling)?;
    set_sequences(&transaction, sequences)?;
    check_references(&transaction)?;
    for trigger in triggers {
        transaction.execute_batch(&trigger)?;
    }
    transaction.commit()?;
    connection.pragma_update(None, "foreign_keys", true)?;
    migrations::migrate_to(&mut connection, latest).map_err(|error| {
        if store::is_of_machine(&error) {
            return error;
        }
        let message = format!("The rows cannot be migrated to version {latest}: {}.", ErrorChain(&error));
        refused(&["schema_version"], message)
    })?;
    if let Some(Violation { table, row, column, message }) = import_rules::find_violation(&connection)? {
        let (file, row) = (file_name(&table), row.map(|row| row.to_string()));
        let path: Vec<&str> =
            [Some(&file), row.as_ref(), column.as_ref()].into_iter().flatten().map(String::as_str).collect();
        return Err(refused(&path, message));
    }
    connection.close().map_err(|(_, cause)| cause.into())
}

/// Returns a problem with a place in the file.
fn refused(path: &[&str], message: impl Into<String>) -> Error {
    Error::invalid(Problem::body(path, "value_error", message))
}

/// Removes all triggers, and returns the statements that create them.
fn remove_triggers(transaction: &Transaction) -> Result<Vec<String>> {
    let mut list =
        transaction.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid")?;
    let triggers = list
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    for (name, _) in &triggers {
        transaction.execute(&format!("DROP TRIGGER {}", table_schema::quoted(name)), [])?;
    }
    Ok(triggers.into_iter().map(|(_, sql)| sql).collect())
}

/// Sets the last used row IDs, which are not used again. They are not below the IDs of the rows.
fn set_sequences(transaction: &Transaction, sequences: &BTreeMap<String, i64>) -> Result<()> {
    const IS_KNOWN: &str = "SELECT count(*) FROM sqlite_schema
         WHERE type = 'table' AND name = ?1 AND sql LIKE '%AUTOINCREMENT%'";
    for (table, last) in sequences {
        let is_known: bool = transaction.query_row(IS_KNOWN, [table], |row| row.get(0))?;
        if !is_known {
            return Err(refused(&["sequences", table], "There is no such sequence."));
        }
        if !import_rules::COUNTS.contains(last) {
            let message = format!("The number must be from 0 to {}.", import_rules::COUNTS.end());
            return Err(refused(&["sequences", table], message));
        }
        let changed = transaction
            .execute("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", (table, last))?;
        if changed == 0 {
            transaction.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", (table, last))?;
        }
    }
    Ok(())
}

/// Checks that every row that another one refers to is there.
fn check_references(transaction: &Transaction) -> Result<()> {
    let mut check = transaction.prepare("PRAGMA foreign_key_check")?;
    let mut rows = check.query([])?;
    match rows.next()? {
        Some(row) => {
            let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
            Err(refused(&[&file_name(&table)], format!("A row refers to a row of {parent} that is missing.")))
        }
        None => Ok(()),
    }
}

/// Returns the name of the file with the rows of a table.
pub fn file_name(table: &str) -> String {
    format!("tables/{table}.jsonl")
}

/// A database that gets its rows.
#[derive(Debug)]
pub struct Filling<'c> {
    tables: BTreeMap<String, FilledTable>,
    connection: &'c Transaction<'c>,
}

/// A table that gets its rows, with a rule for each column, or without rules.
#[derive(Debug)]
pub struct FilledTable {
    table: Table,
    rules: Vec<Rule>,
}

impl Filling<'_> {
    /// Returns the table whose rows are in a file with this name.
    pub fn table(&self, file: &str) -> Option<&FilledTable> {
        self.tables.get(file.strip_prefix("tables/")?.strip_suffix(".jsonl")?)
    }

    /// Inserts a row, which is line `number` of the file of its table.
    pub fn insert(&self, filled: &FilledTable, number: usize, line: &str) -> Result<()> {
        let FilledTable { table, rules } = filled;
        let (file, number) = (file_name(&table.name), number.to_string());
        let refuse = |column: Option<&str>, message: String| match column {
            Some(column) => refused(&[&file, &number, column], message),
            None => refused(&[&file, &number], message),
        };
        let mut fields: BTreeMap<String, &RawValue> = serde_json::from_str(line).map_err(|_| {
            refuse(None, "The line must be a JSON object with the columns of a row.".to_owned())
        })?;
        let mut values = Vec::with_capacity(table.columns.len());
        for (index, column) in table.columns.iter().enumerate() {
            let value = match fields.remove(&column.name) {
                Some(value) => parse(column.kind, value.get()).ok_or_else(|| {
                    refuse(Some(&column.name), format!("The value must be {}.", describe(column.kind)))
                })?,
                None => Value::Null,
            };
            if let Some(message) = rules.get(index).and_then(|rule| rule.violation(&value)) {
                return Err(refuse(Some(&column.name), message));
            }
            values.push(value);
        }
        if let Some(column) = fields.keys().next() {
            let columns: Vec<&str> = table.columns.iter().map(|Column { name, .. }| name.as_str()).collect();
            let message = format!("There is no such column. There are {}.", columns.join(", "));
            return Err(refuse(Some(column), message));
        }
        let inserted = self
            .connection
            .prepare_cached(&table.insert())
            .and_then(|mut statement| statement.execute(rusqlite::params_from_iter(values)));
        match inserted {
            Ok(_) => Ok(()),
            Err(error) if store::is_of_machine(&error) => Err(error.into()),
            Err(error) => Err(refuse(None, format!("The row violates a rule of its table: {error}."))),
        }
    }
}

/// Returns the value of a column; `None` if the JSON is not a value of this type.
fn parse(kind: ColumnKind, json: &str) -> Option<Value> {
    if json == "null" {
        return Some(Value::Null);
    }
    match kind {
        ColumnKind::Integer => serde_json::from_str(json).ok().map(Value::Integer),
        ColumnKind::Real => {
            // The parser of JSON may be off by one bit.
            serde_json::from_str::<f64>(json).ok()?;
            json.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Real)
        }
        ColumnKind::Text => serde_json::from_str(json).ok().map(Value::Text),
        ColumnKind::Blob => {
            serde_json::from_str(json).ok().and_then(|text: String| parse_blob(&text)).map(Value::Blob)
        }
    }
}

fn parse_blob(text: &str) -> Option<Vec<u8>> {
    if text.contains('-') {
        return Uuid::try_parse(text).ok().map(|id| id.as_bytes().to_vec());
    }
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

const fn describe(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Integer => "an integer of 64 bits",
        ColumnKind::Real => "a number",
        ColumnKind::Text => "a string",
        ColumnKind::Blob => "a UUID, or bytes in hexadecimal",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::store::{Durability, Reader, Store, table_rows, verify};

    /// A version before several migrations, none of which generates random values.
    const VERSION: u32 = 32;

    #[test]
    fn rows_of_an_earlier_version_are_migrated_like_its_database() {
        let directory = tempfile::tempdir().unwrap();
        let [path, copy] = ["market.sqlite", "copy.sqlite"].map(|name| directory.path().join(name));
        let mut connection = Connection::open(&path).unwrap();
        sql_functions::register(&connection).unwrap();
        migrations::migrate_to(&mut connection, VERSION as usize).unwrap();
        let teams = "INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at)
             VALUES (1, randomblob(16), 'Ärzte \"A\"', 1, 0, 1, 0), (2, randomblob(16), 'B', 0, 1, 1, -5);
             INSERT INTO groups (uuid, team, name, name_key, is_default, created_at, updated_at)
             SELECT randomblob(16), id, 'Default', 'default', 1, 0, 0 FROM teams";
        connection.execute_batch(teams).unwrap();
        let count = AtomicU64::new(0);
        let reader = Reader { connection: &connection, statement_count: &count };
        let sequences = table_rows::sequences(&reader).unwrap();
        let fill = |filling: &Filling| {
            for table in table_rows::tables(&reader)? {
                let filled = filling.table(&file_name(&table.name)).expect("both have the same version");
                let mut number = 0;
                table_rows::for_each_row(&reader, &table, |row| {
                    number += 1;
                    filling.insert(filled, number, row)
                })?;
            }
            Ok(())
        };
        create(&copy, VERSION, &sequences, fill).unwrap();
        drop(connection);
        let [expected, found] = [path, copy].map(|path| {
            let store = Store::open(&path, 1, Durability::None).unwrap();
            let mut digests = store.read(verify::table_digests).unwrap();
            // The list of programs that have used a database is not part of its market.
            digests.remove("program_versions").expect("a table of this name");
            digests
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn values_have_the_types_of_their_columns() {
        for (kind, json, expected) in [
            (ColumnKind::Integer, "null", Some(Value::Null)),
            (ColumnKind::Integer, "-9223372036854775808", Some(Value::Integer(i64::MIN))),
            (ColumnKind::Integer, "9223372036854775808", None),
            (ColumnKind::Integer, "1.5", None),
            (ColumnKind::Integer, "\"1\"", None),
            (ColumnKind::Real, "0.1", Some(Value::Real(0.1))),
            (ColumnKind::Real, "\"0.1\"", None),
            (ColumnKind::Text, "\"a\\n\"", Some(Value::Text("a\n".to_owned()))),
            (ColumnKind::Text, "1", None),
            (ColumnKind::Blob, "\"00ff\"", Some(Value::Blob(vec![0, 255]))),
            (ColumnKind::Blob, "\"00000000-0000-0000-0000-000000000000\"", Some(Value::Blob(vec![0; 16]))),
            (ColumnKind::Blob, "\"0\"", None),
            (ColumnKind::Blob, "\"+1\"", None),
            (ColumnKind::Blob, "[0]", None),
        ] {
            assert_eq!(parse(kind, json), expected, "{json}");
        }
    }
}
