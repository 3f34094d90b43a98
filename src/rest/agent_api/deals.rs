//! Purchases and offers, with filters.

use poem_openapi::OpenApi;
use serde_json::json;

use super::filters::{OfferFilters, PurchaseFilters, RecordConditions};
use crate::{
    operations::{access::Buyer, offers, purchases},
    rest::{
        buyer_api::{
            offers::{OfferOut, Offers},
            purchases::{PurchaseOut, Purchases, list_json},
        },
        json::{Json, JsonResult},
        limits::Budget,
        params::Params,
        route::{Call, Contract, DeclaredRoute, Route, RouteAttributes, Target, Tool, ToolText, Toolset},
    },
};

pub struct DealsApi;

/// `GET /agents/v1/purchases`
pub struct ListPurchasesForAgents;

impl Route for ListPurchasesForAgents {
    type Access = Buyer;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_purchases_for_agents",
        Budget::Purchases,
        Tool::list(
            ToolText::new(
                Toolset::Purchases,
                "list_purchases",
                "Purchases",
                "The team's purchases, newest first, each with its listing: the completed ones unless `status` \
                 says otherwise. `purchase.created_at` is the time of the checkout; `since` and `until` refer to it. Those of other buyers are never shown.",
            )
            .with_row(&[
                "purchase.id",
                "purchase.status",
                "purchase.purchase_kind",
                "purchase.total",
                "purchase.created_at",
                "listing.id",
                "listing.title",
                "listing.team_name",
            ])
            .with_parameters(&[("kind", "Kinds of purchase.")]),
            "purchases",
        ),
        Contract::new(Target::None),
    );
}

/// `GET /agents/v1/offers`
pub struct ListOffersForAgents;

impl Route for ListOffersForAgents {
    type Access = Buyer;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_offers_for_agents",
        Budget::Purchases,
        Tool::list(
            ToolText::new(
                Toolset::Purchases,
                "list_offers",
                "Offers",
                "The team's bids on listings, newest first, each with its listing. Bids of other buyers are never \
                 shown.",
            )
            .with_row(&[
                "offer.id",
                "offer.status",
                "offer.amount",
                "offer.created_at",
                "listing.id",
                "listing.title",
                "listing.team_name",
            ]),
            "offers",
        ),
        Contract::new(Target::None),
    );
}

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 2] =
    [DeclaredRoute::of::<ListPurchasesForAgents>(), DeclaredRoute::of::<ListOffersForAgents>()];

#[OpenApi(prefix_path = "/agents/v1", tag = "crate::rest::tags::Tag::Deals")]
impl DealsApi {
    /// List purchases
    ///
    /// Returns the completed purchases of the team that the filters allow, newest first.
    #[oai(path = "/purchases", method = "get", operation_id = "list_purchases_for_agents")]
    async fn list_purchases(
        &self,
        call: Call<ListPurchasesForAgents>,
        query: Params<PurchaseFilters>,
    ) -> JsonResult<Purchases> {
        let filter = query.0.into_filter()?;
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let purchases = purchases::list(reader, &call.access, &filter)?;
            let entries =
                purchases.iter().map(|purchase| (json!(PurchaseOut::from(purchase)), &purchase.listing));
            Ok(list_json("purchases", "purchase", entries))
        })
        .await
    }

    /// List offers
    ///
    /// Returns the offers of the team that the filters allow, newest first.
    #[oai(path = "/offers", method = "get", operation_id = "list_offers_for_agents")]
    async fn list_offers(
        &self,
        call: Call<ListOffersForAgents>,
        query: Params<OfferFilters>,
    ) -> JsonResult<Offers> {
        let filter = query.0.into_filter()?;
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let offers = offers::list(reader, &call.access, &filter)?;
            let entries = offers.iter().map(|offer| (json!(OfferOut::from(offer)), &offer.listing));
            Ok(list_json("offers", "offer", entries))
        })
        .await
    }
}
