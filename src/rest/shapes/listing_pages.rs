//! Types and JSON assembly that the listing pages and details of buyers and vendors share.

use std::{borrow::Cow, collections::BTreeMap};

use poem_openapi::{
    Object,
    registry::{MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::Serialize;
use uuid::Uuid;

use super::listings::{BundleFileOut, ListingSummary};
use crate::{
    domain::{bundles::ManifestEntry, time::Timestamp},
    error::Result,
    operations::bundles::TeamBundle,
    rest::shapes::json_object::{ObjectWriter, RawObject},
    store::renderings::Rendering,
    web::{bundle_urls, enum_value::own_values, served_market::ServedMarket},
};

/// Default number of listings on a page.
pub const fn default_limit() -> u32 {
    24
}

/// Number of listings that match.
#[derive(Debug, Object, Serialize)]
pub struct Counts {
    /// Number of all matching listings.
    pub all: u64,
    /// Number of matching listings that belong to the caller's team.
    pub owned: u64,
}

/// Values to filter by, each with the number of listings that have it. Counts cover all published listings in
/// the catalog and all listings of the team in its own list, or the matches of `query` if it is set. The
/// other filters do not affect them.
#[derive(Debug, Object, Serialize)]
pub struct FacetCounts {
    /// Slugs of domains.
    pub tags: BTreeMap<String, u64>,
    /// Slugs of asset kinds.
    pub asset_types: BTreeMap<String, u64>,
    /// Capabilities that environments offer to an agent.
    pub capabilities: BTreeMap<String, u64>,
    /// Extensions of files in raw data, lowercase and without the dot.
    pub file_extensions: BTreeMap<String, u64>,
    /// Slugs of the languages of codebases.
    pub languages: BTreeMap<String, u64>,
    /// Lifecycle stages; published listings are `active`.
    pub lifecycle_stages: BTreeMap<String, u64>,
    /// Declared formats of robotics datasets.
    pub robotics_formats: BTreeMap<String, u64>,
    /// Slugs of inventory tags.
    pub tag_slugs: BTreeMap<String, u64>,
}

/// Schema of a vendor's own listing in a list: the catalog's summary without `team_name`.
#[derive(Debug, Serialize)]
pub struct OwnListingSummary(());

impl Type for OwnListingSummary {
    own_values!();

    fn name() -> Cow<'static, str> {
        "OwnListingSummary".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference("OwnListingSummary".to_owned())
    }

    fn register(registry: &mut Registry) {
        ListingSummary::register(registry);
        let mut schema = registry.schemas["ListingSummary"].clone();
        schema.title = Some("OwnListingSummary".to_owned());
        schema.description = Some("One of the team's own listings in a list.");
        schema.properties.retain(|(name, _)| *name != "team_name");
        schema.required.retain(|name| *name != "team_name");
        registry.schemas.entry("OwnListingSummary".to_owned()).or_insert(schema);
    }
}

/// Required by the framework; the type occurs in responses only.
impl ParseFromJSON for OwnListingSummary {
    fn parse_from_json(_: Option<serde_json::Value>) -> ParseResult<Self> {
        Err(ParseError::custom("listing summaries cannot be parsed: they occur in responses only"))
    }
}

impl ToJSON for OwnListingSummary {
    fn to_json(&self) -> Option<serde_json::Value> {
        None
    }
}

/// Removes the vendor's name from the JSON of a summary.
pub fn remove_team_name(summary: &[u8]) -> Result<Vec<u8>> {
    let mut json = ObjectWriter::with_capacity(summary.len());
    json.fields(&RawObject::parse(summary)?.without("team_name"));
    Ok(json.finish())
}

/// The bundle of a listing, as one team sees it.
#[derive(Debug, Default)]
pub struct DetailBundle {
    /// The stable URL; `None` where nothing serves bundles.
    pub url: Option<String>,
    /// The signed URL; `None` for teams without a bundle.
    pub download_url: Option<String>,
    /// The entries of the team's bundle; `None` for what the listing states.
    pub manifest: Option<Vec<ManifestEntry>>,
}

impl DetailBundle {
    /// Returns the bundle of a listing with links that begin with `base_url`. `bundle` is that of the caller.
    pub fn new(
        served: &ServedMarket,
        base_url: &str,
        listing: Uuid,
        bundle: Option<TeamBundle>,
        now: Timestamp,
    ) -> DetailBundle {
        let (holder, manifest) = bundle.map_or((None, None), |bundle| (Some(bundle.holder), bundle.manifest));
        let holder = holder.filter(|_| served.serves_bundles());
        DetailBundle {
            url: served.serves_bundles().then(|| bundle_urls::bundle_url(base_url, listing)),
            download_url: holder
                .map(|holder| bundle_urls::download_url(served.market(), base_url, listing, holder, now)),
            manifest,
        }
    }
}

/// Builds the JSON of a listing detail from its rendered parts, and from the bundle of the caller.
pub fn detail_json(rendering: &Rendering, bundle: &DetailBundle) -> Result<Vec<u8>> {
    let size = rendering.summary.len() + rendering.detail_fields.len() + 512;
    let mut json = ObjectWriter::with_capacity(size);
    json.fields(&RawObject::parse(&rendering.summary)?);
    let mut fields = RawObject::parse(&rendering.detail_fields)?;
    if let Some(manifest) = &bundle.manifest {
        fields = fields.without("bundle_manifest");
        json.fields(&fields);
        let files: BTreeMap<&str, BundleFileOut> =
            manifest.iter().map(|entry| (entry.path.as_str(), BundleFileOut::from(entry))).collect();
        json.field("bundle_manifest", &files);
    } else {
        json.fields(&fields);
    }
    json.field("bundle_url", &bundle.url);
    json.field("bundle_download_url", &bundle.download_url);
    Ok(json.finish())
}
