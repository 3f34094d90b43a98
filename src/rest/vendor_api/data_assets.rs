//! Handlers that the kinds of assets have in common.

use crate::{
    domain::{
        assets::Kind,
        inventory::{Asset, AssetChange},
        problems::Problems,
    },
    error,
    market::{CheckContext, Writer},
    operations::{
        asset_changes::{self, ChangedAsset},
        assets, linked_data,
    },
    rest::{arguments::request_body::BodySource, prelude::*, shapes::assets::DataObject},
};

/// Returns one of the team's assets of this kind.
pub async fn get<T>(call: Call<Vendor>, id: Uuid, kind: Kind) -> JsonResult<T>
where
    T: for<'a> From<&'a Asset> + Serialize,
{
    Json::read(&call.served, call.access.requester(), move |reader| {
        assets::find(reader.rows, &call.access, id, Some(kind)).map(|asset| T::from(&asset))
    })
    .await
}

/// Changes one of the team's assets with `update`, after checking the changes in the body.
pub async fn update<T: Serialize>(
    call: Call<Vendor>,
    asset: (Uuid, Kind),
    body: Body<impl Into<AssetChange>>,
    update: impl FnOnce(&mut Writer, ChangedAsset) -> error::Result<T> + Send + 'static,
) -> JsonResult<T> {
    let Body { value, source } = body;
    let (requester, vendor, change) = (call.access.requester(), call.access, value.into());
    let check = move |context: &CheckContext, problems| {
        asset_changes::check_update(context, &vendor, asset, change, problems)
    };
    Json::write_body(&call.served, requester, source, check, update).await
}

/// Deletes one of the team's assets of this kind.
pub async fn delete(call: Call<Vendor>, id: Uuid, kind: Kind) -> Result<NoContent, ApiError> {
    let requester = call.access.requester();
    let delete = move |writer: &mut Writer| assets::delete(writer, &call.access, id, kind);
    call.served.market().write_freeing(requester, delete).await?;
    Ok(NoContent)
}

/// Links data to an asset with `attach`, after `check`, and returns the data.
pub async fn attach_data<C>(
    call: Call<Vendor>,
    idempotent: Idempotent,
    body: BodySource,
    check: impl FnOnce(&CheckContext, &Vendor, Problems) -> error::Result<C> + Send + 'static,
    attach: impl FnOnce(&mut Writer, &Vendor, C) -> error::Result<Asset> + Send + 'static,
) -> JsonResult<DataObject, 201> {
    let attach = move |writer: &mut Writer, vendor: &Vendor, checked| {
        DataObject::from_linked_asset(&attach(writer, vendor, checked)?)
    };
    idempotent.write(&call.served, call.access, body, check, attach).await
}

/// Detaches the data of one of the team's assets of this kind.
pub async fn detach_data(call: Call<Vendor>, id: Uuid, kind: Kind) -> Result<NoContent, ApiError> {
    let requester = call.access.requester();
    let detach = move |writer: &mut Writer| linked_data::detach(writer, &call.access, id, kind);
    call.served.market().write_freeing(requester, detach).await?;
    Ok(NoContent)
}
