//! A vendor's archives of raw data.

use std::{collections::BTreeMap, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path, types::MaybeUndefined};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::collections::CollectionQuery;
use crate::{
    domain::{
        assets::{ArchiveChannel, Kind},
        inventory::{Asset, AssetChange, Change},
        stages::{Piece, Stage},
    },
    operations::{
        access::Vendor,
        assets::{self, Wanted},
        raw_data::{self, Upload},
    },
    rest::{
        App,
        auth::Access,
        bodies::{Body, Given, change},
        filter_entries::{Entry, OfRawData},
        once::Once,
        params::{NoParams, Params},
        problem::Failure,
        raw::{Answer, Empty, Raw},
        shapes::{
            UtcTime,
            assets::{DataObject, missing, price_usd},
            texts::{Address, Dollars, LongText, Phrase, Slug, Title},
        },
        vocabulary::Word,
    },
};

/// A row of raw data.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "RawData")]
pub struct RawDataOut {
    /// Its kind, which is raw data.
    pub sku: Word<Kind>,
    /// Its id.
    pub id: Uuid,
    /// The inventory folder that it is in.
    pub group_id: Uuid,
    /// How far it is on its way to being offered.
    pub stage: Word<Stage>,
    /// Its title.
    pub title: String,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// When it was made.
    pub created_at: UtcTime,
    /// The attached archive; null where none is attached.
    pub data: Option<DataObject>,
    /// What it is; null where nobody has said.
    pub description: Option<String>,
    /// The vendor's own columns.
    pub extra_columns: BTreeMap<String, Value>,
    /// What it must have and has not, in the order in which a form would ask for it.
    pub missing: Vec<Word<Piece>>,
    /// The vendor's own notes; null where there are none.
    pub notes: Option<String>,
    /// The business field in words, where the tags hold `other`; null where nobody has said.
    pub other_domain: Option<String>,
    /// Asking price in US dollars; null where nobody has said.
    pub price_usd: Option<f64>,
}

impl From<&Asset> for RawDataOut {
    fn from(asset: &Asset) -> RawDataOut {
        RawDataOut {
            sku: Word(asset.kind),
            id: asset.id,
            group_id: asset.group.1,
            stage: Word(asset.stage()),
            title: asset.title.clone(),
            domain_tags: asset.domain_tags.clone(),
            created_at: asset.created_at.into(),
            data: asset.data.as_ref().map(|data| DataObject::of(asset.id, data)),
            description: asset.description.clone(),
            extra_columns: asset.extra_columns.clone(),
            missing: missing(asset),
            notes: asset.notes.clone(),
            other_domain: asset.other_domain.clone(),
            price_usd: price_usd(asset),
        }
    }
}

/// A page of a team's raw data.
#[derive(Debug, Object, Serialize)]
pub struct RawDataPage {
    /// The rows.
    pub items: Vec<RawDataOut>,
    /// All that match.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

/// A completed upload to attach.
#[derive(Debug, Object)]
pub struct UploadLink {
    /// Where it comes from.
    channel: Word<ArchiveChannel>,
    /// The address that the upload got when it was completed.
    url: Address,
    /// Where the vendor keeps a manifest of it.
    manifest_url: Option<Address>,
}

impl From<UploadLink> for Upload {
    fn from(link: UploadLink) -> Upload {
        let Word(ArchiveChannel::Zip) = link.channel;
        Upload { url: link.url.0, manifest_url: link.manifest_url.map(String::from) }
    }
}

/// A row of raw data to be. Only the title must be there; what else is missing can be said later. Raw data has no
/// exclusivity.
#[derive(Debug, Object)]
pub struct RawDataIn {
    /// Its title, which no other raw data of the team may have.
    title: Title,
    /// The upload to attach; it can be attached later.
    data: Option<UploadLink>,
    /// What it is.
    description: Option<LongText>,
    /// Slugs of its business fields, as `GET /v2/domains` lists them.
    #[oai(default, validator(max_items = 20))]
    domain_tags: Vec<Slug>,
    /// The vendor's own columns: 65,536 bytes of JSON in all, with names of at most 1,000 characters and values nested at
    /// most 32 deep.
    #[oai(default, validator(max_properties = 50))]
    extra_columns: BTreeMap<String, Value>,
    /// The group to put it into; the team's default one where none is named.
    group_id: Option<Uuid>,
    /// The vendor's own notes.
    notes: Option<LongText>,
    /// The business field in words, where the tags hold `other`.
    other_domain: Option<Phrase>,
    /// Asking price in US dollars.
    price_usd: Option<Dollars>,
    /// Whether to put a number behind the title where it is taken, instead of refusing it.
    #[oai(default)]
    suffix_title: bool,
}

/// What changes of a row of raw data: only what is sent. Null clears a field, `[]` the tags and `{}` the columns.
#[derive(Debug, Object)]
pub struct RawDataPatch {
    /// What it is.
    description: MaybeUndefined<LongText>,
    /// Slugs of its business fields, as `GET /v2/domains` lists them.
    #[oai(validator(max_items = 20))]
    domain_tags: Given<Vec<Slug>>,
    /// The vendor's own columns, all of them: 65,536 bytes of JSON, with names of at most 1,000 characters and values nested
    /// at most 32 deep.
    #[oai(validator(max_properties = 50))]
    extra_columns: Given<BTreeMap<String, Value>>,
    /// The group to put it into; null for the team's default one.
    group_id: MaybeUndefined<Uuid>,
    /// The vendor's own notes.
    notes: MaybeUndefined<LongText>,
    /// The business field in words, where the tags hold `other`.
    other_domain: MaybeUndefined<Phrase>,
    /// Asking price in US dollars.
    price_usd: MaybeUndefined<Dollars>,
    /// Its title, which no other raw data of the team may have.
    title: Given<Title>,
}

impl RawDataIn {
    fn taken_apart(self) -> (AssetChange, Option<Upload>, bool) {
        let tags: Vec<String> = self.domain_tags.into_iter().map(String::from).collect();
        let change = AssetChange {
            title: Some(self.title.0),
            description: Change::from(self.description).map(String::from),
            domain_tags: Some(tags).filter(|tags| !tags.is_empty()),
            other_domain: Change::from(self.other_domain).map(String::from),
            price_usd: Change::from(self.price_usd).map(|price| price.0),
            notes: Change::from(self.notes).map(String::from),
            extra_columns: Some(self.extra_columns).filter(|columns| !columns.is_empty()),
            group_id: self.group_id.into(),
            ..AssetChange::default()
        };
        (change, self.data.map(Upload::from), self.suffix_title)
    }
}

impl From<RawDataPatch> for AssetChange {
    fn from(patch: RawDataPatch) -> AssetChange {
        AssetChange {
            title: patch.title.0.map(String::from),
            description: change(patch.description).map(String::from),
            domain_tags: patch.domain_tags.0.map(|tags| tags.into_iter().map(String::from).collect()),
            other_domain: change(patch.other_domain).map(String::from),
            price_usd: change(patch.price_usd).map(|price| price.0),
            notes: change(patch.notes).map(String::from),
            extra_columns: patch.extra_columns.0,
            group_id: change(patch.group_id),
            ..AssetChange::default()
        }
    }
}

pub struct RawDataApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::RawData")]
impl RawDataApi {
    /// Raw data
    ///
    /// A page of the team's raw data, newest first unless sorted.
    #[oai(path = "/raw-data", method = "get", operation_id = "list_raw_data")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<CollectionQuery<Entry<OfRawData>>>,
    ) -> Answer<RawDataPage> {
        let CollectionQuery { stage, paging, selection } = query.0;
        let mut query = selection.query(access.0.number(), stage.map(|stage| stage.0))?;
        paging.narrow(&mut query);
        let wanted = Wanted { query, deprecated: None, attach_to: None };
        let (limit, offset) = (paging.slice.limit, paging.slice.offset);
        let page = app.market().read(move |reader| {
            assets::page(reader, &access.0, wanted, limit as usize, offset.cast_unsigned())
        });
        let page = page.await?;
        let items = page.items.iter().map(RawDataOut::from).collect();
        Ok(Raw::of(&RawDataPage { items, total: page.counted.total(), limit, offset }))
    }

