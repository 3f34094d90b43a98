//! Paths of pages that other pages link, below [`PREFIX`](super::address::PREFIX).

use uuid::Uuid;

/// The page on which people sign in.
pub const SIGN_IN: &str = "/sign-in";

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
