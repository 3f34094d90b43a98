//! The `marketplace mcp` command.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{Common, Done, Failure, log_to_stderr, open, process, say, serve::seed_demo};
use crate::{
    config::Settings,
    fixtures,
    market::{Market, Purpose},
    mcp, rest,
    store::Durability,
};

/// The environment variable that contains the API key when the server communicates over stdio.
const KEY: &str = "MARKETPLACE_API_KEY";

/// Start the read-only agent (MCP) server over stdio or HTTP. It can run next to `marketplace serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Over stdio, the API key of the team is read from MARKETPLACE_API_KEY.\n\nExamples:\n  \
                  MARKETPLACE_API_KEY=mkt_demo_buyer marketplace mcp --demo\n  \
                  MARKETPLACE_API_KEY=... marketplace mcp --data ./market\n  \
                  marketplace mcp --data ./market --http 127.0.0.1:9001"
)]
pub struct Mcp {
    /// Serve the demo market, from a temporary directory, or from --data, which must contain it.
    #[arg(long)]
    demo: bool,
    /// Serve over HTTP at this address instead of stdio. Port 0 picks a free port.
    #[arg(long, value_name = "ADDR:PORT")]
    http: Option<SocketAddr>,
}

impl Mcp {
    pub(super) fn run(&self, common: &Common) -> Done {
        let settings = self.settings(common)?;
        log_to_stderr(&settings, "warn");
        let temporary = match (self.demo, &common.data) {
            (true, None) => Some(make_demo(&settings)?),
            _ => None,
        };
        let folder: PathBuf =
            temporary.as_ref().map_or_else(|| settings.data.folder.clone(), |made| made.path().to_owned());
        let market = open(&folder, settings, Purpose::Read, Durability::Full)?;
        // The demo keys are public, so they must not give access to any other market.
        if self.demo && !fixtures::holds_demo(&market)? {
            return Err(Failure::Other(format!(
                "{} does not contain the demo market; omit --demo to serve this market, or omit --data to serve a \
                 temporary demo",
                market.path().display()
            )));
        }
        let runtime = process::runtime()?;
        let done = runtime.block_on(async {
            match self.http {
                Some(address) => over_http(market, address).await,
                None => over_stdio(market).await,
            }
        });
        // The thread that reads stdin blocks until the next line, so do not wait for it.
        runtime.shutdown_timeout(if self.http.is_some() {
            process::LAST_WORD
        } else {
            std::time::Duration::ZERO
        });
        done
    }

    fn settings(&self, common: &Common) -> Result<Settings, Failure> {
        let mut layers = common.layers()?;
        if let Some(address) = self.http {
            layers.set("server.listen", address.to_string().into(), "--http".to_owned())?;
        }
        if self.demo {
            layers.demo()?;
        }
        Ok(layers.settle()?)
    }
}

/// Creates the demo market in a temporary directory.
fn make_demo(settings: &Settings) -> Result<tempfile::TempDir, Failure> {
    let folder = process::temporary_folder()?;
    seed_demo(&open(folder.path(), settings.clone(), Purpose::Command, Durability::None)?)?;
    Ok(folder)
}

async fn over_stdio(market: Market) -> Done {
    let key = std::env::var(KEY).ok().filter(|key| !key.is_empty());
    match &key {
        None => {
            eprintln!("warning: {KEY} is not set, so every call will fail; set it to an API key of your team")
        }
        Some(key) => {
            if let Err(error) = rest::Caller::with_key(&market, key).await {
                eprintln!("warning: the key in {KEY} is invalid, so every call will fail: {error}");
            }
        }
    }
    let url = rest::base_url(market.settings(), market.settings().server.listen);
    let stop = process::stop_signal()?;
    let (input, output) = mcp::stdio();
    tokio::select! {
        spoken = mcp::speak(market, &url, key, input, output) => spoken.map_err(Failure::Other),
        () = stop => Ok(()),
    }
}

async fn over_http(market: Market, address: SocketAddr) -> Done {
    let listener = process::listen(address, "--http")?;
    let address = listener.local_addr().map_err(|cause| Failure::Other(cause.to_string()))?;
    let app = mcp::agents_only(market.clone(), &rest::base_url(market.settings(), address));
    let stop = process::stop_signal()?;
    say(format_args!("listening on http://{address}{}", mcp::PATHS[0]));
    let served = rest::run(app, listener, market.settings(), stop).await;
    served.map_err(|cause| Failure::Other(format!("the server stopped: {cause}")))
}