    /// Make raw data
    ///
    /// Makes a row of raw data, and attaches a completed upload where one is named.
    #[oai(path = "/raw-data", method = "post", operation_id = "create_raw_data")]
    async fn create(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<RawDataIn>,
    ) -> Answer<RawDataOut, 201> {
        let (change, upload, suffix_title) = body.value.taken_apart();
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            let asset = raw_data::create(writer, vendor, change, upload.as_ref(), suffix_title)?;
            Ok(RawDataOut::from(&asset))
        })
        .await
    }

    /// Raw data
    ///
    /// One of the team's rows of raw data.
    #[oai(path = "/raw-data/:asset_id", method = "get", operation_id = "get_raw_data")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<RawDataOut> {
        let asset = app
            .market()
            .glance(move |reader| assets::find(reader.rows, &access.0, asset_id.0, Some(Kind::RawData)));
        Ok(Raw::of(&RawDataOut::from(&asset.await?)))
    }

    /// Change raw data
    ///
    /// Changes what is sent and nothing else.
    #[oai(path = "/raw-data/:asset_id", method = "patch", operation_id = "update_raw_data")]
    async fn update(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        body: Body<RawDataPatch>,
    ) -> Answer<RawDataOut> {
        let change = body.value.into();
        let asset =
            app.market().write(move |writer| raw_data::update(writer, &access.0, asset_id.0, change)).await?;
        Ok(Raw::of(&RawDataOut::from(&asset)))
    }

    /// Delete raw data
    ///
    /// Deletes a row whose archive is detached. It leaves the listings that it stands on; while one of them is in review or
    /// in the catalog, the row stays.
    #[oai(path = "/raw-data/:asset_id", method = "delete", operation_id = "delete_raw_data")]
    async fn delete(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<Empty, Failure> {
        app.market()
            .write(move |writer| assets::delete(writer, &access.0, asset_id.0, Kind::RawData))
            .await?;
        Ok(Empty)
    }

    /// Attach an archive
    ///
    /// Attaches a completed upload of the team to a row that has none. It is read afterwards; its states tell how far that
    /// is.
    #[oai(path = "/raw-data/:asset_id/data", method = "post", operation_id = "attach_raw_data")]
    async fn attach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<UploadLink>,
    ) -> Answer<DataObject, 201> {
        let upload = Upload::from(body.value);
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            let asset = raw_data::attach(writer, vendor, asset_id.0, &upload)?;
            DataObject::linked(&asset)
        })
        .await
    }

    /// Detach the archive
    ///
    /// Detaches the archive of a row. The stage follows.
    #[oai(path = "/raw-data/:asset_id/data", method = "delete", operation_id = "detach_raw_data")]
    async fn detach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<Empty, Failure> {
        app.market()
            .write(move |writer| assets::detach(writer, &access.0, asset_id.0, Kind::RawData))
            .await?;
        Ok(Empty)
    }
}
