//! Looks for hints of personal data in text: email addresses and numbers, recognized by their format and,
//! where they have them, by their check digits. A hint is not proof: other numbers may look the same.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{
    Check, Chunk, FileAction, Finding, Place, Role, Rule,
    samples::{Samples, masked},
    window::{View, Window},
};
use crate::contents::{Entry, Root};

/// No email addresses or personal numbers were found.
pub static PERSONAL_DATA_HINTS: Rule = Rule::informational("personal_data_hints", "Hints of personal data");

/// Kinds of hints, in the order in which the message lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HintKind {
    Email,
    Phone,
    Card,
    Iban,
    Ssn,
    /// Looks like a card number, but its check digit is wrong.
    InvalidCard,
}

/// For each kind, the number of hints and the place of the first one.
type HintCounts = [(u64, Option<Place>); 6];

/// Singular and plural nouns of the kinds that are reported.
const KIND_NOUNS: [(&str, &str); 5] = [
    ("email address", "email addresses"),
    ("phone number", "phone numbers"),
    ("card number", "card numbers"),
    ("IBAN", "IBANs"),
    ("US social security number", "US social security numbers"),
];

/// Maximum number of bytes before the `@` of an email address (RFC 5321).
const MAX_LOCAL_PART: usize = 64;

/// Domains of placeholder addresses that belong to no person.
const PLACEHOLDER_DOMAINS: [&str; 10] = [
    "example.com",
    "example.org",
    "example.net",
    "example",
    "test",
    "invalid",
    "localhost",
    "local",
    "noreply.github.com",
    "email.com",
];

/// Local parts of email addresses that belong to no person.
const PLACEHOLDER_LOCAL_PARTS: [&str; 9] =
    ["git", "noreply", "no-reply", "donotreply", "user", "username", "name", "foo", "test"];

/// File extensions that look like top-level domains, as in `logo@2x.png`.
const FILE_EXTENSIONS: [&str; 18] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "json", "rs", "py", "md", "html", "tgz",
    "lock", "yml", "service",
];

/// Country codes of IBANs, two letters each.
const IBAN_COUNTRIES: &str = "ADAEALATAZBABEBGBHBIBRBYCHCRCYCZDEDJDKDOEEEGESFIFKFOFRGBGEGIGLGRGTHRHUIEILIQISITJOKWKZLBLCLILT\
    LULVLYMCMDMEMKMNMRMTMUNINLNOOMPKPLPSPTQARORSRUSASCSDSESISKSMSOSTSVTLTNTRUAVAVGXKYE";

/// Matches every candidate. The first byte and the number of digits tell its kind.
static PATTERNS: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = [
        r"@[A-Za-z0-9][A-Za-z0-9.-]{0,200}\.[A-Za-z]{2,24}\b",
        r"\+[1-9][0-9]{0,2}(?:[ .-]?\(?[0-9]{1,4}\)?){2,6}",
        r"\([2-9][0-9]{2}\) ?[0-9]{3}-[0-9]{4}\b",
        r"\b[2-9][0-9]{2}([-.])[0-9]{3}[-.][0-9]{4}\b",
        r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b",
        r"\b[2-6][0-9]{3}(?:[ -]?[0-9]{4}){3}\b",
        r"\b3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}\b",
        r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b",
    ];
    RegexBuilder::new(&patterns.join("|")).unicode(false).build().expect("the patterns are valid")
});

/// Check for [`PERSONAL_DATA_HINTS`].
#[derive(Debug, Default)]
pub struct PersonalData {
    window: Window,
    path: Option<String>,
    found: HintCounts,
    /// Hints in the current file.
    found_in_file: HintCounts,
    /// Number of texts that were read to the end.
    texts: u64,
    is_text: bool,
    /// For each file and kind, the place of the first hint.
    places: Samples,
    unread: Samples,
}

impl PersonalData {
    fn push(&mut self, bytes: &[u8], is_last: bool) {
        let Some(path) = self.path.as_deref() else { return };
        let found = &mut self.found_in_file;
        self.window.push(bytes, is_last, |view| scan(path, view, found));
    }
}

