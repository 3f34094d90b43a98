//! Tools over buyer routes.

use super::{Audience::Buyers, ToolEntry, ToolOperations, entry, list_call, record_call, single_list};

/// Description of the argument that selects the kind of request.
const REQUEST_KIND_DESCRIPTION: &str = "Listings, or custom task work.";

/// Tools for teams with the buyer role, in display order.
pub const TOOLS: [ToolEntry; 5] = [
    entry(
        "list_purchases",
        "Purchases",
        Buyers,
        "The team's completed purchases, newest first, each with its listing.",
        single_list("list_purchases", "purchases"),
    ),
    entry(
        "list_offers",
        "Offers",
        Buyers,
        "The team's bids on listings, newest first, each with its listing. `offer.status`: submitted (open), \
         accepted, declined, withdrawn or expired.",
        single_list("list_offers", "offers"),
    ),
    entry(
        "list_own_opportunities",
        "Own opportunities",
        Buyers,
        "Requests that the team posted, newest first, in any status.",
        ToolOperations::Choice {
            argument: "kind",
            description: REQUEST_KIND_DESCRIPTION,
            default: Some("listing"),
            options: &[
                ("listing", Buyers, list_call("list_own_opportunities", "items")),
                ("project", Buyers, list_call("list_own_project_opportunities", "items")),
            ],
        },
    ),
    entry(
        "get_own_opportunity",
        "Own opportunity",
        Buyers,
        "One request that the team posted.",
        ToolOperations::Choice {
            argument: "kind",
            description: REQUEST_KIND_DESCRIPTION,
            default: Some("listing"),
            options: &[
                ("listing", Buyers, record_call("get_own_opportunity")),
                ("project", Buyers, record_call("get_own_project_opportunity")),
            ],
        },
    )
    .with_ids("list_own_opportunities"),
    entry(
        "list_project_bids",
        "Bids on a project",
        Buyers,
        "Vendors' bids on one of the team's requests for custom task work.",
        single_list("list_project_bids", "items"),
    )
    .with_ids("list_own_opportunities with `kind` project"),
];
