//! The lifecycle of an opportunity, for listings or for a project, as a pure state machine.

use super::{opportunities::OpportunityStatus, state_machine::state_machine};
use crate::string_enum::string_enum;

string_enum! {
    /// An operation on an opportunity that exists.
    OpportunityOperation {
        /// Replaces any field.
        Update = "update",
        /// Sets a later deadline.
        ExtendDeadline = "extend_deadline",
        /// Excludes teams.
        Exclude = "exclude",
        /// Publishes the opportunity.
        Publish = "publish",
        /// Closes the opportunity to responses.
        Close = "close",
        /// Cancels the opportunity.
        Cancel = "cancel",
    }
}

state_machine! {
    /// Vendors can read canceled opportunities, so only one that was published can be canceled. An abandoned
    /// draft is closed, so no vendor can see it.
    OpportunityStatus by OpportunityOperation;
    Draft: Update => Draft, Exclude => Draft, Publish => Published, Close => Closed;
    Published: ExtendDeadline => Published, Exclude => Published, Close => Closed, Cancel => Cancelled;
}
