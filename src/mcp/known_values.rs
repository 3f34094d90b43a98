//! Values of filters by slug, in the forms in which models write them: labels and other cases are replaced with the slugs,
//! and unknown values are reported with the nearest known ones.
//!
//! An unknown value is not an error: as over HTTP, it matches nothing.

use std::collections::{BTreeSet, HashMap};

use marketplace_text::search_key;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{
    arguments::{Advice, whole_number},
    error::ToolError,
    sanitize,
    schemas::{FILTER, SIMILAR_VENDORS, VENDOR},
    tools::Tool,
    value_lists::{values, values_mut},
};
use crate::{
    domain::written::counted,
    error::{self, excerpt, quoted},
    market::{Market, Reader},
    operations::{
        access::AuthenticatedTeam,
        vendors,
        vocabulary::{self, Terms, Vocabulary},
    },
    web::in_process::Caller,
};

/// Place of values in a call: an argument, or the conditions of [`FILTER`] on a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Argument(&'static str),
    Condition(&'static str),
}

/// Where calls state values that listings or the team's assets have.
const PLACES: [(Place, Vocabulary); 11] = [
    (Place::Argument("asset_types"), Vocabulary::Kinds),
    (Place::Argument("capabilities"), Vocabulary::Capabilities),
    (Place::Argument("file_extensions"), Vocabulary::FileExtensions),
    (Place::Argument("languages"), Vocabulary::Languages),
    (Place::Argument("robotics_formats"), Vocabulary::RoboticsFormats),
    (Place::Argument("sku"), Vocabulary::Kinds),
    (Place::Argument("tag_slugs"), Vocabulary::InventoryTags),
    (Place::Argument(TAGS), Vocabulary::Domains),
    (Place::Condition("domain"), Vocabulary::Domains),
    (Place::Condition("ran_on_model"), Vocabulary::Models),
    (Place::Condition("type"), Vocabulary::Kinds),
];

/// Argument for domains; of requests for listings, it takes the tags that buyers wrote.
const TAGS: &str = "tags";

/// Tool, and list of an aggregate, with requests for listings.
const OPPORTUNITIES: &str = "list_opportunities";

/// Field with the name of a vendor.
const TEAM_NAME: &str = "team_name";

/// Argument that takes exact tiers of vendors.
const VENDOR_TIERS: &str = "vendor_tiers";

/// The tiers.
const KNOWN_TIERS: std::ops::RangeInclusive<usize> = 1..=3;

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

/// The result of resolving the values at one place.
#[derive(Debug, Default)]
struct Resolved {
    /// Slugs of values in other forms.
    slugs: HashMap<String, String>,
    /// Sentences about the first unknown values.
    hints: Vec<String>,
}

/// Replaces labels and other cases with slugs in the arguments of a call, and returns hints on unknown values.
pub async fn resolve(
    market: &Market,
    caller: &Caller,
    tool: &Tool,
    input: &mut JsonObject,
) -> Result<Advice, ToolError> {
    let is_of_tool = |name: &str| tool.arguments.iter().chain(&tool.filters).any(|known| known == name);
    let find = |name: &str| input.get(name).filter(|_| is_of_tool(name));
    let is_of_opportunities = tool.entry.text.name == OPPORTUNITIES
        || tool.entry.choice_argument().and_then(find).is_some_and(|choice| choice == OPPORTUNITIES);
    let stated: Vec<(Place, Vocabulary, BTreeSet<String>)> = PLACES
        .into_iter()
        .filter_map(|(place, vocabulary)| {
            let texts = match place {
                Place::Argument(name) => texts(find(name)?, Some),
                Place::Condition(field) => texts(find(FILTER)?, |text| condition_value(text, field)),
            };
            let is_of_requests = is_of_opportunities && place == Place::Argument(TAGS);
            let vocabulary = if is_of_requests { Vocabulary::OpportunityTags } else { vocabulary };
            (!texts.is_empty()).then_some((place, vocabulary, texts))
        })
        .collect();
    let vendor = find(VENDOR).and_then(Value::as_str).map(str::to_owned);
    let mut hints: Vec<String> = find(VENDOR_TIERS).and_then(tier_hint).into_iter().collect();
    hints.extend(hints_of_values(tool, find));
    let mut advice = Advice::default();
    if !stated.is_empty() || vendor.is_some() {
        let proof = caller.authenticated().clone();
        let read = market.read(caller.authenticated().requester(), move |reader: &Reader| {
            let mut resolved = Vec::with_capacity(stated.len());
            for (place, vocabulary, texts) in stated {
                let terms = vocabulary::terms(reader, &proof, vocabulary)?;
                resolved.push((place, resolve_texts(place.name(), &texts, &terms)));
            }
            let unknown = vendor.map(|vendor| unknown_vendor(reader, &proof, &vendor)).transpose()?;
            Ok((resolved, unknown.flatten()))
        });
        let (resolved, unknown) =
            read.await.map_err(|error| ToolError::internal(&error, caller.request_id()))?;
        for (place, resolved) in resolved {
            place.replace_texts(input, &resolved.slugs);
            hints.extend(resolved.hints);
        }
        match unknown {
            None => {}
            Some(UnknownVendor::Displayed(name)) => _ = input.insert(VENDOR.to_owned(), json!(name)),
            Some(UnknownVendor::Other(hint, similar)) => {
                hints.push(hint);
                advice.similar_vendors = similar;
            }
        }
    }
    advice.hint = (!hints.is_empty()).then(|| hints.join(" "));
    Ok(advice)
}

