//! Metrics as a program reads them, in the strict form of OpenMetrics.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::cases::OPERATOR,
    harness::{TestMarket, TestResponse},
};

/// The declaration of a family in the text.
#[derive(Debug, Default)]
pub struct Family {
    pub kind: String,
    pub unit: String,
    pub help: String,
}

/// All metrics of one answer.
#[derive(Debug)]
pub struct Scrape {
    pub text: String,
    pub families: BTreeMap<String, Family>,
    /// Values by name with labels, as in the text.
    pub samples: BTreeMap<String, f64>,
}

/// Requests the metrics with the key of an operator.
pub async fn scrape(market: &TestMarket) -> Scrape {
    Scrape::of_response(&market.get(OPERATOR, "/metrics").await)
}

impl Scrape {
    /// Parses a response, and checks its form.
    pub fn of_response(response: &TestResponse) -> Scrape {
        let text = String::from_utf8(response.bytes.clone()).unwrap();
        assert_eq!(response.status, 200, "{text}");
        let content_type = response.header("content-type");
        assert_eq!(content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
        assert_eq!(response.header("cache-control"), "no-store");
        Scrape::parse(text)
    }

    /// Parses a text, and checks its form.
    pub fn parse(text: String) -> Scrape {
        let lines = text.strip_suffix("# EOF\n").expect("the text is complete").lines();
        let (mut families, mut samples) = (BTreeMap::<String, Family>::new(), BTreeMap::new());
        let mut current = String::new();
        for line in lines {
            if let Some(described) = line.strip_prefix("# ") {
                let (keyword, rest) = described.split_once(' ').unwrap();
                let (name, value) = rest.split_once(' ').unwrap();
                if name != current {
                    name.clone_into(&mut current);
                    assert!(!families.contains_key(name), "the samples of {name} are in one place");
                }
                let family = families.entry(current.clone()).or_default();
                let place = match keyword {
                    "HELP" => &mut family.help,
                    "TYPE" => &mut family.kind,
                    "UNIT" => &mut family.unit,
                    _ => panic!("{line}"),
                };
                value.clone_into(place);
                continue;
            }
            let (name, value) = line.rsplit_once(' ').unwrap();
            let base = name.split('{').next().unwrap();
            let names = sample_names(&current, &families[&current].kind);
            assert!(names.contains(base), "{line} is of {current}");
            let is_new = samples.insert(name.to_owned(), value.parse().unwrap()).is_none();
            assert!(is_new, "{line} is there twice");
        }
        Scrape { text, families, samples }
    }

    /// Returns the value of a sample without decimals, 0 if there is none.
    pub fn value(&self, name: &str) -> u64 {
        let value = self.samples.get(name).copied().unwrap_or_default();
        assert!(value >= 0.0 && value.fract() < f64::EPSILON, "{name} is {value}");
        value as u64
    }

    /// Returns the names of samples that the families can have.
    pub fn sample_names(&self) -> BTreeSet<String> {
        self.families.iter().flat_map(|(name, family)| sample_names(name, &family.kind)).collect()
    }
}

/// Returns the names of the samples of a family.
fn sample_names(family: &str, kind: &str) -> BTreeSet<String> {
    let suffixes: &[&str] = match kind {
        "counter" => &["_total"],
        "histogram" => &["_bucket", "_count", "_sum"],
        "info" => &["_info"],
        "gauge" => &[""],
        _ => panic!("{family} is of the type {kind:?}"),
    };
    suffixes.iter().map(|suffix| format!("{family}{suffix}")).collect()
}
