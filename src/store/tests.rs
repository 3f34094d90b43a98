//! Tests of transactions and of connections, and what tests of other modules of the store use.

use rusqlite::StatementStatus;
use uuid::Uuid;

use super::*;
use crate::{domain::time::Timestamp, error::Code};

impl Store {
    /// Opens an empty database in a temporary directory, which is deleted when the value is dropped.
    pub(super) fn temporary() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("market.sqlite"), 1, Durability::None).unwrap();
        (directory, store)
    }
}

impl Reader<'_> {
    /// Returns the steps of the plan of a statement, which does not depend on the parameters.
    pub(super) fn plan_of(&self, sql: &str) -> Vec<String> {
        let mut statement = self.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let parameters = rusqlite::params_from_iter(vec![rusqlite::types::Null; statement.parameter_count()]);
        let steps = statement.query_map(parameters, |row| row.get("detail")).unwrap();
        steps.collect::<rusqlite::Result<_>>().unwrap()
    }
}

#[test]
fn panic_in_a_read_leaves_no_transaction_open() {
    let (_directory, store) = Store::temporary();
    // More reads than there are connections.
    for _ in 0..5 {
        let read = || store.read::<()>(|_| panic!("expected by the test"));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).unwrap_err();
    }
    for _ in 0..5 {
        assert_eq!(store.read(|rows| secrets::find(rows, "none")).unwrap(), None);
        assert_eq!(store.try_reader().unwrap().read(|rows| secrets::find(rows, "none")).unwrap(), None);
    }
}

/// Planning a statement can take longer than executing it.
#[test]
fn statements_are_planned_once() {
    let (_directory, store) = Store::temporary();
    let connection = store.connections.writer().unwrap();
    // An index has the purchases in one of these states.
    let mut statement = connection.prepare("SELECT id FROM purchases WHERE status = ?1").unwrap();
    for status in ["pending", "completed", "pending"] {
        assert_eq!(statement.query_map([status], |row| row.get::<_, i64>(0)).unwrap().count(), 0);
    }
    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
}

/// A write that has waited for other writes of its process is refused soon.
#[test]
fn write_during_one_of_another_process_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("market.sqlite");
    let [own, other] = [(); 2].map(|()| Store::open(&path, 1, Durability::None).unwrap());
    let write = |store: &Store, name: &str| {
        store.write_after(BUSY_TIMEOUT, |writer| secrets::insert(writer, name, &[1; 32]))
    };
    other
        .write(|_| {
            let error = write(&own, "early").unwrap_err();
            assert!(matches!(error, Error::DatabaseLocked { .. }), "{error:?}");
            assert_eq!(error.code(), Some(Code::AtCapacity));
            assert_eq!(own.read(|rows| secrets::find(rows, "early"))?, None, "reads go on");
            Ok(())
        })
        .unwrap();
    write(&own, "late").unwrap();
    assert_eq!(other.read(|rows| secrets::find(rows, "late")).unwrap(), Some([1; 32]));
}

#[test]
fn uses_of_sessions_go_forward() {
    let (_directory, store) = Store::temporary();
    store.connections.writer().unwrap().pragma_update(None, "foreign_keys", false).unwrap();
    let id = Uuid::new_v4();
    let insert = "INSERT INTO sessions (uuid, digest, key, created_at, last_used_at, preferences)
        VALUES (?1, zeroblob(32), 1, 10, 10, '{}')";
    store.write(|writer| writer.execute(insert, [id]).map(drop)).unwrap();
    // Reported at different times, by machines whose clocks differ.
    for (at, now, expected) in [(30, 40, 30), (20, 40, 30), (90, 90, 90), (50, 50, 50)] {
        store.write(|writer| sessions::record_use(writer, id, Timestamp(at), Timestamp(now))).unwrap();
        let read = "SELECT last_used_at FROM sessions";
        let stored: i64 = store.connections.writer().unwrap().query_row(read, [], |row| row.get(0)).unwrap();
        assert_eq!(stored, expected, "{at} {now}");
    }
}

#[test]
fn full_disk_fails_the_transaction_and_nothing_else() {
    let (_directory, store) = Store::temporary();
    let limit_pages = |connection: &Connection, count: i64| {
        connection.pragma_update_and_check(None, "max_page_count", count, |_| Ok(())).unwrap();
    };
    // SQLite does not go below the current size, so the database is full from now on.
    limit_pages(&store.connections.writer().unwrap(), 1);
    let fill = |writer: &Writer| {
        secrets::insert(writer, "small", &[1; 32])?;
        writer.execute("CREATE TABLE filling (bytes BLOB)", [])?;
        writer.execute("INSERT INTO filling VALUES (zeroblob(10000000))", []).map(|_| ())
    };
    let error = store.write(fill).unwrap_err();
    assert_eq!(error.code(), Some(Code::StorageFull), "{error:?}");
    assert_eq!(store.read(|rows| secrets::find(rows, "small")).unwrap(), None, "nothing is half-written");
    limit_pages(&store.connections.writer().unwrap(), 1_000_000);
    store.write(fill).unwrap();
    assert_eq!(store.read(|rows| secrets::find(rows, "small")).unwrap(), Some([1; 32]));
}
