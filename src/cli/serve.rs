//! `marketplace serve`

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{Common, Done, Failure, log_to_stderr, open, process, say};
use crate::{
    config::Settings,
    fixtures,
    market::{Market, Purpose},
    mcp, operations, rest,
    store::Durability,
};

/// Serves the market until it is told to stop.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace serve --demo\n  marketplace serve --data ./market --listen 127.0.0.1:9000"
)]
pub struct Serve {
    /// Serve the demo market, from a temporary folder, or from --data if that is empty or holds it already.
    #[arg(long)]
    demo: bool,
    /// Address and port; port 0 picks a free one.
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
}

impl Serve {
    pub(super) fn run(&self, common: &Common) -> Done {
        let settings = self.settings(common)?;
        log_to_stderr(&settings, "info");
        let temporary = match (self.demo, &common.data) {
            (true, None) => Some(process::temporary_folder()?),
            _ => None,
        };
        let folder: PathBuf = match &temporary {
            Some(folder) => folder.path().to_owned(),
            None => settings.data.folder.clone(),
        };
        let durability = if temporary.is_some() { Durability::None } else { Durability::Full };
        // The address is taken first: a port in use is said before anything is made.
        let listener = process::listen(settings.server.listen, "--listen")?;
        let market = open(&folder, settings, Purpose::Serve, durability)?;
        if self.demo {
            seed_demo(&market)?;
        }
        let runtime = process::runtime()?;
        let done = runtime.block_on(serve(market, listener, self.demo));
        // What still runs now had its time; a write that is cut off is not there after the next start.
        runtime.shutdown_timeout(process::LAST_WORD);
        done
    }

    fn settings(&self, common: &Common) -> Result<Settings, Failure> {
        let mut layers = common.layers()?;
        if let Some(listen) = self.listen {
            layers.set("server.listen", listen.to_string().into(), "--listen".to_owned())?;
        }
        if self.demo {
            layers.demo()?;
        }
        Ok(layers.settle()?)
    }
}

pub(super) fn seed_demo(market: &Market) -> Done {
    if fixtures::holds_demo(market)? {
        return Ok(());
    }
    if !fixtures::is_empty(market)? {
        return Err(Failure::Other(format!(
            "{} holds a market of its own, so the demo is not put into it; leave out --demo, or choose another folder",
            market.path().display()
        )));
    }
    let set = fixtures::demo().map_err(fixtures::SeedError::from)?;
    fixtures::seed(market, &set)?;
    Ok(())
}

async fn serve(market: Market, listener: std::net::TcpListener, is_demo: bool) -> Done {
    let address = listener.local_addr().map_err(|cause| Failure::Other(cause.to_string()))?;
    let url = rest::base_url(market.settings(), address);
    let app = mcp::app(market.clone(), &url);
    let _background = operations::background::Runner::start(&market)?;
    // Before anybody is told that the server is there, so that stopping it at once stops it well.
    let stop = process::stop_signal()?;
    let settings = market.settings().clone();
    let server = tokio::spawn(async move { rest::run(app, listener, &settings, stop).await });
    say(format_args!("listening on http://{address}"));
    if is_demo {
        introduce(&format!("http://{address}"));
    }
    match server.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(cause)) => Err(Failure::Other(format!("the server stopped: {cause}"))),
        Err(panic) => Err(Failure::Other(format!("the server stopped: {panic}"))),
    }
}

/// The keys of the demo market, and three commands to begin with.
fn introduce(url: &str) {
    say("\nkeys:");
    for (key, meaning) in [
        ("mkt_demo_vendor", "a vendor past the browse gate"),
        ("mkt_demo_buyer", "a buyer"),
        ("mkt_demo_both", "a team that sells and buys"),
        ("mkt_demo_locked", "a vendor in front of the browse gate"),
        ("mkt_demo_no_nda", "a vendor that has not accepted the mutual NDA"),
        ("mkt_demo_no_role", "a team without a marketplace role"),
    ] {
        say(format_args!("  {key:<18} {meaning}"));
    }
    say("\ntry:");
    say(format_args!("  curl -H 'Authorization: Bearer mkt_demo_buyer' '{url}/v2/listings/browse?limit=3'"));
    say(format_args!(
        "  curl -H 'Authorization: Bearer mkt_demo_buyer' '{url}/v2/listings/browse?query=cobol&sort=price_low'"
    ));
    say(format_args!("  open {url}/buyer/docs"));
    say(format_args!("\nagents: {url}/v2/mcp/ (or `marketplace mcp --demo` over stdio)"));
}
