//! Handlers that codebases and raw data have in common: both are assets that data can be linked to.

use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{assets::Kind, inventory::Asset, problems::Problems},
    error,
    market::{CheckContext, Writer},
    operations::{access::Vendor, assets, linked_data},
    rest::{
        app::App,
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        problem::ApiError,
        request_body::BodySource,
        shapes::assets::DataObject,
    },
};

/// Returns one of the team's assets of this kind.
pub async fn get<T>(app: &App, vendor: Vendor, id: Uuid, kind: Kind) -> JsonResult<T>
where
    T: for<'a> From<&'a Asset> + Serialize,
{
    Json::read(app, vendor.requester(), move |reader| {
        assets::find(reader.rows, &vendor, id, Some(kind)).map(|asset| T::from(&asset))
    })
    .await
}

/// Deletes one of the team's assets of this kind.
pub async fn delete(app: &App, vendor: Vendor, id: Uuid, kind: Kind) -> Result<NoContent, ApiError> {
    app.market()
        .write_freeing(vendor.requester(), move |writer| assets::delete(writer, &vendor, id, kind))
        .await?;
    Ok(NoContent)
}

/// Links data to an asset with `attach`, after `check`, and returns the data.
pub async fn attach_data<C>(
    app: &App,
    vendor: Vendor,
    idempotent: Idempotent,
    body: BodySource,
    check: impl FnOnce(&CheckContext, &Vendor, Problems) -> error::Result<C> + Send + 'static,
    attach: impl FnOnce(&mut Writer, &Vendor, C) -> error::Result<Asset> + Send + 'static,
) -> JsonResult<DataObject, 201> {
    idempotent
        .write(app, vendor, body, check, move |writer, vendor, checked| {
            DataObject::from_linked_asset(&attach(writer, vendor, checked)?)
        })
        .await
}

/// Detaches the data of one of the team's assets of this kind.
pub async fn detach_data(app: &App, vendor: Vendor, id: Uuid, kind: Kind) -> Result<NoContent, ApiError> {
    app.market()
        .write_freeing(vendor.requester(), move |writer| linked_data::detach(writer, &vendor, id, kind))
        .await?;
    Ok(NoContent)
}
