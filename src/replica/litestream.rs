//! Litestream as a child process of the server: it replicates the database of a primary, and restores and follows it at a replica.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::{
    config::{BlobSettings, Settings},
    operations::backups::bucket_settings,
    private_files,
    store::Follower,
};

/// The hidden command that runs Litestream: it ends with the server.
pub const LITESTREAM_SUBCOMMAND: &str = "run-litestream";

/// Interval at which a replica looks for changes.
const FOLLOW_INTERVAL: &str = "250ms";

/// Interval at which changes of a primary are sent.
const SYNC_INTERVAL: &str = "200ms";

/// How often a process that is waited for is polled.
const POLL: Duration = Duration::from_millis(20);

/// Maximum length of a line of its log. A longer one counts as several.
const MAX_LINE_BYTES: u64 = 8192;

/// Messages of Litestream after a failed and after a successful update of a replica's file.
const FAILED_UPDATE: &str = "follow: error applying updates";
const APPLIED_UPDATE: &str = "follow: applied updates";

/// The failure of an update before any change: the store could not be read. After any other failure, the next attempt begins
/// with changes that the file may already contain.
const NOTHING_CHANGED: &str = "err=\"list level 0 ltx files: ";

/// How long Litestream may take to send the last changes when it is stopped.
pub(super) const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// What the processes of Litestream have in common.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// This program, which runs Litestream.
    pub(super) runner: PathBuf,
    /// Litestream.
    pub(super) litestream: String,
    /// The key of the bucket.
    pub(super) store: BlobSettings,
}

impl Program {
    /// Uses the program and the store that settings name.
    pub(super) fn new(settings: &Settings, runner: PathBuf) -> Program {
        let store = bucket_settings(&settings.backups, &settings.blobs, "", "");
        Program { runner, litestream: settings.replica.litestream.clone(), store }
    }

    /// Fails if Litestream cannot be run.
    pub(super) fn check(&self) -> io::Result<()> {
        let output = Command::new(&self.litestream).arg("version").stdin(Stdio::null()).output()?;
        if output.status.success() { Ok(()) } else { Err(io::Error::other(output.status.to_string())) }
    }

    /// Starts to restore a database from a URL to a file, and then to apply its changes.
    pub(super) fn follow(&self, url: &str, file: &Path) -> io::Result<Litestream> {
        let mut command = self.command(url, file, &["restore"])?;
        command.args(["-f", "-follow-interval", FOLLOW_INTERVAL, "-o"]).arg(file).arg(file);
        Litestream::start(command)
    }

    /// Starts to restore a database from a URL to a file.
    pub(super) fn restore(&self, url: &str, file: &Path) -> io::Result<Litestream> {
        let mut command = self.command(url, file, &["restore"])?;
        command.args(["-integrity-check", "quick", "-o"]).arg(file).arg(file);
        Litestream::start(command)
    }

    /// Starts to replicate a database to a URL.
    pub(super) fn replicate(&self, url: &str, file: &Path) -> io::Result<Litestream> {
        Litestream::start(self.command(url, file, &["replicate"])?)
    }

    /// Returns a command of Litestream, whose configuration is next to the database.
    fn command(&self, url: &str, file: &Path, arguments: &[&str]) -> io::Result<Command> {
        let config = self.write_config(url, file)?;
        let mut command = Command::new(&self.runner);
        command
            .arg(LITESTREAM_SUBCOMMAND)
            .arg(std::process::id().to_string())
            .arg("--")
            .arg(&self.litestream);
        command.args(arguments).arg("-config").arg(config).arg("-no-expand-env");
        if let Some(secret) = self.store.secret_access_key.reveal() {
            command.env("LITESTREAM_ACCESS_KEY_ID", &self.store.access_key_id);
            command.env("LITESTREAM_SECRET_ACCESS_KEY", secret);
        }
        // Litestream fails if it is set: it uses the certificates that the system trusts.
        command.env_remove("AWS_CA_BUNDLE");
        // It would override the log level of the configuration, on which the server relies.
        command.env_remove("LOG_LEVEL");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    }

    fn write_config(&self, url: &str, file: &Path) -> io::Result<PathBuf> {
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let bucket = if url.starts_with("s3:") {
            let (endpoint, region) = (quoted(&self.store.endpoint), quoted(&self.store.region));
            format!("      endpoint: {endpoint}\n      region: {region}\n      force-path-style: true\n")
        } else {
            String::new()
        };
        let text = format!(
            "logging:\n  type: text\n  level: info\n  stderr: true\ndbs:\n  - path: {}\n    monitor-interval: {SYNC_INTERVAL}\n    replica:\n      url: {}\n      \
             sync-interval: {SYNC_INTERVAL}\n{bucket}",
            quoted(&file.to_string_lossy()),
            quoted(url)
        );
        let path = file.with_file_name("litestream.yml");
        private_files::create(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    }
}

/// A running process of Litestream. Dropping it kills the process.
#[derive(Debug)]
pub(super) struct Litestream {
    child: Child,
    log: Arc<Log>,
}

/// Facts from the log of a process.
#[derive(Debug, Default)]
struct Log {
    last_line: Mutex<String>,
    /// Whether an update of the file has failed, and none has succeeded since. Shared with those who read the file.
    has_failed_update: Arc<AtomicBool>,
}

impl Litestream {
    fn start(mut command: Command) -> io::Result<Litestream> {
        let mut child = command.spawn()?;
        let log = Arc::new(Log::default());
        if let Some(lines) = child.stderr.take() {
            let log = Arc::clone(&log);
            thread::Builder::new().name("litestream-log".to_owned()).spawn(move || log.copy(lines))?;
        }
        Ok(Litestream { child, log })
    }

