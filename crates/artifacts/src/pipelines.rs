//! Continuous integration: whether a repository runs it on pull requests, according to its configuration
//! files for GitHub, GitLab, and Bitbucket.

use serde_yaml_ng::Value;

use super::yaml;

/// Events of GitHub Actions that pull requests trigger.
const PULL_REQUEST_EVENTS: [&str; 2] = ["pull_request", "pull_request_target"];

/// Whether the file at a path configures continuous integration.
pub fn is_ci_config(path: &str) -> bool {
    let is_workflow = path.strip_prefix(".github/workflows/").is_some_and(|name| {
        !name.contains('/') && [".yml", ".yaml"].iter().any(|extension| name.ends_with(extension))
    });
    is_workflow || [".gitlab-ci.yml", "bitbucket-pipelines.yml"].contains(&path)
}

/// Whether the configuration file at a path runs anything on pull requests. False if it cannot be parsed within
/// the limits on YAML.
pub fn runs_on_pull_requests(path: &str, bytes: &[u8]) -> bool {
    let Some(file) = yaml::parse(bytes) else { return false };
    match path {
        // A merge request starts a pipeline if a rule, or an older `only`, names it.
        ".gitlab-ci.yml" => {
            contains_text(&file, &["merge_request_event", "merge_requests", "CI_MERGE_REQUEST_"])
        }
        "bitbucket-pipelines.yml" => file
            .get("pipelines")
            .and_then(|pipelines| pipelines.get("pull-requests"))
            .is_some_and(|pipelines| !pipelines.is_null()),
        _ => {
            let on = file.get("on").or_else(|| file.get(Value::Bool(true)));
            on.is_some_and(|on| PULL_REQUEST_EVENTS.iter().any(|event| names_event(on, event)))
        }
    }
}

/// Whether `on` names an event: as its value, as an item of its list, or as a key with settings.
fn names_event(on: &Value, event: &str) -> bool {
    match on {
        Value::String(name) => name == event,
        Value::Sequence(list) => list.iter().any(|name| name.as_str() == Some(event)),
        Value::Mapping(settings) => settings.contains_key(event),
        _ => false,
    }
}

/// Whether any string in a YAML value contains one of the given parts.
fn contains_text(value: &Value, parts: &[&str]) -> bool {
    match value {
        Value::String(text) => parts.iter().any(|part| text.contains(part)),
        Value::Sequence(values) => values.iter().any(|value| contains_text(value, parts)),
        Value::Mapping(values) => values.values().any(|value| contains_text(value, parts)),
        Value::Tagged(tagged) => contains_text(&tagged.value, parts),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_request_pipelines_are_detected() {
        let github = ".github/workflows/ci.yml";
        let cases = [
            (github, "on: pull_request\njobs: {}", true),
            (github, "on: [push, pull_request]", true),
            (github, "on:\n  push:\n  pull_request:\n    branches: [main]\n", true),
            (github, "\"on\":\n  pull_request_target: {}\n", true),
            (github, "on: push\njobs:\n  a:\n    if: github.event_name == 'pull_request'\n", false),
            (github, "on:\n  schedule:\n    - cron: '0 0 * * *'\n# pull_request\n", false),
            (github, "on: [", false),
            (
                ".gitlab-ci.yml",
                "test:\n  script: x\n  rules:\n    - if: $CI_PIPELINE_SOURCE == \"merge_request_event\"\n",
                true,
            ),
            (".gitlab-ci.yml", "test:\n  only: [merge_requests]\n", true),
            (".gitlab-ci.yml", "test:\n  script: !reference [.a, script]\n", false),
            ("bitbucket-pipelines.yml", "pipelines:\n  pull-requests:\n    '**':\n      - step: {}\n", true),
            ("bitbucket-pipelines.yml", "pipelines:\n  default:\n    - step: {}\n", false),
        ];
        for (path, text, runs) in cases {
            assert!(is_ci_config(path));
            assert_eq!(runs_on_pull_requests(path, text.as_bytes()), runs, "{text}");
        }
        let bomb = format!("on: &x [{}]\njobs: [{}]\n", "push,".repeat(20_000), "*x,".repeat(20_000));
        assert!(!runs_on_pull_requests(github, bomb.as_bytes()));
        for path in ["ci.yml", ".github/workflows/a/ci.yml", ".github/workflows/ci.txt", "x/.gitlab-ci.yml"] {
            assert!(!is_ci_config(path));
        }
    }
}
