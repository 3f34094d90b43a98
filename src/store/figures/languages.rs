//! In which languages the code in the catalog is written.

use super::figure::{Axis, Figure, Unit, Value};

/// Listings in the catalog with code, by language.
pub static LANGUAGES: Figure = Figure {
    name: "languages",
    title: "Languages",
    explanation: "Listings with code that are in the catalog now and were published in the range, by the languages of their \
                  codebases, and the size of the code in each language. A listing counts once for each of its languages.",
    by: Axis::Names { head: "Language", is_on_wire: false, sql: "coalesce(n.name, j.key)", key: "" },
    series: None,
    values: &[
        Value::drawn("Listings", Unit::Count, "count(DISTINCT l.id)"),
        Value::listed("Code, bytes", Unit::Bytes, "sum(j.value)"),
    ],
    source: "listings l JOIN listing_assets la ON la.listing = l.id JOIN assets a ON a.id = la.asset
         JOIN json_each(a.languages) j LEFT JOIN languages n ON n.slug = j.key
         WHERE l.catalog_status = 'published' AND a.kind = 'codebase' AND a.languages IS NOT NULL",
    at: "l.published_at",
};
