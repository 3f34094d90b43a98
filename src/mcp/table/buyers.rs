//! Tools over the routes of buyers.

use super::{Audience::Buyers, Calls, Row, list, listed, row, whole};

/// What the requests of buyers are for.
const REQUESTS: &str = "For listings, or for custom task work.";

/// Every one, in order.
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
        "The team's bids on listings, newest first, each with its listing. `offer.status`: submitted (open), accepted, declined, \
         withdrawn or expired.",
        list("list_offers", "offers"),
    ),
    row(
        "list_own_opportunities",
        "Own opportunities",
        Buyers,
        "Requests that the team itself posted, newest first, at every status.",
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
        "One request that the team itself posted.",
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
        "Vendors' bids on a request of the team for custom task work.",
        list("list_project_bids", "items"),
    )
    .with_ids("list_own_opportunities with `kind` project"),
];
