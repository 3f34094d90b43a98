//! The dashboard and the alerts in `packaging/`: every metric that they name exists, and limits are those of the program.

use std::collections::BTreeSet;

use marketplace::operations::health;
use regex::Regex;
use serde_json::Value;

use super::samples::scrape;
use crate::harness::complete_demo;

fn packaging(path: &str) -> String {
    std::fs::read_to_string(format!("{}/packaging/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Returns what looks like the name of a metric.
fn metric_names(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"\b(?:marketplace|process)_[a-z0-9_]+").unwrap();
    name.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

#[tokio::test]
async fn dashboard_and_alerts_name_metrics_that_exist() {
    let known = scrape(&complete_demo()).await.sample_names();
    for file in ["grafana/marketplace.json", "prometheus/alerts.yml"] {
        let named = metric_names(&packaging(file));
        assert!(named.len() > 10, "{file}: {named:?}");
        let unknown: Vec<&String> = named.difference(&known).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
}

/// The dashboard shows each family of the market.
#[tokio::test]
async fn dashboard_shows_every_family() {
    let dashboard: Value = serde_json::from_str(&packaging("grafana/marketplace.json")).unwrap();
    let mut shown = String::new();
    let mut titles = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(titles.insert(panel["title"].as_str().unwrap()), "{}", panel["title"]);
        for target in panel["targets"].as_array().unwrap() {
            shown.push_str(target["expr"].as_str().unwrap());
            shown.push('\n');
        }
    }
    let both = format!("{shown}{}", packaging("prometheus/alerts.yml"));
    let named = metric_names(&both);
    // Whether the metrics are complete, and what is constant.
    let others = ["marketplace_measured", "process_start_time_seconds"];
    for family in scrape(&complete_demo()).await.families.keys() {
        let is_named = named.iter().any(|name| name.starts_with(family.as_str()));
        assert!(is_named != others.contains(&family.as_str()), "{family}");
    }
}

#[test]
fn limits_of_alerts_are_those_of_the_start_page() {
    let alerts = packaging("prometheus/alerts.yml");
    for limit in [
        format!("marketplace_index_lag_changes > {}", health::MAX_INDEX_LAG),
        format!("marketplace_job_oldest_wait_seconds > {}", health::MAX_JOB_WAIT_SECONDS),
        format!("marketplace_disk_reserve_bytes + {}", health::MIN_FREE_BYTES),
        format!("{{kind=\"database_log\"}} > {}", health::MAX_LOG_BYTES),
        format!("marketplace_backup_age_seconds > {}", health::MAX_BACKUP_AGE_SECONDS),
    ] {
        assert!(alerts.contains(&limit), "{limit}");
    }
}