fn scan(path: &str, view: View<'_>, found: &mut HintCounts) {
    for candidate in PATTERNS.find_iter(view.bytes) {
        if !view.owns_match_at(candidate.start()) {
            continue;
        }
        let Some((kind, from)) = classify(view.bytes, candidate.start(), candidate.end()) else { continue };
        let (count, first) = &mut found[kind as usize];
        *count += 1;
        if *count == 1 {
            let value = String::from_utf8_lossy(&view.bytes[from..candidate.end()]);
            *first = Some(Place::line(path, view.line_number(candidate.start()), masked(&value)));
        }
    }
}

/// Returns the kind of a candidate and where it starts, or `None` if it is not a hint.
fn classify(text: &[u8], start: usize, end: usize) -> Option<(HintKind, usize)> {
    let before = start.checked_sub(1).map(|at| text[at]);
    let candidate = &text[start..end];
    let digits: Vec<u8> =
        candidate.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0').collect();
    // Whether the candidate is part of a longer number, a path, a version, or a decimal fraction.
    let is_part =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"._-/=+".contains(&byte));
    // A period may end a sentence or continue a version number.
    let continues = match (text.get(end), text.get(end + 1)) {
        (Some(b'.'), Some(next)) => next.is_ascii_digit(),
        (Some(next), _) => b"_-/+".contains(next),
        (None, _) => false,
    };
    let is_separate = !is_part(before) && !continues;
    match candidate[0] {
        b'@' => email_start(text, start, end).map(|from| (HintKind::Email, from)),
        _ if !is_separate => None,
        b'+' => {
            let has_parts = candidate.iter().any(|byte| b" .-()".contains(byte));
            ((8..=15).contains(&digits.len()) && has_parts).then_some((HintKind::Phone, start))
        }
        b'(' => Some((HintKind::Phone, start)),
        b'A'..=b'Z' => is_iban(candidate).then_some((HintKind::Iban, start)),
        _ if digits.len() == 10 => (digits[3..6] != [5, 5, 5]).then_some((HintKind::Phone, start)),
        _ if digits.len() == 9 => is_ssn(&digits).then_some((HintKind::Ssn, start)),
        _ if !may_be_card(&digits) => None,
        _ if has_check_digit(&digits) => Some((HintKind::Card, start)),
        _ => Some((HintKind::InvalidCard, start)),
    }
}

/// Returns where the email address starts whose `@` is at `sign`, or `None` if it is not one of a person.
fn email_start(text: &[u8], sign: usize, end: usize) -> Option<usize> {
    let is_local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let length = text[..sign].iter().rev().take(MAX_LOCAL_PART + 1).take_while(|byte| is_local(byte)).count();
    let from = sign - length;
    let local = String::from_utf8_lossy(&text[from..sign]).to_ascii_lowercase();
    let domain = String::from_utf8_lossy(&text[sign + 1..end]).to_ascii_lowercase();
    let ending = domain.rsplit('.').next().unwrap_or_default();
    let is_placeholder = PLACEHOLDER_DOMAINS
        .iter()
        .any(|placeholder| domain == *placeholder || domain.ends_with(&format!(".{placeholder}")));
    let is_personal = (1..=MAX_LOCAL_PART).contains(&length)
        && local.starts_with(|character: char| character.is_ascii_alphanumeric())
        && !PLACEHOLDER_LOCAL_PARTS.contains(&local.as_str());
    // In a URL, the part before the `@` is a user name and a password.
    let is_email = from
        .checked_sub(1)
        .is_none_or(|at| !b"/:@".contains(&text[at]) || text[..from].ends_with(b"mailto:"));
    (is_personal && is_email && !is_placeholder && !FILE_EXTENSIONS.contains(&ending)).then_some(from)
}

/// Whether digits have the prefix and the length of a card number, and the digits after the prefix are not
/// all equal.
fn may_be_card(digits: &[u8]) -> bool {
    let first = digits.iter().take(4).fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    let is_issued = match digits.len() {
        15 => matches!(first, 3400..=3499 | 3700..=3799),
        16 => matches!(first, 4000..=4999 | 5100..=5599 | 2221..=2720 | 6011 | 6440..=6599),
        _ => false,
    };
    is_issued && digits[4..].iter().any(|digit| *digit != digits[4])
}

