//! Progress bars: on a terminal only, so that logs and pipes stay clean.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::search::Progress;

/// A bar on stderr, or nothing where that is no terminal.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar for work that is called so.
    pub fn new(what: &'static str) -> Bar {
        if !std::io::stderr().is_terminal() {
            return Bar(None);
        }
        let style = ProgressStyle::with_template("{msg} [{bar:40}] {human_pos}/{human_len} {per_sec} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(Some(ProgressBar::new(0).with_style(style).with_message(what)))
    }
}

impl Progress for Bar {
    fn advance(&self, done: u64, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
            bar.set_position(done);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
