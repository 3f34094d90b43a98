//! Log lines on stderr, as text or JSON.
//!
//! Many logged values come from others: Git hosts, clients, and vendors. So every value is escaped, shortened,
//! and delimited here.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    ffi::OsString,
    fmt::{self, Write},
    io::IsTerminal,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter,
    field::RecordFields,
    fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields, format::Writer},
    registry::{LookupSpan, Scope},
};

use super::escapes::is_controlling;
use crate::config::{LogFormat, Settings, SettingsSources};

/// Maximum number of characters of a value in the log. Longer values are cut off.
const MAX_VALUE_CHARS: usize = 2_000;

/// Maximum number of lines that wait to be written: a few MB if each has a long address. Further ones are lost, so that a reader that is
/// slow, or has stopped, delays nothing else.
const MAX_WAITING_LINES: usize = 4_000;

/// The thread that writes the lines. Whether a line can be written decides nothing, so nothing else writes to the log.
static WRITING: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Whether this is a server with a log in JSON.
static HAS_JSON_LOG: AtomicBool = AtomicBool::new(false);

/// Changes the filter of the log to the one in other settings.
pub type ChangeFilter = Arc<dyn Fn(&Settings) + Send + Sync>;

/// Sends log lines to stderr. `default_filter` is the filter to use if the settings do not set one. Returns a handle to
/// change the filter later; `None` if the process already had a logger, which is kept (tests run several commands).
pub fn init_logging(settings: &Settings, default_filter: &'static str) -> Option<ChangeFilter> {
    let (writer, writing) = NonBlockingBuilder::default()
        .buffered_lines_limit(MAX_WAITING_LINES)
        .thread_name("log")
        .finish(std::io::stderr());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(settings, default_filter))
        .with_ansi(has_colors(std::io::stderr().is_terminal(), |name| std::env::var_os(name)))
        .with_writer(writer)
        .log_internal_errors(false)
        .fmt_fields(SpanFields(settings.log.format))
        .event_format(LineFormat(settings.log.format))
        .with_filter_reloading();
    let handle = lines.reload_handle();
    lines.try_init().ok()?;
    *WRITING.lock().unwrap_or_else(PoisonError::into_inner) = Some(writing);
    log_panics(settings.log.format, write_now);
    Some(Arc::new(move |settings| {
        if let Err(cause) = handle.reload(filter(settings, default_filter)) {
            tracing::error!(%cause, "the filter of the log was not changed");
        }
    }))
}

/// Whether lines have colors: on terminals, as far as the environment does not say that it has or wants none.
fn has_colors(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_unwanted = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    is_terminal && !is_unwanted && variable("TERM").is_some_and(|kind| kind != "dumb")
}

/// Logs what is wrong with settings and their sources, although they can be used.
pub fn log_warnings(settings: &Settings, sources: &SettingsSources) {
    for warning in settings.warnings() {
        tracing::warn!("{warning}");
    }
    for warning in sources.warnings().iter().chain(sources.overrides()) {
        tracing::warn!("{warning}");
    }
}

