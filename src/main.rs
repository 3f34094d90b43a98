//! The `marketplace` command.

fn main() -> std::process::ExitCode {
    marketplace::cli::run()
}
