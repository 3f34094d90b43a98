//! A vendor's inventory groups.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    operations::{access::Vendor, groups},
    rest::{
        app::App,
        auth::Access,
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        params::{NoParams, Params},
        problem::ApiError,
        request_body::{Body, Checked, Omittable},
        shapes::{UtcTime, strings::GroupName},
    },
    store::groups::Group,
};

/// An inventory group. Every asset of the team is in exactly one group.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Group")]
pub struct GroupOut {
    /// ID of the group.
    pub id: Uuid,
    /// Name of the group.
    pub name: String,
    /// Whether this is the team's default group, for assets created without a group. Every team has exactly
    /// one.
    pub is_default: bool,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest renaming; the time of creation if the group was never renamed.
    pub updated_at: UtcTime,
}

impl From<Group> for GroupOut {
    fn from(group: Group) -> GroupOut {
        GroupOut {
            id: group.id,
            name: group.name,
            is_default: group.is_default,
            created_at: group.created_at.into(),
            updated_at: group.updated_at.into(),
        }
    }
}

/// The inventory groups of a team.
#[derive(Debug, Object, Serialize)]
pub struct Groups {
    /// The groups: the default group first, then by name.
    pub groups: Vec<GroupOut>,
}

/// A group to create.
#[derive(Debug, Object)]
pub struct GroupIn {
    /// Name of the group; must be unique within the team, ignoring case.
    name: Checked<GroupName>,
}

/// Changes to a group.
#[derive(Debug, Object)]
pub struct GroupPatch {
    /// New name of the group; must be unique within the team, ignoring case.
    name: Omittable<GroupName>,
}

pub struct GroupsApi;

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::api::Tag::Inventory")]
impl GroupsApi {
    /// List groups
    ///
    /// Returns the team's inventory groups. `GET /v2/assets` returns the number of assets in each.
    #[oai(path = "/asset-groups", method = "get", operation_id = "list_asset_groups")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
    ) -> JsonResult<Groups> {
        Json::read(&app, access.0.requester(), move |reader| {
            let groups = groups::list(reader, &access.0)?;
            Ok(Groups { groups: groups.into_iter().map(GroupOut::from).collect() })
        })
        .await
    }

    /// Create a group
    ///
    /// Creates an empty inventory group.
    #[oai(path = "/asset-groups", method = "post", operation_id = "create_asset_group")]
    async fn create(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        idempotent: Idempotent,
        body: Body<GroupIn>,
    ) -> JsonResult<GroupOut, 201> {
        let name = body.value.name.0.map(String::from);
        idempotent
            .write(
                &app,
                access.0,
                body.source,
                move |_, _, problems| problems.into_result_of(name),
                move |writer, vendor, name| groups::create(writer, vendor, &name).map(GroupOut::from),
            )
            .await
    }

    /// Get a group
    ///
    /// Returns one of the team's inventory groups.
    #[oai(path = "/asset-groups/:group_id", method = "get", operation_id = "get_asset_group")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the group.
        group_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> JsonResult<GroupOut> {
        Json::read_inline(&app, access.0.requester(), move |reader| {
            groups::find(reader.rows, &access.0, group_id.0).map(GroupOut::from)
        })
        .await
    }

    /// Rename a group
    ///
    /// Changes the name of an inventory group. The default group can be renamed, too.
    #[oai(path = "/asset-groups/:group_id", method = "patch", operation_id = "update_asset_group")]
    async fn rename(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the group.
        group_id: Path<Uuid>,
        _query: Params<NoParams>,
        body: Body<GroupPatch>,
    ) -> JsonResult<GroupOut> {
        let name = body.value.name.0.map(String::from);
        Json::write_body(
            &app,
            access.0.requester(),
            body.source,
            move |_, problems| problems.into_result(),
            move |writer, ()| {
                groups::rename(writer, &access.0, group_id.0, name.as_deref()).map(GroupOut::from)
            },
        )
        .await
    }

    /// Delete a group
    ///
    /// Deletes an inventory group. The group must be empty, and the default group cannot be deleted.
    #[oai(path = "/asset-groups/:group_id", method = "delete", operation_id = "delete_asset_group")]
    async fn delete(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the group.
        group_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<NoContent, ApiError> {
        app.market()
            .write_freeing(access.0.requester(), move |writer| groups::delete(writer, &access.0, group_id.0))
            .await?;
        Ok(NoContent)
    }
}
