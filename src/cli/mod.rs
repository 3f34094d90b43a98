//! The command-line interface, with one file per subcommand. It parses arguments, opens the market, calls an
//! operation, and prints the result. Business rules are in `operations` and `domain`.

mod amounts;
mod announcements;
mod app;
mod asset_types;
mod assets;
mod audit;
mod backup;
mod bids;
pub mod check;
mod command_error;
mod credits;
mod deals;
mod demo;
mod escapes;
mod estimations;
mod events;
mod faults;
mod global_options;
mod grants;
mod gym;
mod health;
mod init;
mod jobs;
mod key_variables;
mod keys;
mod labels;
mod ledger;
mod listeners;
mod listings;
mod lists;
mod logging;
mod manual;
mod mcp;
mod notifications;
mod openapi;
mod operator;
mod opportunities;
mod output;
mod prelude;
mod process;
mod progress;
mod promote;
mod public_demo;
mod quality_runs;
mod reachability;
mod reindex;
mod reload;
mod replay;
mod replica;
mod restore;
mod scan;
mod seed;
mod serve;
mod server_url;
mod service_manager;
mod settings;
mod signing_key;
mod status;
mod sweep;
mod tasks;
mod tasksets;
mod teams;
mod temporary_directory;
mod tls;
mod upgrade;
mod upload;
mod verify;
mod verify_bundle;
mod version;
mod webhooks;
mod withdrawals;

use std::{process::ExitCode, sync::atomic::Ordering};

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use rustix::fs::Mode;

use self::{
    command_error::{CommandError, CommandResult, operator_message, require_none_found},
    global_options::{GlobalOptions, SETTINGS_FILE, open_directory},
    logging::{finish_logging, init_logging, log_failure},
    operator::OperatorCommand,
    output::{HAS_LOST_OUTPUT, print_line, print_note, print_usage, require_output},
};
use crate::{
    artifacts::child,
    replica::{LITESTREAM_SUBCOMMAND, exec_below_parent},
};

/// A data marketplace in one binary: vendor API, buyer API, search, and an agent (MCP) server.
#[derive(Debug, Parser)]
#[command(name = "marketplace", version, arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  marketplace serve --demo\n\nExit codes: 0 success, 1 failure, 2 invalid usage or settings."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: GlobalOptions,
}

