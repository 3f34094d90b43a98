//! `marketplace mcp`

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

/// The variable that holds the key of a process that speaks over stdio.
const KEY: &str = "MARKETPLACE_API_KEY";

/// Serves agents, which only read: over stdio, or alone over HTTP. Works with or without a server on the same folder.
#[derive(Debug, Args)]
#[command(after_help = "Over stdio the key of the team is read from MARKETPLACE_API_KEY.\n\nExamples:\n  \
                  MARKETPLACE_API_KEY=mkt_demo_buyer marketplace mcp --demo\n  \
                  MARKETPLACE_API_KEY=... marketplace mcp --data ./market\n  \
                  marketplace mcp --data ./market --http 127.0.0.1:9001")]
pub struct Mcp {
    /// The demo market: from a temporary folder, or that of --data, which must hold it.
    #[arg(long)]
    demo: bool,
    /// Serve over HTTP at this address instead of stdio; port 0 picks a free one.
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
        // The demo's keys are known to everybody, so they open nothing else.
        if self.demo && !fixtures::holds_demo(&market)? {
            return Err(Failure::Other(format!(
                "{} does not hold the demo; leave out --demo, or --data",
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
        // A thread that waits for the next line of stdin does not end by itself.
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

/// A temporary folder with the demo market in it.
fn make_demo(settings: &Settings) -> Result<tempfile::TempDir, Failure> {
    let folder = process::temporary_folder()?;
    seed_demo(&open(folder.path(), settings.clone(), Purpose::Command, Durability::None)?)?;
    Ok(folder)
}

async fn over_stdio(market: Market) -> Done {
    let key = std::env::var(KEY).ok().filter(|key| !key.is_empty());
    match &key {
        None => eprintln!(
            "marketplace: {KEY} is not set, so every call will fail; set it to an API key of your team"
        ),
        Some(key) => {
            if let Err(error) = rest::Caller::with_key(&market, key).await {
                eprintln!("marketplace: the key in {KEY} does not count, so every call will fail: {error}");
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
