//! Routes of a vendor's own listings.

pub mod types;

use std::{collections::BTreeMap, sync::Arc};

use marketplace_index::Facets;

use self::types::{HistoryEventOut, ListingHistory, ListingsSummary, OwnListings, OwnListingsQuery};
use crate::{
    domain::{listings::LifecycleStage, money::Cents},
    operations::listings,
    rest::{
        prelude::*,
        shapes::{
            json_object::ObjectWriter,
            listing_pages::{Counts, DetailBundle, detail_json, remove_team_name},
            listings::ListingDetail,
        },
    },
    string_enum::StringEnum,
    web::served_market::LinkBaseUrl,
};

#[routes(prefix = "/v2", tag = Listings)]
impl ListingsApi {
    /// List own listings
    ///
    /// Returns a page of the team's own listings in every lifecycle stage, with facets and totals. Filters
    /// work as in `GET /v2/listings/browse`.
    #[get(
        "/listings",
        RouteAttributes::read(
            Tool::Excluded("the operation list_own_listings_for_agents has more filters, and rows with prices"),
            Contract::new(Target::None)
                .with_queries(&[
                    "workspace_view=live&limit=1&offset=1",
                    "workspace_view=archived",
                    "workspace_view=submitted&lifecycle_stages=draft",
                    "query=data&sort=price_low",
                    "no_assets=true&verified_only=true&min_price=10",
                ])
                .with_misspelled("workspace_veiw=all", "workspace_view")
                .with_pages("limit=1", "limit=100", 4),
        )
        .with_parameter_examples(&[
            ("query", r#""review""#),
            ("tags", r#"["software-engineering"]"#),
            ("asset_types", r#"["taskset"]"#),
        ]),
    )]
    async fn list_own_listings(
        call: Call<Vendor>,
        query: Params<OwnListingsQuery>,
    ) -> JsonResult<OwnListings> {
        let OwnListingsQuery { filters, page } = query.0;
        let (limit, offset) = (page.limit, page.offset.cast_unsigned());
        let request = filters.into_request(&page);
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let page = listings::page(reader, &call.access, request)?;
            let items: Vec<Vec<u8>> =
                page.listings.iter().map(|item| remove_team_name(item)).collect::<Result<_, _>>()?;
            let items = items.join(&b',');
            Ok(page_json(&items, limit, offset, page.total, &page.facets, page.listed_value))
        })
        .await
    }

    /// Get an own listing
    ///
    /// Returns one of the team's own listings in any lifecycle stage, with the same fields as the catalog.
    #[get(
        "/listings/{listing_id}",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Listings,
                    "get_own_listing",
                    "Own listing",
                    "One of the team's own listings in full, as buyers see it or will see it.",
                )
                .with_evidence("get_own_listing_evidence")
                .with_ids("list_own_listings"),
            ),
            Contract::new(Target::OwnListing),
        ),
    )]
    async fn get_own_listing(
        call: Call<Vendor>,
        listing_id: Path<Uuid>,
        link_base: LinkBaseUrl,
    ) -> JsonResult<ListingDetail> {
        let (id, served) = (listing_id.0, Arc::clone(&call.served));
        Json::read_bytes(&served, call.access.requester(), move |reader| {
            let (rendering, bundle) = listings::get_detail(reader, &call.access, id)?;
            let bundle = DetailBundle::new(&call.served, &link_base.0, id, bundle, reader.now);
            detail_json(&rendering, &bundle)
        })
        .await
    }

    /// Get the history of a listing
    ///
    /// Returns the events in the life of one of the team's own listings, newest first.
    #[get(
        "/listings/{listing_id}/history",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Listings,
                    "get_listing_history",
                    "Listing history",
                    "Status changes of one of the team's own listings, newest first: what \
                     changed, who did it and when.",
                )
                .with_ids("list_own_listings"),
                "events",
            ),
            Contract::new(Target::OwnListing),
        )
        .with_budget(Budget::History),
    )]
    async fn get_listing_history(call: Call<Vendor>, listing_id: Path<Uuid>) -> JsonResult<ListingHistory> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let events = listings::get_history(reader, &call.access, listing_id.0)?;
            Ok(ListingHistory { events: events.into_iter().map(HistoryEventOut::from).collect() })
        })
        .await
    }
}

/// Returns the JSON of a page from the JSON of its items, separated by commas, and totals over all pages.
pub fn page_json(
    items: &[u8],
    limit: u32,
    offset: u64,
    total: u64,
    facets: &Facets,
    listed_value: Cents,
) -> Vec<u8> {
    let facets: BTreeMap<&str, &BTreeMap<String, u64>> = facets.iter().collect();
    let stages = facets.get("lifecycle_stages").copied();
    let count_in = |stage: LifecycleStage| stages.and_then(|stages| stages.get(stage.as_str())).copied();
    let mut json = ObjectWriter::with_capacity(items.len() + 4_096);
    json.array_field("items", items);
    json.field("counts", &Counts { all: total, owned: total });
    json.field("facets", &facets);
    json.field("limit", &limit);
    json.field("offset", &offset);
    json.field(
        "summary",
        &json!(ListingsSummary {
            active: count_in(LifecycleStage::Active).unwrap_or_default(),
            in_review: count_in(LifecycleStage::Review).unwrap_or_default(),
            drafts: count_in(LifecycleStage::Draft).unwrap_or_default(),
            listed_value: listed_value.dollars(),
        }),
    );
    json.finish()
}
