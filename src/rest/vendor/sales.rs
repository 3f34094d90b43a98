//! A vendor's settled sales, and what they did to its earnings.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{
        deals::{PurchaseKind, Sale},
        ledger::EntryType,
        money::Cents,
    },
    operations::{access::Vendor, deals, wallet},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::{UtcTime, slices::Slice},
        vocabulary::Word,
    },
    store::wallet::Earning,
};

/// The currency of every amount.
const CURRENCY: &str = "USD";

/// A settled sale. It does not tell who bought.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Sale")]
pub struct SaleOut {
    /// Its id.
    pub id: Uuid,
    /// The listing.
    pub listing_id: Uuid,
    /// The listing's title.
    pub listing_title: String,
    /// What was bought.
    pub purchase_kind: Word<PurchaseKind>,
    /// What the vendor gets, in US dollars: the price without the platform's part.
    pub amount: f64,
    /// Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// When it was paid.
    pub paid_at: UtcTime,
}

impl From<&Sale> for SaleOut {
    fn from(sale: &Sale) -> SaleOut {
        SaleOut {
            id: sale.id,
            listing_id: sale.listing_id,
            listing_title: sale.listing_title.clone(),
            purchase_kind: Word(sale.kind),
            amount: sale.amount.dollars(),
            currency: CURRENCY.to_owned(),
            paid_at: sale.paid_at.into(),
        }
    }
}

/// A vendor's settled sales.
#[derive(Debug, Object, Serialize)]
#[expect(clippy::struct_field_names)] // The interface names it so.
pub struct Sales {
    /// The sales, newest first.
    pub sales: Vec<SaleOut>,
    /// The sum of their amounts, in US dollars.
    pub total_earnings: f64,
    /// Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
}

/// Something that happened to a team's earnings.
#[derive(Debug, Object, Serialize)]
pub struct EarningsEntry {
    /// Its id.
    pub id: Uuid,
    /// Why money moved.
    pub entry_type: Word<EntryType>,
    /// By how much the earnings grew, in US dollars with two decimals; below zero where they shrank.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub amount: String,
    /// Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// When it happened.
    pub created_at: UtcTime,
    /// From when it can be converted or withdrawn.
    pub available_at: UtcTime,
    /// The same in words.
    pub description: String,
    /// The sale that explains it; null where none does.
    pub purchase_id: Option<Uuid>,
}

impl From<Earning> for EarningsEntry {
    fn from(earning: Earning) -> EarningsEntry {
        EarningsEntry {
            id: earning.id,
            entry_type: Word(earning.entry_type),
            amount: earning.amount.to_string(),
            currency: CURRENCY.to_owned(),
            created_at: earning.created_at.into(),
            available_at: earning.available_at.into(),
            description: earning.description,
            purchase_id: earning.purchase,
        }
    }
}

/// A page of what happened to a team's earnings.
#[derive(Debug, Object, Serialize)]
pub struct EarningsPage {
    /// The entries, newest first.
    pub items: Vec<EarningsEntry>,
    /// How many there are.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

pub struct SalesApi;

#[OpenApi(prefix_path = "/v2")]
impl SalesApi {
    /// Sales
    ///
    /// The team's settled sales, newest first, and what they earned. Who bought is never told.
    #[oai(
        path = "/listings/sales",
        method = "get",
        operation_id = "list_sales",
        tag = "super::super::Tag::Listings"
    )]
    async fn sales(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
    ) -> Answer<Sales> {
        let sales = app.market().read(move |reader| deals::sales(reader, &access.0)).await?;
        let total: i64 = sales.iter().map(|sale| sale.amount.0).sum();
        Ok(Raw::of(&Sales {
            sales: sales.iter().map(SaleOut::from).collect(),
            total_earnings: Cents(total).dollars(),
            currency: CURRENCY.to_owned(),
        }))
    }

    /// Earnings
    ///
    /// What happened to the team's earnings, newest first: sales, the platform's part of them, refunds, conversions into
    /// credits, and withdrawals.
    #[oai(
        path = "/wallet/earnings",
        method = "get",
        operation_id = "list_earnings",
        tag = "super::super::Tag::Account"
    )]
    async fn earnings(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<Slice>,
    ) -> Answer<EarningsPage> {
        let (limit, offset) = (query.0.limit, query.0.offset);
        let page = app
            .market()
            .read(move |reader| wallet::earnings(reader, &access.0, limit as usize, offset.cast_unsigned()));
        let (entries, total) = page.await?;
        let items = entries.into_iter().map(EarningsEntry::from).collect();
        Ok(Raw::of(&EarningsPage { items, total, limit, offset }))
    }
}
