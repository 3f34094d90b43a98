//! Metrics in the text format 0.0.4 of Prometheus, for programs that do not read OpenMetrics.

use std::{collections::BTreeMap, fmt::Write};

use poem::http::HeaderMap;

use crate::web::accept;

/// Content type of the format.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Whether the `Accept` headers give plain text a higher weight than OpenMetrics. Wildcards do not count.
pub(super) fn is_preferred(headers: &HeaderMap) -> bool {
    accept::weight(headers, "text/plain") > accept::weight(headers, "application/openmetrics-text")
}

/// Converts metrics in OpenMetrics. Samples are the same in both formats, but a family is named as its samples are, it has no
/// unit, and its type is one of those that the older format knows.
pub(super) fn from_openmetrics(metrics: &str) -> String {
    let declared = |keyword: &'static str| {
        metrics.lines().filter_map(move |line| line.strip_prefix(keyword)?.split_once(' '))
    };
    let types: BTreeMap<&str, &str> = declared("# TYPE ").collect();
    let mut converted = String::with_capacity(metrics.len());
    for line in metrics.lines() {
        let Some(description) = line.strip_prefix("# ") else {
            converted.push_str(line);
            converted.push('\n');
            continue;
        };
        let mut words = description.splitn(3, ' ');
        let (Some(keyword), Some(name), Some(value)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let (ending, kind) = match types.get(name).copied().unwrap_or("unknown") {
            "counter" => ("_total", "counter"),
            "info" => ("_info", "gauge"),
            "unknown" => ("", "untyped"),
            kind => ("", kind),
        };
        // Writing to a string cannot fail.
        let _ = match keyword {
            "HELP" => writeln!(converted, "# HELP {name}{ending} {value}"),
            "TYPE" => writeln!(converted, "# TYPE {name}{ending} {kind}"),
            _ => Ok(()),
        };
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_declared_as_their_samples_are_named() {
        let metrics = "# HELP m_build Version of the program.\n# TYPE m_build info\nm_build_info{version=\"1\"} 1\n\
            # HELP m_wait_seconds Waits.\n# TYPE m_wait_seconds counter\n# UNIT m_wait_seconds seconds\n\
            m_wait_seconds_total{for=\"a # b\"} 0.5\n\
            # HELP m_empty Nothing.\n# TYPE m_empty gauge\n\
            # HELP m_took Times.\n# TYPE m_took histogram\nm_took_bucket{le=\"+Inf\"} 1\nm_took_count 1\n# EOF\n";
        let expected = "# HELP m_build_info Version of the program.\n# TYPE m_build_info gauge\n\
            m_build_info{version=\"1\"} 1\n\
            # HELP m_wait_seconds_total Waits.\n# TYPE m_wait_seconds_total counter\n\
            m_wait_seconds_total{for=\"a # b\"} 0.5\n\
            # HELP m_empty Nothing.\n# TYPE m_empty gauge\n\
            # HELP m_took Times.\n# TYPE m_took histogram\nm_took_bucket{le=\"+Inf\"} 1\nm_took_count 1\n";
        assert_eq!(from_openmetrics(metrics), expected);
    }

    #[test]
    fn plain_text_is_sent_to_who_prefers_it() {
        for (accept, is_text) in [
            ("text/plain", true),
            ("text/plain; version=0.0.4", true),
            ("text/plain;version=0.0.4;q=0.3,*/*;q=0.1", true),
            ("application/openmetrics-text; version=1.0.0; q=0.2, text/plain; q=0.5", true),
            ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5", false),
            ("application/openmetrics-text,text/plain", false),
            ("*/*", false),
            ("application/json", false),
        ] {
            let headers: HeaderMap =
                HeaderMap::from_iter([(poem::http::header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(is_preferred(&headers), is_text, "{accept}");
        }
        assert!(!is_preferred(&HeaderMap::new()));
    }
}
