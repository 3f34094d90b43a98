//! The lifecycle of a listing as a pure state machine: what each operation does in each state, or why the state
//! refuses it.

use marketplace_text::is_blank;

use super::{
    events::{EventData, ListingData},
    listings::{CatalogStatus, Event, LifecycleStage, ListingStatus, ReviewStatus},
    notifications::NotificationType,
};
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// An operation on a listing that exists.
    Operation {
        /// Changes the texts: the title, the description, and the tags.
        UpdateTexts = "update_texts",
        /// Changes the prices, the terms, the delivery, and whether buyers can bid.
        UpdateTerms = "update_terms",
        /// Attaches assets.
        Attach = "attach",
        /// Detaches an asset.
        Detach = "detach",
        /// Removes an asset that its team deletes.
        DeleteAsset = "delete_asset",
        /// Attaches data to an asset of the listing, or detaches it.
        ChangeData = "change_data",
        /// Submits the listing for review.
        Submit = "submit",
        /// Withdraws the listing from review.
        Withdraw = "withdraw",
        /// Approves the listing.
        Approve = "approve",
        /// Returns the listing to the vendor with requested changes.
        RequestChanges = "request_changes",
        /// Rejects the listing.
        Reject = "reject",
        /// Publishes the listing in the catalog.
        Publish = "publish",
        /// Removes the listing from the catalog.
        Unpublish = "unpublish",
        /// Archives the listing.
        Archive = "archive",
        /// Restores the listing from the archive.
        Restore = "restore",
        /// Certifies the quality of the listing.
        Certify = "certify",
        /// Revokes the certification.
        Revoke = "revoke",
        /// Gives the listing a place among the featured listings.
        Feature = "feature",
        /// Takes the listing from the featured listings.
        Unfeature = "unfeature",
    }
}

impl Operation {
    /// Returns the event that the operation adds to the history of the listing. Featuring has none: it only
    /// changes the order of the catalog.
    pub const fn event(self) -> Option<Event> {
        Some(match self {
            Operation::UpdateTexts | Operation::UpdateTerms | Operation::ChangeData => Event::Updated,
            Operation::Attach => Event::AssetAttached,
            Operation::Detach | Operation::DeleteAsset => Event::AssetDetached,
            Operation::Submit => Event::Submitted,
            Operation::Withdraw => Event::Withdrawn,
            Operation::Approve => Event::Approved,
            Operation::RequestChanges => Event::ChangesRequested,
            Operation::Reject => Event::Rejected,
            Operation::Publish => Event::Published,
            Operation::Unpublish => Event::Unpublished,
            Operation::Archive => Event::Archived,
            Operation::Restore => Event::Restored,
            Operation::Certify => Event::Certified,
            Operation::Revoke => Event::CertificationRevoked,
            Operation::Feature | Operation::Unfeature => return None,
        })
    }

    /// Returns the event of the outbox.
    pub const fn outbox_event(self, data: ListingData) -> EventData {
        match self {
            Operation::UpdateTexts | Operation::UpdateTerms | Operation::ChangeData => {
                EventData::ListingUpdated(data)
            }
            Operation::Attach => EventData::ListingAssetsAttached(data),
            Operation::Detach | Operation::DeleteAsset => EventData::ListingAssetDetached(data),
            Operation::Submit => EventData::ListingSubmitted(data),
            Operation::Withdraw => EventData::ListingWithdrawn(data),
            Operation::Approve => EventData::ListingApproved(data),
            Operation::RequestChanges => EventData::ListingChangesRequested(data),
            Operation::Reject => EventData::ListingRejected(data),
            Operation::Publish => EventData::ListingPublished(data),
            Operation::Unpublish => EventData::ListingUnpublished(data),
            Operation::Archive => EventData::ListingArchived(data),
            Operation::Restore => EventData::ListingRestored(data),
            Operation::Certify => EventData::ListingCertified(data),
            Operation::Revoke => EventData::ListingCertificationRevoked(data),
            Operation::Feature => EventData::ListingFeatured(data),
            Operation::Unfeature => EventData::ListingUnfeatured(data),
        }
    }

