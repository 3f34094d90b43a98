//! Converts messages of errors into texts for people: it replaces names of fields by labels and requests by pages, leaves out IDs,
//! and writes amounts and times as pages do.

use uuid::Uuid;

use super::text::{self, phrase, words};
use crate::domain::{money::Cents, time::Timestamp};

/// Returns a message without names of fields and without IDs.
pub fn humanize(message: &str) -> String {
    humanize_with(message, |_| None, |_| false)
}

/// Like [`humanize`], with the labels of fields, and with the IDs that are kept.
pub fn humanize_with(
    message: &str,
    label: impl Fn(&str) -> Option<String>,
    is_kept: impl Fn(&str) -> bool,
) -> String {
    with_values(&without_ids(&with_labels(&with_pages(message), label), is_kept))
}

/// Returns a text of an operation about the team that reads it. Operators read the same texts about other teams.
pub fn for_own_team(text: &str) -> String {
    let text = text.replace("is the team's own.", "is your team's own.");
    text.strip_prefix("The team ").map(|rest| format!("Your team {rest}")).unwrap_or(text)
}

/// Says that the state of a record does not allow an operation, such as `accept_offer`, on a record of a kind, such as `offer`.
pub fn impossible(operation: &str, kind: &str, state: &str) -> String {
    let noun = if kind == "credit_purchase" { "request for credits".to_owned() } else { phrase(kind) };
    let step = operation.split_once('_').filter(|(_, object)| *object == kind);
    let step =
        step.map_or_else(|| "this is not possible".to_owned(), |(verb, _)| format!("you cannot {verb} it"));
    format!("The {noun} is {}, so {step}.", phrase(state))
}

/// Requests that errors name, and where pages have the same. The form of a page has its key.
const PAGES: [(&str, &str); 5] = [
    ("`GET /v2/asset-groups`", "The inventory"),
    ("`GET /v2/domains`", "The page “Domains and kinds”, which “Add to your inventory” links,"),
    ("with `DELETE .../data`", "on the page of the asset"),
    ("with `POST /sandbox/v1/worlds`", "in the sandbox"),
    (
        "retry a POST only with the same `Idempotency-Key`",
        "load this page again if you sent a form: it counts only once",
    ),
];

/// Returns a text that names pages in place of requests.
fn with_pages(message: &str) -> String {
    PAGES.iter().fold(message.to_owned(), |text, (request, page)| text.replace(request, page))
}

/// What follows an amount in messages.
const CURRENCY: &str = " US dollars";

/// Returns a text with amounts and times as pages write them: `$3,780.00` for `3780.00 US dollars`.
fn with_values(message: &str) -> String {
    let mut parts = message.split(CURRENCY);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let amount = text.rsplit(' ').next().unwrap_or_default();
        match Cents::parse(amount) {
            Some(cents) => {
                text.truncate(text.len() - amount.len());
                text.push_str(&text::money(cents));
            }
            None => text.push_str(CURRENCY),
        }
        text.push_str(part);
    }
    let moment = |word: &str| {
        let core = word.trim_end_matches(['.', ',', ';', ':']);
        let time = Timestamp::parse(core).filter(|_| core.contains('T'))?;
        Some(format!("{}{}", text::moment_text(time), &word[core.len()..]))
    };
    let words = text.split(' ').map(|word| moment(word).unwrap_or_else(|| word.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns a text with the labels of fields in place of their names in backquotes: “Price” for "`price_usd`". A name without a
/// label becomes words: "Budget max" for "`budget_max`". The name of a setting stays, since it is written like this in a file.
fn with_labels(message: &str, label: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = message.split('`');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        let is_name = index % 2 == 0;
        match (is_name, label(part)) {
            (true, Some(label)) if text.is_empty() => text.push_str(&label),
            (true, Some(label)) => text.extend(["“", &label, "”"]),
            (true, None) if is_setting(part) => text.push_str(part),
            (true, None) if text.is_empty() => text.push_str(&words(part)),
            (true, None) => text.push_str(&phrase(part)),
            (false, _) => text.push_str(part),
        }
    }
    text
}

/// Whether a name is one of a setting, such as `server.trusted_hosts`, or of an event.
fn is_setting(name: &str) -> bool {
    name.contains('.') && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"._".contains(&byte))
}

/// Words before an ID, which are left out with it.
const BEFORE_ID: [&str; 4] = [" with the ID", " with ID", " the ID", " ID"];

