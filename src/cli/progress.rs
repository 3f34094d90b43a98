//! Progress bars. They appear on terminals only, so that logs and pipes stay clean.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::search::Progress;

/// A progress bar on stderr. Does nothing if stderr is not a terminal.
pub struct CliProgress(Option<ProgressBar>);

impl CliProgress {
    /// Creates a progress bar with this label.
    pub fn new(what: &'static str) -> CliProgress {
        if !std::io::stderr().is_terminal() {
            return CliProgress(None);
        }
        let style = ProgressStyle::with_template("{msg} [{bar:40}] {human_pos}/{human_len} {per_sec} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        CliProgress(Some(ProgressBar::new(0).with_style(style).with_message(what)))
    }
}

impl Progress for CliProgress {
    fn advance(&self, done: u64, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
            bar.set_position(done);
        }
    }
}

impl Drop for CliProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
