//! The changes of many assets that the team has made.

use super::{numbers, phrase, state};
use crate::{
    console::prelude::*,
    store::{bulk_changes::BulkChange, records::Filters},
};

/// The list.
pub struct BulkChanges;

impl List<Vendor> for BulkChanges {
    const PATH: &'static str = paths::BULK_CHANGES;
    const TITLE: &'static str = "Changes of many assets";
    const FILE_NAME: &'static str = "changes-of-assets";

    type Row = BulkChange;

    fn columns() -> Vec<Column<BulkChange>> {
        vec![
            Column::link(
                "Change",
                |row| paths::bulk_change(row.id),
                |row| phrase(row.action.kind(), row.selected),
            ),
            Column::badge("Status", |row| state(row.status)),
            Column::words("Result", numbers),
            Column::moment(Head::number("Started"), |row| row.created_at),
            Column::optional_time("Ended", |row| row.completed_at, text::optional_moment),
            Column::ids_in_file(|row| row.id),
        ]
    }

    fn load(reader: &Reader, vendor: &Vendor, request: &ListRequest) -> Result<TeamPage<BulkChange>> {
        team_records::page(reader, vendor, &Filters::default(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        let link = context.links.to(paths::INVENTORY);
        tables::empty(
            "Nothing was changed yet",
            "Choose assets in the inventory, then move, tag, price, attach, check, or delete all of them at once.",
            Some(("Open the inventory", &link)),
        )
    }

    fn finish(_: &Context, content: Content) -> Content {
        content.with_parent("Inventory", paths::INVENTORY)
    }
}
