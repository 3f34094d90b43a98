//! The rate limit budgets of a team. A route declares the one that it is charged to, unless it is `other`.

use crate::{config::LimitSettings, string_enum::string_enum};

string_enum! {
    /// A rate limit budget of a team: a number of requests per minute to a group of operations.
    Budget {
        /// The catalog: browse pages, listing details, and previews.
        Catalog = "catalog",
        /// The history of the team's listings.
        History = "history",
        /// The team's sales.
        Sales = "sales",
        /// The team's purchases and offers.
        Purchases = "purchases",
        /// Quality checks: starting and reading them, reports, and starting a refresh of task quality.
        QualityChecks = "quality_checks",
        /// Uploads under a grant.
        Uploads = "uploads",
        /// All other operations.
        Other = "other",
    }
}

impl Budget {
    /// Returns the number of requests per minute; 0 means unlimited.
    pub const fn quota(self, settings: &LimitSettings) -> u32 {
        match self {
            Budget::Catalog => settings.catalog,
            Budget::History => settings.history,
            Budget::Sales => settings.sales,
            Budget::Purchases => settings.purchases,
            Budget::QualityChecks => settings.quality_checks,
            Budget::Uploads => settings.uploads,
            Budget::Other => settings.other,
        }
    }
}
