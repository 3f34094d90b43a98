//! Request parameters that rotate: words, filters, cursors and listing IDs from the measured market.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::client::Client;

/// Number of pages of a hundred listings that are sampled.
const SAMPLE_PAGES: usize = 8;

/// Number of word pairs to find.
const WANTED_PAIRS: usize = 300;

/// Values for request parameters.
pub struct RequestValues {
    /// Number of published listings.
    pub listings: u64,
    ids: Vec<String>,
    pairs: Vec<String>,
    cursors: Vec<String>,
    tags: Vec<String>,
}

impl RequestValues {
    /// Samples the listings of the market.
    pub fn sample(client: &mut Client) -> RequestValues {
        let mut page = |query: &str| -> Value {
            serde_json::from_slice(&client.get(&format!("/v2/listings/browse?{query}")))
                .expect("the page is JSON")
        };
        let first = page("limit=1");
        let listings = first["counts"]["all"].as_u64().expect("the page has a count");
        let mut tags: Vec<(u64, String)> = first["facets"]["tags"]
            .as_object()
            .expect("the page has facets")
            .iter()
            .map(|(tag, count)| (count.as_u64().expect("the count is a number"), tag.clone()))
            .collect();
        tags.sort_unstable_by(|a, b| b.cmp(a));
        let mut ids = Vec::new();
        let mut cursor = String::new();
        for _ in 0..SAMPLE_PAGES {
            let sampled = page(&format!("sort=recent&limit=100{cursor}"));
            let items = sampled["items"].as_array().expect("the page has items");
            ids.extend(items.iter().map(|item| item["id"].as_str().expect("the item has an ID").to_owned()));
            match sampled["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let cursors = deep_cursors(&mut page);
        let texts: Vec<BTreeSet<String>> = ids.iter().map(|id| words_of(client, id)).collect();
        RequestValues {
            listings,
            pairs: find_pairs(client, &texts, listings),
            ids,
            cursors,
            tags: tags.into_iter().take(12).map(|(_, tag)| tag).collect(),
        }
    }

    /// Returns two words, URL-encoded, that match about 3 % of the listings.
    pub fn pair(&self, n: usize) -> &str {
        &self.pairs[n % self.pairs.len()]
    }

    /// Returns three filters that each match a large share of the listings.
    pub fn filters(&self, n: usize) -> String {
        let tag = |at: usize| &self.tags[at % self.tags.len()];
        let (price, tier) = (2000 + n % 97 * 500, 1 + n % 2);
        format!("tags={}&tags={}&max_price={price}&min_vendor_tier={tier}", tag(n), tag(n + 5))
    }

    /// Returns a cursor to page 200 or later.
    pub fn cursor(&self, n: usize) -> &str {
        &self.cursors[n % self.cursors.len()]
    }

    /// Returns the ID of a sampled listing.
    pub fn id(&self, n: usize) -> &str {
        &self.ids[n * 7919 % self.ids.len()]
    }
}

/// Returns the cursors after page 199 and later pages of the default size.
fn deep_cursors(page: &mut impl FnMut(&str) -> Value) -> Vec<String> {
    let mut cursors = Vec::new();
    let mut cursor = String::new();
    for number in 1..=500 {
        let next = page(&format!("sort=recent&limit=24{cursor}"))["next_cursor"].clone();
        let Some(next) = next.as_str() else { break };
        cursor = format!("&cursor={next}");
        if number >= 199 {
            cursors.push(next.to_owned());
        }
    }
    cursors
}

/// Returns the words in the title and description of a listing.
fn words_of(client: &mut Client, id: &str) -> BTreeSet<String> {
    let detail: Value = serde_json::from_slice(&client.get(&format!("/v2/listings/browse/{id}")))
        .expect("the listing is JSON");
    let text = format!("{} {}", detail["title"], detail["description"]).to_lowercase();
    let words = text.split(|character: char| !character.is_ascii_alphabetic());
    words.filter(|word| word.len() > 3).map(str::to_owned).collect()
}

/// Returns pairs of words that match about 3 % of the listings: candidates come from the sample, and a search
/// confirms them.
fn find_pairs(client: &mut Client, texts: &[BTreeSet<String>], listings: u64) -> Vec<String> {
    let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
    for word in texts.iter().flatten() {
        *frequency.entry(word).or_default() += 1;
    }
    let is_candidate = |count: usize| count * 100 > texts.len() * 3 && count * 100 < texts.len() * 70;
    let words: Vec<&str> =
        frequency.into_iter().filter(|(_, count)| is_candidate(*count)).map(|(word, _)| word).collect();
    // Every pair once, words that are close in the alphabet last.
    let pairs = (1..words.len()).rev().flat_map(|distance| words.iter().zip(&words[distance..]));
    let mut found = Vec::new();
    for (a, b) in pairs {
        let both = texts.iter().filter(|text| text.contains(*a) && text.contains(*b)).count();
        if both * 1000 < texts.len() * 20 || both * 1000 > texts.len() * 45 {
            continue;
        }
        let page = client.get(&format!("/v2/listings/browse?query={a}%20{b}&limit=1"));
        let page: Value = serde_json::from_slice(&page).expect("the page is JSON");
        let matches = page["counts"]["all"].as_u64().expect("the page has a count");
        if (listings * 25 / 1000..=listings * 35 / 1000).contains(&matches) {
            found.push(format!("{a}%20{b}"));
        }
        if found.len() == WANTED_PAIRS {
            break;
        }
    }
    assert!(!found.is_empty(), "no pair of words matches about 3 %");
    println!("{} pairs of words match about 3 %", found.len());
    found
}