/// Returns hints about values that the schema of a tool does not list.
fn hints_of_values<'i>(tool: &Tool, find: impl Fn(&str) -> Option<&'i Value>) -> Vec<String> {
    let mut hints = Vec::new();
    for (name, values) in tool.entry.text.values {
        // An operation that takes any text accepts values that the tool's schema does not list.
        let is_of_terms = PLACES.iter().any(|(place, _)| *place == Place::Argument(name));
        if let Some(value) = find(name).filter(|_| !is_of_terms && *name != VENDOR_TIERS) {
            let stated = texts(value, Some);
            let unknown = stated.iter().filter(|text| !values.contains(&text.as_str())).take(MAX_UNKNOWN);
            hints.extend(unknown.map(|text| {
                format!(
                    "`{name}` has no value {}; it is one of {}.",
                    quoted(&excerpt(text)),
                    values.join(", ")
                )
            }));
        }
    }
    hints
}

impl Place {
    /// Returns the name by which hints call the place.
    const fn name(self) -> &'static str {
        match self {
            Place::Argument(name) | Place::Condition(name) => name,
        }
    }

    /// Replaces the values at the place by their slugs.
    fn replace_texts(self, input: &mut JsonObject, slugs: &HashMap<String, String>) {
        let argument = if let Place::Argument(name) = self { name } else { FILTER };
        for value in input.get_mut(argument).map(values_mut).unwrap_or_default() {
            let Some(text) = value.as_str() else { continue };
            let replaced = match self {
                Place::Argument(_) => slugs.get(text).cloned(),
                Place::Condition(field) => condition_value(text, field).and_then(|stated| {
                    let start = text.strip_suffix(stated)?;
                    Some(format!("{start}{}", slugs.get(stated)?))
                }),
            };
            if let Some(replaced) = replaced {
                *value = Value::String(replaced);
            }
        }
    }
}

/// Returns the value of a condition `field:operator:value` on a field; `None` if the text is not such a condition.
fn condition_value<'t>(text: &'t str, field: &str) -> Option<&'t str> {
    let (_, value) = text.strip_prefix(field)?.strip_prefix(':')?.split_once(':')?;
    Some(value)
}

/// Information on the name of a vendor that has no published listings.
enum UnknownVendor {
    /// This is how answers show the name of the vendor: without invisible characters and with escaped markup.
    Displayed(String),
    /// No vendor has the name: a hint, and the names of similar ones.
    Other(String, Vec<String>),
}

/// Looks for a vendor whose name is displayed like this, or for similar names; `None` if a vendor with this name has published
/// listings.
fn unknown_vendor(
    reader: &Reader,
    proof: &AuthenticatedTeam,
    vendor: &str,
) -> error::Result<Option<UnknownVendor>> {
    if vendors::is_published(reader, proof, vendor)? {
        return Ok(None);
    }
    let mut similar = Vec::new();
    let (whole, stated) = (simplified(vendor), simplified(&excerpt(vendor)));
    for name in vendors::published_names(reader, proof, MAX_COMPARED)? {
        let mut displayed = json!({(TEAM_NAME): name});
        sanitize::sanitize_value(&mut displayed);
        if displayed[TEAM_NAME].as_str().is_some_and(|displayed| simplified(displayed) == whole) {
            return Ok(Some(UnknownVendor::Displayed(name)));
        }
        let similarity = strsim::jaro_winkler(&stated, &simplified(&excerpt(&name)));
        if similarity >= MIN_SIMILARITY {
            similar.push((similarity, name));
        }
    }
    similar.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let similar: Vec<String> = similar.into_iter().take(MAX_NEAREST).map(|(_, name)| name).collect();
    let hint = format!("No vendor named {} has published listings", quoted(&excerpt(vendor)));
    let hint = if similar.is_empty() {
        format!("{hint}; aggregate over browse_listings by `vendor` has the names.")
    } else {
        format!("{hint}; `{SIMILAR_VENDORS}` has the nearest names.")
    };
    Ok(Some(UnknownVendor::Other(hint, similar)))
}

