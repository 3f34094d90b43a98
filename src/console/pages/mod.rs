//! All pages: one file each, and one line in the table.

mod adding;
mod asset;
mod bid_form;
mod bids;
mod bulk;
mod buy;
mod catalog;
mod compare;
mod composer;
mod deals;
mod estimations;
mod help;
mod inventory;
mod listing;
mod notifications;
mod operator;
mod opportunities;
mod own_listings;
mod purchases;
mod quality;
mod receipt;
mod receipt_files;
mod requests;
mod selling;
mod settings;
mod side;
pub mod sign_in;
mod sign_out;
mod start;
mod wallet;
mod world_clock;

use super::{navigation::PageRow, questions};

/// Returns the table of pages, in the order of the navigation.
pub fn rows() -> Vec<PageRow> {
    [of_buyers(), of_vendors(), of_teams(), operator::rows()].concat()
}

/// Returns the pages for signing in, finding, and buying.
fn of_buyers() -> Vec<PageRow> {
    vec![
        sign_in::ROW,
        sign_out::ROW,
        PageRow::page(start::Start),
        PageRow::page(help::Help),
        PageRow::action(side::ChooseSide),
        PageRow::page(catalog::Catalog),
        PageRow::action(catalog::ChooseView),
        PageRow::page(compare::Compare),
        PageRow::page(listing::ListingPage),
        PageRow::page(listing::TasksetPage),
        PageRow::page(listing::Croissant),
        PageRow::form(buy::Buy),
        PageRow::form(bid_form::BidForm),
        PageRow::list(purchases::Purchases),
        PageRow::page(receipt::ReceiptPage),
        PageRow::page(receipt_files::Digests),
        PageRow::page(receipt_files::AgreementText),
        PageRow::page(receipt_files::AttestationFile),
        PageRow::page(receipt_files::ProofFile),
        PageRow::action(receipt_files::Prepare),
        PageRow::list(bids::Bids),
        PageRow::page(bids::Bid),
        questions::row(bids::WithdrawBid),
        PageRow::list(opportunities::list::Opportunities),
        PageRow::form(opportunities::compose::NewOpportunity),
        PageRow::page(opportunities::detail::OpportunityPage),
        PageRow::page(opportunities::detail::ProjectOpportunity),
        PageRow::form(opportunities::compose::EditOpportunity),
        PageRow::form(opportunities::steps::Publish),
        PageRow::form(opportunities::steps::Extend),
        PageRow::form(opportunities::steps::Close),
        PageRow::form(opportunities::steps::Cancel),
        PageRow::form(opportunities::vendors::ExcludeVendor),
        PageRow::form(opportunities::bids::AcceptBid),
        PageRow::form(opportunities::bids::DeclineBid),
        PageRow::form(opportunities::bids::AcceptDelivery),
    ]
}

