//! A vendor's settled sales.

use crate::{
    domain::{
        money::{CURRENCY, Cents},
        purchases::PurchaseKind,
        sales::Sale,
    },
    operations::sales,
    rest::{prelude::*, route::Link},
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

#[routes(prefix = "/v2", tag = Listings)]
impl SalesApi {
    /// List sales
    ///
    /// Returns the team's settled sales, newest first, and the total earned. Buyers are never identified.
    #[get(
        "/listings/sales",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Sales,
                    "list_sales",
                    "Sales",
                    "The team's settled sales, newest first. `amount` is net of the platform \
                     fee; `total_earnings` covers all sales, not only the page. Buyers are never \
                     disclosed.",
                )
                .with_row(&[
                    "id",
                    "listing_id",
                    "listing_title",
                    "purchase_kind",
                    "amount",
                    "paid_at",
                    "total_earnings",
                ]),
                "sales",
            ),
            Contract::new(Target::None).with_one_statement(),
        )
        .with_budget(Budget::Sales)
        .with_links(&[Link::new("/sales/0/listing_id", "get_own_listing", "listing_id")]),
    )]
    async fn list_sales(call: Call<Vendor>) -> JsonResult<Sales> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let sales = sales::list(reader, &call.access)?;
            let total: i64 = sales.iter().map(|sale| sale.amount.0).sum();
            Ok(Sales {
                sales: sales.iter().map(SaleOut::from).collect(),
                total_earnings: Cents(total).dollars(),
                currency: CURRENCY.to_owned(),
            })
        })
        .await
    }
}