    /// Returns the type of the notification that the vendor receives.
    pub const fn notification(self) -> Option<NotificationType> {
        match self {
            Operation::Approve => Some(NotificationType::ListingApproved),
            Operation::RequestChanges => Some(NotificationType::ListingChangesRequested),
            Operation::Reject => Some(NotificationType::ListingRejected),
            _ => None,
        }
    }
}

/// The state of a listing, which decides what operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingState {
    /// Review status and catalog status.
    pub status: ListingStatus,
    /// Whether the listing is certified in its current form.
    pub is_certified: bool,
    /// Whether the listing has a place among the featured listings.
    pub is_featured: bool,
}

/// Why the state of a listing refuses an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The stage does not allow the transition.
    Transition {
        /// Current stage.
        from: LifecycleStage,
        /// Transitions that the listing allows.
        allowed: Vec<Operation>,
    },
    /// The listing cannot be edited in this stage.
    NotEditable(LifecycleStage),
    /// The listing has no certification to revoke.
    NotCertified,
    /// The listing has no featured place to take.
    NotFeatured,
}

impl ListingStatus {
    /// Returns the status after a transition, or `None` if it is not allowed. Operations that are not transitions
    /// between statuses always return `None`.
    #[allow(clippy::match_same_arms)] // One row per transition is easier to read than merged rows.
    pub const fn after(self, operation: Operation) -> Option<ListingStatus> {
        use {CatalogStatus as C, Operation as O, ReviewStatus as R};
        let (review, catalog) = match (operation, self.review, self.catalog) {
            (O::Submit, R::Draft | R::ChangesRequested, C::Unpublished) => (R::InReview, C::Unpublished),
            (O::Withdraw, R::InReview, C::Unpublished) => (R::Draft, C::Unpublished),
            (O::Approve, R::InReview, C::Unpublished) => (R::Approved, C::Unpublished),
            (O::RequestChanges, R::InReview, C::Unpublished) => (R::ChangesRequested, C::Unpublished),
            (O::Reject, R::InReview, C::Unpublished) => (R::Rejected, C::Unpublished),
            (O::Publish, R::Approved, C::Unpublished) => (R::Approved, C::Published),
            (O::Unpublish, review, C::Published) => (review, C::Unpublished),
            (O::Restore, review, C::Archived) => (review, C::Unpublished),
            (O::Archive, review, C::Unpublished | C::Published) if !matches!(review, R::InReview) => {
                (review, C::Archived)
            }
            _ => return None,
        };
        Some(ListingStatus { review, catalog })
    }

    /// Returns the status after a change of the reviewed content.
    const fn without_approval(self) -> ListingStatus {
        match self.review {
            ReviewStatus::Approved => ListingStatus { review: ReviewStatus::Draft, ..self },
            _ => self,
        }
    }

    /// Returns the transitions that are allowed in this status.
    pub fn allowed_transitions(self) -> Vec<Operation> {
        Operation::ALL.iter().copied().filter(|operation| self.after(*operation).is_some()).collect()
    }
}

impl ListingState {
    /// The state of a new listing.
    pub const NEW: ListingState =
        ListingState { status: ListingStatus::NEW, is_certified: false, is_featured: false };

