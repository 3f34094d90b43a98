//! Fixture sets in real markets: nobody gets a key of an operator, and nothing is sent.

use serde_json::Value;

use super::{Server, run, stdout_of, temp_dir};

const SET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/demo");

#[test]
fn real_market_gets_no_operator_keys_and_no_enabled_webhooks_of_a_set() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    std::fs::write(directory.join("demo.toml"), "[keys]\nallow_fixture_keys = true\n").unwrap();
    for (options, keys) in [(&["--data", "real"][..], 0), (&["--data", "open", "--config", "demo.toml"], 2)] {
        let list = |what: &[&str]| -> Vec<Value> {
            let listed = stdout_of(&run(&[what, &["list", "--json"], options].concat(), directory));
            serde_json::from_str::<Value>(&listed).unwrap().as_array().unwrap().clone()
        };
        let output = run(&[&["seed", SET], options].concat(), directory);
        let notes = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(stdout_of(&output).contains("demo: added "), "{output:?}");
        assert_eq!(list(&["operator", "key"]).len(), keys, "{options:?}");
        let has_note = notes.contains("note: 2 operator keys of demo not created")
            && notes.contains("keys.allow_fixture_keys");
        assert_eq!(has_note, keys == 0, "{notes}");
        let webhooks = list(&["webhook"]);
        assert!(
            !webhooks.is_empty() && webhooks.iter().all(|webhook| webhook["status"] == "disabled"),
            "{webhooks:?}"
        );
        assert!(
            notes.contains("note: 1 webhook of demo disabled"),
            "the set disables the other one itself: {notes}"
        );
        assert!(stdout_of(&run(&[&["verify"], options].concat(), directory)).contains("no problems found"));
    }
}

#[test]
fn demo_has_its_operator_keys_and_webhooks() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    assert_eq!(Server::start(&["--demo", "--data", "market"], directory).terminate(), 0);
    let list = |what: &[&str]| -> Value {
        let listed = stdout_of(&run(&[what, &["list", "--json", "--data", "market"]].concat(), directory));
        serde_json::from_str(&listed).unwrap()
    };
    assert_eq!(list(&["operator", "key"]).as_array().unwrap().len(), 2);
    assert!(list(&["webhook"]).as_array().unwrap().iter().any(|webhook| webhook["status"] == "enabled"));
}
