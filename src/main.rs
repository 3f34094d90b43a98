//! Entry point of the `marketplace` command-line program.

fn main() -> std::process::ExitCode {
    marketplace::cli::run()
}
