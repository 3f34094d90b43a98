//! Log lines on stderr, as text or JSON.
//!
//! Much of what is logged was written by others: by Git hosts, clients, and vendors. So no value reaches the
//! log as it is: each is escaped, shortened, and delimited here, whatever logs it.

use std::{
    fmt::{self, Write},
    io::IsTerminal,
};

use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    EnvFilter,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

use crate::config::{LogFormat, Settings};

/// Maximum number of characters of a value in the log. Longer values are cut off.
const MAX_VALUE_CHARS: usize = 2_000;

/// Sends log lines to stderr. `default_filter` is the filter to use if the settings do not set one.
pub fn init_logging(settings: &Settings, default_filter: &str) {
    let is_default = settings.log.filter == Settings::default().log.filter;
    let filter = if is_default { default_filter } else { &settings.log.filter };
    // The MCP library logs every message, so it is limited to errors unless the filter mentions it.
    let filter = if filter.contains("rmcp") { filter.to_owned() } else { format!("{filter},rmcp=error") };
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .event_format(LineFormat(settings.log.format));
    // If the process has a logger already (tests run several commands), that one stays.
    let _ = lines.try_init();
}

/// Formats an event as one line. Only the event's own fields are shown, not those of spans.
struct LineFormat(LogFormat);

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::new(self.0);
        event.record(&mut fields);
        let metadata = event.metadata();
        let target = fields.log_target.as_deref().unwrap_or(metadata.target());
        let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let Fields { message, others, .. } = &fields;
        match self.0 {
            LogFormat::Text => {
                write_start(&mut writer, &now, *metadata.level(), target)?;
                writeln!(writer, "{message}{others}")
            }
            LogFormat::Json => {
                let (level, target) = (metadata.level(), JsonText(target));
                let separator = if message.is_empty() || others.is_empty() { "" } else { "," };
                writeln!(
                    writer,
                    r#"{{"timestamp":"{now}","level":"{level}","fields":{{{message}{separator}{others}}},"target":{target}}}"#
                )
            }
        }
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

/// A value as it is in a line of text. Where it would not be clear where the value ends, it is in quotes, so
/// that no part of it looks like another field.
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

    fn push_text(&mut self, field: &Field, text: &str) {
        match (self.format, field.name()) {
            (_, LOG_CRATE_TARGET) => self.log_target = Some(text.to_owned()),
            (LogFormat::Text, MESSAGE) => self.message = format!(" {text}"),
            (LogFormat::Text, _) => self.push(field, Delimited(text)),
            (LogFormat::Json, _) => self.push(field, JsonText(text)),
        }
    }

    /// Adds a field whose value is formatted.
    fn push(&mut self, field: &Field, value: impl fmt::Display) {
        let name = field.name();
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
        self.push_text(field, &escaped.text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let mut escaped = EscapedText::default();
        let _ = escaped.write_str(value);
        self.push_text(field, &escaped.text);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no infinity.
        self.push(field, Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, value);
    }
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
            match char {
                '\n' => self.text.push_str("\\n"),
                '\t' => self.text.push_str("\\t"),
                '\r' => self.text.push_str("\\r"),
                char if is_controlling(char) => write!(self.text, "\\u{{{:x}}}", u32::from(char))?,
                char => self.text.push(char),
            }
        }
        Ok(())
    }
}

