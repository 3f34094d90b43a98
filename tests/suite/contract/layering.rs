//! The arrows of ARCHITECTURE.md: a module uses only what stands below it, and only its owner names a framework.

use std::{fs, path::Path};

/// The layers, the highest first. A module may use those behind it, and the foundations.
const LAYERS: [&str; 12] = [
    "cli",
    "mcp",
    "rest",
    "fixtures",
    "operations",
    "market",
    "search",
    "artifacts",
    "blobs",
    "store",
    "domain",
    "error",
];

/// What every layer may use.
const FOUNDATIONS: [&str; 4] = ["error", "clock", "config", "domain"];

/// Frameworks and the only places that may name them.
const OWNERS: [(&str, &[&str]); 21] = [
    ("poem", &["rest", "mcp"]),
    ("rmcp", &["mcp"]),
    ("poem_openapi", &["rest"]),
    ("hyper", &["rest"]),
    ("hyper_util", &["rest"]),
    ("governor", &["rest"]),
    ("rusqlite", &["store"]),
    ("zip", &["artifacts"]),
    ("parquet", &["artifacts"]),
    ("csv_core", &["artifacts"]),
    ("gix", &["artifacts"]),
    ("reqwest", &["artifacts", "blobs"]),
    ("object_store", &["blobs"]),
    ("linguist", &["artifacts"]),
    ("linguist_types", &["artifacts"]),
    ("tokei", &["artifacts"]),
    ("spdx", &["artifacts"]),
    ("nosecrets_rules", &["artifacts"]),
    ("aho_corasick", &["artifacts"]),
    ("clap", &["cli", "rest"]),
    ("indicatif", &["cli"]),
];

/// Every source file under `src`, as its path from there and its text.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, out: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                out.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
    let mut found = Vec::new();
    walk(Path::new(root), &mut found);
    found.into_iter().map(|(path, text)| (path.strip_prefix(root).unwrap().to_owned(), text)).collect()
}

/// The layer of a file: its folder, or its name where it stands at the top.
fn layer(path: &str) -> &str {
    path.split('/').next().unwrap().trim_end_matches(".rs")
}

/// Modules of this crate that a text names: `crate::name`, alone or as the first part of a group.
fn used(text: &str) -> Vec<String> {
    let mut modules = Vec::new();
    let name_of = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    for (at, _) in text.match_indices("crate::") {
        // `$crate` in a macro names the domain's own trait; a path such as `some_crate::x` is another crate's.
        if text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            modules.push(name_of(rest));
            continue;
        };
        let (mut depth, mut is_start) = (1, true);
        for (offset, letter) in group.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => is_start = true,
                letter if is_start && !letter.is_whitespace() => {
                    modules.push(name_of(&group[offset..]));
                    is_start = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    modules.retain(|module| !module.is_empty());
    modules
}

/// The text without its line comments: they may name whatever they explain.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn arrows_point_down() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let Some(place) = LAYERS.iter().position(|known| *known == layer(&path)) else { continue };
        for module in used(&code(&text)) {
            let is_below =
                LAYERS.iter().position(|known| *known == module).is_some_and(|other| other >= place);
            let is_pure = layer(&path) == "domain" && !["domain", "error"].contains(&module.as_str());
            if is_pure || !(is_below || FOUNDATIONS.contains(&module.as_str())) {
                faults.push(format!("{path} uses {module}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn frameworks_stay_where_they_belong() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let code = code(&text);
        for (framework, owners) in OWNERS {
            let names = [format!("{framework}::"), format!("use {framework}")];
            if names.iter().any(|name| names_it(&code, name)) && !owners.contains(&layer(&path)) {
                faults.push(format!("{path} names {framework}"));
            }
        }
        if names_it(&code, "tantivy::") {
            faults.push(format!("{path} names tantivy"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Whether a text holds a name that no longer name contains.
fn names_it(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    text.match_indices(name).any(|(at, _)| {
        let ends = name.ends_with(':') || !text[at + name.len()..].starts_with(is_part);
        ends && !text[..at].ends_with(is_part)
    })
}

#[test]
fn the_reader_of_use_lines_reads_them() {
    let text = "use crate::{domain::{a, b}, store, rest::x};\nlet y = crate::market::Z; other_crate::no();";
    assert_eq!(used(text), ["domain", "store", "rest", "market"]);
    assert!(names_it("use poem::x", "poem::") && !names_it("use poem_openapi::x", "poem::"));
}
