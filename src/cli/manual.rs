//! The commands `marketplace completions` and `marketplace man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::{CommandError, CommandResult, parser, print_line};
use crate::private_files;

/// Name of the program.
const NAME: &str = "marketplace";

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace completions bash > /etc/bash_completion.d/marketplace\n  marketplace completions zsh > ~/.zfunc/_marketplace\n  marketplace completions fish > ~/.config/fish/completions/marketplace.fish"
)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut visible_parser(), NAME, &mut script);
        print_line(String::from_utf8_lossy(&script).trim_end());
    }
}

/// Returns the parser without hidden commands, which scripts would offer.
fn visible_parser() -> clap::Command {
    let parser = parser();
    let visible = parser.get_subcommands().filter(|command| !command.is_hide_set());
    clap::Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .args(parser.get_arguments())
        .subcommands(visible)
}

/// Write the manual pages of all commands to a directory.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace man /usr/local/share/man/man1")]
pub struct Man {
    /// The directory. It is created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Man {
    pub(super) fn run(&self) -> CommandResult {
        let written = std::fs::create_dir_all(&self.directory)
            .map_err(private_files::not_a_directory)
            .and_then(|()| clap_mangen::generate_to(parser(), &self.directory));
        written.map_err(|cause| {
            CommandError::Other(format!("cannot write manual pages to {}: {cause}", self.directory.display()))
        })
    }
}
