//! Tools over buyer routes.

use super::{Audience::Buyers, Calls, Row, list, listed, row, whole};

/// Description of the argument that selects the kind of request.
const REQUESTS: &str = "Listings, or custom task work.";

/// Tools for teams with the buyer role, in display order.
pub const TOOLS: [Row; 5] = [
    row(
        "list_purchases",
        "Purchases",
        Buyers,
        "The team's completed purchases, newest first, each with its listing.",
        list("list_purchases", "purchases"),
    ),
    row(
        "list_offers",
        "Offers",
        Buyers,
        "The team's bids on listings, newest first, each with its listing. `offer.status`: submitted (open), \
         accepted, declined, withdrawn or expired.",
        list("list_offers", "offers"),
    ),
    row(
        "list_own_opportunities",
        "Own opportunities",
        Buyers,
        "Requests that the team posted, newest first, in any status.",
        Calls::Choice {
            argument: "kind",
            words: REQUESTS,
            usual: Some("listing"),
            of: &[
                ("listing", Buyers, listed("list_own_opportunities", "items")),
                ("project", Buyers, listed("list_own_project_opportunities", "items")),
            ],
        },
    ),
    row(
        "get_own_opportunity",
        "Own opportunity",
        Buyers,
        "One request that the team posted.",
        Calls::Choice {
            argument: "kind",
            words: REQUESTS,
            usual: Some("listing"),
            of: &[
                ("listing", Buyers, whole("get_own_opportunity")),
                ("project", Buyers, whole("get_own_project_opportunity")),
            ],
        },
    )
    .with_ids("list_own_opportunities"),
    row(
        "list_project_bids",
        "Bids on a project",
        Buyers,
        "Vendors' bids on one of the team's requests for custom task work.",
        list("list_project_bids", "items"),
    )
    .with_ids("list_own_opportunities with `kind` project"),
];
