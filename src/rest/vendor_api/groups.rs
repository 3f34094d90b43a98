//! A vendor's inventory groups.

use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::{
    error::Code,
    operations::{access::Vendor, groups},
    request_problems::ProblemsExt,
    rest::{
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        limits::Budget,
        problem::ApiError,
        request_body::{Body, MaybeInvalid, Omittable},
        route::{
            Call, Contract, DeclaredRoute, Path, Route, RouteAttributes, Target, Tool, ToolText, Toolset,
        },
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
    name: MaybeInvalid<GroupName>,
}

/// Changes to a group.
#[derive(Debug, Object)]
pub struct GroupPatch {
    /// New name of the group; must be unique within the team, ignoring case.
    name: Omittable<GroupName>,
}

pub struct GroupsApi;

/// `GET /v2/asset-groups`
pub struct ListAssetGroups;

impl Route for ListAssetGroups {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_asset_groups",
        Budget::Other,
        Tool::list(
            ToolText::new(
                Toolset::Assets,
                "list_asset_groups",
                "Groups of assets",
                "The groups of the team's inventory. Pass a group's ID to list_assets as \
                 `group_id`.",
            )
            .unlisted(),
            "groups",
        ),
        Contract::new(Target::None).with_one_statement(),
    );
}

/// `POST /v2/asset-groups`
pub struct CreateAssetGroup;

impl Route for CreateAssetGroup {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::post(
        "create_asset_group",
        Budget::Other,
        Some(|| json!({"name": "Prototypes"})),
        Contract::new(Target::None),
    );
}

/// `GET /v2/asset-groups/{group_id}`
pub struct GetAssetGroup;

impl Route for GetAssetGroup {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "get_asset_group",
        Budget::Other,
        Tool::Excluded("list_asset_groups returns every group in full"),
        Contract::new(Target::OwnGroup),
    );
}

/// `PATCH /v2/asset-groups/{group_id}`
pub struct UpdateAssetGroup;

impl Route for UpdateAssetGroup {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::patch(
        "update_asset_group",
        Budget::Other,
        || json!({"name": "Prototypes before 2020"}),
        Contract::new(Target::OwnGroup),
    );
}

/// `DELETE /v2/asset-groups/{group_id}`
pub struct DeleteAssetGroup;

impl Route for DeleteAssetGroup {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes =
        RouteAttributes::delete("delete_asset_group", Budget::Other, Contract::new(Target::OwnGroup))
            .with_conflicts(&[Code::DefaultGroup, Code::GroupNotEmpty]);
}

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 5] = [
    DeclaredRoute::of::<ListAssetGroups>(),
    DeclaredRoute::of::<CreateAssetGroup>(),
    DeclaredRoute::of::<GetAssetGroup>(),
    DeclaredRoute::of::<UpdateAssetGroup>(),
    DeclaredRoute::of::<DeleteAssetGroup>(),
];

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::tags::Tag::Inventory")]
impl GroupsApi {
    /// List groups
    ///
    /// Returns the team's inventory groups. `GET /v2/assets` returns the number of assets in each.
    #[oai(path = "/asset-groups", method = "get", operation_id = "list_asset_groups")]
    async fn list(&self, call: Call<ListAssetGroups>) -> JsonResult<Groups> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let groups = groups::list(reader, &call.access)?;
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
        call: Call<CreateAssetGroup>,
        idempotent: Idempotent,
        body: Body<GroupIn>,
    ) -> JsonResult<GroupOut, 201> {
        let name = body.value.name.0.map(String::from);
        idempotent
            .write(
                &call.served,
                call.access,
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
        call: Call<GetAssetGroup>,
        /// ID of the group.
        group_id: Path<Uuid>,
    ) -> JsonResult<GroupOut> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            groups::find(reader.rows, &call.access, group_id.0).map(GroupOut::from)
        })
        .await
    }

    /// Rename a group
    ///
    /// Changes the name of an inventory group. The default group can be renamed, too.
    #[oai(path = "/asset-groups/:group_id", method = "patch", operation_id = "update_asset_group")]
    async fn rename(
        &self,
        call: Call<UpdateAssetGroup>,
        /// ID of the group.
        group_id: Path<Uuid>,
        body: Body<GroupPatch>,
    ) -> JsonResult<GroupOut> {
        let name = body.value.name.0.map(String::from);
        Json::write_body(
            &call.served,
            call.access.requester(),
            body.source,
            move |_, problems| problems.into_result(),
            move |writer, ()| {
                groups::rename(writer, &call.access, group_id.0, name.as_deref()).map(GroupOut::from)
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
        call: Call<DeleteAssetGroup>,
        /// ID of the group.
        group_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        call.served
            .market()
            .write_freeing(call.access.requester(), move |writer| {
                groups::delete(writer, &call.access, group_id.0)
            })
            .await?;
        Ok(NoContent)
    }
}