/// Returns a text without IDs, except those for which `is_kept` returns true. IDs mean nothing to people: titles and links name
/// records.
fn without_ids(message: &str, is_kept: impl Fn(&str) -> bool) -> String {
    let mut text = String::with_capacity(message.len());
    for word in message.split(' ') {
        let core = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let is_id = core.len() == 36 && Uuid::try_parse(core).is_ok();
        if !is_id || is_kept(core) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
            continue;
        }
        let after = word.rsplit_once(core).map_or("", |(_, after)| after).trim_start_matches([')', '"', '”']);
        let before = text.trim_end_matches([':', ',']);
        let before = BEFORE_ID.iter().find_map(|words| before.strip_suffix(words)).unwrap_or(before);
        text.truncate(before.len());
        text.push_str(after);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_labels_in_place_of_names() {
        let message = "`budget_max` must not be less than `budget_min`.";
        assert_eq!(humanize(message), "Budget max must not be less than budget min.");
        let label = |name: &str| (name == "budget_min").then(|| "Budget from".to_owned());
        assert_eq!(with_labels(message, label), "Budget max must not be less than “Budget from”.");
        assert_eq!(humanize("Enter a title."), "Enter a title.");
        let message = "Add the host to the setting `server.trusted_hosts`.";
        assert_eq!(humanize(message), "Add the host to the setting server.trusted_hosts.");
    }

    #[test]
    fn impossible_steps_name_the_record_and_its_state() {
        for (operation, kind, state, text) in [
            ("accept_offer", "offer", "withdrawn", "The bid is withdrawn, so you cannot accept it."),
            ("revoke_key", "key", "revoked", "The key is revoked, so you cannot revoke it."),
            (
                "mark_withdrawal_paid",
                "withdrawal",
                "paid",
                "The withdrawal is paid, so this is not possible.",
            ),
        ] {
            assert_eq!(impossible(operation, kind, state), text);
        }
    }

    #[test]
    fn messages_name_pages_in_place_of_requests() {
        let message = "Your team has no such group. `GET /v2/asset-groups` lists its groups.";
        assert_eq!(humanize(message), "Your team has no such group. The inventory lists its groups.");
        let message = "The asset has linked data. Detach the data first, with `DELETE .../data`.";
        assert_eq!(
            humanize(message),
            "The asset has linked data. Detach the data first, on the page of the asset."
        );
        let timeout = humanize(&crate::error::Error::ResponseTimeout { retry_seconds: 5 }.message());
        assert!(
            timeout.ends_with("and load this page again if you sent a form: it counts only once."),
            "{timeout}"
        );
    }

    /// Requests of operators and of contractors with a grant, whose errors no page shows.
    const OF_PROGRAMS: [&str; 3] = ["grants/{token}", "/operator/v1/", ".../parts"];

    /// Errors of operations name no request that pages cannot replace.
    #[test]
    fn every_request_in_an_error_has_a_page() {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut directories =
            vec![source.join("src/operations"), source.join("src/error"), source.join("crates/domain/src")];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                    let requests = ["GET", "POST", "PATCH", "PUT", "DELETE"];
                    let names_one = requests.iter().any(|method| line.contains(&format!("`{method} ")));
                    let is_known = PAGES.iter().any(|(request, _)| line.contains(request))
                        || OF_PROGRAMS.iter().any(|request| line.contains(request));
                    assert!(!names_one || is_known, "{}: {line}", path.display());
                }
            }
        }
    }

    #[test]
    fn messages_have_values_as_pages_write_them() {
        for (message, expected) in [
            ("Choose at most 3780.00 US dollars.", "Choose at most $3,780.00."),
            ("27000 US dollars, or 5 US dollars less.", "$27,000.00, or $5.00 less."),
            ("In US dollars.", "In US dollars."),
            (
                "It was closed at 2026-03-01T09:00:00.000Z. Later",
                "It was closed at 1 March 2026, 09:00 UTC. Later",
            ),
        ] {
            assert_eq!(humanize(message), expected);
        }
    }

    #[test]
    fn messages_have_no_ids() {
        let id = Uuid::from_u128(0x4c18_52a8_6f3e_4cbb_9d3e_1111_1111_1111);
        for (message, expected) in [
            (format!("You have a purchase of this: {id}."), "You have a purchase of this."),
            (
                format!("Detach these: \"Code (1)\" ({id}), \"Maps\" ({id}). Or not."),
                "Detach these: \"Code (1)\", \"Maps\". Or not.",
            ),
            (format!("There is no team with the ID {id}."), "There is no team."),
            (
                format!("Your team has the bid {id} on this. Withdraw it."),
                "Your team has the bid on this. Withdraw it.",
            ),
            (format!("These are sold: {id}, {id}."), "These are sold."),
            (format!("{id} is live."), " is live."),
            (
                "A digest 0123456789abcdef0123456789abcdef stays.".to_owned(),
                "A digest 0123456789abcdef0123456789abcdef stays.",
            ),
        ] {
            assert_eq!(humanize(&message).trim(), expected.trim(), "{message}");
        }
        let message = format!("The listing has no asset {id}.");
        assert_eq!(without_ids(&message, |_| true), message);
    }
}
