//! Upgrades of databases from earlier versions.

use super::*;
use crate::{
    domain::{
        due_steps::StepKind,
        money::Cents,
        principals::{KeyOwner, Principal},
        row_ids::{GroupRowId, KeyRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    store::{
        Durability, Store, due_steps, groups, idempotency, keys, usage, verify, wallet, wallet::Balances,
    },
};

#[test]
fn migrations_are_numbered_without_gaps() {
    let mut names: Vec<&str> = FILES.files().filter_map(|file| file.path().to_str()).collect();
    names.sort_unstable();
    assert_eq!(names.len(), FILES.entries().len());
    for (number, name) in (1..).zip(names) {
        assert!(name.starts_with(&format!("{number:04}_")), "{name}");
    }
}

/// Undoing a migration leaves nothing of it behind.
#[test]
fn undone_migrations_leave_the_schema_of_before() {
    let schema = |rows: &Connection| -> Vec<String> {
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name";
        rows.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let reversible: Vec<usize> =
        (1..).zip(list_after(0)).filter(|(_, (_, can))| *can).map(|(n, _)| n).collect();
    assert_eq!(reversible.len(), REVERSALS.files().count(), "each reversal has the name of a migration");
    for number in reversible {
        let mut rows = Connection::open_in_memory().unwrap();
        migrations().to_version(&mut rows, number - 1).unwrap();
        let before = schema(&rows);
        migrations().to_version(&mut rows, number).unwrap();
        assert_ne!(schema(&rows), before);
        undo(&mut rows, number - 1).unwrap();
        assert_eq!(schema(&rows), before, "{number}");
    }
}

/// An upgrade keeps the requests of earlier versions, which were executed without jobs.
#[test]
fn unfinished_refresh_of_an_earlier_version_gets_a_job() {
    let mut rows = Connection::open_in_memory().unwrap();
    let migrations = migrations();
    migrations.to_version(&mut rows, 24).unwrap();
    rows.execute_batch(
        "PRAGMA foreign_keys = OFF;
         INSERT INTO qc_refreshes (uuid, team, status, requested_at, finished_at, total, refreshed)
         VALUES (zeroblob(16), 4, 'completed', 10, 20, 5, 5),
             (randomblob(16), 4, 'running', 30, NULL, 5, 2),
             (randomblob(16), 6, 'queued', 40, NULL, 0, 0);
         INSERT INTO jobs (kind, subject, run_after, enqueued_at) VALUES ('sweep', 0, 50, 50);",
    )
    .unwrap();
    migrations.to_latest(&mut rows).unwrap();
    let sql = "SELECT kind, subject, queue, team, run_after FROM jobs ORDER BY run_after";
    let mut statement = rows.prepare(sql).unwrap();
    let jobs = statement
        .query_map([], |row| {
            let (kind, queue): (String, String) = (row.get(0)?, row.get(2)?);
            Ok((kind, row.get(1)?, queue, row.get(3)?, row.get(4)?))
        })
        .unwrap()
        .collect::<rusqlite::Result<Vec<(_, i64, _, i64, i64)>>>()
        .unwrap();
    let job = |kind: &str, subject, team, run_after| {
        (kind.to_owned(), subject, "updates".to_owned(), team, run_after)
    };
    let refresh = "refresh_task_quality";
    assert_eq!(jobs, [job(refresh, 2, 4, 30), job(refresh, 3, 6, 40), job("sweep", 0, 0, 50)]);
}

#[test]
fn names_and_tasks_of_earlier_versions_are_counted_and_found() {
    let mut rows = Connection::open_in_memory().unwrap();
    let migrations = migrations();
    migrations.to_version(&mut rows, 32).unwrap();
    rows.execute_batch(
        "INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at)
         VALUES (1, randomblob(16), '\u{c9}lan Data', 1, 0, 1, 1), (2, randomblob(16), '\u{e9}lan DATA', 1, 0, 1, 1);
         INSERT INTO tasksets (id, uuid, team, name, columns, created_at)
         VALUES (1, randomblob(16), 1, 'S', '[]', 1);
         INSERT INTO tasks (id, uuid, taskset, name, tags, binarized, column_values, activity_log, created_at, deleted_at)
         SELECT value, randomblob(16), 1, 'T', '[]', 0, '{}', '[]', 1, iif(value = 3, 2, NULL)
         FROM json_each('[1, 2, 3]');",
    )
    .unwrap();
    migrations.to_latest(&mut rows).unwrap();
    let count = |sql: &str| rows.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM teams WHERE name_key = '\u{e9}lan data'"), 2);
    assert_eq!(count("SELECT tasks FROM tasksets"), 2);
    rows.execute_batch("UPDATE tasks SET deleted_at = 3 WHERE id < 3; DELETE FROM tasks WHERE id = 3;")
        .unwrap();
    assert_eq!(count("SELECT tasks FROM tasksets"), 0);
    rows.execute_batch("UPDATE tasks SET deleted_at = NULL WHERE id = 1; DELETE FROM tasks WHERE id = 2;")
        .unwrap();
    assert_eq!(count("SELECT tasks FROM tasksets"), 1);
    rows.execute_batch("UPDATE tasksets SET changes = 0; UPDATE tasks SET deleted_at = 4").unwrap();
    assert_eq!(count("SELECT changes FROM tasksets"), 1);
}

/// Imports of earlier versions kept their files.
#[test]
fn files_of_ended_imports_of_an_earlier_version_are_discarded() {
    let mut rows = Connection::open_in_memory().unwrap();
    let migrations = migrations();
    migrations.to_version(&mut rows, 32).unwrap();
    rows.execute_batch(
        "INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at)
         VALUES (1, randomblob(16), 'A', 1, 0, 1, 1);
         INSERT INTO tasksets (id, uuid, team, name, columns, created_at)
         VALUES (1, randomblob(16), 1, 'S', '[]', 1);
         INSERT INTO uploads (id, uuid, team, file_name, size_bytes, sha256, url, created_at)
         VALUES (1, randomblob(16), 1, 'a', 7, printf('%064d', 1), 'traces:a', 1),
             (2, randomblob(16), 1, 'b', 8, printf('%064d', 1), 'traces:b', 1);
         INSERT INTO trace_imports (id, uuid, taskset, upload, status, requested_at, finished_at)
         VALUES (1, randomblob(16), 1, 1, 'completed', 1, 2), (2, randomblob(16), 1, 2, 'running', 1, NULL);",
    )
    .unwrap();
    migrations.to_latest(&mut rows).unwrap();
    let list = |sql: &str| -> Vec<i64> {
        let mut statement = rows.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(list("SELECT size_bytes FROM trace_imports ORDER BY id"), [7, 8]);
    assert_eq!(list("SELECT upload FROM trace_imports WHERE upload IS NOT NULL"), [2]);
    assert_eq!(list("SELECT id FROM uploads"), [2]);
    assert_eq!(list("SELECT size_bytes FROM discarded_uploads"), [7]);
    assert_eq!(list("SELECT upload_bytes FROM team_usage"), [8]);
}

/// A step that was carried out is not undone by a clock that jumps back.
#[test]
fn ended_keys_of_an_earlier_version_stay_ended() {
    let mut rows = Connection::open_in_memory().unwrap();
    let migrations = migrations();
    migrations.to_version(&mut rows, 32).unwrap();
    rows.execute_batch(
        "INSERT INTO keys (id, uuid, kind, name, digest, is_fixture, created_at, expires_at)
         VALUES (1, randomblob(16), 'operator', 'a', randomblob(32), 0, 1, 50),
             (2, randomblob(16), 'operator', 'b', randomblob(32), 0, 1, 90);
         INSERT INTO due_steps (kind, subject, due_at) VALUES ('key_expires', 2, 90);",
    )
    .unwrap();
    migrations.to_latest(&mut rows).unwrap();
    let expired = |id: i64| {
        rows.query_row("SELECT expired_at FROM keys WHERE id = ?1", [id], |row| row.get::<_, Option<i64>>(0))
    };
    assert_eq!((expired(1).unwrap(), expired(2).unwrap()), (Some(50), None));
}

/// Deadlines of earlier versions passed without a step.
#[test]
fn deadlines_of_published_opportunities_of_an_earlier_version_are_scheduled() {
    let mut rows = Connection::open_in_memory().unwrap();
    let migrations = migrations();
    migrations.to_version(&mut rows, 26).unwrap();
    let opportunity = |status: &str, deadline: &str| {
        format!(
            "INSERT INTO opportunities (uuid, kind, owner, title, description, status, accepted_asset_types,
                 metadata, visibility_mode, created_at, updated_at, deadline)
             VALUES (randomblob(16), 'listing', 1, 'T', '', '{status}', '[]', '{{}}', 'all_vendors', 1, 1, {deadline});"
        )
    };
    let all = [("published", "70"), ("published", "NULL"), ("closed", "80"), ("draft", "90")];
    let all: String = all.iter().map(|(status, deadline)| opportunity(status, deadline)).collect();
    rows.execute_batch(&format!("PRAGMA foreign_keys = OFF; {all}")).unwrap();
    migrations.to_latest(&mut rows).unwrap();
    let sql = "SELECT subject, due_at, is_migrated FROM due_steps WHERE kind = 'deadline_passes'";
    let steps: Vec<(i64, i64, i64)> = rows
        .prepare(sql)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert_eq!(steps, [(1, 70, 1)]);
}

/// Creates a database with the schema of an earlier version and some rows.
fn create_at_version(version: usize, path: &Path, rows: &str) {
    let mut connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "foreign_keys", true).unwrap();
    migrations().to_version(&mut connection, version).unwrap();
    connection.execute_batch(rows).unwrap();
}

/// Two teams with keys and stored responses, from before there were operators.
fn rows_at_23() -> String {
    let [digest_1, digest_2] = [1, 2].map(|last: u8| format!("x'{last:064x}'"));
    format!(
        "INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at)
         VALUES (1, randomblob(16), 'A', 1, 0, 1, 0), (2, randomblob(16), 'B', 0, 1, 1, 0);
         INSERT INTO keys (id, uuid, team, name, digest, is_fixture, created_at, expires_at, revoked_at, last_used_at)
         VALUES (1, randomblob(16), 2, 'ci', {digest_1}, 0, 10, 20, NULL, 15),
                (7, randomblob(16), 1, 'old', {digest_2}, 1, 11, NULL, 12, NULL);
         INSERT INTO idempotency_keys (team, key, route, body, answer, created_at)
         VALUES (1, 'k', 'POST a', zeroblob(32), x'0102', 5), (2, 'k', 'POST a', zeroblob(32), x'03', 6);"
    )
}

#[test]
fn keys_and_stored_responses_from_before_operators_stay_valid() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("market.sqlite");
    create_at_version(23, &path, &rows_at_23());
    let store = Store::open(&path, 1, Durability::None).unwrap();
    let digest = |last| {
        let mut digest = [0; 32];
        digest[31] = last;
        digest
    };
    store
        .read(|rows| {
            for (last, team, name, validity) in
                [(1, 2, "B", (1, false, Some(20), None)), (2, 1, "A", (7, true, None, Some(0)))]
            {
                let (owner, found) = keys::find_by_digest(rows, &digest(last))?.unwrap();
                let KeyOwner::Team(owner) = owner else { panic!("a key of a team") };
                assert_eq!((owner.row_id.0, owner.name.as_str()), (team, name));
                let times = (found.expires_at.map(|at| at.0), found.revoked_at.map(|at| at.0));
                assert_eq!((found.row_id.0, found.is_fixture, times.0, times.1), validity);
            }
            assert_eq!(keys::list_times(rows, TeamRowId(2), 1)?[0].1, Some(Timestamp(15)));
            let of_operators = "SELECT count(*) FROM keys WHERE kind = 'operator'";
            assert_eq!(rows.query_one(of_operators, [], |row| row.get::<_, i64>(0))?, 0);
            let stored = |principal| idempotency::find(rows, principal, "k", "POST a", Timestamp(0));
            let team = |number| Principal::Team(TeamRowId(number));
            assert_eq!(stored(team(1))?.unwrap().response, [1, 2]);
            assert_eq!(stored(team(2))?.unwrap().response, [3]);
            assert!(stored(Principal::Operator(KeyRowId(1)))?.is_none());
            assert_eq!(usage::find(rows, team(1))?.idempotency_bytes, 2);
            assert!(usage::list_miscounted(rows)?.is_empty());
            assert_eq!(verify::find_corruption(rows)?, [""; 0]);
            Ok(())
        })
        .unwrap();
}

/// Groups whose names have become equal keep them. No other group can have one of these names.
#[test]
fn names_of_earlier_versions_get_the_keys_of_this_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("market.sqlite");
    let rows = "INSERT INTO asset_types (slug, label, position, is_enabled, listing_kinds) VALUES ('other', 'Other', 1, 1, '[]');
         INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at, name_key)
         VALUES (1, randomblob(16), 'STRAẞE', 1, 0, 1, 0, 'straße'), (2, randomblob(16), 'B', 1, 0, 1, 0, 'b');
         INSERT INTO groups (id, uuid, team, name, name_key, is_default, created_at, updated_at)
         VALUES (1, randomblob(16), 1, 'Straße', 'straße', 0, 0, 0), (2, randomblob(16), 1, 'Strasse', 'strasse', 0, 0, 0),
             (3, randomblob(16), 1, 'Default', 'default', 1, 0, 0), (4, randomblob(16), 2, 'STRASSE', 'strasse', 0, 0, 0);
         INSERT INTO assets (id, uuid, team, kind, group_id, title, domain_tags, extra_columns, created_at)
         VALUES (1, randomblob(16), 1, 'other', 1, 'Café', '[]', '{}', 0), (2, randomblob(16), 1, 'other', 1, 'Tea', '[]', '{}', 0);
         INSERT INTO inventory (team, group_id, created_at, asset, kind, stage, is_linked, name_key)
         VALUES (1, 1, 0, 1, 'other', 0, 0, 'café'), (1, 1, 0, 2, 'other', 0, 0, 'tea');
         INSERT INTO task_reading_words (asset, field, word) VALUES (1, 'ran_on_model', 'GPT-É'), (2, 'ran_on_model', 'GPT'), (2, 'ran_on_model', 'gpt');";
    create_at_version(42, &path, rows);
    let store = Store::open(&path, 1, Durability::None).unwrap();
    let list = |sql: &str| -> Vec<String> {
        store.read(|reader| reader.query_all(sql, [], |row| row.get(0))).unwrap()
    };
    assert_eq!(list("SELECT name_key FROM teams ORDER BY id"), ["strasse", "b"]);
    assert_eq!(
        list("SELECT name_key FROM groups ORDER BY id"),
        ["strasse", "strasse\u{1}2", "default", "strasse"]
    );
    assert_eq!(
        list("SELECT name_key || '/' || coalesce(search_key, '') FROM inventory ORDER BY asset"),
        ["café/cafe", "tea/"]
    );
    assert_eq!(list("SELECT word_key FROM task_reading_words ORDER BY asset"), ["gpt-é", "gpt"]);
    let write = |writer: &crate::store::Writer| {
        let find = || {
            groups::find_by_name(writer, TeamRowId(1), "STRASSE")
                .map(|found| found.map(|group| group.row_id.0))
        };
        assert_eq!(find()?, Some(1));
        groups::rename(writer, GroupRowId(1), "Weg", Timestamp(1))?;
        assert_eq!(find()?, Some(2));
        groups::rename(writer, GroupRowId(2), "Straße", Timestamp(1))?;
        assert_eq!(find()?, Some(2));
        Ok(())
    };
    store.write(write).unwrap();
    assert_eq!(list("SELECT name_key FROM groups WHERE id < 3 ORDER BY id"), ["weg", "strasse"]);
}

