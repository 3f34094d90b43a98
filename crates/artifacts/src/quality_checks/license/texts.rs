//! Identifies licenses by their texts. A text that grants less than a license, or demands more, is not that license.

use spdx::detection::{LicenseEntry, Store, TextData, scan::Scanner};

/// Minimum similarity, from 0 to 1, of a text to a known license that it is identified as.
const MIN_CONFIDENCE: f32 = 0.88;

/// Minimum similarity of a text to a rarely used license that it is identified as, and how much more similar it must be to
/// that license than to every other one.
const MIN_RARE_CONFIDENCE: f32 = 0.97;
const MIN_RARE_LEAD: f32 = 0.015;

/// Words by which a text limits what it grants. If there are more of them than in a license, the text has other terms.
const LIMITING_WORDS: [&str; 14] = [
    "not",
    "no",
    "only",
    "except",
    "unless",
    "shall",
    "must",
    "may",
    "cannot",
    "sell",
    "commercial",
    "noncommercial",
    "prohibited",
    "restricted",
];

/// Number of words of a license for which a text may have one more of the limiting words: long licenses have several versions.
const WORDS_PER_TOLERATED: usize = 2_000;

/// Beginning of the last paragraph of the GPL 2.0, which its text in the list of SPDX lacks.
const GPL_2_END: &str = "this general public license does not permit incorporating your program";

/// The texts of licenses.
pub(super) struct LicenseTexts {
    /// Those that are in use for software and data. Some of the rarely used licenses of SPDX are too similar to these to tell
    /// them apart.
    used: Store,
    /// All of them.
    all: Store,
}

impl LicenseTexts {
    /// Loads all texts.
    pub(super) fn load() -> LicenseTexts {
        let mut used = Store::new();
        let all = Store::load_inline().unwrap_or_else(|_| Store::new());
        for (key, LicenseEntry { original, aliases, alternates, .. }) in all.iter() {
            let Some(name) = name_of_text(key, aliases) else { continue };
            // Source headers and original texts are not needed for matching, so drop them to save memory.
            let mut stripped = LicenseEntry::new(original.clone().without_text());
            stripped.alternates = alternates.iter().map(|text| text.clone().without_text()).collect();
            stripped.alternates.extend(text_without_gpl(original));
            stripped.alternates.extend(text_without_appendix(original));
            used.insert_entry(name.to_owned(), stripped);
        }
        LicenseTexts { used, all }
    }

    /// Returns the name of the license that a text is.
    pub(super) fn identify(&self, text: &str) -> Option<String> {
        let text = TextData::new(text);
        let scanner = Scanner::new(&self.used).confidence_threshold(MIN_CONFIDENCE);
        let found = scanner.scan(&text);
        let license = found.license?;
        let closest = self.all.analyze(&text);
        if closest.score >= MIN_RARE_CONFIDENCE.max(found.score + MIN_RARE_LEAD) {
            return spdx::license_id(closest.name).map(|id| id.name.to_owned());
        }
        let words = self.words_of(license.name)?;
        (!WordCounts::of_text(&text).has_other_terms(&words)).then(|| license.name.to_owned())
    }

    /// Returns the words that the texts of a license in use have.
    fn words_of(&self, license: &str) -> Option<WordCounts> {
        let is_named = |key: &String, entry: &LicenseEntry| {
            name_of_text(key, &entry.aliases).is_some_and(|name| name == license)
        };
        let (_, entry) = self.all.iter().find(|(key, entry)| is_named(key, entry))?;
        let versions = std::iter::once(&entry.original).chain(&entry.alternates);
        Some(versions.map(WordCounts::of_license).fold(WordCounts::default(), WordCounts::max))
    }
}

/// How often a text has each of the limiting words, and its number of words.
#[derive(Clone, Copy, Debug, Default)]
struct WordCounts {
    limiting: [usize; LIMITING_WORDS.len()],
    all: usize,
}

