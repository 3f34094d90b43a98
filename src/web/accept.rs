//! What content clients accept.

use poem::http::{HeaderMap, header};

/// Returns the weight of a media type in the `Accept` headers; 0 if they do not name it. Wildcards do not count.
pub fn weight(headers: &HeaderMap, media_type: &str) -> f32 {
    let lists = headers.get_all(header::ACCEPT).iter().filter_map(|list| list.to_str().ok());
    let weights = lists.flat_map(|list| list.split(',')).filter_map(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let is_named = parts.next()?.eq_ignore_ascii_case(media_type);
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        is_named.then(|| weight.unwrap_or(1.0))
    });
    weights.fold(0.0, f32::max)
}

/// Whether the `Accept` headers give JSON a higher weight than HTML. Wildcards do not count, so that browsers
/// and simple clients get pages.
pub fn prefers_json(headers: &HeaderMap) -> bool {
    weight(headers, "application/json") > weight(headers, "text/html")
}