/// Whether the last digit is the right check digit (Luhn algorithm).
fn has_check_digit(digits: &[u8]) -> bool {
    let values = digits.iter().rev().enumerate().map(|(at, digit)| {
        let value = u32::from(*digit) * if at % 2 == 1 { 2 } else { 1 };
        value / 10 + value % 10
    });
    values.sum::<u32>().is_multiple_of(10)
}

/// Whether a text is an IBAN: its number modulo 97 is 1 (ISO 7064).
fn is_iban(text: &[u8]) -> bool {
    let letters: Vec<u8> = text.iter().copied().filter(|byte| *byte != b' ').collect();
    let is_country =
        IBAN_COUNTRIES.as_bytes().as_chunks::<2>().0.iter().any(|country| letters.starts_with(country));
    if !is_country || !(15..=34).contains(&letters.len()) {
        return false;
    }
    let remainder = letters[4..].iter().chain(&letters[..4]).fold(0_u32, |remainder, byte| match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        _ => (remainder * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    remainder == 1
}

/// Whether nine digits may be a US social security number: some ranges are never assigned.
fn is_ssn(digits: &[u8]) -> bool {
    let area = &digits[..3];
    area != [0, 0, 0]
        && area != [6, 6, 6]
        && area[0] != 9
        && digits[3..5] != [0, 0]
        && digits[5..] != [0, 0, 0, 0]
}

impl Check for PersonalData {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.window.clear();
        self.path = entry.is_file().then(|| entry.path.to_owned());
        self.is_text = false;
        if entry.is_too_large {
            self.unread.add_file(entry.path);
        }
        if self.path.is_some() { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        self.is_text = !chunk.is_binary;
        if self.is_text {
            self.push(chunk.text, false);
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        self.push(&[], true);
        if let (Some(path), Some(_)) = (self.path.take(), problem) {
            self.unread.add_file(&path);
        } else {
            self.texts += u64::from(self.is_text);
        }
        let mut found = std::mem::take(&mut self.found_in_file);
        // One in ten arbitrary numbers of that length has the right check digit by chance.
        if found[HintKind::InvalidCard as usize].0 >= found[HintKind::Card as usize].0 {
            found[HintKind::Card as usize].0 = 0;
        }
        for (kind, ((sum, first), (count, place))) in self.found.iter_mut().zip(found).enumerate() {
            if let (1.., Some(place), Some(nouns)) = (count, &place, KIND_NOUNS.get(kind)) {
                let text = || match count {
                    1 => format!("{} {}", nouns.0, place.text),
                    _ => format!("{count} {}, the first {}", nouns.1, place.text),
                };
                let place = || Place { text: text(), kind: nouns.0.to_owned(), ..place.clone() };
                self.places.add(place, Place::described);
            }
            if *sum == 0 {
                *first = place;
            }
            *sum += count;
        }
    }

    fn covers_extra(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let hints: Vec<String> = KIND_NOUNS
            .iter()
            .zip(&self.found)
            .filter_map(|((singular, plural), (count, first))| {
                let noun = if *count == 1 { singular } else { plural };
                let first = first.as_ref().filter(|_| *count > 0)?;
                Some(format!("{count} {noun} (first: {})", first.described()))
            })
            .collect();
        let is_passed = hints.is_empty();
        if is_passed && self.texts == 0 {
            return Vec::new();
        }
        let mut message = if is_passed {
            "No hints of personal data were found.".to_owned()
        } else {
            format!("{}. Remove them, or state whose data it is and why it may be sold.", hints.join("; "))
        };
        if !self.unread.is_empty() {
            message = format!("{message} Could not be read: {}.", self.unread);
        }
        let finding = Finding::passed_if(&PERSONAL_DATA_HINTS, is_passed, &message);
        vec![finding.with(Role::Cause, "", self.places).with(Role::LeftOut, "could not be read", self.unread)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality_checks::tests::findings_of;
    use marketplace_domain::quality_checks::CheckStatus;

    fn findings(text: &[u8], length: usize) -> Vec<Finding> {
        findings_of(PersonalData::default(), &[("people.txt", text)], length)
    }

    fn finding(text: &[u8], length: usize) -> Finding {
        findings(text, length).remove(0)
    }

    #[test]
    fn hints_are_listed_by_kind_and_masked() {
        for (text, expected) in [
            ("Write to jane.doe@acme-corp.co.uk, please", "1 email address (first: jane****"),
            ("<a href=\"mailto:jane.doe@acme.io\">", "1 email address"),
            ("call +49 30 901820 today", "1 phone number"),
            ("call (212) 736-5000", "1 phone number"),
            ("call 212-736-5000.", "1 phone number"),
            ("card 4012 8888 8888 1881, paid", "1 card number (first: 4012****"),
            ("card 378282246310005", "1 card number"),
            ("to DE89 3704 0044 0532 0130 00.", "1 IBAN (first: DE89****"),
            ("to GB29NWBK60161331926819", "1 IBAN"),
            ("ssn 536-22-8726", "1 US social security number (first: 536****"),
        ] {
            for length in [1, 7, 1_000] {
                let finding = finding(format!("first line\n{text}").as_bytes(), length);
                assert_eq!(finding.status, CheckStatus::Failed, "{text}");
                assert!(finding.message.starts_with(expected), "{text}: {}", finding.message);
                assert!(finding.message.contains("\"people.txt\", line 2"), "{}", finding.message);
            }
        }
    }

    #[test]
    fn similar_values_are_not_hints() {
        for text in [
            "x@example.com y@sub.example.org noreply@acme.com git@github.com 1+jane@users.noreply.github.com",
            "logo@2x.png package@1.2.3 @app.route decorator @media.screen",
            "https://user:password@host.acme.com/ postgres://joe@db.acme.com",
            "+1234567890 +200 12:00+02:00 version 212.736.5000.1",
            "4012 8888 8888 1882 4111 1111 1111 1111 1234567890123456 0000000000000000 4444444444444444",
            "3.4012888888881881 id-4012888888881881",
            "DE89 3704 0044 0532 0130 01 ABCD EFGH FE28NWBK60161331926819",
            "000-12-3456 666-12-3456 912-12-3456 123-00-4567 2024-01-0100",
            "212-555-0123",
        ] {
            let finding = finding(text.as_bytes(), 1_000);
            assert_eq!(
                (finding.status, finding.message.as_str()),
                (CheckStatus::Passed, "No hints of personal data were found."),
                "{text}"
            );
        }
        assert_eq!(findings(b"\0 jane.doe@acme.io", 100), [], "binary files are not text");
    }

    #[test]
    fn address_across_chunks_is_found_once() {
        for before in [4_080, 8_192, 65_530] {
            let text = format!("{} jane.doe@acme.io {}", ".".repeat(before), " ".repeat(90_000));
            for length in [4_096, 8_192, 65_536] {
                let finding = finding(text.as_bytes(), length);
                assert!(finding.message.starts_with("1 email address"), "{before} {length}");
            }
        }
    }

    #[test]
    fn random_numbers_are_not_card_numbers() {
        let numbers =
            |from: u64| (from..from + 500).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat();
        let result = finding(numbers(4_012_888_888_881_000).as_bytes(), 1_000);
        assert_eq!(result.message, "No hints of personal data were found.");
        let cards = "4012888888881881\n5425233430109903\n4012888888881882\n";
        assert!(finding(cards.as_bytes(), 7).message.starts_with("2 card numbers"));
    }

    proptest::proptest! {
        /// A single wrong digit is detected.
        #[test]
        fn luhn_detects_single_wrong_digit(at in 0..16usize, by in 1..10u8) {
            let mut digits = [4, 0, 1, 2, 8, 8, 8, 8, 8, 8, 8, 8, 1, 8, 8, 1];
            proptest::prop_assert!(may_be_card(&digits) && has_check_digit(&digits));
            digits[at] = (digits[at] + by) % 10;
            proptest::prop_assert!(!has_check_digit(&digits));
        }
    }
}
