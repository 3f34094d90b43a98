//! The `marketplace asset-type` command.

use super::{keys::parse_timestamp, prelude::*};
use crate::{
    domain::{assets::Kind, time::Timestamp},
    string_enum::StringEnum,
};

/// Manage asset types: which kinds of assets vendors can list.
#[derive(Debug, Subcommand)]
pub enum AssetTypeCommand {
    /// List asset types.
    #[command(after_help = "Example:\n  marketplace asset-type list --deprecated true")]
    List {
        /// Whether they are enabled [default: both]
        #[arg(long, value_name = "BOOL")]
        enabled: Option<bool>,
        /// Whether they are deprecated [default: both]
        #[arg(long, value_name = "BOOL")]
        deprecated: Option<bool>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an asset type.
    #[command(after_help = "Example:\n  marketplace asset-type show raw_data")]
    Show(OneType),
    /// Enable an asset type.
    #[command(after_help = "Example:\n  marketplace asset-type enable raw_data")]
    Enable(OneType),
    /// Disable an asset type.
    #[command(after_help = "Example:\n  marketplace asset-type disable raw_data")]
    Disable(OneType),
    /// Deprecate an asset type: announce when it is retired.
    #[command(
        after_help = "Example:\n  marketplace asset-type deprecate raw_data --retires 2027-06-01T00:00:00Z \\\n    --message \"List codebases instead.\""
    )]
    Deprecate {
        #[command(flatten)]
        of: OneType,
        /// Time at which it is retired, in RFC 3339 format.
        #[arg(long, value_parser = parse_timestamp)]
        retires: Timestamp,
        /// What vendors have to know.
        #[arg(long, value_name = "TEXT")]
        message: String,
        /// Accept no new listings of the type until then.
        #[arg(long)]
        no_new_listings: bool,
    },
    /// Retire an asset type that was deprecated.
    #[command(after_help = "Example:\n  marketplace asset-type retire raw_data")]
    Retire(OneType),
}

/// An asset type.
#[derive(Debug, Args)]
pub struct OneType {
    /// The kind of assets.
    #[arg(value_parser = parse_value::<Kind>)]
    slug: Kind,
}

const ASSET_TYPES: Records = Records::new(
    "/asset-types",
    "slug stage enabled accepts_new_listings retires_at label",
    "slug label stage enabled accepts_new_listings listing_kinds deprecated_at retires_at message",
);

impl ApiCommand for AssetTypeCommand {
    fn run(&self, client: &Client) -> CommandResult {
        let enable = |of: &OneType, enabled: bool| {
            ASSET_TYPES.edit(client, of.slug.as_str(), &json!({"enabled": enabled}))
        };
        match self {
            AssetTypeCommand::List { enabled, deprecated, limit } => {
                let filters = [("enabled", json!(enabled)), ("deprecated", json!(deprecated))];
                ASSET_TYPES.list(client, &filters, *limit)
            }
            AssetTypeCommand::Show(of) => ASSET_TYPES.show(client, of.slug.as_str()),
            AssetTypeCommand::Enable(of) => enable(of, true),
            AssetTypeCommand::Disable(of) => enable(of, false),
            AssetTypeCommand::Deprecate { of, retires, message, no_new_listings } => {
                let body = json!({
                    "retires_at": retires,
                    "message": message,
                    "accepts_new_listings": !no_new_listings,
                });
                ASSET_TYPES.change(client, of.slug.as_str(), "deprecate", &body).map(drop)
            }
            AssetTypeCommand::Retire(of) => ASSET_TYPES.perform(client, of.slug.as_str(), "retire"),
        }
    }
}
