//! A vendor's inventory folders.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    operations::{access::Vendor, groups},
    rest::{
        App,
        auth::Access,
        bodies::{Body, Given},
        once::Once,
        params::{NoParams, Params},
        problem::Failure,
        raw::{Answer, Empty, Raw},
        shapes::{UtcTime, texts::GroupName},
    },
    store::groups::Group,
};

/// An inventory folder.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Group")]
pub struct GroupOut {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Whether assets land here that name no group. Every team has exactly one such group.
    pub is_default: bool,
    /// When it was made.
    pub created_at: UtcTime,
    /// When its name last changed.
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

/// A team's inventory folders.
#[derive(Debug, Object, Serialize)]
pub struct Groups {
    /// The default one first, then by name.
    pub groups: Vec<GroupOut>,
}

/// A group to be.
#[derive(Debug, Object)]
pub struct GroupIn {
    /// Its name, which no other group of the team may have, regardless of case.
    name: GroupName,
}

/// What changes of a group.
#[derive(Debug, Object)]
pub struct GroupPatch {
    /// Its new name, which no other group of the team may have, regardless of case.
    name: Given<GroupName>,
}

pub struct GroupsApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Inventory")]
impl GroupsApi {
    /// Groups
    ///
    /// The team's inventory folders. How many assets each holds is told by `GET /v2/assets`.
    #[oai(path = "/asset-groups", method = "get", operation_id = "list_asset_groups")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
    ) -> Answer<Groups> {
        let groups = app.market().glance(move |reader| groups::list(reader, &access.0)).await?;
        Ok(Raw::of(&Groups { groups: groups.into_iter().map(GroupOut::from).collect() }))
    }

    /// Make a group
    ///
    /// Makes an empty inventory folder.
    #[oai(path = "/asset-groups", method = "post", operation_id = "create_asset_group")]
    async fn create(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<GroupIn>,
    ) -> Answer<GroupOut, 201> {
        let name = body.value.name.0;
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            groups::create(writer, vendor, &name).map(GroupOut::from)
        })
        .await
    }

    /// Group
    ///
    /// One of the team's inventory folders.
    #[oai(path = "/asset-groups/:group_id", method = "get", operation_id = "get_asset_group")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        group_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<GroupOut> {
        let group =
            app.market().glance(move |reader| groups::find(reader.rows, &access.0, group_id.0)).await?;
        Ok(Raw::of(&GroupOut::from(group)))
    }

    /// Rename a group
    ///
    /// Gives an inventory folder another name. The default group may have another name, too.
    #[oai(path = "/asset-groups/:group_id", method = "patch", operation_id = "update_asset_group")]
    async fn rename(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        group_id: Path<Uuid>,
        _query: Params<NoParams>,
        body: Body<GroupPatch>,
    ) -> Answer<GroupOut> {
        let name = body.value.name.0.map(String::from);
        let group = app
            .market()
            .write(move |writer| groups::rename(writer, &access.0, group_id.0, name.as_deref()))
            .await?;
        Ok(Raw::of(&GroupOut::from(group)))
    }

    /// Delete a group
    ///
    /// Deletes an inventory folder that holds no assets. The default group stays.
    #[oai(path = "/asset-groups/:group_id", method = "delete", operation_id = "delete_asset_group")]
    async fn delete(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        group_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<Empty, Failure> {
        app.market().write(move |writer| groups::delete(writer, &access.0, group_id.0)).await?;
        Ok(Empty)
    }
}