/// Waits until all lines so far are written, for at most about a second. Nothing is logged afterwards.
pub fn finish_logging() {
    drop(WRITING.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Returns the filter that the settings specify.
fn filter(settings: &Settings, default_filter: &str) -> EnvFilter {
    let is_default = settings.log.filter == Settings::default().log.filter;
    let filter = if is_default { default_filter } else { &settings.log.filter };
    // The MCP library logs every message, so it is limited to errors unless the filter mentions it.
    let filter = if filter.contains("rmcp") { filter.to_owned() } else { format!("{filter},rmcp=error") };
    EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"))
}

/// Like [`init_logging`], for a server.
pub fn init_server_logging(settings: &Settings) -> Option<ChangeFilter> {
    HAS_JSON_LOG.store(settings.log.format == LogFormat::Json, Ordering::Relaxed);
    init_logging(settings, "info")
}

/// Logs the error that ends a server, if its log is in JSON: a line for people would not be one of the log. Returns whether it is
/// logged.
pub fn log_failure(error: &str) -> bool {
    let is_logged = HAS_JSON_LOG.load(Ordering::Relaxed);
    if is_logged {
        write_now(&error_line(LogFormat::Json, "the server failed", &[("error", error)]));
    }
    is_logged
}

/// Writes a line that must not be lost, since the process may end.
fn write_now(line: &str) {
    // Whether it can be written decides nothing, and a panic must not end in another one.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

/// Returns the line of an error, whatever the filter of the log.
fn error_line(format: LogFormat, message: &str, texts: &[(&str, &str)]) -> String {
    let mut fields = Fields::new(format);
    fields.push_text(MESSAGE, message);
    for (name, text) in texts {
        fields.push_text(name, &shortened(text));
    }
    let mut line = String::new();
    // Writing to a `String` does not fail.
    let _ =
        LineFormat(format).write_line(&mut Writer::new(&mut line), Level::ERROR, module_path!(), &fields, "");
    line
}

/// Makes each panic a line of the log, since its message can quote what others wrote. Whatever the filter, `write` gets it at once: the
/// process may end. Whoever asks for backtraces gets one after the line. Panics of the search engine become errors, which
/// are logged.
fn log_panics(format: LogFormat, write: impl Fn(&str) + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |panic| {
        if marketplace_index::is_catching_panics() {
            tracing::debug!(%panic, "the search engine panicked");
            return;
        }
        let (thread, message) = (std::thread::current(), panic.to_string());
        let fields = [("thread", thread.name().unwrap_or_default()), ("panic", message.as_str())];
        write(&error_line(format, "a thread panicked", &fields));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            write(&format!("{backtrace}\n"));
        }
    }));
}

/// Formats an event as one line: the event's own fields, and then the spans that it is in, such as the job that
/// ran, from the outermost to the innermost.
struct LineFormat(LogFormat);

impl<S> FormatEvent<S, SpanFields> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, SpanFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::new(self.0);
        event.record(&mut fields);
        let metadata = event.metadata();
        let target = fields.log_target.as_deref().unwrap_or(metadata.target());
        self.write_line(&mut writer, *metadata.level(), target, &fields, &self.spans_of(context))
    }
}

impl LineFormat {
    fn write_line(
        &self,
        writer: &mut Writer<'_>,
        level: Level,
        target: &str,
        fields: &Fields,
        spans: &str,
    ) -> fmt::Result {
        let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let Fields { message, others, .. } = fields;
        match self.0 {
            LogFormat::Text => {
                write_start(writer, &now, level, target)?;
                writeln!(writer, "{message}{others}{spans}")
            }
            LogFormat::Json => {
                let target = JsonText(target);
                let separator = if message.is_empty() || others.is_empty() { "" } else { "," };
                writeln!(
                    writer,
                    r#"{{"timestamp":"{now}","level":"{level}","fields":{{{message}{separator}{others}}},"target":{target}{spans}}}"#
                )
            }
        }
    }

    /// Returns the spans of an event with their fields, as they are in the line. Empty if it is in no span.
    fn spans_of<S>(&self, context: &FmtContext<'_, S, SpanFields>) -> String
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let mut spans = String::new();
        for span in context.event_scope().into_iter().flat_map(Scope::from_root) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<SpanFields>>().map_or("", |found| &found.fields);
            // Writing to a `String` does not fail.
            let _ = match self.0 {
                LogFormat::Text => write!(spans, " in={}{fields}", span.name()),
                LogFormat::Json => {
                    let start = if spans.is_empty() { r#","spans":["# } else { "," };
                    let separator = if fields.is_empty() { "" } else { "," };
                    write!(spans, r#"{start}{{"name":"{}"{separator}{fields}}}"#, span.name())
                }
            };
        }
        if self.0 == LogFormat::Json && !spans.is_empty() {
            spans.push(']');
        }
        spans
    }
}

/// Formats the fields of spans like those of events, when a span starts.
struct SpanFields(LogFormat);

impl<'w> FormatFields<'w> for SpanFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, span: R) -> fmt::Result {
        let mut fields = Fields::new(self.0);
        span.record(&mut fields);
        writer.write_str(&fields.others)
    }
}

/// Writes the start of a line of text: time, level, and target. The message and the other fields follow, as
/// `name=value`.
fn write_start(writer: &mut Writer<'_>, time: &str, level: Level, target: &str) -> fmt::Result {
    let color = match level {
        Level::ERROR => 31,
        Level::WARN => 33,
        Level::INFO => 32,
        Level::DEBUG => 34,
        Level::TRACE => 35,
    };
    if writer.has_ansi_escapes() {
        write!(
            writer,
            "\u{1b}[2m{time}\u{1b}[0m \u{1b}[{color}m{level:>5}\u{1b}[0m \u{1b}[2m{target}:\u{1b}[0m"
        )
    } else {
        write!(writer, "{time} {level:>5} {target}:")
    }
}