/// Offers, purchases, and listings from before the rules of sales: of a buyer's offers on a listing the newest
/// one stays, purchases cover what is known, and what waits gets its step.
#[test]
fn offers_and_purchases_from_before_sales_stay_valid() {
    let mut rows = Connection::open_in_memory().unwrap();
    let migrations = migrations();
    migrations.to_version(&mut rows, 27).unwrap();
    rows.execute_batch(
        r#"PRAGMA foreign_keys = OFF;
         INSERT INTO assets (id, uuid, team, kind, group_id, title, domain_tags, extra_columns, created_at)
         VALUES (1, x'00000000000000000000000000000001', 1, 'codebase', 1, 'A', '[]', '{}', 0),
             (2, x'00000000000000000000000000000002', 1, 'codebase', 1, 'B', '[]', '{}', 0);
         INSERT INTO listing_assets (listing, position, asset) VALUES (7, 1, 2), (7, 2, 1);
         INSERT INTO index_queue (listing, change) VALUES (7, 3), (8, 9);
         INSERT INTO offers (id, uuid, listing, buyer, amount_cents, status, created_at, updated_at, decided_at)
         VALUES (1, randomblob(16), 7, 4, 5, 'submitted', 10, 10, NULL), (2, randomblob(16), 7, 4, 6, 'submitted', 20, 20, NULL),
             (3, randomblob(16), 7, 5, 7, 'submitted', 15, 15, NULL), (4, randomblob(16), 7, 4, 8, 'declined', 5, 6, 6);
         INSERT INTO purchases (id, uuid, listing, buyer, kind, status, scope, price_cents, buyer_fee_cents,
             platform_fee_cents, created_at, paid_at)
         VALUES (1, randomblob(16), 7, 4, 'full', 'completed', '{"mode":"all","asset_ids":[]}', 5, 0, 0, 1, 1),
             (2, randomblob(16), 7, 5, 'full', 'pending',
              '{"mode":"selection","asset_ids":["00000000-0000-0000-0000-000000000002"]}', 5, 0, 0, 100, NULL);"#,
    )
    .unwrap();
    migrations.to_latest(&mut rows).unwrap();
    let list = |sql: &str| -> Vec<String> {
        let mut statement = rows.prepare(sql).unwrap();
        let lines = statement.query_map([], |row| row.get(0)).unwrap();
        lines.collect::<rusqlite::Result<_>>().unwrap()
    };
    assert_eq!(
        list("SELECT format('%d %s %s %s', id, status, pay_with, decided_at) FROM offers ORDER BY id"),
        ["1 withdrawn invoice 20", "2 submitted invoice ", "3 submitted invoice ", "4 declined invoice 6"]
    );
    assert_eq!(
        list("SELECT format('%d %d', purchase, asset) FROM purchase_assets ORDER BY 1"),
        ["1 1", "1 2", "2 2"]
    );
    assert_eq!(
        list("SELECT format('%d %d', listing, change) FROM index_queue ORDER BY 1"),
        ["7 10", "8 9"],
        "the number of bids changed"
    );
    assert_eq!(
        list(
            "SELECT format('%s %d %d %d', kind, subject, due_at, is_migrated) FROM due_steps
             WHERE kind LIKE '%_expires' ORDER BY kind, subject"
        ),
        [
            "offer_expires 2 2592000000020 1",
            "offer_expires 3 2592000000015 1",
            "purchase_expires 2 1209600000100 1"
        ]
    );
}

