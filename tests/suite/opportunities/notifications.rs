//! The documentation of notifications.

use marketplace::domain::notifications::recipients_table;

use crate::harness::generated;

/// The file that has the table of all types.
const FILE: &str = "docs/reference.md";

#[test]
fn table_of_notifications_is_current() {
    let text = generated::read(FILE);
    let before_table = text.split("| type |").next().unwrap();
    let expected = format!("{before_table}{}", recipients_table());
    generated::assert_current(FILE, &expected);
}
