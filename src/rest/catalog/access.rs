//! The browse gate, as the caller's team meets it.

use poem_openapi::{Object, OpenApi};
use serde::Serialize;

use crate::{
    operations::access::CatalogViewer,
    rest::{
        auth::Access,
        json::{Json, JsonResult},
        params::{NoParams, Params},
    },
};

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

pub struct AccessApi;

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::api::Tag::Catalog")]
impl AccessApi {
    /// Get browse access
    ///
    /// Returns whether the team may browse the whole catalog. Teams with the buyer role always may; a
    /// vendor-only team must first publish `required_count` listings. This route is also served while the
    /// catalog is locked.
    #[allow(clippy::unused_async)] // The framework requires async handlers; this one awaits nothing.
    #[oai(path = "/listings/browse/access", method = "get", operation_id = "get_browse_access")]
    async fn get(&self, access: Access<CatalogViewer>, _query: Params<NoParams>) -> JsonResult<BrowseAccess> {
        let gate = access.0.gate();
        Ok(Json::from_small(&BrowseAccess {
            published_count: gate.published_count,
            required_count: gate.required_count,
            unlocked: gate.is_open,
        }))
    }
}