#[test]
fn only_team_keys_have_a_team() {
    let (_directory, store) = Store::temporary();
    let insert = |kind: &str, team: &str| {
        let sql = format!(
            "INSERT INTO keys (uuid, kind, team, name, digest, is_fixture, created_at)
             VALUES (randomblob(16), '{kind}', {team}, 'k', randomblob(32), 0, 0)"
        );
        store.write(|writer| {
            writer.execute(
                "INSERT OR IGNORE INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at)
                 VALUES (1, randomblob(16), 'A', 1, 0, 1, 0)",
                [],
            )?;
            writer.execute(&sql, [])
        })
    };
    for (kind, team, is_valid) in [
        ("team", "1", true),
        ("operator", "NULL", true),
        ("team", "NULL", false),
        ("operator", "1", false),
        ("other", "NULL", false),
        ("team", "9", false),
    ] {
        let inserted = insert(kind, team);
        assert_eq!(inserted.is_ok(), is_valid, "{kind} {team}: {inserted:?}");
    }
}

/// Two teams with sales, from before there were stored balances: one sale is on hold at the latest entry, one
/// was refunded while it was on hold, and the credits of the buyer are negative.
const LEDGER_AT_26: &str = "
    INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at)
    VALUES (1, randomblob(16), 'A', 1, 0, 1, 0), (2, randomblob(16), 'B', 0, 1, 1, 0),
           (3, randomblob(16), 'C', 0, 1, 1, 0);
    PRAGMA foreign_keys = OFF;
    INSERT INTO listings (id, uuid, team, title, description, domain_tags, tag_slugs, accepts_bids, terms,
        review_status, catalog_status, created_at, updated_at, published_at)
    VALUES (1, randomblob(16), 1, 'L', '', '[]', '[]', 0, '', 'approved', 'published', 5, 5, 5);
    INSERT INTO purchases (id, uuid, listing, buyer, kind, status, scope, price_cents, buyer_fee_cents,
        platform_fee_cents, created_at, paid_at, refunded_at)
    VALUES (1, randomblob(16), 1, 2, 'full', 'completed', '{}', 1000, 50, 100, 10, 10, NULL),
           (2, randomblob(16), 1, 2, 'full', 'completed', '{}', 2000, 100, 200, 40, 40, NULL),
           (3, randomblob(16), 1, 2, 'full', 'refunded', '{}', 3000, 150, 300, 41, 41, 42);
    INSERT INTO ledger_entries (id, uuid, entry_type, description, purchase, created_at, available_at)
    VALUES (1, randomblob(16), 'sale', '', 1, 10, 30), (2, randomblob(16), 'platform_fee', '', 1, 10, 30),
           (3, randomblob(16), 'sale', '', 2, 40, 60), (4, randomblob(16), 'platform_fee', '', 2, 40, 60),
           (5, randomblob(16), 'sale', '', 3, 41, 61), (6, randomblob(16), 'platform_fee', '', 3, 41, 61),
           (7, randomblob(16), 'refund', '', 3, 42, 61),
           (8, randomblob(16), 'withdrawal', '', NULL, 45, 45),
           (9, randomblob(16), 'adjustment', '', NULL, 50, 50);
    INSERT INTO ledger_postings (entry, account, team, cents)
    VALUES (1, 'payments', NULL, -1050), (1, 'earnings', 1, 1000), (1, 'platform', NULL, 50),
           (2, 'earnings', 1, -100), (2, 'platform', NULL, 100),
           (3, 'payments', NULL, -2100), (3, 'earnings', 1, 2000), (3, 'platform', NULL, 100),
           (4, 'earnings', 1, -200), (4, 'platform', NULL, 200),
           (5, 'payments', NULL, -3150), (5, 'earnings', 1, 3000), (5, 'platform', NULL, 150),
           (6, 'earnings', 1, -300), (6, 'platform', NULL, 300),
           (7, 'payments', NULL, 3150), (7, 'earnings', 1, -2700), (7, 'platform', NULL, -450),
           (8, 'earnings', 1, -400), (8, 'payouts', NULL, 400),
           (9, 'platform', NULL, 70), (9, 'credits', 2, -70);";

