//! The `marketplace openapi` command.

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line};
use crate::rest::{self, Api};

/// Print the OpenAPI document of the vendor API or the buyer API.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace openapi buyer > buyer.json")]
pub struct Openapi {
    /// The API to document.
    side: Api,
}

impl Openapi {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let settings = options.load_layers()?.resolve()?;
        let base_url = rest::base_url(&settings, settings.server.listen);
        print_line(rest::openapi_json(self.side, &base_url, &settings.contact).trim_end());
        Ok(())
    }
}
