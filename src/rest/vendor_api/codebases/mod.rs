//! Routes of a vendor's codebases.

pub(super) mod types;

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{OpenApi, param::Path};
use uuid::Uuid;

use self::types::{
    Codebase, CodebaseBatch, CodebaseBatchOut, CodebaseIn, CodebasePatch, Codebases, RepositoryLink,
};
use super::{asset_queries::AssetListQuery, data_assets};
use crate::{
    domain::{assets::Kind, inventory::AssetChange},
    operations::{access::Vendor, asset_changes, codebases},
    rest::{
        app::App,
        auth::Access,
        filter_entries::{CodebaseFilters, FilterEntry},
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        params::{NoParams, Params},
        problem::ApiError,
        request_body::Body,
        shapes::{assets::DataObject, limit_offset::Page},
    },
};

pub struct CodebasesApi;

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::api::Tag::Codebases")]
impl CodebasesApi {
    /// List codebases
    ///
    /// Returns a page of the team's codebases, newest first unless sorted.
    #[oai(path = "/codebases", method = "get", operation_id = "list_codebases")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<AssetListQuery<FilterEntry<CodebaseFilters>>>,
    ) -> JsonResult<Codebases> {
        let to_page = |Page { items, total, limit, offset }| Codebases { items, total, limit, offset };
        query.0.read_page(&app, access.0, |asset, _, _| Codebase::from(asset), to_page).await
    }

    /// Create a codebase
    ///
    /// Creates a codebase. If `data` is set, the repository is linked to it and then copied and analyzed in
    /// the background. The values in the body are locked with the source `api`.
    #[oai(path = "/codebases", method = "post", operation_id = "create_codebase")]
    async fn create(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        idempotent: Idempotent,
        body: Body<CodebaseIn>,
    ) -> JsonResult<Codebase, 201> {
        let CodebaseIn { row, data } = body.value;
        let link = data.and_then(RepositoryLink::into_request);
        idempotent
            .write(
                &app,
                access.0,
                body.source,
                move |context, vendor, problems| codebases::check_new(context, vendor, row.into(), problems),
                move |writer, vendor, asset| {
                    codebases::create(writer, vendor, &asset, link.as_ref())
                        .map(|asset| Codebase::from(&asset))
                },
            )
            .await
    }

    /// Create several codebases
    ///
    /// Creates up to 500 codebases without linked data. If any of them is invalid, none is created, and every
    /// problem is reported with the index of its item.
    #[oai(path = "/codebases/batch", method = "post", operation_id = "create_codebases")]
    async fn create_batch(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        idempotent: Idempotent,
        body: Body<CodebaseBatch>,
    ) -> JsonResult<CodebaseBatchOut, 201> {
        let rows = body.value.items.0.unwrap_or_default();
        idempotent
            .write(
                &app,
                access.0,
                body.source,
                move |context, vendor, problems| {
                    let changes = rows.into_iter().map(|row| row.0.map(AssetChange::from)).collect();
                    codebases::check_all_new(context, vendor, changes, problems)
                },
                move |writer, _, created| {
                    codebases::create_all(writer, &created)?;
                    Ok(CodebaseBatchOut { items: created.iter().map(Codebase::from).collect() })
                },
            )
            .await
    }

    /// Get a codebase
    ///
    /// Returns one of the team's codebases.
    #[oai(path = "/codebases/:asset_id", method = "get", operation_id = "get_codebase")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> JsonResult<Codebase> {
        data_assets::get(&app, access.0, asset_id.0, Kind::Codebase).await
    }

    /// Update a codebase
    ///
    /// Changes only the fields in the body. Fields that were read from linked data cannot be changed until
    /// the data is detached. The stage is recomputed.
    #[oai(path = "/codebases/:asset_id", method = "patch", operation_id = "update_codebase")]
    async fn update(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        body: Body<CodebasePatch>,
    ) -> JsonResult<Codebase> {
        let change = body.value.into();
        let (vendor, asset) = (access.0, (asset_id.0, Kind::Codebase));
        let requester = vendor.requester();
        Json::write_body(
            &app,
            requester,
            body.source,
            move |context, problems| asset_changes::check_update(context, &vendor, asset, change, problems),
            move |writer, changed| asset_changes::update(writer, changed).map(|asset| Codebase::from(&asset)),
        )
        .await
    }

    /// Delete a codebase
    ///
    /// Deletes a codebase and removes it from the listings that it is on. Detach its data first. Fails while
    /// the codebase is on a listing that is in review or published.
    #[oai(path = "/codebases/:asset_id", method = "delete", operation_id = "delete_codebase")]
    async fn delete(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<NoContent, ApiError> {
        data_assets::delete(&app, access.0, asset_id.0, Kind::Codebase).await
    }

    /// Link a repository
    ///
    /// Links a repository to a codebase that has no data. It is copied and analyzed in the background; poll
    /// `archive_status` and `analysis_status` for the progress.
    #[oai(path = "/codebases/:asset_id/data", method = "post", operation_id = "attach_codebase_data")]
    async fn attach_data(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        idempotent: Idempotent,
        body: Body<RepositoryLink>,
    ) -> JsonResult<DataObject, 201> {
        let link = body.value.into_request();
        data_assets::attach_data(
            &app,
            access.0,
            idempotent,
            body.source,
            move |_, _, problems| problems.into_result_of(link),
            move |writer, vendor, link| codebases::attach_repository(writer, vendor, asset_id.0, &link),
        )
        .await
    }

    /// Detach the data of a codebase
    ///
    /// Detaches the linked repository or archive. Fields that were read from it are unlocked and get the values back that
    /// they had before, null if there were none. The stage is recomputed: with nothing missing the codebase is
    /// `proposed`, else `incomplete`.
    #[oai(path = "/codebases/:asset_id/data", method = "delete", operation_id = "detach_codebase_data")]
    async fn detach_data(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<NoContent, ApiError> {
        data_assets::detach_data(&app, access.0, asset_id.0, Kind::Codebase).await
    }
}