// Where there is no description, it is that of the type: one here would replace all of its paragraphs.
#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Init(init::Init),
    Seed(seed::Seed),
    Reindex(reindex::Reindex),
    /// Create, list, edit, and close teams, and record that one accepted the mutual NDA.
    Team(OperatorCommand<teams::TeamCommand>),
    /// Create, list, rotate, and revoke API keys of teams.
    Key(OperatorCommand<keys::KeyCommand>),
    /// Manage operator keys.
    Operator(OperatorCommand<keys::OperatorSubcommand>),
    /// Create, list, and revoke upload grants.
    Grant(OperatorCommand<grants::GrantCommand>),
    /// List and show assets, which listings consist of.
    Asset(OperatorCommand<assets::AssetCommand>),
    /// List, enable, deprecate, and retire asset types.
    AssetType(OperatorCommand<asset_types::AssetTypeCommand>),
    /// Create, edit, submit, decide about, publish, and check listings.
    Listing(OperatorCommand<listings::ListingCommand>),
    /// Start and cancel quality runs, and show their results.
    QualityRun(OperatorCommand<quality_runs::QualityRunCommand>),
    /// Bid on listings, and decide about offers.
    Offer(OperatorCommand<deals::OfferCommand>),
    /// Buy listings, and complete, cancel, and refund purchases.
    Purchase(OperatorCommand<deals::PurchaseCommand>),
    /// Create, edit, publish, close, and cancel opportunities.
    Opportunity(OperatorCommand<opportunities::OpportunityCommand>),
    /// Bid on project opportunities, and decide about project bids.
    Bid(OperatorCommand<bids::BidCommand>),
    /// Create tasksets, and import traces into them.
    Taskset(OperatorCommand<tasksets::TasksetCommand>),
    /// Create, show, and delete tasks, their versions, and their builds.
    Task(OperatorCommand<tasks::TaskCommand>),
    /// Request estimations of repositories.
    Estimation(OperatorCommand<estimations::EstimationCommand>),
    /// List, create, and rename domains.
    Domain(OperatorCommand<labels::DomainCommand>),
    /// List, create, and rename content tags.
    ContentTag(OperatorCommand<labels::ContentTagCommand>),
    /// List, create, and change inventory tags.
    InventoryTag(OperatorCommand<labels::InventoryTagCommand>),
    /// List notifications of teams, and mark them as read.
    Notification(OperatorCommand<notifications::NotificationCommand>),
    /// Announce something on all pages of the web app.
    Announcement(OperatorCommand<announcements::AnnouncementCommand>),
    /// Let teams change nothing while the market is maintained.
    Maintenance(OperatorCommand<announcements::MaintenanceCommand>),
    /// Send events to endpoints, and list deliveries.
    Webhook(OperatorCommand<webhooks::WebhookCommand>),
    Events(events::Events),
    /// Buy, adjust, and convert credits of teams.
    Credits(OperatorCommand<credits::CreditsCommand>),
    /// Request withdrawals of earnings, and record that they were paid or failed.
    Withdrawal(OperatorCommand<withdrawals::WithdrawalCommand>),
    Ledger(ledger::Ledger),
    Upload(upload::Upload),
    /// List, retry, and cancel background jobs.
    Job(OperatorCommand<jobs::JobCommand>),
    Audit(audit::Audit),
    Settings(settings::Settings),
    Status(status::Status),
    Health(health::Health),
    Version(version::Version),
    Completions(manual::Completions),
    Man(manual::Man),
    Openapi(openapi::Openapi),
    /// Show what faults of worlds can do.
    Faults {
        #[command(subcommand)]
        command: faults::FaultsCommand,
    },
    Mcp(mcp::Mcp),
    Gym {
        #[command(subcommand)]
        command: gym::GymCommand,
    },
    Sweep(sweep::Sweep),
    Verify(verify::Verify),
    Scan(scan::Scan),
    VerifyBundle(verify_bundle::VerifyBundle),
    SigningKey(signing_key::SigningKey),
    Check(check::Check),
    Backup(backup::Backup),
    Replay(replay::Replay),
    Restore(restore::Restore),
    Promote(promote::Promote),
    Upgrade(upgrade::Upgrade),
    /// Read untrusted files in a child process of the server.
    #[command(name = child::SUBCOMMAND, hide = true)]
    ReadUntrusted {
        /// What to do, as JSON.
        invocation: String,
    },
    /// Run Litestream in a child process of the server.
    #[command(name = LITESTREAM_SUBCOMMAND, hide = true)]
    RunLitestream {
        /// Process ID of the server.
        parent: u32,
        /// The program and its arguments.
        #[arg(last = true)]
        program: Vec<String>,
    },
}

/// Runs the command given on the command line. Exits with 0 on success, 1 on failure, and 2 on invalid usage
/// or settings.
pub fn run() -> ExitCode {
    let cli = match parser().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error),
    };
    // Manual pages are for all users.
    if !matches!(cli.command, Command::Man(_)) {
        // Libraries create files, too, so the umask is what keeps all of them private.
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
    }
    if let Command::ReadUntrusted { invocation } = &cli.command {
        return child::run(invocation);
    }
    if let Command::RunLitestream { parent, program } = &cli.command {
        print_note(format_args!("error: {}", exec_below_parent(*parent, program)));
        return ExitCode::FAILURE;
    }
    let result = process::end_first_process_by_signals().and_then(|()| dispatch(cli));
    finish_logging();
    match result {
        Ok(()) if HAS_LOST_OUTPUT.load(Ordering::Relaxed) => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Messages can quote what others wrote, such as names in a bundle.
            let message = error.to_string();
            if !log_failure(&message) {
                print_note(format_args!("error: {}", escapes::escaped_lines(&message)));
            }
            ExitCode::from(match error {
                CommandError::Settings(_) | CommandError::Usage(_) | CommandError::Incomplete(_) => 2,
                _ => 1,
            })
        }
    }
}

/// Columns of help and usage if the output is no terminal. Usage is never wrapped.
const HELP_COLUMNS: usize = 100;

/// Name of the groups of options that say what to change, of which one is required.
const CHANGE_GROUP: &str = "change";

/// Returns the parser of the command line.
fn parser() -> clap::Command {
    with_short_usage(Cli::command(), "marketplace")
}

