//! The tables of a database and their columns, as its schema states them.

use rusqlite::Connection;

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name of the table.
    pub name: String,
    /// The columns that rows are inserted with, in their order. Generated columns are not among them.
    pub(super) columns: Vec<Column>,
    /// What rows are sorted by, as SQL.
    order: String,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: ColumnKind,
}

/// Type of the values of a column, apart from null. All tables are strict, so there are no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Integer,
    Real,
    Text,
    Blob,
}

/// Whether a database of any version has a table.
pub(super) fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)";
    connection.query_row(SQL, [name], |row| row.get(0))
}

/// Returns the names of all tables with rows of the market. Leaves out tables of SQLite, and tables whose rows stay on this
/// machine: the sessions of people, the versions of the program, and the secret of the signing key.
pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<Table>> {
    const SQL: &str = r"SELECT name, wr FROM pragma_table_list
         WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
             AND name NOT IN ('program_versions', 'sessions', 'signing_secrets')
         ORDER BY name";
    let mut statement = connection.prepare(SQL)?;
    let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    names.map(|name| name.and_then(|(name, has_no_row_ids)| read(connection, name, has_no_row_ids))).collect()
}

fn read(connection: &Connection, name: String, has_no_row_ids: bool) -> rusqlite::Result<Table> {
    const SQL: &str = "SELECT name, type, pk FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid";
    let mut statement = connection.prepare(SQL)?;
    let rows = statement.query_map([&name], |row| {
        let (column, kind): (String, String) = (row.get(0)?, row.get(1)?);
        let kind = match kind.as_str() {
            "INTEGER" | "INT" => ColumnKind::Integer,
            "REAL" => ColumnKind::Real,
            "BLOB" => ColumnKind::Blob,
            _ => ColumnKind::Text,
        };
        Ok((Column { name: column, kind }, row.get::<_, i64>(2)?))
    })?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut key: Vec<_> = rows.iter().filter(|(_, place)| *place > 0).collect();
    key.sort_unstable_by_key(|(_, place)| *place);
    let order = if has_no_row_ids {
        key.into_iter().map(|(column, _)| quoted(&column.name)).collect::<Vec<_>>().join(", ")
    } else {
        // Rows that are inserted in this order keep it.
        "rowid".to_owned()
    };
    Ok(Table { name, columns: rows.into_iter().map(|(column, _)| column).collect(), order })
}

impl Table {
    /// Returns the statement that lists all rows in their order.
    pub(super) fn select(&self) -> String {
        format!("SELECT {} FROM {} ORDER BY {}", self.column_list(), quoted(&self.name), self.order)
    }

    /// Returns the statement that inserts a row. Its parameters are the columns in their order.
    pub(super) fn insert(&self) -> String {
        let places = vec!["?"; self.columns.len()].join(", ");
        format!("INSERT INTO {} ({}) VALUES ({places})", quoted(&self.name), self.column_list())
    }

    /// Returns the statement that deletes all rows.
    pub(super) fn clear(&self) -> String {
        format!("DELETE FROM {}", quoted(&self.name))
    }

    fn column_list(&self) -> String {
        self.columns.iter().map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ")
    }
}

/// Returns a name of the schema as SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
