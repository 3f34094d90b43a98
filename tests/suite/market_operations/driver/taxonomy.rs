//! Random operations on domains, tags, and asset kinds.

use marketplace::{
    domain::{
        assets::Kind,
        taxonomy::{InventoryTag, Label},
    },
    error::Result,
    operations::{
        access::Platform,
        asset_types::{self, DeprecationInput},
        taxonomy,
    },
};
use uuid::Uuid;

use super::{Done, Driver};

/// Asset kinds that are deprecated, retired, and disabled. Codebases stay, since new vendors sell them.
const KINDS: [Kind; 7] = [
    Kind::RawData,
    Kind::Task,
    Kind::Taskset,
    Kind::Bundle,
    Kind::Environment,
    Kind::RoboticsDataset,
    Kind::Other,
];

impl Driver<'_> {
    /// Changes the taxonomy. Its entries have no IDs.
    pub fn change_taxonomy(&mut self) -> Result<Done> {
        if self.random.percent(50) { self.change_asset_type() } else { self.change_labels() }
            .map(|name| (name, Uuid::nil()))
    }

    fn change_labels(&mut self) -> Result<&'static str> {
        let (platform, label) = (Platform::of_process(), format!("Label {}", self.random.below(100)));
        let (choice, is_used) = (self.random.below(6), self.random.percent(5));
        let slug = if is_used { "finance".to_owned() } else { format!("slug-{}", self.random.below(10)) };
        let entry = Label { slug: slug.clone(), label: label.clone() };
        let tag =
            InventoryTag { slug, label, description: "About it.".to_owned(), category: "other".to_owned() };
        self.write(|writer| match choice {
            0 => taxonomy::create_domain(writer, platform, &entry),
            1 => taxonomy::update_domain(writer, platform, &entry),
            2 => taxonomy::create_content_tag(writer, platform, &entry),
            3 => taxonomy::update_content_tag(writer, platform, &entry),
            4 => taxonomy::create_inventory_tag(writer, platform, &tag),
            _ => taxonomy::update_inventory_tag(writer, platform, &tag),
        })?;
        let names = [
            "domain.create",
            "domain.update",
            "content_tag.create",
            "content_tag.update",
            "inventory_tag.create",
            "inventory_tag.update",
        ];
        Ok(names[choice as usize])
    }

    fn change_asset_type(&mut self) -> Result<&'static str> {
        let (platform, kind) = (Platform::of_process(), *self.random.pick(&KINDS));
        let (choice, days) = (self.random.below(6), 40 + self.random.below(300) as i64);
        let accepts_new_listings = self.random.percent(50);
        self.write(|writer| match choice {
            0 | 1 => {
                let retires_at = writer.now.plus_days(days);
                let input = DeprecationInput { retires_at, accepts_new_listings, message: "Use a codebase." };
                asset_types::deprecate(writer, platform, kind, &input)
            }
            2 => asset_types::retire(writer, platform, kind),
            3 | 4 => asset_types::set_enabled(writer, platform, kind, true),
            _ => asset_types::set_enabled(writer, platform, kind, false),
        })?;
        let name = match choice {
            0 | 1 => "asset_type.deprecate",
            2 => "asset_type.retire",
            3 | 4 => "asset_type.enable",
            _ => "asset_type.disable",
        };
        Ok(name)
    }
}
