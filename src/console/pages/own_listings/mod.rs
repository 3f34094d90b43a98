//! The listings that a vendor offers: the table, one of them with its steps, and what has changed since its approval.

mod checklist;
mod checks;
pub mod detail;
pub mod list;
mod list_state;
pub mod reviews;
pub mod steps;

use crate::{
    console::{pages::deals, prelude::*},
    domain::{
        listing_lifecycle::Operation,
        listings::{LifecycleStage, ListingStatus, ReviewStatus},
    },
    error::StateCode,
    operations::listing_lifecycle::Obstacles,
    store::listings::ListingRow,
};

/// Returns the title of a listing, or a text that says that it has none.
pub(super) fn title_of(title: &str) -> &str {
    if is_blank(title) { "Listing without a title" } else { title }
}

/// Shows the reviewer's note to the vendor.
pub(super) fn note(feedback: Option<&str>) -> Markup {
    html! { @if let Some(feedback) = feedback { p.long { b { "The reviewer writes: " } bdi { (feedback) } } } }
}

/// Returns an error as people read it: pages say in words what the state of a listing allows.
pub(super) fn in_words(error: Error) -> Error {
    match error {
        Error::InvalidTransition { .. } | Error::InvalidState(StateCode::ListingNotEditable, _) => {
            let message =
                "The state of the listing has changed since this page was shown, so nothing was saved.";
            Error::Conflict(message.to_owned())
        }
        other => other,
    }
}

/// Returns why an operation cannot be carried out now; `None` if it can.
fn why_not(listing: &ListingRow, obstacles: &Obstacles, operation: Operation) -> Option<String> {
    if listing.state().after(operation).is_err() {
        return Some(why_not_in(listing.status, operation).to_owned());
    }
    match operation {
        Operation::Submit if !obstacles.fields.is_empty() => {
            Some("Something is missing: see what submitting needs.".to_owned())
        }
        Operation::Submit | Operation::Publish => obstacles.assets.as_deref().map(deals::for_team),
        Operation::Restore => obstacles.restoring.as_deref().map(deals::for_team),
        _ => None,
    }
}

/// Returns why the state of a listing forbids an operation.
const fn why_not_in(status: ListingStatus, operation: Operation) -> &'static str {
    use {LifecycleStage as S, Operation as O, ReviewStatus as R};
    match (operation, status.stage(), status.review) {
        (O::Restore, ..) => "It is not archived.",
        (O::Unpublish, ..) => "It is not in the catalog.",
        (O::Withdraw, ..) => "It is not in review.",
        (_, S::Archived, _) => "It is archived. Restore it first.",
        (O::UpdateTexts | O::UpdateTerms | O::Attach, S::Review, _) => {
            "It is in review, so nobody can change it. Withdraw it first."
        }
        (O::Archive, _, R::InReview) => "It is in review. Withdraw it first.",
        (O::Submit | O::Publish, S::Review, _) => "It is in review. The market decides next.",
        (O::Attach | O::UpdateTexts, S::Active, _) => "It is live. Take it out of the catalog first.",
        (O::Publish | O::Submit, S::Active, _) => "It is in the catalog already.",
        (O::Submit, S::Ready, _) => "It is approved already.",
        (O::Submit | O::Publish, _, R::Rejected) => {
            "It was rejected, so it cannot be submitted again. Make a new listing."
        }
        (O::Publish, S::Draft, _) => "The market has to approve it first. Submit it for review.",
        _ => "It is not in the right state.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::listings::CatalogStatus, string_enum::StringEnum};

    #[test]
    fn reasons_have_titles_without_ids() {
        let id = Uuid::from_u128(7);
        let reason =
            format!("Detach these, or not: \"Code (1)\" ({id}), \"Maps\" ({id}). Set `sample_price`.");
        assert_eq!(
            deals::for_team(&reason),
            "Detach these, or not: \"Code (1)\", \"Maps\". Set sample price."
        );
        assert_eq!(deals::for_team("`title` is required."), "Title is required.");
    }

    #[test]
    fn every_step_that_a_state_forbids_says_why() {
        let operations = steps::ALL.iter().map(|step| step.operation);
        for operation in operations.chain([Operation::UpdateTerms, Operation::UpdateTexts, Operation::Attach])
        {
            for (review, catalog) in ReviewStatus::ALL
                .iter()
                .flat_map(|review| CatalogStatus::ALL.iter().map(move |catalog| (*review, *catalog)))
            {
                let status = ListingStatus { review, catalog };
                let state = crate::domain::listing_lifecycle::ListingState {
                    status,
                    is_certified: false,
                    is_featured: false,
                };
                if state.after(operation).is_err() {
                    let reason = why_not_in(status, operation);
                    assert_ne!(reason, "It is not in the right state.", "{operation:?} {status:?}");
                }
            }
        }
    }
}
