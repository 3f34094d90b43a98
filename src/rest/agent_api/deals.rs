//! Purchases and offers, with filters.

use poem_openapi::Object;
use serde_json::json;

use super::filters::{DealFilters, PurchaseFilters};
use crate::{
    domain::{offers::OfferStatus, record_filters::RecordFilter},
    operations::{access::Buyer, offers, purchases},
    rest::{
        buyer_api::{
            offers::{OfferOut, Offers},
            purchases::{PurchaseOut, Purchases, list_json},
        },
        enum_value::EnumValue,
        json::{Json, JsonResult},
        limits::Budget,
        params::Params,
        route::{Call, Contract, RouteAttributes, Target, Tool, ToolText, Toolset, routes},
    },
    string_enum::StringEnum,
};

/// Query parameters of the list of offers.
#[derive(Debug, Object)]
pub struct OfferFilters {
    /// States; any may match.
    #[oai(default)]
    status: Vec<EnumValue<OfferStatus>>,
    /// Vendor, listing, and period.
    #[oai(flatten)]
    deal: DealFilters,
}

impl OfferFilters {
    /// Converts the parameters.
    pub fn into_filter(self) -> crate::error::Result<RecordFilter> {
        let statuses = self.status.iter().map(|status| status.0.as_str().to_owned()).collect();
        Ok(RecordFilter { statuses, ..self.deal.into_filter()? })
    }
}

/// Descriptions of the parameters that both lists have.
const PARAMETERS: &[(&str, &str)] = &[
    ("vendor", "Name of the vendor team."),
    ("since", "First day, as in 2026-03-01."),
    ("until", "Last day."),
    ("kind", "Kinds of purchase."),
    ("status", "States; any may match."),
];

#[routes(prefix = "/agents/v1", tag = Deals)]
impl DealsApi {
    /// List purchases
    ///
    /// Returns the completed purchases of the team that the filters allow, newest first.
    #[get(
        "/purchases",
        RouteAttributes::read(
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
                .with_parameters(PARAMETERS),
                "purchases",
            ),
            Contract::new(Target::None),
        ),
    )]
    async fn list_purchases_for_agents(
        call: Call<Buyer>,
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
    #[get(
        "/offers",
        RouteAttributes::read(
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
                ])
                .with_parameters(PARAMETERS),
                "offers",
            ),
            Contract::new(Target::None),
        ),
    )]
    async fn list_offers_for_agents(call: Call<Buyer>, query: Params<OfferFilters>) -> JsonResult<Offers> {
        let filter = query.0.into_filter()?;
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let offers = offers::list(reader, &call.access, &filter)?;
            let entries = offers.iter().map(|offer| (json!(OfferOut::from(offer)), &offer.listing));
            Ok(list_json("offers", "offer", entries))
        })
        .await
    }
}
