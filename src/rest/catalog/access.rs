//! Where a team stands at the browse gate.

use poem_openapi::{Object, OpenApi};
use serde::Serialize;

use crate::{
    operations::access::Browser,
    rest::{
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
    },
};

/// Where a team stands at the browse gate.
#[derive(Debug, Object, Serialize)]
pub struct BrowseAccess {
    /// Listings that the team has in the catalog now.
    pub published_count: u64,
    /// Listings that a team which only sells needs.
    pub required_count: u64,
    /// Whether the team may browse the whole catalog.
    pub unlocked: bool,
}

pub struct AccessApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Catalog")]
impl AccessApi {
    /// Browse access
    ///
    /// Tells whether the team may browse the whole catalog, and what it lacks. Teams that buy always may; a team that only
    /// sells needs some published listings of its own first. This is served on either side of the gate.
    #[allow(clippy::unused_async)] // Handlers are asynchronous; this one has nothing to wait for.
    #[oai(path = "/listings/browse/access", method = "get", operation_id = "get_browse_access")]
    async fn access(&self, access: Access<Browser>, _query: Params<NoParams>) -> Answer<BrowseAccess> {
        let gate = access.0.gate();
        Ok(Raw::of(&BrowseAccess {
            published_count: gate.published,
            required_count: gate.required,
            unlocked: gate.is_open,
        }))
    }
}
