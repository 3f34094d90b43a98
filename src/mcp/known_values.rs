//! Values of filters by slug, in the forms in which models write them: labels and other cases are replaced with the slugs,
//! and unknown values are reported with the nearest known ones.
//!
//! An unknown value is no error: as over HTTP, it matches nothing.

use std::collections::HashMap;

use rmcp::model::JsonObject;
use serde_json::Value;

use super::{error::ToolError, tools::Tool};
use crate::{
    error::excerpt,
    market::{Market, Reader},
    operations::vocabulary::{self, Term, Vocabulary},
    rest::Caller,
};

/// Arguments that take slugs.
const ARGUMENTS: [(&str, Vocabulary); 8] = [
    ("asset_types", Vocabulary::Kinds),
    ("capabilities", Vocabulary::Capabilities),
    ("file_extensions", Vocabulary::FileExtensions),
    ("languages", Vocabulary::Languages),
    ("robotics_formats", Vocabulary::RoboticsFormats),
    ("sku", Vocabulary::Kinds),
    ("tag_slugs", Vocabulary::InventoryTags),
    ("tags", Vocabulary::Domains),
];

/// Maximum number of values of one argument that are looked up. The others stay as they are.
const MAX_VALUES: usize = 50;

/// Maximum number of unknown values that a hint names, and of the known ones that it names for each.
const MAX_UNKNOWN: usize = 3;
const MAX_NEAREST: usize = 3;

/// Maximum number of bytes of a value that a hint names.
const MAX_SLUG_BYTES: usize = 40;

/// Minimum similarity (Jaro-Winkler, 0 to 1) of a known value that a hint names.
const MIN_SIMILARITY: f64 = 0.75;

/// Replaces labels and other cases with slugs in the arguments of a call. Returns a hint about unknown values; `None` if all
/// are known.
pub async fn resolve(
    market: &Market,
    caller: &Caller,
    tool: &Tool,
    input: &mut JsonObject,
) -> Result<Option<String>, ToolError> {
    let is_of_tool = |name: &str| tool.arguments.iter().chain(&tool.filters).any(|known| known == name);
    let stated: Vec<(&'static str, Vocabulary)> =
        ARGUMENTS.into_iter().filter(|(name, _)| is_of_tool(name) && input.contains_key(*name)).collect();
    if stated.is_empty() {
        return Ok(None);
    }
    let proof = caller.authenticated().clone();
    let vocabularies: Vec<Vocabulary> = stated.iter().map(|(_, vocabulary)| *vocabulary).collect();
    let terms = market
        .read_inline(caller.authenticated().requester(), move |reader: &Reader| {
            vocabularies.into_iter().map(|vocabulary| vocabulary::terms(reader, &proof, vocabulary)).collect()
        })
        .await;
    let terms: Vec<Vec<Term>> = terms.map_err(|error| ToolError::internal(&error, caller.request_id()))?;
    let mut hints = Vec::new();
    for ((name, _), terms) in stated.iter().zip(&terms) {
        if let Some(value) = input.get_mut(*name) {
            hints.extend(resolve_value(name, value, terms));
        }
    }
    Ok((!hints.is_empty()).then(|| hints.join(" ")))
}

/// Replaces the values of one argument, and returns a hint about each of the first unknown ones.
fn resolve_value(name: &str, value: &mut Value, terms: &[Term]) -> Vec<String> {
    let mut slugs = HashMap::with_capacity(2 * terms.len());
    for term in terms.iter().rev() {
        slugs.insert(simplified(&term.label), term);
        slugs.insert(simplified(&term.slug), term);
    }
    let values = match value {
        Value::Array(values) => values.as_mut_slice(),
        value => std::slice::from_mut(value),
    };
    let mut hints = Vec::new();
    for value in values.iter_mut().take(MAX_VALUES) {
        let Value::String(text) = value else { continue };
        if terms.iter().any(|term| term.slug == *text) {
            continue;
        }
        match slugs.get(&simplified(text)) {
            Some(term) => text.clone_from(&term.slug),
            None if hints.len() < MAX_UNKNOWN => hints.push(hint(name, text, terms)),
            None => {}
        }
    }
    hints
}

/// Returns a text without what people write differently: its case, spaces, hyphens, underscores, and a leading dot. Signs
/// that distinguish names, as in `C++`, stay.
fn simplified(text: &str) -> String {
    let text = text.trim().trim_start_matches('.').to_lowercase();
    text.chars().filter(|character| !matches!(character, ' ' | '-' | '_')).collect()
}

fn is_plain_slug(slug: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+');
    slug.len() <= MAX_SLUG_BYTES && slug.bytes().all(is_plain)
}

/// Returns a sentence about an unknown value, with the nearest known ones.
fn hint(name: &str, value: &str, terms: &[Term]) -> String {
    let shown = excerpt(value);
    let text = simplified(&shown);
    let similarity = |term: &Term| {
        let of = |known: &str| strsim::jaro_winkler(&text, &simplified(known));
        of(&term.slug).max(of(&term.label))
    };
    let mut nearest: Vec<(f64, &Term)> = terms.iter().map(|term| (similarity(term), term)).collect();
    // Teams write some of the values, and a hint is advice of the platform, so it repeats nothing but plain slugs.
    nearest.retain(|(similarity, term)| *similarity >= MIN_SIMILARITY && is_plain_slug(&term.slug));
    nearest.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let nearest: Vec<&str> = nearest.iter().take(MAX_NEAREST).map(|(_, term)| term.slug.as_str()).collect();
    if nearest.is_empty() {
        format!("`{name}` has no value {shown:?}.")
    } else {
        format!("`{name}` has no value {shown:?}; nearest: {}.", nearest.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn terms() -> Vec<Term> {
        let term = |(slug, label): (&str, &str)| Term { slug: slug.to_owned(), label: label.to_owned() };
        [("c", "C"), ("cpp", "C++"), ("csharp", "C#"), ("java", "Java"), ("objective-c", "Objective-C")]
            .map(term)
            .to_vec()
    }

    #[test]
    fn labels_and_other_cases_become_slugs() {
        for (written, slug) in [
            ("C++", "cpp"),
            ("c#", "csharp"),
            ("JAVA", "java"),
            ("objective c", "objective-c"),
            ("Objective_C", "objective-c"),
            (" java ", "java"),
            ("c", "c"),
        ] {
            let mut value = json!([written]);
            assert!(resolve_value("languages", &mut value, &terms()).is_empty());
            assert_eq!(value, json!([slug]));
            let mut value = json!(written);
            resolve_value("languages", &mut value, &terms());
            assert_eq!(value, json!(slug));
        }
    }

    #[test]
    fn hint_names_only_unknown_values() {
        let mut value = json!(["java", "javva", "nosuch"]);
        let hints = resolve_value("languages", &mut value, &terms());
        assert_eq!(
            hints,
            ["`languages` has no value \"javva\"; nearest: java.", "`languages` has no value \"nosuch\"."]
        );
        assert_eq!(value, json!(["java", "javva", "nosuch"]));
    }

    #[test]
    fn work_for_many_values_is_bounded() {
        let mut value = json!(vec!["nosuch"; 10_000]);
        assert_eq!(resolve_value("languages", &mut value, &terms()).len(), MAX_UNKNOWN);
    }
}
