//! Tests of the format of log lines.

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
        .fmt_fields(SpanFields(format))
        .event_format(LineFormat(format));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    String::from_utf8(output.0.lock().unwrap().clone()).unwrap()
}

/// A text with which a Git host could forge a log line and control a terminal.
const FORGED: &str =
    "not found\r\n2026-01-01T00:00:00Z ERROR forged\u{1b}[2J\u{9b}31m\u{7}\u{2028}\u{202e}\u{85}end";

fn log_everywhere(text: &str) {
    let cause = std::io::Error::other(text.to_owned());
    tracing::warn!(%cause, shown = text, debugged = ?text, status = 404, "request failed: {text}");
}

#[test]
fn foreign_text_stays_on_its_line_in_both_formats() {
    for (format, has_colors) in [(LogFormat::Text, false), (LogFormat::Text, true), (LogFormat::Json, false)]
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
fn colors_are_for_terminals_that_have_and_want_them() {
    for (is_terminal, no_color, term, expected) in [
        (true, None, Some("xterm"), true),
        (true, Some(""), Some("xterm"), true),
        (false, None, Some("xterm"), false),
        (true, Some("1"), Some("xterm"), false),
        (true, Some("0"), Some("xterm"), false),
        (true, None, Some("dumb"), false),
        (true, None, None, false),
    ] {
        let variable = |name: &str| if name == "NO_COLOR" { no_color } else { term }.map(OsString::from);
        assert_eq!(has_colors(is_terminal, variable), expected, "{is_terminal} {no_color:?} {term:?}");
    }
}

#[test]
fn panics_are_lines_of_the_log() {
    for format in [LogFormat::Text, LogFormat::Json] {
        let output = Output::default();
        let lines = Arc::clone(&output.0);
        log_panics(format, move |line| lines.lock().unwrap().extend_from_slice(line.as_bytes()));
        let panicking = std::thread::Builder::new().name("forging".to_owned()).spawn(|| panic!("{FORGED}"));
        assert!(panicking.unwrap().join().is_err());
        drop(std::panic::take_hook());
        let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
        // Tests that run at the same time can fail.
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("forging")).collect();
        let [line] = lines[..] else { panic!("{text}") };
        assert!(line.contains("panicked at src/cli/logging/tests.rs") && line.contains("end"), "{line}");
        assert!(!line.chars().any(is_controlling), "{line:?}");
        if format == LogFormat::Json {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&line["level"], &line["fields"]["thread"]),
                (&serde_json::json!("ERROR"), &serde_json::json!("forging"))
            );
        } else {
            assert!(
                line.contains(" ERROR marketplace::cli::logging: a thread panicked thread=forging "),
                "{line}"
            );
        }
    }
}

/// A team can have a name that looks like fields or like the start of a line. It stays one value.
#[test]
fn names_of_teams_forge_no_fields_and_no_lines() {
    for (name, in_text) in [
        ("Acme", "team=Acme key_id=1"),
        ("Acme Data", r#"team="Acme Data" key_id=1"#),
        ("a key_id=2", r#"team="a key_id=2" key_id=1"#),
        ("a\" key_id=2 \"", r#"team="a\" key_id=2 \"" key_id=1"#),
        ("a\\\" key_id=2", r#"team="a\\\" key_id=2" key_id=1"#),
        ("key_id=2", r#"team="key_id=2" key_id=1"#),
        ("a\u{a0}key_id=2", "team=\"a\u{a0}key_id=2\" key_id=1"),
        ("a\n2026-01-01T00:00:00Z INFO forged", r#"team="a\\n2026-01-01T00:00:00Z INFO forged" key_id=1"#),
        ("a\u{2028}\u{202e}\u{1b}[2J", r#"team="a\\u{2028}\\u{202e}\\u{1b}[2J" key_id=1"#),
        ("", r#"team="" key_id=1"#),
    ] {
        let log = || tracing::info!(status = 200, team = name, key_id = 1, "request completed");
        let line = logged(LogFormat::Text, false, log);
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        assert!(line.ends_with(&format!(": request completed status=200 {in_text}\n")), "{line}");
        let line: Value = serde_json::from_str(&logged(LogFormat::Json, false, log)).unwrap();
        assert_eq!(line["fields"].as_object().unwrap().len(), 4, "{line}");
        assert_eq!((&line["fields"]["key_id"], &line["fields"]["status"]), (&1.into(), &200.into()));
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

/// Values of spans are as safe as those of events.
#[test]
fn lines_name_the_spans_of_an_event() {
    let log = || {
        let _job = tracing::info_span!("job", kind = "copy", host = FORGED).entered();
        tracing::info_span!("empty").in_scope(|| tracing::info!(status = 200, "done"));
    };
    let line = logged(LogFormat::Text, false, log);
    assert!(line.contains(r#": done status=200 in=job kind=copy host="not found\\r\\n"#), "{line}");
    assert!(line.ends_with("end\" in=empty\n") && line.matches('\n').count() == 1, "{line}");
    let line: Value = serde_json::from_str(&logged(LogFormat::Json, false, log)).unwrap();
    assert_eq!(line["fields"], serde_json::json!({"message": "done", "status": 200}));
    assert_eq!((&line["spans"][0]["name"], &line["spans"][0]["kind"]), (&"job".into(), &"copy".into()));
    assert_eq!(line["spans"][1], serde_json::json!({"name": "empty"}));
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
                log.file = "/home/a/.cargo/registry/src/engine/indexer.rs",
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
