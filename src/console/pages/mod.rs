//! All pages: one file each, and one line in the table.

mod bid_form;
mod bids;
mod buy;
mod catalog;
mod compare;
mod deals;
mod help;
mod listing;
mod notifications;
mod opportunities;
mod purchases;
mod receipt;
mod receipt_files;
mod settings;
mod side;
pub mod sign_in;
mod sign_out;
mod start;
mod wallet;
mod world_clock;

use super::page::PageRow;

/// Returns the table of pages, in the order of the navigation.
pub fn rows() -> Vec<PageRow> {
    vec![
        sign_in::ROW,
        sign_out::ROW,
        PageRow::page::<start::Start>(),
        PageRow::page::<help::Help>(),
        PageRow::action::<side::ChooseSide>(),
        PageRow::page::<catalog::Catalog>(),
        PageRow::action::<catalog::ChooseView>(),
        PageRow::page::<compare::Compare>(),
        PageRow::page::<listing::ListingPage>(),
        PageRow::page::<listing::TasksetPage>(),
        PageRow::form::<buy::Buy>(),
        PageRow::form::<bid_form::BidForm>(),
        PageRow::page::<purchases::Purchases>(),
        PageRow::page::<receipt::ReceiptPage>(),
        PageRow::page::<receipt_files::Digests>(),
        PageRow::page::<receipt_files::AgreementText>(),
        PageRow::action::<receipt_files::Prepare>(),
        PageRow::page::<bids::Bids>(),
        PageRow::page::<bids::Bid>(),
        PageRow::form::<bids::WithdrawBid>(),
        PageRow::page::<opportunities::list::Opportunities>(),
        PageRow::form::<opportunities::compose::NewOpportunity>(),
        PageRow::page::<opportunities::detail::OpportunityPage>(),
        PageRow::page::<opportunities::detail::ProjectOpportunity>(),
        PageRow::form::<opportunities::compose::EditOpportunity>(),
        PageRow::form::<opportunities::steps::Publish>(),
        PageRow::form::<opportunities::steps::Extend>(),
        PageRow::form::<opportunities::steps::Close>(),
        PageRow::form::<opportunities::steps::Cancel>(),
        PageRow::form::<opportunities::vendors::ExcludeVendor>(),
        PageRow::form::<opportunities::bids::AcceptBid>(),
        PageRow::form::<opportunities::bids::DeclineBid>(),
        PageRow::form::<opportunities::bids::AcceptDelivery>(),
        PageRow::page::<wallet::WalletPage>(),
        PageRow::page::<wallet::entries::CreditEntries>(),
        PageRow::page::<wallet::entries::EarningsEntries>(),
        PageRow::page::<wallet::credit_purchases::CreditPurchases>(),
        PageRow::form::<wallet::credit_purchases::CancelRequest>(),
        PageRow::form::<wallet::buy_credits::BuyCredits>(),
        PageRow::page::<notifications::Notifications>(),
        PageRow::action::<notifications::MarkAllRead>(),
        PageRow::action::<notifications::MarkRead>(),
        PageRow::page::<settings::profile::Profile>(),
        PageRow::form::<settings::nda::Nda>(),
        PageRow::page::<settings::keys::Keys>(),
        PageRow::form::<settings::key_forms::NewKey>(),
        PageRow::form::<settings::key_forms::ReplaceKey>(),
        PageRow::form::<settings::key_forms::RevokeKey>(),
        PageRow::page::<settings::sessions::Sessions>(),
        PageRow::action::<settings::sessions::EndSession>(),
        PageRow::action::<settings::sessions::EndOthers>(),
        PageRow::page::<settings::webhooks::Webhooks>(),
        PageRow::form::<settings::webhook_forms::NewWebhook>(),
        PageRow::page::<settings::webhook::WebhookPage>(),
        PageRow::action::<settings::webhook::TestWebhook>(),
        PageRow::action::<settings::webhook::SwitchWebhook>(),
        PageRow::form::<settings::webhook_forms::ChangeWebhook>(),
        PageRow::form::<settings::webhook_forms::ReplaceSecret>(),
        PageRow::form::<settings::webhook_forms::DeleteWebhook>(),
        PageRow::page::<settings::webhook::DeliveryPage>(),
        PageRow::action::<settings::webhook::Redeliver>(),
        PageRow::page::<settings::grants::Grants>(),
        PageRow::form::<settings::grants::NewGrant>(),
        PageRow::form::<settings::grants::RevokeGrant>(),
        PageRow::form::<world_clock::WorldClock>(),
        PageRow::action::<world_clock::SetMode>(),
    ]
}
