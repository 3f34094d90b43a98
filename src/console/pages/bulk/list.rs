//! The changes of many assets that the team has made.

use super::{badge, numbers, phrase, state};
use crate::{
    console::prelude::*,
    operations::team_records,
    store::{
        bulk_changes::BulkChange,
        records::{Filters, pages::TeamPage},
    },
};

/// The list.
pub struct BulkChanges;

impl List for BulkChanges {
    const PATH: &'static str = paths::BULK_CHANGES;
    const TITLE: &'static str = "Changes of many assets";
    const FILE_NAME: &'static str = "changes-of-assets";

    type Access = Vendor;
    type Row = BulkChange;

    fn columns() -> Vec<Column<BulkChange>> {
        vec![
            Column::new(
                Head::text("Change"),
                |context, row| {
                    html! {
                        a href=(context.links.to(&paths::bulk_change(row.id))) {
                            (phrase(row.action.kind(), row.selected))
                        }
                    }
                },
                |row| phrase(row.action.kind(), row.selected),
            ),
            Column::new(
                Head::text("Status"),
                |_, row| badge(row.status),
                |row| state(row.status).1.to_owned(),
            ),
            Column::new(Head::text("Result"), |_, row| html! { (numbers(row)) }, numbers),
            Column::new(
                Head::number("Started"),
                |_, row| text::moment(row.created_at),
                |row| row.created_at.to_string(),
            ),
            Column::new(
                Head::number("Ended"),
                |_, row| {
                    html! {
                        @match row.completed_at { Some(time) => (text::moment(time)), None => (text::MISSING) }
                    }
                },
                |row| row.completed_at.map(|at| at.to_string()).unwrap_or_default(),
            ),
        ]
    }

    fn load(reader: &Reader, vendor: &Vendor, asked: &Asked) -> Result<TeamPage<BulkChange>> {
        team_records::page(reader, vendor, &Filters::default(), asked.page)
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
        content.below("Inventory", paths::INVENTORY)
    }
}
