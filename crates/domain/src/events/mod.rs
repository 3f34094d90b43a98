//! Events: what has happened in the market, as the outbox has it. Each type has one shape of data, which is in
//! the file of its resource.

mod assets;
mod attestations;
mod bulk;
mod clock;
mod estimations;
mod grants;
mod keys;
mod listings;
mod notifications;
mod offers;
mod opportunities;
mod outbox;
mod project_bids;
mod purchases;
mod quality;
mod tasksets;
mod taxonomy;
mod teams;
mod wallet;
mod webhooks;

use serde::Serialize;
use uuid::Uuid;

pub use self::{
    assets::*, attestations::*, bulk::MAX_LISTED_IDS, clock::*, estimations::*, grants::*, keys::*,
    listings::*, notifications::*, offers::*, opportunities::*, outbox::*, project_bids::*, purchases::*,
    quality::*, tasksets::*, taxonomy::*, teams::*, wallet::*, webhooks::*,
};
pub use super::row_ids::EventRowId;
use crate::string_enum::{StringEnum, string_enum};

/// Declares the types of events, and the enum of their data. A type is the resource, a period, and a verb in
/// the past tense.
macro_rules! events {
    ($($(#[$meta:meta])* $variant:ident = $text:literal ($data:ty)),+ $(,)?) => {
        string_enum! {
            /// The type of an event.
            EventType {
                $($(#[$meta])* $variant = $text),+
            }
        }

        /// The data of an event, by its type.
        #[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
        #[serde(tag = "type", content = "data")]
        pub enum EventData {
            $($(#[$meta])* #[serde(rename = $text)] $variant($data)),+
        }

        impl EventData {
            /// Returns the type of the event.
            pub const fn event_type(&self) -> EventType {
                match self {
                    $(EventData::$variant(_) => EventType::$variant),+
                }
            }

            /// Serializes the data without the type.
            pub fn to_json(&self) -> serde_json::Result<String> {
                match self {
                    $(EventData::$variant(data) => serde_json::to_string(data)),+
                }
            }
        }
    };
}

events! {
    /// A draft was created.
    ListingCreated = "listing.created" (ListingData),
    /// The texts, prices, or terms of a listing changed.
    ListingUpdated = "listing.updated" (ListingData),
    /// Assets were attached to a listing.
    ListingAssetsAttached = "listing.assets_attached" (ListingData),
    /// An asset was detached from a listing.
    ListingAssetDetached = "listing.asset_detached" (ListingData),
    /// A listing was submitted for review.
    ListingSubmitted = "listing.submitted" (ListingData),
    /// A listing was withdrawn from review.
    ListingWithdrawn = "listing.withdrawn" (ListingData),
    /// A listing was approved.
    ListingApproved = "listing.approved" (ListingData),
    /// Changes of a listing were requested.
    ListingChangesRequested = "listing.changes_requested" (ListingData),
    /// A listing was rejected.
    ListingRejected = "listing.rejected" (ListingData),
    /// A listing was published.
    ListingPublished = "listing.published" (ListingData),
    /// A listing was removed from the catalog.
    ListingUnpublished = "listing.unpublished" (ListingData),
    /// A listing was archived.
    ListingArchived = "listing.archived" (ListingData),
    /// A listing was restored from the archive.
    ListingRestored = "listing.restored" (ListingData),
    /// A listing was certified.
    ListingCertified = "listing.certified" (ListingData),
    /// The certification of a listing was revoked.
    ListingCertificationRevoked = "listing.certification_revoked" (ListingData),
    /// A listing got a place among the featured listings.
    ListingFeatured = "listing.featured" (ListingData),
    /// A listing was taken from the featured listings.
    ListingUnfeatured = "listing.unfeatured" (ListingData),
    /// The offers on a listing were declined together, for the vendor.
    ListingOffersDeclined = "listing.offers_declined" (DeclinedOffersData),
    /// A buyer bid on a listing.
    OfferSubmitted = "offer.submitted" (OfferData),
    /// A buyer changed its offer.
    OfferChanged = "offer.changed" (OfferData),
    /// A buyer withdrew its offer.
    OfferWithdrawn = "offer.withdrawn" (OfferData),
    /// A vendor accepted an offer.
    OfferAccepted = "offer.accepted" (OfferData),
    /// An offer was declined: by the vendor, or because its listing was archived.
    OfferDeclined = "offer.declined" (OfferData),
    /// An offer was not decided in time.
    OfferExpired = "offer.expired" (OfferData),
    /// A purchase was created. Only its buyer has a view of it.
    PurchaseCreated = "purchase.created" (PurchaseData),
    /// A purchase was paid.
    PurchaseCompleted = "purchase.completed" (PurchaseData),
    /// A purchase was canceled before payment. Only its buyer has a view of it.
    PurchaseCancelled = "purchase.cancelled" (PurchaseData),
    /// A purchase was refunded.
    PurchaseRefunded = "purchase.refunded" (PurchaseData),
    /// What the market attested about a delivery is no longer so. Only the buyer has a view of it. The subject is the purchase.
    AttestationStatusChanged = "attestation.status_changed" (AttestationData),
    /// Assets were created, or imported from tasks.
    AssetsCreated = "asset.created" (AssetsData),
    /// An asset was edited, or moved to another group.
    AssetUpdated = "asset.updated" (AssetData),
    /// A bulk change moved, edited, or deleted assets. It takes the place of the events of each asset. A long bulk change has
    /// an event for each of its parts.
    AssetBulkChanged = "asset.bulk_changed" (AssetBulkChangeData),
    /// The stage of an asset changed.
    AssetStageChanged = "asset.stage_changed" (AssetStageData),
    /// Data was linked to an asset.
    AssetDataAttached = "asset.data_attached" (AssetData),
    /// The data of an asset was detached.
    AssetDataDetached = "asset.data_detached" (AssetData),
    /// The analysis of an asset's data ended.
    AssetDataAnalyzed = "asset.data_analyzed" (AssetAnalysisData),
    /// Codebases became unavailable by an exclusive sale, or available again by its refund.
    AssetExclusivityChanged = "asset.exclusivity_changed" (AssetExclusivityData),
    /// An asset was deleted.
    AssetDeleted = "asset.deleted" (AssetData),
    /// A group was created.
    GroupCreated = "group.created" (GroupData),
    /// A group was renamed.
    GroupRenamed = "group.renamed" (GroupData),
    /// A group was deleted.
    GroupDeleted = "group.deleted" (GroupData),
    /// An upload was completed.
    UploadCompleted = "upload.completed" (UploadData),
    /// A quality run was started.
    QualityRunStarted = "quality_run.started" (QualityRunData),
    /// A quality run was completed, whatever its checks found.
    QualityRunCompleted = "quality_run.completed" (QualityRunData),
    /// A quality run failed, and found nothing out.
    QualityRunFailed = "quality_run.failed" (QualityRunData),
    /// A quality run was canceled.
    QualityRunCancelled = "quality_run.cancelled" (QualityRunData),
    /// A refresh of task quality was requested.
    TaskQualityRefreshRequested = "task_quality_refresh.requested" (TaskQualityRefreshData),
    /// A refresh of task quality was completed.
    TaskQualityRefreshCompleted = "task_quality_refresh.completed" (TaskQualityRefreshData),
    /// A refresh of task quality failed.
    TaskQualityRefreshFailed = "task_quality_refresh.failed" (TaskQualityRefreshData),
    /// Credits were added to a wallet: bought, given by the platform, or returned.
    WalletCredited = "wallet.credited" (WalletData),
    /// Credits were deducted from a wallet by the platform, or for a quality run.
    WalletDebited = "wallet.debited" (WalletData),
    /// Available earnings were converted into credits.
    WalletConverted = "wallet.converted" (WalletData),
    /// A team requested credits. Completed requests have the event `wallet.credited`.
    CreditPurchaseRequested = "credit_purchase.requested" (CreditPurchaseData),
    /// The platform rejected a request for credits.
    CreditPurchaseRejected = "credit_purchase.rejected" (CreditPurchaseData),
    /// A team canceled its request for credits.
    CreditPurchaseCancelled = "credit_purchase.cancelled" (CreditPurchaseData),
    /// A team requested a withdrawal of earnings.
    WithdrawalRequested = "withdrawal.requested" (WithdrawalData),
    /// A withdrawal was paid.
    WithdrawalPaid = "withdrawal.paid" (WithdrawalData),
    /// A withdrawal could not be paid, and was posted back.
    WithdrawalFailed = "withdrawal.failed" (WithdrawalData),
    /// Earnings of a sale became available. The subject is the ledger entry of the sale.
    EarningsAvailable = "earnings.available" (AvailableEarningsData),
    /// A draft of an opportunity was created.
    OpportunityCreated = "opportunity.created" (OpportunityData),
    /// The fields of a draft, or the deadline of a published opportunity, changed.
    OpportunityUpdated = "opportunity.updated" (OpportunityData),
    /// An opportunity was published.
    OpportunityPublished = "opportunity.published" (OpportunityData),
    /// An opportunity was closed.
    OpportunityClosed = "opportunity.closed" (OpportunityData),
    /// An opportunity was canceled.
    OpportunityCancelled = "opportunity.cancelled" (OpportunityData),
    /// Teams were excluded from an opportunity.
    OpportunityTeamsExcluded = "opportunity.teams_excluded" (OpportunityExclusionData),
    /// The deadline of a published opportunity passed.
    OpportunityDeadlinePassed = "opportunity.deadline_passed" (OpportunityData),
    /// A vendor bid on a project opportunity.
    ProjectBidSubmitted = "project_bid.submitted" (ProjectBidData),
    /// A vendor withdrew its bid.
    ProjectBidWithdrawn = "project_bid.withdrawn" (ProjectBidData),
    /// The buyer accepted a bid.
    ProjectBidAccepted = "project_bid.accepted" (ProjectBidData),
    /// The buyer declined a bid.
    ProjectBidDeclined = "project_bid.declined" (ProjectBidData),
    /// The vendor delivered.
    ProjectBidDelivered = "project_bid.delivered" (ProjectBidData),
    /// The buyer accepted the delivery.
    ProjectBidCompleted = "project_bid.completed" (ProjectBidData),
    /// A vendor requested an estimation.
    EstimationRequested = "estimation.requested" (EstimationData),
    /// An estimation ended with a quote, or with the finding that nothing can be priced.
    EstimationCompleted = "estimation.completed" (EstimationData),
    /// The source of an estimation could not be read.
    EstimationFailed = "estimation.failed" (EstimationData),
    /// A team has read a notification.
    NotificationRead = "notification.read" (NotificationData),
    /// Vendors can create assets of a kind again.
    AssetTypeEnabled = "asset_type.enabled" (AssetTypeData),
    /// Vendors can no longer create assets of a kind.
    AssetTypeDisabled = "asset_type.disabled" (AssetTypeData),
    /// The retirement of an asset kind was announced, or the announcement was changed.
    AssetTypeDeprecated = "asset_type.deprecated" (AssetTypeDeprecatedData),
    /// An asset kind retired.
    AssetTypeRetired = "asset_type.retired" (AssetTypeData),
    /// A domain was created.
    DomainCreated = "domain.created" (LabelData),
    /// A domain was renamed.
    DomainUpdated = "domain.updated" (LabelData),
    /// A content tag was created.
    ContentTagCreated = "content_tag.created" (LabelData),
    /// A content tag was renamed.
    ContentTagUpdated = "content_tag.updated" (LabelData),
    /// An inventory tag was created.
    InventoryTagCreated = "inventory_tag.created" (InventoryTagData),
    /// An inventory tag was changed.
    InventoryTagUpdated = "inventory_tag.updated" (InventoryTagData),
    /// A taskset was created.
    TasksetCreated = "taskset.created" (TasksetData),
    /// A task was added to a taskset.
    TaskCreated = "task.created" (TaskData),
    /// A task was deleted.
    TaskDeleted = "task.deleted" (TaskData),
    /// A version was added to a task.
    TaskVersionCreated = "task_version.created" (TaskVersionData),
    /// A build of a task version was recorded.
    TaskBuildRecorded = "task_build.recorded" (TaskBuildData),
    /// The status of a build changed.
    TaskBuildUpdated = "task_build.updated" (TaskBuildData),
    /// An import of traces ended.
    TracesImported = "traces.imported" (TracesImportedData),
    /// A team was created.
    TeamCreated = "team.created" (TeamData),
    /// A team was renamed.
    TeamRenamed = "team.renamed" (TeamData),
    /// The marketplace roles of a team changed.
    TeamRolesChanged = "team.roles_changed" (TeamData),
    /// The seller tier of a team changed.
    TeamTierChanged = "team.tier_changed" (TeamData),
    /// The avatar of a team changed.
    TeamAvatarChanged = "team.avatar_changed" (TeamData),
    /// A team accepted the mutual NDA.
    TeamNdaAccepted = "team.nda_accepted" (TeamData),
    /// How a team is paid changed.
    TeamPayoutSetupChanged = "team.payout_setup_changed" (TeamPayoutSetupData),
    /// A team was closed.
    TeamClosed = "team.closed" (TeamClosedData),
    /// An API key was created.
    KeyCreated = "key.created" (KeyData),
    /// The time at which an API key expires changed.
    KeyExpiryChanged = "key.expiry_changed" (KeyData),
    /// An API key was replaced by another one, which has an event of its own.
    KeyRotated = "key.rotated" (KeyRotatedData),
    /// An API key expired.
    KeyExpired = "key.expired" (KeyData),
    /// An API key was revoked.
    KeyRevoked = "key.revoked" (KeyData),
    /// An upload grant was created.
    UploadGrantCreated = "upload_grant.created" (UploadGrantData),
    /// An upload grant was used: its upload became a codebase.
    UploadGrantConsumed = "upload_grant.consumed" (UploadGrantConsumedData),
    /// An upload grant expired.
    UploadGrantExpired = "upload_grant.expired" (UploadGrantData),
    /// An upload grant was revoked.
    UploadGrantRevoked = "upload_grant.revoked" (UploadGrantData),
    /// The oldest events were removed, because they are older than events are kept.
    OutboxTrimmed = "outbox.trimmed" (OutboxTrimmedData),
    /// The clock of a world of the sandbox was advanced. The events of what became due on the way come before it.
    ClockAdvanced = "clock.advanced" (ClockAdvancedData),
    /// A webhook was created.
    WebhookCreated = "webhook.created" (WebhookData),
    /// The URL, the description, or the event types of a webhook changed, or it was enabled again.
    WebhookUpdated = "webhook.updated" (WebhookData),
    /// A test message was sent to a webhook.
    WebhookTested = "webhook.tested" (WebhookData),
    /// The secret of a webhook was replaced.
    WebhookRotated = "webhook.rotated" (WebhookRotatedData),
    /// A webhook was disabled: by request, by its responses, or with its team.
    WebhookDisabled = "webhook.disabled" (WebhookDisabledData),
    /// A webhook was deleted.
    WebhookDeleted = "webhook.deleted" (WebhookData),
}

/// The record that an event is about: its ID, or the slug of an entry of the taxonomy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSubject(pub String);

super::row_ids::column!(EventSubject);

impl From<Uuid> for EventSubject {
    fn from(id: Uuid) -> EventSubject {
        EventSubject(id.to_string())
    }
}

impl From<&str> for EventSubject {
    fn from(slug: &str) -> EventSubject {
        EventSubject(slug.to_owned())
    }
}

impl EventType {
    /// Returns the resource of the event: the part of the type before the period.
    pub fn resource(self) -> &'static str {
        let text = self.as_str();
        text.split_once('.').map_or(text, |(resource, _)| resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_a_resource_and_a_verb() {
        for kind in EventType::ALL {
            let (resource, verb) = kind.as_str().split_once('.').unwrap();
            let is_word = |word: &str| {
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            };
            assert!(is_word(resource) && is_word(verb), "{}", kind.as_str());
            assert_eq!(kind.resource(), resource);
        }
    }

    /// Subscribers of events rely on their shapes.
    #[test]
    fn shapes_of_events() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&schemars::schema_for!(EventData)).unwrap());
    }
}
