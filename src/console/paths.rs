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

/// Returns the path of a listing.
pub fn listing(id: Uuid) -> String {
    format!("/listings/{id}")
}

/// Returns the path on which a listing, or a part of it, is bought.
pub fn buy(listing: Uuid) -> String {
    format!("/listings/{listing}/buy")
}

/// Returns the path on which a bid on a listing is made.
pub fn make_bid(listing: Uuid) -> String {
    format!("/listings/{listing}/bid")
}

/// Returns the path of a taskset in a listing.
pub fn taskset(listing: Uuid, taskset: Uuid) -> String {
    format!("/listings/{listing}/tasksets/{taskset}")
}

/// Returns the path of a purchase.
pub fn purchase(id: Uuid) -> String {
    format!("{PURCHASES}/{id}")
}

/// Returns the path of a bid of the team.
pub fn bid(id: Uuid) -> String {
    format!("{BIDS}/{id}")
}

/// Returns the path of an opportunity of the team.
pub fn opportunity(id: Uuid) -> String {
    format!("{OPPORTUNITIES}/{id}")
}

/// Returns the path of a webhook of the team.
pub fn webhook(id: Uuid) -> String {
    format!("{WEBHOOKS}/{id}")
}

/// Returns the path of a delivery to a webhook of the team.
pub fn webhook_delivery(webhook: Uuid, delivery: Uuid) -> String {
    format!("{WEBHOOKS}/{webhook}/deliveries/{delivery}")
}

/// Returns the path of an asset of the team.
pub fn asset(id: Uuid) -> String {
    format!("{INVENTORY}/{id}")
}

/// Returns the path of a group of assets.
pub fn group(id: Uuid) -> String {
    format!("{INVENTORY}/groups/{id}")
}

/// Returns the path of a change of many assets.
pub fn bulk_change(id: Uuid) -> String {
    format!("{BULK_CHANGES}/{id}")
}

/// Returns the path of an upload of a file.
pub fn upload(id: Uuid) -> String {
    format!("{ADD_ASSETS}/uploads/{id}")
}

/// Returns the path of a listing that the team offers.
pub fn own_listing(id: Uuid) -> String {
    format!("{OWN_LISTINGS}/{id}")
}

/// Returns the path on which a listing that the team offers is edited.
pub fn edit_listing(id: Uuid) -> String {
    format!("{}/edit", own_listing(id))
}

/// Returns the path on which a listing that the team offers is shown as buyers see it.
pub fn preview_listing(id: Uuid) -> String {
    format!("{}/preview", own_listing(id))
}

/// Returns the path on which assets are attached to a listing that the team offers.
pub fn listing_assets(id: Uuid) -> String {
    format!("{}/assets", own_listing(id))
}

/// Returns the path of what a buyer asks vendors for.
pub fn data_request(id: Uuid) -> String {
    format!("{DATA_REQUESTS}/{id}")
}

/// Returns the path of an estimation.
pub fn estimation(id: Uuid) -> String {
    format!("{ESTIMATIONS}/{id}")
}

/// Returns the path of a bid of the team on a project.
pub fn project_bid(id: Uuid) -> String {
    format!("{PROJECT_BIDS}/{id}")
}
