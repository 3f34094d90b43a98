//! Values of filters by slug, in the forms in which models write them: labels and other cases are replaced with the slugs,
//! and unknown values are reported with the nearest known ones.
//!
//! An unknown value is no error: as over HTTP, it matches nothing.

use std::collections::{BTreeSet, HashMap};

use rmcp::model::JsonObject;
use serde_json::Value;

use super::{error::ToolError, tools::Tool};
use crate::{
    error::{self, excerpt},
    market::{Market, Reader},
    operations::{
        access::AuthenticatedTeam,
        vendors,
        vocabulary::{self, Terms, Vocabulary},
    },
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

/// Argument that takes the name of a vendor.
const VENDOR: &str = "vendor";

/// Maximum number of different values of one argument that are looked up. The others stay as they are.
const MAX_VALUES: usize = 1_000;

/// Maximum number of known values that an unknown one is compared with. Listings of the market can have any number.
const MAX_COMPARED: usize = 10_000;

/// Maximum number of unknown values that a hint names, and of the known ones that it names for each.
const MAX_UNKNOWN: usize = 3;
const MAX_NEAREST: usize = 3;

/// Maximum number of bytes of a value that a hint names.
const MAX_SLUG_BYTES: usize = 40;

/// Minimum similarity (Jaro-Winkler, 0 to 1) of a known value that a hint names.
const MIN_SIMILARITY: f64 = 0.75;

/// What the values of one argument are called here.
#[derive(Debug, Default)]
struct Resolved {
    /// Slugs of values in other forms.
    slugs: HashMap<String, String>,
    /// Sentences about the first unknown values.
    hints: Vec<String>,
}

/// Replaces labels and other cases with slugs in the arguments of a call. Returns a hint about unknown values; `None` if all
/// are known.
pub async fn resolve(
    market: &Market,
    caller: &Caller,
    tool: &Tool,
    input: &mut JsonObject,
) -> Result<Option<String>, ToolError> {
    let is_of_tool = |name: &str| tool.arguments.iter().chain(&tool.filters).any(|known| known == name);
    let find = |name: &str| input.get(name).filter(|_| is_of_tool(name));
    let stated: Vec<(&'static str, Vocabulary, BTreeSet<String>)> = ARGUMENTS
        .into_iter()
        .filter_map(|(name, vocabulary)| Some((name, vocabulary, texts(find(name)?))))
        .collect();
    let vendor = find(VENDOR).and_then(Value::as_str).map(str::to_owned);
    if stated.is_empty() && vendor.is_none() {
        return Ok(None);
    }
    let proof = caller.authenticated().clone();
    let read = market.read(caller.authenticated().requester(), move |reader: &Reader| {
        let mut resolved = HashMap::new();
        for (name, vocabulary, texts) in stated {
            resolved
                .insert(name, resolve_texts(name, &texts, &vocabulary::terms(reader, &proof, vocabulary)?));
        }
        Ok((resolved, vendor_hint(reader, &proof, vendor.as_deref())?))
    });
    let (resolved, vendor_hint) =
        read.await.map_err(|error| ToolError::internal(&error, caller.request_id()))?;
    let mut hints = Vec::new();
    for (name, _) in ARGUMENTS {
        if let (Some(resolved), Some(value)) = (resolved.get(name), input.get_mut(name)) {
            replace_texts(value, &resolved.slugs);
            hints.extend(resolved.hints.iter().cloned());
        }
    }
    hints.extend(vendor_hint);
    Ok((!hints.is_empty()).then(|| hints.join(" ")))
}

/// Returns a hint if no vendor with this name has published listings. It names no others: their names are text of teams.
fn vendor_hint(
    reader: &Reader,
    proof: &AuthenticatedTeam,
    vendor: Option<&str>,
) -> error::Result<Option<String>> {
    let Some(vendor) = vendor else { return Ok(None) };
    Ok((!vendors::is_published(reader, proof, vendor)?).then(|| {
        format!(
            "No vendor named {:?} has published listings; aggregate over browse_listings by `vendor` has the names.",
            excerpt(vendor)
        )
    }))
}

/// Returns the values of an argument, which is a text or a list of texts, as a list.
pub fn values_mut(value: &mut Value) -> &mut [Value] {
    match value {
        Value::Array(values) => values.as_mut_slice(),
        value => std::slice::from_mut(value),
    }
}

/// Returns the different texts of an argument, at most [`MAX_VALUES`].
fn texts(value: &Value) -> BTreeSet<String> {
    let values = match value {
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    let mut texts = BTreeSet::new();
    for text in values.iter().filter_map(Value::as_str) {
        if texts.len() == MAX_VALUES {
            break;
        }
        if !texts.contains(text) {
            texts.insert(text.to_owned());
        }
    }
    texts
}

fn replace_texts(value: &mut Value, slugs: &HashMap<String, String>) {
    for value in values_mut(value) {
        if let Some(slug) = value.as_str().and_then(|text| slugs.get(text)) {
            *value = Value::String(slug.clone());
        }
    }
}

/// Finds the slugs of the values of one argument, and describes the first ones that have none.
fn resolve_texts(name: &str, texts: &BTreeSet<String>, terms: &Terms) -> Resolved {
    let mut resolved = Resolved::default();
    let others: Vec<&String> = texts.iter().filter(|text| !terms.contains(text)).collect();
    if others.is_empty() {
        return resolved;
    }
    let compared: Vec<(&str, &str)> = terms.slugs_and_labels().take(MAX_COMPARED).collect();
    let mut slugs = HashMap::with_capacity(2 * compared.len());
    for (slug, label) in compared.iter().rev() {
        slugs.insert(simplified(label), *slug);
        slugs.insert(simplified(slug), *slug);
    }
    let mut unknown = Vec::new();
    for text in others {
        match slugs.get(&simplified(text)) {
            Some(slug) => drop(resolved.slugs.insert(text.clone(), (*slug).to_owned())),
            None => unknown.push(text),
        }
    }
    resolved.hints.extend(unknown.iter().take(MAX_UNKNOWN).map(|text| hint(name, text, &compared)));
    if unknown.len() > MAX_UNKNOWN {
        let more = unknown.len() - MAX_UNKNOWN;
        resolved.hints.push(format!("{more} more values of `{name}` are unknown."));
    }
    resolved
}

/// Returns a text without what people write differently: its case, spaces, hyphens, underscores, and a leading dot. Signs
/// that distinguish names, as in `C++`, stay.
pub fn simplified(text: &str) -> String {
    let text = text.trim().trim_start_matches('.').to_lowercase();
    text.chars().filter(|character| !matches!(character, ' ' | '-' | '_')).collect()
}

fn is_plain_slug(slug: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+');
    slug.len() <= MAX_SLUG_BYTES && slug.bytes().all(is_plain)
}

/// Returns a sentence about an unknown value, with the nearest of the known ones, given as slugs and labels.
fn hint(name: &str, value: &str, known: &[(&str, &str)]) -> String {
    let shown = excerpt(value);
    let text = simplified(&shown);
    let similarity = |(slug, label): &(&str, &str)| {
        let of = |known: &str| strsim::jaro_winkler(&text, &simplified(known));
        of(slug).max(of(label))
    };
    // Teams write some of the values, and a hint is advice of the platform, so it repeats nothing but plain slugs.
    let plain = known.iter().filter(|(slug, _)| is_plain_slug(slug));
    let mut nearest: Vec<(f64, &str)> = plain.map(|term| (similarity(term), term.0)).collect();
    nearest.retain(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    nearest.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let nearest: Vec<&str> = nearest.into_iter().take(MAX_NEAREST).map(|(_, slug)| slug).collect();
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
    use crate::operations::vocabulary::Term;

    fn terms() -> Terms {
        let term = |(slug, label): (&str, &str)| Term { slug: slug.to_owned(), label: label.to_owned() };
        let terms =
            [("c", "C"), ("cpp", "C++"), ("csharp", "C#"), ("java", "Java"), ("objective-c", "Objective-C")];
        Terms::Labeled(terms.map(term).to_vec())
    }

    /// Resolves an argument, and returns the hints.
    fn resolve_value(value: &mut Value) -> Vec<String> {
        let resolved = resolve_texts("languages", &texts(value), &terms());
        replace_texts(value, &resolved.slugs);
        resolved.hints
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
            assert!(resolve_value(&mut value).is_empty());
            assert_eq!(value, json!([slug]));
            let mut value = json!(written);
            resolve_value(&mut value);
            assert_eq!(value, json!(slug));
        }
    }

    #[test]
    fn hint_names_only_unknown_values() {
        let mut value = json!(["java", "javva", "nosuch"]);
        assert_eq!(
            resolve_value(&mut value),
            ["`languages` has no value \"javva\"; nearest: java.", "`languages` has no value \"nosuch\"."]
        );
        assert_eq!(value, json!(["java", "javva", "nosuch"]));
    }

    #[test]
    fn hints_for_many_values_are_few() {
        let values: Vec<String> = (0..10_000).map(|number| format!("nosuch{number}")).collect();
        let hints = resolve_value(&mut json!(values));
        assert_eq!(hints.len(), MAX_UNKNOWN + 1);
        assert_eq!(hints[MAX_UNKNOWN], "997 more values of `languages` are unknown.");
    }

    #[test]
    fn repeated_values_count_once() {
        let mut values = vec!["java"; 5_000];
        values.push("C++");
        let mut value = json!(values);
        assert!(resolve_value(&mut value).is_empty());
        assert_eq!(value[5_000], "cpp");
    }
}
