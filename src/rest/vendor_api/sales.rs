//! A vendor's settled sales, and the entries of its earnings.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{
        ledger::EntryType,
        money::{CURRENCY, Cents},
        purchases::{PurchaseKind, Sale},
    },
    operations::{access::Vendor, sales, wallet},
    rest::{
        app::App,
        auth::Access,
        enum_value::EnumValue,
        json::{Json, JsonResult},
        params::{NoParams, Params},
        shapes::{UtcTime, limit_offset::LimitOffset},
    },
    store::wallet::EarningsChange,
};

/// A settled sale. It never identifies the buyer.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Sale")]
pub struct SaleOut {
    /// ID of the sale.
    pub id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Title of the listing.
    pub listing_title: String,
    /// Whether the listing, its sample, or the listing at the price of an accepted bid was sold.
    pub purchase_kind: EnumValue<PurchaseKind>,
    /// Amount that the vendor receives, in US dollars: the price minus the platform fee.
    pub amount: f64,
    /// Currency of the amount. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// Time of payment.
    pub paid_at: UtcTime,
}

impl From<&Sale> for SaleOut {
    fn from(sale: &Sale) -> SaleOut {
        SaleOut {
            id: sale.id,
            listing_id: sale.listing_id,
            listing_title: sale.listing_title.clone(),
            purchase_kind: EnumValue(sale.kind),
            amount: sale.amount.dollars(),
            currency: CURRENCY.to_owned(),
            paid_at: sale.paid_at.into(),
        }
    }
}

/// The settled sales of a vendor.
#[derive(Debug, Object, Serialize)]
#[expect(clippy::struct_field_names)] // The field names are part of the API.
pub struct Sales {
    /// The sales, newest first.
    pub sales: Vec<SaleOut>,
    /// Sum of the amounts of all sales, in US dollars.
    pub total_earnings: f64,
    /// Currency of the amounts. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
}

/// A ledger entry that changed a team's earnings.
#[derive(Debug, Object, Serialize)]
pub struct EarningsEntry {
    /// ID of the entry.
    pub id: Uuid,
    /// Type of the entry.
    pub entry_type: EnumValue<EntryType>,
    /// Change of the earnings, in US dollars with two decimals; negative if they decreased.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub amount: String,
    /// Currency of the amount. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// Time of the entry.
    pub created_at: UtcTime,
    /// Time from which the amount can be converted to credits or withdrawn.
    pub available_at: UtcTime,
    /// Description of the entry, for people.
    pub description: String,
    /// ID of the sale that the entry belongs to; null if it belongs to none.
    pub purchase_id: Option<Uuid>,
}

impl From<EarningsChange> for EarningsEntry {
    fn from(earning: EarningsChange) -> EarningsEntry {
        EarningsEntry {
            id: earning.id,
            entry_type: EnumValue(earning.entry_type),
            amount: earning.amount.to_string(),
            currency: CURRENCY.to_owned(),
            created_at: earning.created_at.into(),
            available_at: earning.available_at.into(),
            description: earning.description,
            purchase_id: earning.purchase,
        }
    }
}

/// A page of the entries of a team's earnings.
#[derive(Debug, Object, Serialize)]
pub struct EarningsPage {
    /// The entries, newest first.
    pub items: Vec<EarningsEntry>,
    /// Number of entries, on all pages.
    pub total: u64,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
}

pub struct SalesApi;

#[OpenApi(prefix_path = "/v2")]
impl SalesApi {
    /// List sales
    ///
    /// Returns the team's settled sales, newest first, and the total earned. Buyers are never identified.
    #[oai(
        path = "/listings/sales",
        method = "get",
        operation_id = "list_sales",
        tag = "crate::rest::api::Tag::Listings"
    )]
    async fn list_sales(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
    ) -> JsonResult<Sales> {
        Json::read(&app, access.0.requester(), move |reader| {
            let sales = sales::list(reader, &access.0)?;
            let total: i64 = sales.iter().map(|sale| sale.amount.0).sum();
            Ok(Sales {
                sales: sales.iter().map(SaleOut::from).collect(),
                total_earnings: Cents(total).dollars(),
                currency: CURRENCY.to_owned(),
            })
        })
        .await
    }

    /// List earnings entries
    ///
    /// Returns a page of the ledger entries that changed the team's earnings, newest first: sales, platform
    /// fees, refunds, conversions to credits, and withdrawals.
    #[oai(
        path = "/wallet/earnings",
        method = "get",
        operation_id = "list_earnings",
        tag = "crate::rest::api::Tag::Account"
    )]
    async fn list_earnings(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<LimitOffset>,
    ) -> JsonResult<EarningsPage> {
        let (limit, offset) = (query.0.limit, query.0.offset);
        Json::read(&app, access.0.requester(), move |reader| {
            let (entries, total) =
                wallet::earnings(reader, &access.0, limit as usize, offset.cast_unsigned())?;
            let items = entries.into_iter().map(EarningsEntry::from).collect();
            Ok(EarningsPage { items, total, limit, offset })
        })
        .await
    }
}
