//! What buyers ask for, and vendors' bids on it.

use super::vocabulary::vocabulary;

vocabulary! {
    /// Where an opportunity stands.
    OpportunityStatus {
        /// Being written.
        Draft = "draft",
        /// Open to answers.
        Published = "published",
        /// Ended.
        Closed = "closed",
        /// Called off.
        Cancelled = "cancelled",
    }
}

vocabulary! {
    /// What a budget is for.
    BudgetUnit {
        /// One task.
        PerTask = "per_task",
        /// Everything.
        Total = "total",
    }
}

vocabulary! {
    /// Which vendors may see an opportunity.
    VisibilityMode {
        /// Every vendor.
        AllVendors = "all_vendors",
        /// Every vendor but the excluded ones.
        AllExcept = "all_except",
    }
}

vocabulary! {
    /// Where a project bid stands.
    BidStatus {
        /// Waiting for the buyer.
        Submitted = "submitted",
        /// Taken by the buyer.
        Accepted = "accepted",
        /// Refused by the buyer.
        Declined = "declined",
        /// Taken back by the vendor.
        Withdrawn = "withdrawn",
        /// Handed over.
        Delivered = "delivered",
        /// Accepted as done.
        Completed = "completed",
    }
}
