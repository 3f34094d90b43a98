//! The documentation of notifications.

use marketplace::domain::notifications::recipients_table;

/// The file that has the table of all types.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/notifications.md");

/// Set `NOTIFICATIONS_UPDATE=1` to update the table in the file, then review the diff.
#[test]
fn table_of_notifications_is_current() {
    let text = std::fs::read_to_string(FILE).unwrap();
    let before_table = text.split("| type |").next().unwrap();
    let expected = format!("{before_table}{}", recipients_table());
    if std::env::var_os("NOTIFICATIONS_UPDATE").is_some() {
        std::fs::write(FILE, &expected).unwrap();
    } else {
        assert!(text == expected, "docs/notifications.md is out of date; run with NOTIFICATIONS_UPDATE=1");
    }
}
