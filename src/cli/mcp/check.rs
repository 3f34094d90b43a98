//! `marketplace mcp --check`: says whether an agent with this key and this data directory would work.

use crate::{
    cli::{CommandError, CommandResult, print_line},
    market::Market,
    mcp, web,
};

/// Checks the market with a key, and prints what works and what does not. Fails if anything does not.
pub async fn run(market: Market, key: Option<String>) -> CommandResult {
    let url = web::link_base::base_url(market.settings(), market.settings().server.listen);
    print_line(format_args!("ok: The data directory {} has a market.", market.data_dir().display()));
    let findings = mcp::check_agent(market, &url, key.as_deref()).await;
    let mut problems = 0;
    for finding in &findings {
        match finding {
            Ok(text) => print_line(format_args!("ok: {text}")),
            Err(text) => {
                problems += 1;
                print_line(format_args!("problem: {text}"));
            }
        }
    }
    match problems {
        0 => Ok(()),
        1 => Err(CommandError::Other("an agent would have a problem".to_owned())),
        count => Err(CommandError::Other(format!("an agent would have {count} problems"))),
    }
}