/// Returns the pages for what vendors have and sell.
fn of_vendors() -> Vec<PageRow> {
    vec![
        PageRow::page(selling::start::VendorStart),
        PageRow::page(inventory::Inventory),
        PageRow::action(inventory::ChooseColumns),
        PageRow::form(inventory::groups::NewGroup),
        PageRow::form(inventory::groups::RenameGroup),
        PageRow::form(inventory::groups::DeleteGroup),
        PageRow::list(bulk::list::BulkChanges),
        PageRow::form(bulk::new::NewBulkChange),
        PageRow::page(bulk::result::BulkChangePage),
        PageRow::action(bulk::result::CancelBulkChange),
        PageRow::form(composer::compose::NewListing),
        PageRow::form(composer::compose::EditListing),
        PageRow::page(composer::preview::Preview),
        PageRow::form(composer::assets::Assets),
        PageRow::action(composer::assets::Detach),
        PageRow::page(own_listings::list::OwnListings),
        PageRow::page(own_listings::detail::OwnListing),
        PageRow::form(own_listings::steps::Submit),
        PageRow::form(own_listings::steps::Withdraw),
        PageRow::form(own_listings::steps::Publish),
        PageRow::form(own_listings::steps::Unpublish),
        PageRow::form(own_listings::steps::Archive),
        PageRow::form(own_listings::steps::Restore),
        PageRow::page(own_listings::reviews::Changes),
        PageRow::page(own_listings::reviews::Rounds),
        PageRow::list(selling::bids::ReceivedBids),
        PageRow::page(selling::bids::ReceivedBid),
        questions::row(selling::bids::AcceptBid),
        questions::row(selling::bids::DeclineBid),
        PageRow::list(selling::sales::Sales),
        PageRow::page(selling::sale::SaleStatement),
        PageRow::page(selling::earnings::Earnings),
        PageRow::form(selling::convert::Convert),
        PageRow::form(selling::withdraw::Withdraw),
        PageRow::list(selling::withdrawals::Withdrawals),
        PageRow::list(requests::list::Requests),
        PageRow::page(requests::detail::RequestPage),
        PageRow::form(requests::bid_form::BidOnProject),
        PageRow::list(requests::bids::ProjectBids),
        PageRow::page(requests::bids::ProjectBidPage),
        questions::row(requests::withdraw::WithdrawProjectBid),
        PageRow::form(requests::deliver::Deliver),
        PageRow::list(estimations::list::Estimations),
        PageRow::page(estimations::quotes::Quotes),
        PageRow::form(estimations::new::NewEstimation),
        PageRow::page(estimations::detail::EstimationPage),
        PageRow::form(estimations::add::AddToInventory),
        PageRow::list(quality::runs::Runs),
        PageRow::page(quality::findings::Findings),
        PageRow::page(quality::run::RunPage),
        PageRow::page(adding::choose::AddAssets),
        PageRow::form(adding::repository::AddRepository),
        PageRow::form(adding::repository::LinkRepository),
        PageRow::form(adding::file::AddFile),
        PageRow::form(adding::file::AttachFile),
        PageRow::receiver(adding::whole_file::AddWholeFile),
        PageRow::receiver(adding::whole_file::AttachWholeFile),
        PageRow::page(adding::upload::UploadPage),
        PageRow::receiver(adding::upload::UploadPart),
        PageRow::action(adding::upload::CompleteUpload),
        questions::row(adding::upload::DiscardUpload),
        PageRow::page(adding::table::AddTable),
        PageRow::receiver(adding::table::SendTable),
        PageRow::page(adding::table::Template),
        PageRow::page(adding::reference::Reference),
        PageRow::form(adding::tasks::AddTasks),
        PageRow::page(asset::detail::AssetPage),
        PageRow::form(asset::edit::EditAsset),
        PageRow::action(asset::detail::MoveAsset),
        PageRow::action(asset::detail::RetryCopy),
        PageRow::form(asset::check::CheckAsset),
        PageRow::page(asset::quality::AssetRun),
        questions::row(asset::delete::DetachData),
        questions::row(asset::delete::DeleteAsset),
    ]
}

/// Returns the pages for the money, the notifications, and the settings of a team.
fn of_teams() -> Vec<PageRow> {
    vec![
        PageRow::page(wallet::WalletPage),
        PageRow::list(wallet::entries::CreditEntries),
        PageRow::list(wallet::entries::EarningsEntries),
        PageRow::list(wallet::credit_purchases::CreditPurchases),
        questions::row(wallet::credit_purchases::CancelRequest),
        PageRow::form(wallet::buy_credits::BuyCredits),
        PageRow::list(notifications::Notifications),
        PageRow::action(notifications::MarkAllRead),
        PageRow::action(notifications::MarkRead),
        PageRow::action(notifications::OpenNotification),
        PageRow::page(settings::profile::Profile),
        PageRow::form(settings::nda::Nda),
        PageRow::page(settings::keys::Keys),
        PageRow::form(settings::key_forms::NewKey),
        PageRow::form(settings::key_forms::ReplaceKey),
        PageRow::form(settings::key_forms::RevokeKey),
        PageRow::page(settings::sessions::Sessions),
        PageRow::action(settings::sessions::EndSession),
        PageRow::action(settings::sessions::EndOthers),
        PageRow::page(settings::webhooks::Webhooks),
        PageRow::form(settings::webhook_forms::NewWebhook),
        PageRow::page(settings::webhook::WebhookPage),
        PageRow::action(settings::webhook::TestWebhook),
        PageRow::action(settings::webhook::SwitchWebhook),
        PageRow::form(settings::webhook_forms::ChangeWebhook),
        PageRow::form(settings::webhook_forms::ReplaceSecret),
        questions::row(settings::webhook_forms::DeleteWebhook),
        PageRow::page(settings::webhook::DeliveryPage),
        PageRow::action(settings::webhook::Redeliver),
        PageRow::form(selling::payout::PayoutSetup),
        PageRow::page(settings::grants::Grants),
        PageRow::form(settings::grants::NewGrant),
        questions::row(settings::grants::RevokeGrant),
        PageRow::form(world_clock::WorldClock),
        PageRow::action(world_clock::SetMode),
    ]
}