#[test]
fn balances_and_holds_of_earlier_versions_are_stored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("market.sqlite");
    create_at_version(26, &path, LEDGER_AT_26);
    let store = Store::open(&path, 1, Durability::None).unwrap();
    store
        .read(|rows| {
            let balances = |team| wallet::balances(rows, TeamRowId(team)).unwrap();
            let (earned, pending) = (Cents(900 + 1800), Cents(1800));
            let vendor = Balances { credits: Cents(0), earned, pending, available: Cents(500) };
            assert_eq!(balances(1), vendor);
            assert_eq!(balances(2), Balances { credits: Cents(-70), ..Balances::default() });
            assert_eq!(balances(3), Balances::default());
            let steps = due_steps::find_due(rows, Timestamp(i64::MAX))?.unwrap();
            assert_eq!((steps.kind, steps.due_at), (StepKind::HoldEnds, Timestamp(60)));
            assert_eq!(verify::find_ledger_inconsistencies(rows)?, [""; 0]);
            let paid =
                rows.query_one("SELECT count(*) FROM withdrawals WHERE status = 'paid'", [], |row| {
                    row.get::<_, i64>(0)
                })?;
            assert_eq!(paid, 1);
            Ok(())
        })
        .unwrap();
    // What was negative may rise, but it cannot fall.
    let add = |cents| {
        store.write(|writer| {
            writer.execute("UPDATE wallets SET credits_cents = credits_cents + ?1 WHERE team = 2", [cents])
        })
    };
    assert!(add(20).is_ok() && add(-1).is_err() && add(50).is_ok() && add(-1).is_err());
}
