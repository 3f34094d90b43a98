//! A buyer's questions about the catalog.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Asked, Asking};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, MAX_SUBJECT_LISTINGS, day, median, number, only_lowest, text},
};

/// The cheapest certified codebase in a language.
pub fn cheapest_certified(facts: &mut Facts) -> Asking {
    for language in facts.facet("languages")? {
        let query = format!("languages={language}&asset_types=codebase&verified_only=true");
        let Some(listings) = facts.details(&query)?.filter(|found| found.len() >= 2) else { continue };
        let cheapest = only_lowest(&listings, |listing| number(listing, "/price"));
        if let Some(cheapest) =
            cheapest.filter(|_| listings.iter().all(|listing| listing["price"].is_number()))
        {
            return Ok(Some(Asked {
                text: format!(
                    "Which certified listing of the catalog that has a codebase with the language `{language}` has the \
                     lowest price?"
                ),
                expected: Expected::Id(text(cheapest, "/id").to_owned()),
                subject: json!({"language": language}),
            }));
        }
    }
    Ok(None)
}

/// The median price of certified listings of a domain, by the tier of the vendor.
pub fn median_by_tier(facts: &mut Facts) -> Asking {
    for domain in facts.facet("tags")? {
        let Some(listings) = facts.details(&format!("tags={domain}&verified_only=true"))? else { continue };
        let mut prices: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for listing in &listings {
            prices.entry(listing["vendor_tier"].to_string()).or_default().push(number(listing, "/price"));
        }
        let is_clear = listings.len() >= 4 && listings.iter().all(|listing| listing["price"].is_number());
        if !is_clear || prices.len() < 2 {
            continue;
        }
        let medians =
            prices.into_iter().filter_map(|(tier, prices)| Some((tier, Expected::Dollars(median(prices)?))));
        return Ok(Some(Asked {
            text: format!(
                "What is the median price of the certified listings in the domain `{domain}`, by vendor tier? The median \
                 of an even number of prices is the mean of the two in the middle. Leave out tiers without such a listing."
            ),
            expected: Expected::ByKey("vendor tiers", medians.collect()),
            subject: json!({"domain": domain}),
        }));
    }
    Ok(None)
}

/// The lowest price per task of several listings.
pub fn price_per_task(facts: &mut Facts) -> Asking {
    for kind in ["taskset", "bundle"] {
        let query = format!("asset_types={kind}&min_price_per_task=1");
        let Some(mut found) = facts.browse(&query, 500)?.filter(|found| found.len() >= 4) else { continue };
        facts.random.shuffle(&mut found);
        let count = found.len().min(5);
        let listings: Vec<Value> =
            found[..count].iter().map(|found| facts.listing(text(found, "/id"))).collect::<Result<_, _>>()?;
        let Some(lowest) = only_lowest(&listings, |listing| number(listing, "/price_per_task")) else {
            continue;
        };
        let ids: Vec<&str> = listings.iter().map(|listing| text(listing, "/id")).collect();
        return Ok(Some(Asked {
            text: format!(
                "Compare these {count} listings: {}. What does a task cost in each, and which one is the cheapest per task? \
                 Answer with the ID of the cheapest.",
                ids.join(", ")
            ),
            expected: Expected::Id(text(lowest, "/id").to_owned()),
            subject: json!({"ids": ids}),
        }));
    }
    Ok(None)
}

/// Listings of a domain with a free sample.
pub fn free_samples(facts: &mut Facts) -> Asking {
    for domain in facts.facet("tags")? {
        let Some(listings) = facts.details(&format!("tags={domain}&sample_available=true"))? else {
            continue;
        };
        let is_free = |listing: &&Value| listing["sample_price"].as_f64() == Some(0.0);
        let free: BTreeSet<String> =
            listings.iter().filter(is_free).map(|listing| text(listing, "/id").to_owned()).collect();
        if free.is_empty() || free.len() == listings.len() {
            continue;
        }
        return Ok(Some(Asked {
            text: format!(
                "Which listings of the catalog in the domain `{domain}` have a sample that costs nothing?"
            ),
            expected: Expected::Ids(free),
            subject: json!({"domain": domain}),
        }));
    }
    Ok(None)
}

/// The evidence of a certified listing.
pub fn certification_evidence(facts: &mut Facts) -> Asking {
    let page = facts.list("/v2/listings/browse?limit=100&verified_only=true", "items")?;
    let Some(listing) = facts.random.pick(&page) else { return Ok(None) };
    let (id, title) = (text(listing, "/id"), text(listing, "/title"));
    let quality = facts.get(&format!("/v2/listings/browse/{id}/quality"))?;
    let checks = quality["checks"].as_array().map_or(&[][..], Vec::as_slice);
    let has_passed = |check: &&Value| check["status"] == "passed";
    Ok(Some(Asked {
        text: format!(
            "What is the evidence that the listing “{title}” ({id}) is good? On which day was it certified, how many checks \
             does its evidence name, and how many of them passed?"
        ),
        expected: Expected::Record(vec![
            ("certified_on".to_owned(), Expected::Day(day(text(&quality, "/certified_at")).to_owned())),
            ("checks".to_owned(), Expected::Count(checks.len() as u64)),
            ("passed".to_owned(), Expected::Count(checks.iter().filter(has_passed).count() as u64)),
        ]),
        subject: json!({"id": id}),
    }))
}

/// The columns of a taskset.
pub fn taskset_columns(facts: &mut Facts) -> Asking {
    let mut found = facts.list("/v2/listings/browse?limit=100&asset_types=taskset", "items")?;
    facts.random.shuffle(&mut found);
    for listing in found.iter().take(MAX_SUBJECT_LISTINGS) {
        let (id, title) = (text(listing, "/id"), text(listing, "/title"));
        let tasksets = facts.listing(id)?["tasksets"].take();
        let Some(taskset) = tasksets.as_array().and_then(|tasksets| tasksets.first()) else { continue };
        let path = format!("/v2/listings/browse/{id}/tasksets/{}", text(taskset, "/id"));
        let columns: BTreeSet<String> = facts.get(&path)?["column_order"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|column| column.as_str().map(str::to_owned))
            .collect();
        if columns.is_empty() {
            continue;
        }
        let name = text(taskset, "/name");
        return Ok(Some(Asked {
            text: format!(
                "How many tasks does the taskset “{name}” of the listing “{title}” ({id}) have, and which columns? Name \
                 columns by their keys."
            ),
            expected: Expected::Record(vec![
                ("tasks".to_owned(), Expected::Count(number(taskset, "/task_count") as u64)),
                ("columns".to_owned(), Expected::Names(columns)),
            ]),
            subject: json!({"id": id, "name": name}),
        }));
    }
    Ok(None)
}

/// The number of certified listings with an environment.
pub fn certified_environments(facts: &mut Facts) -> Asking {
    let query = "min_environments=1&verified_only=true";
    let Some(found) = facts.browse(query, 5_000)?.filter(|found| !found.is_empty()) else { return Ok(None) };
    Ok(Some(Asked {
        text: "How many certified listings of the catalog have at least one environment?".to_owned(),
        expected: Expected::Count(found.len() as u64),
        subject: Value::Null,
    }))
}
