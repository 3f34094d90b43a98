//! Row IDs: the integer primary keys of database tables. Each table has its own type, so that a row ID of one
//! table cannot be passed where a row ID of another is expected. Clients never see row IDs, only UUIDs.

/// Lets a type with one value be a parameter of statements, and be read from columns.
macro_rules! column {
    ($name:ident) => {
        #[cfg(feature = "rusqlite")]
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        #[cfg(feature = "rusqlite")]
        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                rusqlite::types::FromSql::column_result(value).map($name)
            }
        }
    };
}

pub(crate) use column;

/// Lets a type with one value be the row ID of a record in any of several tables.
macro_rules! subject {
    ($name:ident: $($row_id:ident),+ $(,)?) => {
        $(
            impl From<$row_id> for $name {
                fn from(row_id: $row_id) -> $name {
                    $name(row_id.0)
                }
            }
        )+
    };
}

pub(crate) use subject;

/// Declares types for row IDs. They are serialized as integers, for JSON that is stored in the database.
macro_rules! row_id {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        $(
            $(#[$meta])*
            #[derive(
                Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
                serde::Serialize, serde::Deserialize,
            )]
            pub struct $name(pub i64);

            column!($name);
        )+
    };
}

row_id! {
    /// The row ID of a team.
    TeamRowId,
    /// The row ID of an API key.
    KeyRowId,
    /// The row ID of a group of assets.
    GroupRowId,
    /// The row ID of an asset. Increases with the time of creation.
    AssetRowId,
    /// The row ID of an upload.
    UploadRowId,
    /// The row ID of an upload grant.
    GrantRowId,
    /// The row ID of a taskset.
    TasksetRowId,
    /// The row ID of a task.
    TaskRowId,
    /// The row ID of a version of a task.
    TaskVersionRowId,
    /// The row ID of an import of traces.
    TraceImportRowId,
    /// The row ID of a request to refresh the quality of a team's task assets.
    TaskQualityRefreshRowId,
    /// The row ID of a log of attestations.
    LogRowId,
    /// The row ID of a listing.
    ListingRowId,
    /// The row ID of a round of a listing's review.
    ReviewRowId,
    /// The row ID of a quality run.
    QualityRunRowId,
    /// The row ID of an offer.
    OfferRowId,
    /// The row ID of a purchase.
    PurchaseRowId,
    /// The row ID of a bundle.
    BundleRowId,
    /// The row ID of a ledger entry.
    LedgerEntryRowId,
    /// The row ID of a purchase of credits.
    CreditPurchaseRowId,
    /// The row ID of a withdrawal of earnings.
    WithdrawalRowId,
    /// The row ID of an opportunity, for listings or for a project.
    OpportunityRowId,
    /// The row ID of a bid on a project opportunity.
    ProjectBidRowId,
    /// The row ID of an estimation.
    EstimationRowId,
    /// The row ID of a change of many assets.
    BulkChangeRowId,
    /// The ID of a background job. Operators see it.
    JobRowId,
    /// The row ID of an entry of the audit. Increases with the commits.
    AuditRowId,
    /// The row ID of an event. Increases with the commits.
    EventRowId,
    /// The row ID of a webhook.
    WebhookRowId,
    /// The row ID of the delivery of an event to a webhook. Increases with the time of creation.
    WebhookDeliveryRowId,
}
