//! The words for the states of a listing, and their looks.

use super::badges::Tone;
use crate::domain::listings::{LifecycleStage, ListingStatus, ReviewStatus};

/// Returns the word for the state of a listing, and its look.
pub const fn state(status: ListingStatus) -> (Tone, &'static str) {
    match (status.stage(), status.review) {
        (LifecycleStage::Archived, _) => (Tone::Neutral, "Archived"),
        (LifecycleStage::Active, _) => (Tone::Good, "Live"),
        (LifecycleStage::Review, _) => (Tone::Waiting, "In review"),
        (LifecycleStage::Ready, _) => (Tone::Good, "Approved"),
        (LifecycleStage::Draft, ReviewStatus::ChangesRequested) => (Tone::Warning, "Changes requested"),
        (LifecycleStage::Draft, ReviewStatus::Rejected) => (Tone::Bad, "Rejected"),
        (LifecycleStage::Draft, _) => (Tone::Neutral, "Draft"),
    }
}

/// Returns the word for a stage.
pub const fn stage_word(stage: LifecycleStage) -> &'static str {
    match stage {
        LifecycleStage::Draft => "Draft",
        LifecycleStage::Review => "In review",
        LifecycleStage::Ready => "Approved, not published",
        LifecycleStage::Active => "Live",
        LifecycleStage::Archived => "Archived",
    }
}

/// Returns the word for a state of the review.
pub const fn review_word(review: ReviewStatus) -> &'static str {
    match review {
        ReviewStatus::Draft => "Not submitted",
        ReviewStatus::InReview => "In review",
        ReviewStatus::ChangesRequested => "Changes requested",
        ReviewStatus::Approved => "Approved",
        ReviewStatus::Rejected => "Rejected",
    }
}
