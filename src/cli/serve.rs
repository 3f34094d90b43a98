//! The `marketplace serve` command.

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

/// Start the server and run until SIGINT or SIGTERM.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace serve --demo\n  marketplace serve --data ./market --listen 127.0.0.1:9000"
)]
pub struct Serve {
    /// Serve the demo market, from a temporary directory, or from --data if that is empty or contains it.
    #[arg(long)]
    demo: bool,
    /// Address and port to listen on [default: the setting server.listen]. Port 0 picks a free port.
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
        // Bind the address first, so that a port in use is reported before any data is created.
        let listener = process::listen(settings.server.listen, "--listen")?;
        let market = open(&folder, settings, Purpose::Serve, durability)?;
        if self.demo {
            seed_demo(&market)?;
        }
        let runtime = process::runtime()?;
        let done = runtime.block_on(serve(market, listener, self.demo));
        // Work that still runs has had its time to finish. Interrupted writes are rolled back at the next start.
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
            "{} already contains another market; omit --demo to serve it, or choose another directory with \
             --data",
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
    // Install signal handlers before the address is printed, so that a stop right after it is graceful.
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

/// Prints the API keys of the demo market and some commands to try.
fn introduce(url: &str) {
    say("\nAPI keys:");
    for (key, meaning) in [
        ("mkt_demo_vendor", "a vendor that can browse the catalog"),
        ("mkt_demo_buyer", "a buyer"),
        ("mkt_demo_both", "a team with both roles"),
        ("mkt_demo_locked", "a vendor with too few published listings to browse the catalog"),
        ("mkt_demo_no_nda", "a vendor that has not accepted the mutual NDA"),
        ("mkt_demo_no_role", "a team without a marketplace role"),
    ] {
        say(format_args!("  {key:<18} {meaning}"));
    }
    say("\nTry:");
    say(format_args!("  curl -H 'Authorization: Bearer mkt_demo_buyer' '{url}/v2/listings/browse?limit=3'"));
    say(format_args!(
        "  curl -H 'Authorization: Bearer mkt_demo_buyer' '{url}/v2/listings/browse?query=cobol&sort=price_low'"
    ));
    say(format_args!("  open {url}/buyer/docs"));
    say(format_args!("\nMCP server: {url}/v2/mcp/ (or `marketplace mcp --demo` over stdio)"));
}