    /// Returns the process as readers of the file that it updates see it.
    pub(super) fn follower(&self) -> Follower {
        Follower { process: self.child.id(), has_failed: Arc::clone(&self.log.has_failed_update) }
    }

    /// Whether the process has ended. Its ID stays reserved until it is dropped.
    pub(super) fn has_ended(&self) -> bool {
        let Some(id) = Pid::from_raw(self.child.id().cast_signed()) else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(id), options), Ok(None))
    }

    /// Waits until the process has written a file, or has ended. Returns whether the file is there.
    pub(super) fn wait_for(&self, file: &Path, is_stopping: impl Fn() -> bool) -> bool {
        while !file.exists() {
            if self.has_ended() || is_stopping() {
                return false;
            }
            thread::sleep(POLL);
        }
        true
    }

    /// Waits until the process ends by itself. Fails with the last line that it has logged, unless it has succeeded.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.child.wait()?.success() { Ok(()) } else { Err(io::Error::other(self.last_line())) }
    }

    /// Lets the process send the last changes and end.
    pub(super) fn stop(self) {
        if let Some(id) = self.running_id()
            && kill_process(id, Signal::TERM).is_ok()
        {
            let began = Instant::now();
            while !self.has_ended() && began.elapsed() < STOP_TIMEOUT {
                thread::sleep(POLL);
            }
            if !self.has_ended() {
                tracing::error!("Litestream does not end, so the last changes may not be replicated");
            }
        }
    }

    /// Kills the process. Returns the last line that it has logged.
    pub(super) fn kill(self) -> String {
        let last_line = self.last_line();
        drop(self);
        last_line
    }

    /// Whether the last update of the file has failed.
    pub(super) fn has_failed_update(&self) -> bool {
        self.log.has_failed_update.load(Ordering::SeqCst)
    }

    /// Returns the last line that it has logged.
    pub(super) fn last_line(&self) -> String {
        self.log.last_line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the ID of the process unless it has ended.
    fn running_id(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed()).filter(|_| !self.has_ended())
    }
}

impl Drop for Litestream {
    fn drop(&mut self) {
        if let Some(id) = self.running_id() {
            // It has ended if this fails.
            let _ = kill_process(id, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Runs a program in place of this process, which ends when the server with this process ID does.
pub fn exec_below_parent(parent: u32, program: &[String]) -> io::Error {
    let [program, arguments @ ..] = program else { return io::ErrorKind::InvalidInput.into() };
    if let Err(cause) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
        return cause.into();
    }
    let current = rustix::process::getppid().map(|id| id.as_raw_nonzero().get().cast_unsigned());
    if current != Some(parent) {
        return io::Error::other("the server has ended");
    }
    Command::new(program).args(arguments).exec()
}

impl Log {
    /// Copies the lines of Litestream to the log of the server. Lines about routine work get the level for details.
    fn copy(&self, lines: impl io::Read) {
        let (mut lines, mut bytes) = (BufReader::new(lines), Vec::new());
        while lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            bytes.clear();
            if let Some(has_failed) = failed_update(&line) {
                self.has_failed_update.store(has_failed, Ordering::SeqCst);
            }
            if line.contains("level=WARN") || line.contains("level=ERROR") || !line.contains("level=") {
                tracing::warn!(line, "Litestream");
            } else {
                tracing::debug!(line, "Litestream");
            }
            *self.last_line.lock().unwrap_or_else(PoisonError::into_inner) = line;
        }
    }
}

/// Whether a line says that an update of the file has failed, after which the file may be a mixture of two states, or has
/// succeeded; `None` for other lines.
fn failed_update(line: &str) -> Option<bool> {
    if line.contains(APPLIED_UPDATE) {
        return Some(false);
    }
    (line.contains(FAILED_UPDATE) && !line.contains(NOTHING_CHANGED)).then_some(true)
}

/// Deletes a directory with earlier copies.
pub(super) fn delete_copy(directory: &Path) {
    if let Err(cause) = fs::remove_dir_all(directory) {
        tracing::warn!(%cause, directory = %directory.display(), "an earlier copy of the database cannot be deleted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_says_which_updates_have_failed() {
        let apply = "level=ERROR msg=\"follow: error applying updates\" err=\"apply ltx file (level=0, min=0a, max=0a): ";
        for (cause, expected) in [
            ("decode page: unexpected EOF\"", Some(true)),
            ("write page 7: no space left on device\"", Some(true)),
            ("open ltx file: connection refused\"", Some(true)),
        ] {
            assert_eq!(failed_update(&format!("{apply}{cause}")), expected, "{cause}");
        }
        let others = [
            (
                "level=ERROR msg=\"follow: error applying updates\" err=\"list level 0 ltx files: refused\"",
                None,
            ),
            ("level=INFO msg=\"follow: applied updates\" from_txid=0a to_txid=0b", Some(false)),
        ];
        for (line, expected) in others {
            assert_eq!(failed_update(line), expected, "{line}");
        }
    }
}
