//! A vendor's inventory groups.

use crate::{
    operations::groups,
    request_problems::ProblemsExt,
    rest::{arguments::request_body::Omittable, prelude::*, shapes::strings::GroupName},
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

#[routes(prefix = "/v2", tag = Inventory)]
impl GroupsApi {
    /// List groups
    ///
    /// Returns the team's inventory groups. `GET /v2/assets` returns the number of assets in each.
    #[get(
        "/asset-groups",
        RouteAttributes::read(
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
        ),
    )]
    async fn list_asset_groups(call: Call<Vendor>) -> JsonResult<Groups> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let groups = groups::list(reader, &call.access)?;
            Ok(Groups { groups: groups.into_iter().map(GroupOut::from).collect() })
        })
        .await
    }

    /// Create a group
    ///
    /// Creates an empty inventory group.
    #[post("/asset-groups", RouteAttributes::change(Contract::new(Target::None)))]
    async fn create_asset_group(
        call: Call<Vendor>,
        idempotent: Idempotent,
        #[example(json!({"name": "Prototypes"}))] body: Body<GroupIn>,
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
    #[get(
        "/asset-groups/{group_id}",
        RouteAttributes::read(
            Tool::Excluded("list_asset_groups returns every group in full"),
            Contract::new(Target::OwnGroup),
        )
    )]
    async fn get_asset_group(call: Call<Vendor>, group_id: Path<Uuid>) -> JsonResult<GroupOut> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            groups::find(reader.rows, &call.access, group_id.0).map(GroupOut::from)
        })
        .await
    }

    /// Rename a group
    ///
    /// Changes the name of an inventory group. The default group can be renamed, too.
    #[patch("/asset-groups/{group_id}", RouteAttributes::change(Contract::new(Target::OwnGroup)))]
    async fn update_asset_group(
        call: Call<Vendor>,
        group_id: Path<Uuid>,
        #[example(json!({"name": "Prototypes before 2020"}))] body: Body<GroupPatch>,
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
    #[delete(
        "/asset-groups/{group_id}",
        RouteAttributes::change(Contract::new(Target::OwnGroup))
            .with_conflicts(&[Code::DefaultGroup, Code::GroupNotEmpty]),
    )]
    async fn delete_asset_group(call: Call<Vendor>, group_id: Path<Uuid>) -> Result<NoContent, ApiError> {
        call.served
            .market()
            .write_freeing(call.access.requester(), move |writer| {
                groups::delete(writer, &call.access, group_id.0)
            })
            .await?;
        Ok(NoContent)
    }
}