/// Leaves required options out of the usage of commands for which it would be too long. Help lists them anyway.
fn with_short_usage(command: clap::Command, name: &str) -> clap::Command {
    let positionals: Vec<String> = command.get_positionals().map(shown_argument).collect();
    let options = command.get_opts().filter(|option| option.is_required_set());
    let options: usize = options.map(|option| shown_argument(option).len() + 1).sum();
    let usage = format!("{name} [OPTIONS] {}", positionals.join(" "));
    let is_long = "Usage: ".len() + usage.len() + options > HELP_COLUMNS;
    let has_changes = command.get_groups().any(|group| group.get_id() == CHANGE_GROUP);
    let command = if is_long || has_changes { command.override_usage(usage) } else { command };
    command.mut_subcommands(|below| {
        let name = format!("{name} {}", below.get_name());
        with_short_usage(below, &name)
    })
}

/// Returns an argument as a usage shows it, without building the command, which would take longer than most commands.
fn shown_argument(argument: &clap::Arg) -> String {
    let names = argument.get_value_names().map(|names| names.iter().map(ToString::to_string).collect());
    let names: Vec<String> = names.unwrap_or_else(|| vec![argument.get_id().as_str().to_uppercase()]);
    let values = names.join("> <");
    let more = if matches!(argument.get_action(), ArgAction::Append) { "..." } else { "" };
    match argument.get_long() {
        Some(long) => format!("--{long} <{values}>{more}"),
        None if argument.is_required_set() => format!("<{values}>{more}"),
        None => format!("[{values}]{more}"),
    }
}

fn dispatch(cli: Cli) -> CommandResult {
    let options = cli.options;
    match cli.command {
        Command::Serve(serve) => serve.run(&options),
        Command::Init(init) => init.run(&options),
        Command::Seed(seed) => seed.run(&options),
        Command::Reindex(_) => reindex::Reindex::run(&options),
        Command::Team(command) => command.run(&options),
        Command::Key(command) => command.run(&options),
        Command::Operator(command) => command.run(&options),
        Command::Grant(command) => command.run(&options),
        Command::Asset(command) => command.run(&options),
        Command::AssetType(command) => command.run(&options),
        Command::QualityRun(command) => command.run(&options),
        Command::Task(command) => command.run(&options),
        Command::Estimation(command) => command.run(&options),
        Command::Domain(command) => command.run(&options),
        Command::ContentTag(command) => command.run(&options),
        Command::InventoryTag(command) => command.run(&options),
        Command::Notification(command) => command.run(&options),
        Command::Announcement(command) => command.run(&options),
        Command::Maintenance(command) => command.run(&options),
        Command::Withdrawal(command) => command.run(&options),
        Command::Job(command) => command.run(&options),
        Command::Bid(command) => command.run(&options),
        Command::Listing(command) => command.run(&options),
        Command::Offer(command) => command.run(&options),
        Command::Purchase(command) => command.run(&options),
        Command::Credits(command) => command.run(&options),
        Command::Opportunity(command) => command.run(&options),
        Command::Taskset(command) => command.run(&options),
        Command::Webhook(command) => command.run(&options),
        Command::Events(events) => events.run(&options),
        Command::Ledger(ledger) => ledger.run(&options),
        Command::Audit(audit) => audit.run(&options),
        Command::Settings(settings) => settings.run(&options),
        Command::Status(status) => status.run(&options),
        Command::Upload(upload) => upload.run(&options),
        Command::Health(health) => health.run(&options),
        Command::Version(version) => {
            version.run();
            Ok(())
        }
        Command::Completions(completions) => {
            completions.run();
            Ok(())
        }
        Command::Man(man) => man.run(),
        Command::Openapi(openapi) => openapi.run(&options),
        Command::Faults { command } => command.run(&options),
        Command::Mcp(mcp) => mcp.run(&options),
        Command::Gym { command } => command.run(&options),
        Command::Sweep(_) => sweep::Sweep::run(&options),
        Command::Verify(verify) => verify.run(&options),
        Command::Scan(scan) => scan.run(&options),
        Command::VerifyBundle(verify) => verify.run(),
        Command::SigningKey(command) => command.run(&options),
        Command::Check(check) => check.run(),
        Command::Backup(backup) => backup.run(&options),
        Command::Replay(replay) => replay.run(),
        Command::Restore(restore) => restore.run(&options),
        Command::Promote(promote) => promote.run(&options),
        Command::Upgrade(upgrade) => upgrade.run(&options),
        Command::ReadUntrusted { .. } | Command::RunLitestream { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests;