/// A text as JSON.
struct JsonText<'t>(&'t str);

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self.0).map_err(|_| fmt::Error)?)
    }
}

/// A value in a line of text. It is in quotes if its end would not be clear, so that no part of it looks like
/// another field.
struct Delimited<'t>(&'t str);

impl fmt::Display for Delimited<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_clear = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'=' | b'"' | b'\\');
        if !self.0.is_empty() && self.0.bytes().all(is_clear) {
            return f.write_str(self.0);
        }
        let is_unclear = |char: char| char.is_whitespace() || matches!(char, '=' | '"' | '\\');
        if !self.0.is_empty() && !self.0.contains(is_unclear) {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', r"\\").replace('"', r#"\""#))
    }
}

/// Names of fields with this start describe an event of the `log` crate.
const LOG_CRATE_FIELDS: &str = "log.";

/// The field with the target of such an event. All of them have the same target of their own.
const LOG_CRATE_TARGET: &str = "log.target";

/// Space in bytes for the fields of an event. The line of a request needs less.
const FIELDS_CAPACITY: usize = 512;

/// The name of the field that is the message of an event.
const MESSAGE: &str = "message";

/// The fields of an event, as they are in the line. Texts are escaped and shortened.
struct Fields {
    format: LogFormat,
    message: String,
    /// All other fields.
    others: String,
    /// The target of an event of the `log` crate.
    log_target: Option<String>,
}

impl Fields {
    fn new(format: LogFormat) -> Fields {
        Fields {
            format,
            message: String::new(),
            others: String::with_capacity(FIELDS_CAPACITY),
            log_target: None,
        }
    }

    /// Adds a field whose value is escaped and shortened.
    fn push_text(&mut self, name: &str, text: &str) {
        match (self.format, name) {
            (_, LOG_CRATE_TARGET) => self.log_target = Some(text.to_owned()),
            (LogFormat::Text, MESSAGE) => self.message = format!(" {text}"),
            (LogFormat::Text, _) => self.push(name, Delimited(text)),
            (LogFormat::Json, _) => self.push(name, JsonText(text)),
        }
    }

    /// Adds a field whose value is formatted.
    fn push(&mut self, name: &str, value: impl fmt::Display) {
        if name.starts_with(LOG_CRATE_FIELDS) {
            // The file and the line in the source of a library.
            return;
        }
        // Writing to a `String` does not fail.
        let _ = match self.format {
            LogFormat::Text => write!(self.others, " {name}={value}"),
            LogFormat::Json if name == MESSAGE => write!(self.message, r#""{name}":{value}"#),
            LogFormat::Json => {
                let separator = if self.others.is_empty() { "" } else { "," };
                write!(self.others, r#"{separator}"{name}":{value}"#)
            }
        };
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut escaped = EscapedText::default();
        // An error means that the text is long enough.
        let _ = write!(escaped, "{value:?}");
        self.push_text(field.name(), &escaped.text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push_text(field.name(), &shortened(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no infinity.
        self.push(field.name(), Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field.name(), value);
    }
}

/// Returns a text as it is in the line of an event.
fn shortened(text: &str) -> String {
    let mut escaped = EscapedText::default();
    // An error means that the text is long enough.
    let _ = escaped.write_str(text);
    escaped.text
}

/// A text without characters that control a terminal, start a line, or change the order of others. Stops
/// accepting more with an error when it is long enough.
#[derive(Default)]
struct EscapedText {
    text: String,
    chars: usize,
}

impl Write for EscapedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Most texts need no change.
        let is_plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        if is_plain && self.chars + text.len() <= MAX_VALUE_CHARS {
            self.chars += text.len();
            self.text.push_str(text);
            return Ok(());
        }
        for char in text.chars() {
            if self.chars >= MAX_VALUE_CHARS {
                self.text.push('…');
                return Err(fmt::Error);
            }
            self.chars += 1;
            if is_controlling(char) {
                self.text.extend(char.escape_default());
            } else {
                self.text.push(char);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
