//! Domains and tags. The newest is the last in display order.

use super::{Filter::Equals, Records};

/// Business domains.
pub const DOMAINS: Records = labels("domain", &["domains"]);

/// Tags of assets of the kind `other`.
pub const CONTENT_TAGS: Records = labels("content tag", &["content_tags"]);

/// Tags that describe listings in more detail than a domain.
pub const INVENTORY_TAGS: Records = Records {
    columns: &["slug, label, description, category"],
    filters: &[("category", Equals("category"))],
    ..labels("inventory tag", &["inventory_tags"])
};

const fn labels(name: &'static str, tables: &'static [&'static str]) -> Records {
    Records {
        name,
        columns: &["slug, label"],
        tables,
        row_id: "position",
        id: "slug",
        condition: None,
        filters: &[],
    }
}
