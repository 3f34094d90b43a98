//! The browse gate, as the caller's team meets it.

use crate::{operations::access::CatalogViewer, rest::prelude::*};

/// Whether a team may browse the whole catalog, and what it takes to unlock it.
#[derive(Debug, Object, Serialize)]
pub struct BrowseAccess {
    /// Number of listings that the team has published in the catalog now.
    pub published_count: u64,
    /// Number of published listings that a vendor-only team needs to browse the whole catalog.
    pub required_count: u64,
    /// Whether the team may browse the whole catalog. Always true for teams with the buyer role.
    pub unlocked: bool,
}

#[routes(prefix = "/v2", tag = Catalog)]
impl BrowseAccessApi {
    /// Get browse access
    ///
    /// Returns whether the team may browse the whole catalog. Teams with the buyer role always may; a
    /// vendor-only team must first publish `required_count` listings. This route is also served while the
    /// catalog is locked.
    #[allow(clippy::unused_async)] // The framework requires async handlers; this one awaits nothing.
    #[get(
        "/listings/browse/access",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Catalog,
                    "get_browse_access",
                    "Browse access",
                    "Whether the team may browse the whole catalog, how many published listings \
                     it has, and how many it needs.",
                )
                .unlisted(),
            ),
            Contract::new(Target::None).with_misspelled("unlocked=true", ""),
        )
        .with_budget(Budget::Catalog),
    )]
    async fn get_browse_access(call: Call<CatalogViewer>) -> JsonResult<BrowseAccess> {
        let gate = call.access.gate();
        Ok(Json::from_small(&BrowseAccess {
            published_count: gate.published_count,
            required_count: gate.required_count,
            unlocked: gate.is_open,
        }))
    }
}
