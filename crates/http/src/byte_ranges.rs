//! Range requests (RFC 9110, 14): which bytes of a representation with a strong entity tag a request asks for.

use std::ops::Range;

use poem::http::{HeaderMap, HeaderValue, header};

/// What to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// Everything. Also the answer to a request for several ranges, which a server may ignore.
    Whole,
    /// These bytes, at least one.
    Part(Range<u64>),
    /// Nothing, since the range begins after the end.
    Unsatisfiable,
}

/// Returns what to send of a representation with this quoted entity tag and this size in bytes.
pub fn select(headers: &HeaderMap, tag: &HeaderValue, size: u64) -> Selected {
    let is_same = |value: &str| value.trim() == tag || format!("\"{}\"", value.trim()) == *tag;
    // A time never matches, since there is none.
    let if_range = headers.get(header::IF_RANGE);
    if if_range.is_some_and(|value| !value.to_str().is_ok_and(is_same)) {
        return Selected::Whole;
    }
    let mut ranges = headers.get_all(header::RANGE).iter();
    match (ranges.next().and_then(|range| range.to_str().ok()), ranges.next()) {
        (Some(range), None) => parse(range, size),
        _ => Selected::Whole,
    }
}

fn parse(header: &str, size: u64) -> Selected {
    let Some((unit, range)) = header.split_once('=') else { return Selected::Whole };
    let Some((first, last)) = range.trim().split_once('-') else { return Selected::Whole };
    // No signs, which parsing would accept. A larger number is after the end of everything.
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| is_number(text).then(|| text.parse().unwrap_or(u64::MAX));
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Selected::Whole;
    }
    let range: Range<u64> = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..size.min(last.saturating_add(1)),
        (Some(first), None) if last.is_empty() => first..size,
        (None, Some(count)) if first.is_empty() => size.saturating_sub(count)..size,
        _ => return Selected::Whole,
    };
    if range.is_empty() { Selected::Unsatisfiable } else { Selected::Part(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: HeaderValue = HeaderValue::from_static("\"t\"");

    fn selected(range: &str, if_range: Option<&str>) -> Selected {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_str(range).unwrap());
        if let Some(value) = if_range {
            headers.insert(header::IF_RANGE, HeaderValue::from_str(value).unwrap());
        }
        select(&headers, &TAG, 10)
    }

    #[test]
    fn one_range_is_selected() {
        for (range, expected) in [
            ("bytes=0-0", Selected::Part(0..1)),
            ("bytes=3-5", Selected::Part(3..6)),
            ("Bytes = 3-", Selected::Part(3..10)),
            ("bytes=3-99", Selected::Part(3..10)),
            ("bytes=0-18446744073709551615", Selected::Part(0..10)),
            ("bytes=-4", Selected::Part(6..10)),
            ("bytes=-99", Selected::Part(0..10)),
            ("bytes=0-99999999999999999999", Selected::Part(0..10)),
            ("bytes=-99999999999999999999", Selected::Part(0..10)),
            ("bytes=10-", Selected::Unsatisfiable),
            ("bytes=99999999999999999999-", Selected::Unsatisfiable),
            ("bytes=10-20", Selected::Unsatisfiable),
            ("bytes=-0", Selected::Unsatisfiable),
        ] {
            assert_eq!(selected(range, None), expected, "{range}");
            assert_eq!(selected(range, Some("\"t\"")), expected, "{range}");
            assert_eq!(selected(range, Some("t")), expected, "{range}");
            for other in ["\"u\"", "W/\"t\"", "Sun, 01 Mar 2026 09:00:00 GMT", ""] {
                assert_eq!(selected(range, Some(other)), Selected::Whole, "{range} {other}");
            }
        }
    }

    #[test]
    fn other_ranges_are_ignored() {
        for range in
            ["bytes=5-3", "bytes=-", "bytes=a-b", "bytes=+1-2", "lines=1-2", "bytes=0-1,3-4", "1-2", ""]
        {
            assert_eq!(selected(range, None), Selected::Whole, "{range}");
        }
        assert_eq!(select(&HeaderMap::new(), &TAG, 10), Selected::Whole);
    }
}
