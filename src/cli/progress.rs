//! Progress bars and spinners. They appear on terminals only, so that logs and pipes stay clean.

use std::{io::IsTerminal, time::Duration};

use indicatif::{DecimalBytes, ProgressBar, ProgressStyle};

use crate::search::Progress;

/// Interval between two updates of a spinner.
const SPINNER_INTERVAL: Duration = Duration::from_millis(200);

/// A progress bar or a spinner on stderr, until the value is dropped. Does nothing if stderr is not a terminal.
pub struct CliProgress(Option<ProgressBar>);

impl CliProgress {
    /// Creates a progress bar with this label, for steps.
    pub fn new(what: &'static str) -> CliProgress {
        let template = "{msg} [{bar:40}] {human_pos}/{human_len} {per_sec} {eta}";
        CliProgress::show(ProgressBar::new(0), what, template)
    }

    /// Creates a progress bar with this label, for bytes.
    pub fn bytes(what: &'static str) -> CliProgress {
        let template = "{msg} [{bar:40}] {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}";
        CliProgress::show(ProgressBar::new(0), what, template)
    }

    /// Creates a spinner with this label, for a step of unknown length. It shows the time that the step has taken.
    pub fn spinner(what: &'static str) -> CliProgress {
        let spinner = CliProgress::show(ProgressBar::new_spinner(), what, "{spinner} {msg} {elapsed}");
        if let Some(bar) = &spinner.0 {
            bar.enable_steady_tick(SPINNER_INTERVAL);
        }
        spinner
    }

    fn show(bar: ProgressBar, what: &'static str, template: &str) -> CliProgress {
        if !std::io::stderr().is_terminal() {
            return CliProgress(None);
        }
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        CliProgress(Some(bar.with_style(style).with_message(what)))
    }
}

impl Progress for CliProgress {
    fn advance(&self, done: u64, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
            bar.set_position(done);
            // The next one can then begin on the same line.
            if done >= total {
                bar.finish_and_clear();
            }
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

/// Returns a number of bytes for people, such as `1.20 MB`.
pub fn human_bytes(bytes: u64) -> String {
    DecimalBytes(bytes).to_string()
}
