//! The `marketplace openapi` command.

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line};
use crate::{
    rest::{self, APIS, Api},
    web,
};

/// Print the OpenAPI document of an API.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace openapi buyer > buyer.json")]
pub struct Openapi {
    /// The API to document.
    #[arg(value_parser = APIS.map(|api| api.name), required_unless_present = "list")]
    api: Option<String>,

    /// Print the names of all APIs instead, one per line.
    #[arg(long, conflicts_with = "api")]
    list: bool,
}

impl Openapi {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let Some(api) = self.api.as_deref().and_then(Api::find) else {
            for api in APIS {
                print_line(api.name);
            }
            return Ok(());
        };
        let settings = options.load_layers()?.resolve()?;
        let base_url = web::link_base::base_url(&settings, settings.server.listen);
        print_line(rest::openapi_json(api, &base_url, &settings.contact).trim_end());
        Ok(())
    }
}
