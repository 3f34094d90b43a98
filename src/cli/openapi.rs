//! `marketplace openapi`

use clap::Args;

use super::{Common, Done, say};
use crate::rest::{self, Side};

/// Prints the OpenAPI document of one side.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace openapi buyer > buyer.json")]
pub struct Openapi {
    /// Whose document: vendor or buyer.
    side: Side,
}

impl Openapi {
    pub(super) fn run(&self, common: &Common) -> Done {
        let settings = common.layers()?.settle()?;
        say(rest::document(self.side, &rest::base_url(&settings, settings.server.listen)).trim_end());
        Ok(())
    }
}
