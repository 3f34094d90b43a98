//! Purchases and offers, with filters.

use super::filters::{OfferFilters, PurchaseFilters, RecordConditions};
use crate::{
    operations::access::Buyer,
    rest::{
        arguments::params::Params,
        buyer_api::{
            offers::{self, Offers},
            purchases::{self, Purchases},
        },
        json::JsonResult,
        route::{Call, Contract, RouteAttributes, Target, Tool, ToolText, Toolset, routes},
    },
    web::limits::Budget,
};

#[routes(prefix = "/agents/v1", tag = Deals)]
impl DealsApi {
    /// List purchases
    ///
    /// Returns the completed purchases of the team that the filters allow, newest first.
    #[get(
        "/purchases",
        RouteAttributes::read(
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
        )
        .with_budget(Budget::Purchases),
    )]
    async fn list_purchases_for_agents(
        call: Call<Buyer>,
        query: Params<PurchaseFilters>,
    ) -> JsonResult<Purchases> {
        purchases::respond(call, query.0.into_filter()?).await
    }

    /// List offers
    ///
    /// Returns the offers of the team that the filters allow, newest first.
    #[get(
        "/offers",
        RouteAttributes::read(
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
        )
        .with_budget(Budget::Purchases),
    )]
    async fn list_offers_for_agents(call: Call<Buyer>, query: Params<OfferFilters>) -> JsonResult<Offers> {
        offers::respond(call, query.0.into_filter()?).await
    }
}
