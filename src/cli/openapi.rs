//! The `marketplace openapi` command.

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line};
use crate::rest::{self, APIS, Api};

/// Print the OpenAPI document of the vendor API or the buyer API.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace openapi buyer > buyer.json")]
pub struct Openapi {
    /// The API to document.
    #[arg(value_parser = APIS.map(|api| api.name))]
    api: String,
}

impl Openapi {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let settings = options.load_layers()?.resolve()?;
        let base_url = rest::base_url(&settings, settings.server.listen);
        let api = Api::find(&self.api).expect("the argument parser accepts only names of APIs");
        print_line(rest::openapi_json(api, &base_url, &settings.contact).trim_end());
        Ok(())
    }
}