    /// Returns the state after an operation. A change of the assets ends the certification, and a change of the
    /// assets or the texts ends the approval.
    pub fn after(self, operation: Operation) -> Result<ListingState, Refusal> {
        use Operation as O;
        let stage = self.status.stage();
        match operation {
            O::UpdateTexts if self.status.is_editable() => {
                Ok(ListingState { status: self.status.without_approval(), ..self })
            }
            // Nobody reviews these, so they can also change in the catalog.
            O::UpdateTerms if self.status.is_editable() || stage == LifecycleStage::Active => Ok(self),
            O::Attach | O::Detach if self.status.is_editable() => Ok(self.with_other_assets()),
            O::DeleteAsset | O::ChangeData
                if self.status.is_editable() || stage == LifecycleStage::Archived =>
            {
                Ok(self.with_other_assets())
            }
            O::UpdateTexts | O::UpdateTerms | O::Attach | O::Detach | O::DeleteAsset | O::ChangeData => {
                Err(Refusal::NotEditable(stage))
            }
            O::Certify => Ok(ListingState { is_certified: true, ..self }),
            O::Revoke if self.is_certified => Ok(ListingState { is_certified: false, ..self }),
            O::Revoke => Err(Refusal::NotCertified),
            O::Feature => Ok(ListingState { is_featured: true, ..self }),
            O::Unfeature if self.is_featured => Ok(ListingState { is_featured: false, ..self }),
            O::Unfeature => Err(Refusal::NotFeatured),
            O::Submit
            | O::Withdraw
            | O::Approve
            | O::RequestChanges
            | O::Reject
            | O::Publish
            | O::Unpublish
            | O::Archive
            | O::Restore => match self.status.after(operation) {
                Some(status) => Ok(ListingState { status, ..self }),
                None => Err(Refusal::Transition { from: stage, allowed: self.status.allowed_transitions() }),
            },
        }
    }
}

impl ListingState {
    const fn with_other_assets(self) -> ListingState {
        ListingState { status: self.status.without_approval(), is_certified: false, ..self }
    }
}

/// Returns the names of the required fields that a listing lacks before it can be submitted, in form order.
pub fn missing_for_review(
    title: &str,
    description: &str,
    has_price: bool,
    assets: usize,
) -> Vec<&'static str> {
    let fields = [
        ("title", is_blank(title)),
        ("description", is_blank(description)),
        ("price", !has_price),
        ("assets", assets == 0),
    ];
    fields.into_iter().filter_map(|(name, is_missing)| is_missing.then_some(name)).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// Returns every state: each review status with each catalog status, certified and featured or not.
    fn states() -> Vec<ListingState> {
        let mut states = Vec::new();
        for review in ReviewStatus::ALL {
            for catalog in CatalogStatus::ALL {
                for (is_certified, is_featured) in
                    [(false, false), (true, false), (false, true), (true, true)]
                {
                    let status = ListingStatus { review: *review, catalog: *catalog };
                    states.push(ListingState { status, is_certified, is_featured });
                }
            }
        }
        states
    }

    fn describe(state: ListingState) -> String {
        let flags = [(state.is_certified, " certified"), (state.is_featured, " featured")];
        let flags: String = flags.iter().filter_map(|(is_set, name)| is_set.then_some(*name)).collect();
        let (review, catalog) = (state.status.review.as_str(), state.status.catalog.as_str());
        format!("{review} {catalog}{flags} ({})", state.status.stage().as_str())
    }

    /// Compares the result of every operation in every state with a committed snapshot.
    #[test]
    fn every_operation_in_every_state() {
        let mut table = String::new();
        for state in states() {
            writeln!(table, "{}", describe(state)).unwrap();
            for operation in Operation::ALL {
                let result = match state.after(*operation) {
                    Ok(after) if after == state => "no change".to_owned(),
                    Ok(after) => describe(after),
                    Err(Refusal::Transition { .. }) => "refused: transition".to_owned(),
                    Err(Refusal::NotEditable(_)) => "refused: not editable".to_owned(),
                    Err(Refusal::NotCertified) => "refused: not certified".to_owned(),
                    Err(Refusal::NotFeatured) => "refused: not featured".to_owned(),
                };
                writeln!(table, "    {}: {result}", operation.as_str()).unwrap();
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn refused_transition_names_the_allowed_ones() {
        let mut state = ListingState::NEW;
        state.status.review = ReviewStatus::InReview;
        let allowed =
            vec![Operation::Withdraw, Operation::Approve, Operation::RequestChanges, Operation::Reject];
        assert_eq!(
            state.after(Operation::Publish),
            Err(Refusal::Transition { from: LifecycleStage::Review, allowed })
        );
    }

    #[test]
    fn review_requires_title_description_price_and_asset() {
        assert_eq!(missing_for_review("", " ", false, 0), ["title", "description", "price", "assets"]);
        assert_eq!(missing_for_review("\u{3164}", "\u{200b}", true, 1), ["title", "description"]);
        assert!(missing_for_review("T", "D", true, 1).is_empty());
    }
}
