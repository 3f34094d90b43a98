//! Handlers that codebases and raw data have in common: both are assets that data can be linked to.

use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{assets::Kind, inventory::Asset, problems::Problems},
    error,
    market::{CheckContext, Writer},
    operations::{access::Vendor, assets, linked_data},
    rest::{
        arguments::request_body::BodySource,
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        shapes::assets::DataObject,
    },
    web::{problem::ApiError, served_market::ServedMarket},
};

/// Returns one of the team's assets of this kind.
pub async fn get<T>(served: &ServedMarket, vendor: Vendor, id: Uuid, kind: Kind) -> JsonResult<T>
where
    T: for<'a> From<&'a Asset> + Serialize,
{
    Json::read(served, vendor.requester(), move |reader| {
        assets::find(reader.rows, &vendor, id, Some(kind)).map(|asset| T::from(&asset))
    })
    .await
}

/// Deletes one of the team's assets of this kind.
pub async fn delete(
    served: &ServedMarket,
    vendor: Vendor,
    id: Uuid,
    kind: Kind,
) -> Result<NoContent, ApiError> {
    served
        .market()
        .write_freeing(vendor.requester(), move |writer| assets::delete(writer, &vendor, id, kind))
        .await?;
    Ok(NoContent)
}

/// Links data to an asset with `attach`, after `check`, and returns the data.
pub async fn attach_data<C>(
    served: &ServedMarket,
    vendor: Vendor,
    idempotent: Idempotent,
    body: BodySource,
    check: impl FnOnce(&CheckContext, &Vendor, Problems) -> error::Result<C> + Send + 'static,
    attach: impl FnOnce(&mut Writer, &Vendor, C) -> error::Result<Asset> + Send + 'static,
) -> JsonResult<DataObject, 201> {
    idempotent
        .write(served, vendor, body, check, move |writer, vendor, checked| {
            DataObject::from_linked_asset(&attach(writer, vendor, checked)?)
        })
        .await
}

/// Detaches the data of one of the team's assets of this kind.
pub async fn detach_data(
    served: &ServedMarket,
    vendor: Vendor,
    id: Uuid,
    kind: Kind,
) -> Result<NoContent, ApiError> {
    served
        .market()
        .write_freeing(vendor.requester(), move |writer| linked_data::detach(writer, &vendor, id, kind))
        .await?;
    Ok(NoContent)
}
