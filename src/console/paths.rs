//! Paths of pages that other pages link, below [`PREFIX`](super::address::PREFIX).

use uuid::Uuid;

/// The page on which people sign in.
pub const SIGN_IN: &str = "/sign-in";

/// What operators start with.
pub const OPERATOR_START: &str = "/operator";

/// The search of operators.
pub const OPERATOR_SEARCH: &str = "/operator/search";

/// Path of the listings of all vendors, for operators.
pub const OPERATOR_LISTINGS: &str = "/operator/listings";

/// Events, for operators.
pub const OPERATOR_EVENTS: &str = "/operator/events";

/// Audit of all changes, for operators.
pub const OPERATOR_AUDIT: &str = "/operator/audit";

/// Path of the announcement and maintenance, for operators.
pub const OPERATOR_ANNOUNCEMENTS: &str = "/operator/announcements";

/// The catalog.
pub const CATALOG: &str = "/catalog";

/// Listings side by side.
pub const COMPARE: &str = "/compare";

/// The purchases of the team.
pub const PURCHASES: &str = "/purchases";

/// The bids of the team.
pub const BIDS: &str = "/bids";

/// The opportunities of the team.
pub const OPPORTUNITIES: &str = "/opportunities";

/// The wallet of the team.
pub const WALLET: &str = "/wallet";

/// The requested credits of the team.
pub const CREDIT_PURCHASES: &str = "/wallet/credit-purchases";

/// The form with which credits are requested.
pub const BUY_CREDITS: &str = "/wallet/buy-credits";

/// The assets of the team.
pub const INVENTORY: &str = "/inventory";

/// The form that creates a group of assets.
pub const NEW_GROUP: &str = "/inventory/groups/new";

/// The ways to add assets.
pub const ADD_ASSETS: &str = "/inventory/add";

/// The changes of many assets at once.
pub const BULK_CHANGES: &str = "/inventory/changes";

/// The estimations of the team.
pub const ESTIMATIONS: &str = "/estimations";

/// The quality runs of the team.
pub const QUALITY: &str = "/quality";

/// The start of a team that sells.
pub const SELLING: &str = "/selling";

/// The listings that the team offers.
pub const OWN_LISTINGS: &str = "/selling/listings";

/// The form with which a listing is written.
pub const NEW_LISTING: &str = "/selling/listings/new";

/// Name of the query parameter of [`NEW_LISTING`] with the asset for the new listing.
pub const LISTED_ASSET: &str = "asset";

/// The bids on listings of the team.
pub const OFFERS: &str = "/selling/bids";

/// The sales of the team.
pub const SALES: &str = "/selling/sales";

/// The earnings of the team.
pub const EARNINGS: &str = "/selling/earnings";

/// The withdrawals of the team's earnings.
pub const WITHDRAWALS: &str = "/selling/withdrawals";

/// Where the market pays the earnings of the team.
pub const PAYOUT_SETUP: &str = "/settings/payout";

/// What buyers ask vendors for.
pub const DATA_REQUESTS: &str = "/requests";

/// The bids of the team on projects.
pub const PROJECT_BIDS: &str = "/requests/bids";

/// The notifications of the team.
pub const NOTIFICATIONS: &str = "/notifications";

/// The profile of the team.
pub const PROFILE: &str = "/settings";

/// The mutual NDA.
pub const NDA: &str = "/settings/nda";

/// The keys of the team.
pub const KEYS: &str = "/settings/keys";

/// The sessions of the team.
pub const SESSIONS: &str = "/settings/sessions";

/// The webhooks of the team.
pub const WEBHOOKS: &str = "/settings/webhooks";

/// The upload grants of the team.
pub const GRANTS: &str = "/settings/grants";

/// The guide for people.
pub const HELP: &str = "/help";

/// The clock of a world.
pub const WORLD_CLOCK: &str = "/world-clock";

/// Declares functions that return the paths of records, or of pages about them, from IDs.
macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident($($id:ident),+) = $path:literal;)+) => {
        $(
            $(#[$doc])*
            pub fn $name($($id: Uuid),+) -> String {
                format!($path)
            }
        )+
    };
}

paths! {
    /// Returns the path of a listing.
    listing(id) = "/listings/{id}";

    /// Returns the path on which a listing, or a part of it, is bought.
    buy(listing) = "/listings/{listing}/buy";

    /// Returns the path on which a bid on a listing is made.
    make_bid(listing) = "/listings/{listing}/bid";

    /// Returns the path of a taskset in a listing.
    taskset(listing, taskset) = "/listings/{listing}/tasksets/{taskset}";

    /// Returns the path of a purchase.
    purchase(id) = "{PURCHASES}/{id}";

    /// Returns the path of a bid of the team.
    bid(id) = "{BIDS}/{id}";

    /// Returns the path of an opportunity of the team.
    opportunity(id) = "{OPPORTUNITIES}/{id}";

    /// Returns the path of a webhook of the team.
    webhook(id) = "{WEBHOOKS}/{id}";

    /// Returns the path of a delivery to a webhook of the team.
    webhook_delivery(webhook, delivery) = "{WEBHOOKS}/{webhook}/deliveries/{delivery}";

    /// Returns the path of an asset of the team.
    asset(id) = "{INVENTORY}/{id}";

    /// Returns the path of a group of assets.
    group(id) = "{INVENTORY}/groups/{id}";

    /// Returns the path of a change of many assets.
    bulk_change(id) = "{BULK_CHANGES}/{id}";

    /// Returns the path of an upload of a file.
    upload(id) = "{ADD_ASSETS}/uploads/{id}";

    /// Returns the path of a listing that the team offers.
    own_listing(id) = "{OWN_LISTINGS}/{id}";

    /// Returns the path on which a listing that the team offers is edited.
    edit_listing(id) = "{OWN_LISTINGS}/{id}/edit";

    /// Returns the path on which a listing that the team offers is shown as buyers see it.
    preview_listing(id) = "{OWN_LISTINGS}/{id}/preview";

    /// Returns the path on which assets are attached to a listing that the team offers.
    listing_assets(id) = "{OWN_LISTINGS}/{id}/assets";

    /// Returns the path of what a buyer asks vendors for.
    data_request(id) = "{DATA_REQUESTS}/{id}";

    /// Returns the path of an estimation.
    estimation(id) = "{ESTIMATIONS}/{id}";

    /// Returns the path of a bid of the team on a project.
    project_bid(id) = "{PROJECT_BIDS}/{id}";
}