impl WordCounts {
    /// Counts the words of a text, except those of copyright notices, which have names.
    fn of_text(text: &TextData) -> WordCounts {
        WordCounts::of(text, false)
    }

    /// Counts all words of a license. Its lines can end elsewhere than those of a text, so a line that looks like a notice can have
    /// terms, too.
    fn of_license(text: &TextData) -> WordCounts {
        WordCounts::of(text, true)
    }

    fn of(text: &TextData, has_notices: bool) -> WordCounts {
        let mut counts = WordCounts::default();
        let mut is_in_end_of_gpl = false;
        for line in text.lines().iter().map(|line| line.to_lowercase()) {
            is_in_end_of_gpl = !line.is_empty() && (is_in_end_of_gpl || line.starts_with(GPL_2_END));
            if is_in_end_of_gpl || !has_notices && is_copyright_notice(&line) {
                continue;
            }
            for word in
                line.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
            {
                counts.all += 1;
                if let Some(at) = LIMITING_WORDS.iter().position(|limiting| *limiting == word) {
                    counts.limiting[at] += 1;
                }
            }
        }
        counts
    }

    /// Returns the larger one of each count.
    fn max(self, other: WordCounts) -> WordCounts {
        let mut limiting = self.limiting;
        limiting.iter_mut().zip(other.limiting).for_each(|(own, other)| *own = (*own).max(other));
        WordCounts { limiting, all: self.all.max(other.all) }
    }

    /// Whether the words say more than those of a license.
    fn has_other_terms(&self, license: &WordCounts) -> bool {
        let pairs = self.limiting.iter().zip(license.limiting);
        let more: usize = pairs.map(|(own, of_license)| own.saturating_sub(of_license)).sum();
        more * WORDS_PER_TOLERATED > license.all
    }
}

/// Whether a line in lower case states who has the copyright.
fn is_copyright_notice(line: &str) -> bool {
    let is_year =
        |rest: &str| rest.trim_start().starts_with(|first: char| first == '(' || first.is_ascii_digit());
    // The fourth paragraph of a section can begin with (c), too.
    let after_sign = line.strip_prefix("(c)").map(str::trim_start);
    after_sign.is_some_and(|rest| rest.starts_with("copyright") || is_year(rest))
        || line.strip_prefix("copyright").is_some_and(is_year)
}

/// Returns the name of a license text that has several, if it is in use. A text alone does not grant later versions, so
/// a name that ends in `-only` comes first, and one without further conditions before longer ones.
pub(super) fn name_of_text<'a>(key: &'a String, aliases: &'a [String]) -> Option<&'a String> {
    let is_used = |name: &&String| {
        spdx::license_id(name).is_some_and(|id| {
            let is_free = id.is_osi_approved() || id.is_fsf_free_libre() || name.starts_with("CC");
            is_free && !id.is_deprecated()
        })
    };
    // Some aliases are other licenses with other texts.
    let family = |name: &'a String| name.split('-').next();
    let names = aliases.iter().filter(|alias| family(alias) == family(key));
    let names = std::iter::once(key).chain(names).filter(is_used);
    names.min_by_key(|name| (!name.ends_with("-only"), name.len()))
}

/// Returns the text of the LGPL without the text of the GPL, which SPDX appends to it, but projects have in a separate file.
fn text_without_gpl(text: &TextData) -> Option<TextData> {
    let is_title = |line: &String| line.trim().eq_ignore_ascii_case("GNU GENERAL PUBLIC LICENSE");
    let at = text.lines().iter().position(is_title).filter(|at| *at > 0)?;
    Some(TextData::new(&text.lines()[..at].join("\n")).without_text())
}

/// Returns the text of the Apache License without its appendix, which many projects leave out.
fn text_without_appendix(text: &TextData) -> Option<TextData> {
    let is_title = |line: &String| line.to_lowercase().starts_with("appendix: how to apply");
    let at = text.lines().iter().position(is_title)?;
    Some(TextData::new(&text.lines()[..at].join("\n")).without_text())
}