/// Whether a character does something to the text around it: control characters (C0 and C1), line and
/// paragraph separators, marks and overrides of the writing direction, and invisible characters.
fn is_controlling(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(char, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Output {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Returns what `work` logs.
    fn logged(format: LogFormat, has_colors: bool, work: impl FnOnce()) -> String {
        let output = Output::default();
        let writer = output.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(has_colors)
            .with_writer(move || writer.clone())
            .event_format(LineFormat(format));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        String::from_utf8(output.0.lock().unwrap().clone()).unwrap()
    }

    /// What a Git host may send to forge a log line and to control a terminal.
    const FORGED: &str =
        "not found\r\n2026-01-01T00:00:00Z ERROR forged\u{1b}[2J\u{9b}31m\u{7}\u{2028}\u{202e}\u{85}end";

    fn log_everywhere(text: &str) {
        let cause = std::io::Error::other(text.to_owned());
        tracing::warn!(%cause, shown = text, debugged = ?text, status = 404, "request failed: {text}");
    }

    #[test]
    fn foreign_text_stays_on_its_line_in_both_formats() {
        for (format, has_colors) in
            [(LogFormat::Text, false), (LogFormat::Text, true), (LogFormat::Json, false)]
        {
            let lines = logged(format, has_colors, || log_everywhere(FORGED));
            assert_eq!(lines.matches('\n').count(), 1, "{lines:?}");
            let own_escapes = ["\u{1b}[0m", "\u{1b}[2m", "\u{1b}[33m"];
            let plain = own_escapes.iter().fold(lines.clone(), |line, escape| line.replace(escape, ""));
            assert!(!plain.trim_end_matches('\n').chars().any(is_controlling), "{plain:?}");
            assert_eq!(plain.matches("end").count(), 4, "all of the text is there: {plain:?}");
        }
    }

    #[test]
    fn json_lines_have_a_stable_shape() {
        let line = logged(LogFormat::Json, false, || tracing::info!(status = 200, path = "/a", "done"));
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["fields"], serde_json::json!({"message": "done", "status": 200, "path": "/a"}));
        assert_eq!((&line["level"], line["target"].as_str().unwrap()), (&"INFO".into(), module_path!()));
        OffsetDateTime::parse(line["timestamp"].as_str().unwrap(), &Rfc3339).unwrap();
    }

    #[test]
    fn text_lines_are_readable() {
        let line = logged(LogFormat::Text, false, || tracing::info!(status = 200, path = "/a", "all done"));
        let (_, line) = line.split_once(' ').unwrap();
        assert_eq!(line, format!(" INFO {}: all done status=200 path=/a\n", module_path!()));
    }

    #[test]
    fn foreign_text_forges_no_fields() {
        let forged = r#"x status=200 route=/v2/admin" level="a"#;
        let line = logged(LogFormat::Text, false, || {
            tracing::warn!(host = forged, path = r"a\b", none = "", "done");
        });
        let (_, fields) = line.trim_end().split_once(" done ").unwrap();
        assert_eq!(fields, r#"host="x status=200 route=/v2/admin\" level=\"a" path="a\\b" none="""#);
        assert_eq!(Delimited("/v2/listings?a").to_string(), "/v2/listings?a");
    }

    #[test]
    fn events_of_the_log_crate_have_their_own_target() {
        // The fields that `tracing-log` gives to such an event.
        let log = || {
            tracing::info!(
                target: "log",
                {
                    log.target = "engine::indexer",
                    log.module_path = "engine::indexer",
                    log.file = "/root/.cargo/registry/src/engine/indexer.rs",
                    log.line = 7
                },
                "committed"
            );
        };
        let (text, json) = (logged(LogFormat::Text, false, log), logged(LogFormat::Json, false, log));
        assert!(text.ends_with(" engine::indexer: committed\n"), "{text}");
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (json["target"].as_str(), &json["fields"]),
            (Some("engine::indexer"), &serde_json::json!({"message": "committed"}))
        );
    }

    #[test]
    fn long_values_are_cut_off() {
        let line = logged(LogFormat::Text, false, || log_everywhere(&"\u{1b}".repeat(10_000_000)));
        assert!(line.len() < 4 * (MAX_VALUE_CHARS * 8 + 100), "{}", line.len());
    }

    proptest! {
        #[test]
        fn any_text_is_one_line(text in any::<String>()) {
            for format in [LogFormat::Text, LogFormat::Json] {
                let lines = logged(format, false, || log_everywhere(&text));
                prop_assert!(!lines.strip_suffix('\n').unwrap().chars().any(is_controlling));
            }
        }
    }
}
