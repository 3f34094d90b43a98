//! How the catalog has grown.

use super::figure::{Axis, Figure, Series, Totals, Unit, Value};

/// Listings in the catalog.
pub(super) const LISTINGS: &str = "listings l WHERE l.catalog_status = 'published'";

/// Listings in the catalog with each of their assets.
pub(super) const LISTED_ASSETS: &str =
    "listings l JOIN listing_assets la ON la.listing = l.id JOIN assets a ON a.id = la.asset
         WHERE l.catalog_status = 'published'";

/// The kinds of the assets of a listing. A listing with several kinds counts once for each kind, and once in the total.
pub(super) const KINDS: Series =
    Series { head: "Kind of asset", sql: "a.kind", totals: Totals::Source(LISTINGS) };

/// Listings in the catalog, by the time of their publication and the kinds of their assets.
pub static CATALOG_GROWTH: Figure = Figure {
    name: "catalog-growth",
    title: "Growth of the catalog",
    explanation: "Listings that are in the catalog now, by the time at which they were published. A listing with assets of \
                  several kinds counts once for each kind, and once in all.",
    by: Axis::Time,
    series: Some(KINDS),
    values: &[Value::drawn("Listings", Unit::Count, "count(DISTINCT l.id)")],
    source: LISTED_ASSETS,
    at: "l.published_at",
};
