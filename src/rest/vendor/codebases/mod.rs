//! Routes of a vendor's codebases.

pub(super) mod shapes;

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{OpenApi, param::Path};
use uuid::Uuid;

use self::shapes::{
    Codebase, CodebaseBatch, CodebaseBatchOut, CodebaseIn, CodebasePatch, Codebases, RepositoryLink,
};
use super::collections::CollectionQuery;
use crate::{
    domain::{assets::Kind, inventory::AssetChange},
    operations::{
        access::Vendor,
        assets::{self, Wanted},
        codebases::{self, Link},
    },
    rest::{
        App,
        auth::Access,
        bodies::Body,
        filter_entries::{Entry, OfCodebases},
        once::Once,
        params::{NoParams, Params},
        problem::Failure,
        raw::{Answer, Empty, Raw},
        shapes::assets::DataObject,
    },
};

pub struct CodebasesApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Codebases")]
impl CodebasesApi {
    /// List codebases
    ///
    /// Returns a page of the team's codebases, newest first unless sorted.
    #[oai(path = "/codebases", method = "get", operation_id = "list_codebases")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<CollectionQuery<Entry<OfCodebases>>>,
    ) -> Answer<Codebases> {
        let CollectionQuery { stage, paging, selection } = query.0;
        let mut query = selection.query(access.0.number(), stage.map(|stage| stage.0))?;
        paging.narrow(&mut query);
        let wanted = Wanted { query, deprecated: None, attach_to: None };
        let (limit, offset) = (paging.slice.limit, paging.slice.offset);
        let page = app.market().read(move |reader| {
            assets::page(reader, &access.0, wanted, limit as usize, offset.cast_unsigned())
        });
        let page = page.await?;
        let items = page.items.iter().map(Codebase::from).collect();
        Ok(Raw::of(&Codebases { items, total: page.counted.total(), limit, offset }))
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
        once: Once,
        body: Body<CodebaseIn>,
    ) -> Answer<Codebase, 201> {
        let CodebaseIn { row, data } = body.value;
        let link = data.map(Link::from);
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            let asset = codebases::create(writer, vendor, row.into(), link.as_ref())?;
            Ok(Codebase::from(&asset))
        })
        .await
    }

    /// Create several codebases
    ///
    /// Creates up to 500 codebases without linked data. If any of them is invalid, none is created, and every
    /// problem is reported with the index of its item.
    #[oai(path = "/codebases/batch", method = "post", operation_id = "create_codebases")]
    async fn create_all(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<CodebaseBatch>,
    ) -> Answer<CodebaseBatchOut, 201> {
        let rows = body.value.items;
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            let changes = rows.into_iter().map(AssetChange::from).collect();
            let made = codebases::create_all(writer, vendor, changes)?;
            Ok(CodebaseBatchOut { items: made.iter().map(Codebase::from).collect() })
        })
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
    ) -> Answer<Codebase> {
        let asset = app
            .market()
            .glance(move |reader| assets::find(reader.rows, &access.0, asset_id.0, Some(Kind::Codebase)));
        Ok(Raw::of(&Codebase::from(&asset.await?)))
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
    ) -> Answer<Codebase> {
        let change = body.value.into();
        let asset = app
            .market()
            .write(move |writer| assets::update(writer, &access.0, asset_id.0, Kind::Codebase, change))
            .await?;
        Ok(Raw::of(&Codebase::from(&asset)))
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
    ) -> Result<Empty, Failure> {
        app.market()
            .write(move |writer| assets::delete(writer, &access.0, asset_id.0, Kind::Codebase))
            .await?;
        Ok(Empty)
    }

    /// Link a repository
    ///
    /// Links a repository to a codebase that has no data. It is copied and analyzed in the background; poll
    /// `archive_status` and `analysis_status` for the progress.
    #[oai(path = "/codebases/:asset_id/data", method = "post", operation_id = "attach_codebase_data")]
    async fn attach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<RepositoryLink>,
    ) -> Answer<DataObject, 201> {
        let link = Link::from(body.value);
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            let asset = codebases::attach(writer, vendor, asset_id.0, &link)?;
            DataObject::linked(&asset)
        })
        .await
    }

    /// Detach the data of a codebase
    ///
    /// Detaches the linked repository or archive. Fields that were read from it are unlocked, and the stage
    /// is recomputed.
    #[oai(path = "/codebases/:asset_id/data", method = "delete", operation_id = "detach_codebase_data")]
    async fn detach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<Empty, Failure> {
        app.market()
            .write(move |writer| assets::detach(writer, &access.0, asset_id.0, Kind::Codebase))
            .await?;
        Ok(Empty)
    }
}
