//! The entries of a vendor's earnings.

use crate::{
    domain::{ledger::EntryType, money::CURRENCY},
    operations::earnings,
    rest::{
        prelude::*,
        shapes::limit_offset::{LimitOffset, offset_page},
    },
    store::earnings::EarningsChange,
};

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

offset_page! {
    /// A page of the entries of a team's earnings.
    EarningsPage of EarningsEntry: "The entries, newest first.", "Number of entries, on all pages."
}

#[routes(prefix = "/v2", tag = Account)]
impl EarningsApi {
    /// List earnings entries
    ///
    /// Returns a page of the ledger entries that changed the team's earnings, newest first: sales, platform
    /// fees, refunds, conversions to credits, and withdrawals.
    #[get(
        "/wallet/earnings",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Sales,
                    "list_earnings",
                    "Earnings",
                    "The team's earnings entries, newest first: sales, fees, refunds, withdrawals. `amount` is a signed \
                     decimal string. A sale has two entries with one `purchase_id`: the gross price, and the platform fee \
                     below zero. From `available_at`, an amount can be converted or withdrawn.",
                )
                .with_row(&["entry_type", "amount", "created_at", "available_at", "purchase_id"]),
                "items",
            ),
            Contract::new(Target::None)
                .with_queries(&["limit=200", "limit=1&offset=1", "offset=2147483647"])
                .with_misspelled("ofset=1", "offset")
                .with_pages("limit=1", "limit=200", 4),
        ),
    )]
    async fn list_earnings(call: Call<Vendor>, query: Params<LimitOffset>) -> JsonResult<EarningsPage> {
        let (limit, offset) = (query.0.limit, query.0.offset);
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (entries, total) =
                earnings::list(reader, &call.access, limit as usize, offset.cast_unsigned())?;
            let items = entries.into_iter().map(EarningsEntry::from).collect();
            Ok(EarningsPage { items, total, limit, offset })
        })
        .await
    }
}