/// Returns a hint if one of the tiers does not exist.
fn tier_hint(value: &Value) -> Option<String> {
    let unknown = values(value)
        .iter()
        .find(|tier| !whole_number(tier).is_some_and(|tier| KNOWN_TIERS.contains(&tier)))?;
    let shown = excerpt(&unknown.to_string());
    Some(format!(
        "`{VENDOR_TIERS}` has no value {shown}; the tiers are {} to {}.",
        KNOWN_TIERS.start(),
        KNOWN_TIERS.end()
    ))
}

/// Returns the different texts of an argument, or of the part of each that `part` returns, at most [`MAX_VALUES`].
fn texts<'v>(value: &'v Value, part: impl Fn(&'v str) -> Option<&'v str>) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for text in values(value).iter().filter_map(Value::as_str).filter_map(part) {
        if texts.len() == MAX_VALUES {
            break;
        }
        if !texts.contains(text) {
            texts.insert(text.to_owned());
        }
    }
    texts
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
        let more = (unknown.len() - MAX_UNKNOWN) as u64;
        let more = counted(more, "more value is", "more values are");
        resolved.hints.push(format!("Of `{name}`, {more} unknown."));
    }
    resolved
}

/// Normalizes a text: removes case, accents, spaces, hyphens, underscores, and a leading dot. Signs that distinguish names, as
/// in `C++`, stay.
pub fn simplified(text: &str) -> String {
    let key = search_key(text.trim().trim_start_matches('.'));
    key.chars().filter(|character| !matches!(character, ' ' | '-' | '_')).collect()
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
    // Teams write some of the values, and a hint is advice of the platform, so it only repeats plain slugs.
    let plain = known.iter().filter(|(slug, _)| is_plain_slug(slug));
    let mut nearest: Vec<(f64, &str)> = plain.map(|term| (similarity(term), term.0)).collect();
    nearest.retain(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    nearest.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut named: Vec<&str> = Vec::new();
    for (_, slug) in nearest {
        if !named.contains(&slug) && named.len() < MAX_NEAREST {
            named.push(slug);
        }
    }
    let nearest = named;
    if nearest.is_empty() {
        format!("`{name}` has no value {shown}.", shown = quoted(&shown))
    } else {
        format!("`{name}` has no value {shown}; nearest: {}.", nearest.join(", "), shown = quoted(&shown))
    }
}

#[cfg(test)]
mod tests {
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
        let resolved = resolve_texts("languages", &texts(value, Some), &terms());
        let mut input = JsonObject::from_iter([("languages".to_owned(), value.take())]);
        Place::Argument("languages").replace_texts(&mut input, &resolved.slugs);
        *value = input["languages"].take();
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
    fn values_of_conditions_become_slugs() {
        let filter = json!(["language:is:C++", "name:is:C++", "language:is_not:JAVA", "language:is"]);
        let place = Place::Condition("language");
        let stated = texts(&filter, |text| condition_value(text, "language"));
        assert_eq!(stated, BTreeSet::from(["C++".to_owned(), "JAVA".to_owned()]));
        let resolved = resolve_texts(place.name(), &stated, &terms());
        let mut input = JsonObject::from_iter([(FILTER.to_owned(), filter)]);
        place.replace_texts(&mut input, &resolved.slugs);
        let expected = json!(["language:is:cpp", "name:is:C++", "language:is_not:java", "language:is"]);
        assert_eq!(input[FILTER], expected);
    }

    #[test]
    fn unknown_tiers_are_named() {
        assert_eq!(tier_hint(&json!([1, "2", 3.0])), None);
        assert_eq!(
            tier_hint(&json!([1, 7])).unwrap(),
            "`vendor_tiers` has no value 7; the tiers are 1 to 3."
        );
        assert!(tier_hint(&json!("gold")).is_some());
    }

    #[test]
    fn hints_for_many_values_are_few() {
        let values: Vec<String> = (0..10_000).map(|number| format!("nosuch{number}")).collect();
        let hints = resolve_value(&mut json!(values));
        assert_eq!(hints.len(), MAX_UNKNOWN + 1);
        assert_eq!(hints[MAX_UNKNOWN], "Of `languages`, 997 more values are unknown.");
        let hints = resolve_value(&mut json!(values[..=MAX_UNKNOWN]));
        assert_eq!(hints[MAX_UNKNOWN], "Of `languages`, 1 more value is unknown.");
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
