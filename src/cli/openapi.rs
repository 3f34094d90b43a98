//! The `marketplace openapi` command.

use clap::Args;

use super::{Common, Done, say};
use crate::rest::{self, Side};

/// Print the OpenAPI document of the vendor API or the buyer API.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace openapi buyer > buyer.json")]
pub struct Openapi {
    /// The API to document.
    side: Side,
}

impl Openapi {
    pub(super) fn run(&self, common: &Common) -> Done {
        let settings = common.layers()?.settle()?;
        say(rest::document(self.side, &rest::base_url(&settings, settings.server.listen)).trim_end());
        Ok(())
    }
}
