//! What a deletion of many assets will do, before it begins.

use super::{assets, phrase, reason};
use crate::{
    console::prelude::*,
    domain::bulk_changes::BulkActionKind,
    operations::bulk_changes::deletion::{Deletion, NamedAssets},
};

/// Returns what the title and the button say: the number of assets that will be deleted.
pub fn title(found: &Deletion) -> String {
    match found.deleted.count {
        0 => "None of these assets can be deleted".to_owned(),
        count => phrase(BulkActionKind::Delete, count),
    }
}

/// Says what is lost, and names the assets that will be deleted, and those that will be kept, with the reasons.
pub fn consequences(context: &Context, found: &Deletion) -> Markup {
    let Deletion { deleted, with_data, kept } = found;
    html! {
        @if deleted.count > 0 {
            div.prose {
                p { "These assets are deleted with their descriptions, prices, files, and results of checks. This cannot be undone." }
                p { "They are taken off drafts of listings. What buyers have bought stays theirs." }
            }
            @if *with_data > 0 {
                (badges::warning(html! {
                    b { (text::counted(*with_data, "asset has", "assets have")) " data, which is deleted, too." }
                    " Listings with them are no longer approved, and orders of them that wait for payment are canceled."
                }))
            }
            (tables::section("deleted", &format!("Deleted: {}", text::grouped(deleted.count)), &named(context, deleted)))
        }
        @if !kept.is_empty() {
            (tables::section("kept", "Kept, and why", &html! { @for (why, assets) in kept {
                h3 { (text::counted(assets.count, "asset", "assets")) ": " (reason(*why)) }
                (named(context, assets))
            } }))
        }
    }
}

fn named(context: &Context, assets: &NamedAssets) -> Markup {
    let first = assets.first.iter().map(|(id, title)| (*id, title.as_str()));
    assets::titles(context, first, assets.count)
}
