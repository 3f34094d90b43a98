//! The `marketplace check` command: compares a deployment with the OpenAPI documents of this build and with the rules of
//! the interface, as a client that knows nothing else about it.

mod keys;

use std::{rc::Rc, time::Duration};

use clap::Args;
use marketplace_check::{Bounds, Document, rules};

use super::{
    CommandError, CommandResult, lists::print_json, print_line, print_note, require_none_found,
    require_output, server_url,
};
use crate::{
    config::ContactSettings,
    error::ErrorChain,
    rest::{self, APIS, Api},
};

/// Check whether a deployment behaves as its documents and the interface say.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace check https://staging.example.com --key @STAGING_VENDOR --key @STAGING_BUYER\n  marketplace check http://127.0.0.1:8080 --key mkt_demo_vendor --key mkt_demo_operator --json\n  marketplace check --rules\n\nOnly GET and HEAD requests are sent, unless --allow-writes is set.\n\nExit codes: 0 no differences, 1 differences, 2 the check could not be completed."
)]
pub struct Check {
    /// URL of the deployment. It may have a path, such as that of a world.
    #[arg(value_name = "URL", required_unless_present = "rules")]
    deployment: Option<String>,
    /// An API key, or `@VARIABLE` for a key in an environment variable or in the file that `VARIABLE_FILE` names. Repeat
    /// the option for several: of a vendor, a buyer, and an operator, for instance [default: the variables
    /// `MARKETPLACE_API_KEY` and `MARKETPLACE_OPERATOR_KEY`]
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Also check changes: send those that must be refused, without a key and for IDs that nothing has; create a group with
    /// a raw data row and a codebase, in the name of the first vendor; rename, edit, and delete them. Their events stay.
    #[arg(long)]
    allow_writes: bool,
    /// Maximum number of requests.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_requests: u32,
    /// Maximum number of seconds that the check takes.
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    max_seconds: u64,
    /// Maximum number of seconds that a response may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    response_seconds: u64,
    /// Number of differences of each rule that are printed.
    #[arg(long, value_name = "N", default_value_t = 5)]
    per_rule: usize,
    /// Print the report as JSON.
    #[arg(long = "json")]
    is_json: bool,
    /// Print the rules that are checked instead.
    #[arg(long, conflicts_with = "deployment")]
    rules: bool,
}

impl Check {
    pub(super) fn run(&self) -> CommandResult {
        let Some(deployment) = self.deployment.as_deref().filter(|_| !self.rules) else {
            for rule in rules::ALL {
                print_line(format_args!("| `{}` | {} | {} |", rule.id, rule.section, rule.text));
            }
            return Ok(());
        };
        let url = server_url::parse(deployment, "--key")?;
        let keys = keys::parse(&self.keys)?;
        server_url::warn_if_unencrypted(&url, "the keys are");
        let bounds = Bounds {
            max_requests: self.max_requests,
            response_time: Duration::from_secs(self.response_seconds),
            total_time: Duration::from_secs(self.max_seconds),
        };
        let outcome = marketplace_check::check(&url, keys, bounds, &documents(), self.allow_writes)
            .map_err(|cause| CommandError::Other(ErrorChain(cause.as_ref()).to_string()))?;
        let report = &outcome.report;
        if self.is_json {
            print_json(&report.to_json(outcome.sent));
        } else {
            report.lines(self.per_rule, outcome.sent).iter().for_each(print_line);
        }
        require_output()?;
        match (outcome.incomplete, report.difference_count()) {
            (Some(reason), 0) => Err(CommandError::Incomplete(reason)),
            (incomplete, count) => {
                if let Some(reason) = incomplete {
                    print_note(format_args!("warning: {reason}"));
                }
                require_none_found(count, "difference", "differences")
            }
        }
    }
}

/// Returns the documents of all APIs that this build generates.
pub fn documents() -> [Rc<Document>; 4] {
    APIS.map(|api| Rc::new(document(api)))
}

/// Returns this build's document of an API. A deployment serves at least the APIs of the interface.
fn document(api: &'static Api) -> Document {
    let json = rest::openapi_json(api, "..", &ContactSettings::default());
    let is_optional = api.prefix != rest::VENDOR.prefix;
    Document::parse(
        api.name,
        api.prefix,
        api.keys,
        is_optional,
        serde_json::from_str(&json).unwrap_or_default(),
    )
}
