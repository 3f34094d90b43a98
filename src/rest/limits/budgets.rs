//! The rate limit budgets of a team, and which operation is charged to which.

use poem::http::Method;

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

/// The ends of the paths of operations that return quality checks or summaries of them.
const READS_OF_CHECKS: [&str; 3] = ["/qc", "/qc-reports", "/quality"];

impl Budget {
    /// Returns the budget that an operation is charged to, by its method and its documented path.
    pub fn for_operation(method: &Method, path: &str) -> Budget {
        match path {
            "/v2/listings/browse/purchases" | "/v2/listings/browse/offers" => Budget::Purchases,
            "/v2/listings/sales" => Budget::Sales,
            _ if READS_OF_CHECKS.iter().any(|end| path.ends_with(end)) => Budget::QualityChecks,
            _ if path.starts_with("/v2/listings/browse") => Budget::Catalog,
            _ if path.starts_with("/v2/listings/") && path.ends_with("/history") => Budget::History,
            _ if path.starts_with("/v2/vendor/uploads/") => Budget::Uploads,
            _ if *method == Method::POST && (path.ends_with("/qc/runs") || path.ends_with("/refresh-qc")) => {
                Budget::QualityChecks
            }
            _ => Budget::Other,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_charged_to_their_budget() {
        for (method, path, budget) in [
            (Method::GET, "/v2/listings/browse", Budget::Catalog),
            (Method::GET, "/v2/listings/browse/{listing_id}/tasksets/{taskset_id}", Budget::Catalog),
            (Method::GET, "/v2/listings/browse/offers", Budget::Purchases),
            (Method::GET, "/v2/listings/browse/purchases", Budget::Purchases),
            (Method::GET, "/v2/listings/{listing_id}/history", Budget::History),
            (Method::GET, "/v2/listings/sales", Budget::Sales),
            (Method::GET, "/v2/listings/browse/{listing_id}/quality", Budget::QualityChecks),
            (Method::GET, "/v2/listings/{listing_id}/qc", Budget::QualityChecks),
            (Method::GET, "/v2/listings/qc-reports", Budget::QualityChecks),
            (Method::GET, "/v2/codebases/{asset_id}/qc", Budget::QualityChecks),
            (Method::GET, "/v2/raw-data/{asset_id}/qc", Budget::QualityChecks),
            (Method::GET, "/v2/tasks/qc-facets", Budget::Other),
            (Method::POST, "/v2/tasks/refresh-qc", Budget::QualityChecks),
            (Method::GET, "/v2/tasks/refresh-qc", Budget::Other),
            (Method::POST, "/v2/codebases/{asset_id}/qc/runs", Budget::QualityChecks),
            (Method::POST, "/v2/vendor/uploads/grants/{token}/parts", Budget::Uploads),
            (Method::GET, "/v2/wallet", Budget::Other),
            (Method::GET, "/v2/listings", Budget::Other),
            (Method::GET, "/v2/asset-types", Budget::Other),
        ] {
            assert_eq!(Budget::for_operation(&method, path), budget, "{method} {path}");
        }
    }
}
