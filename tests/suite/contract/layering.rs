//! The dependency rules of ARCHITECTURE.md that Cargo cannot enforce: a module of the program uses only lower layers, and only
//! its owner names a framework. Within a layer, and within each crate, modules do not use each other in a cycle.

mod module_graph;
mod rust_paths;

use std::{collections::BTreeSet, fs, path::Path};

use self::{module_graph::Modules, rust_paths::SourceFile};

/// The layers, highest first. A module may use the layers after its own, and the foundations.
const LAYERS: [&str; 16] = [
    "cli",
    "gym",
    "replica",
    "mcp",
    "rest",
    "console",
    "web",
    "worlds",
    "fixtures",
    "operations",
    "market",
    "search",
    "artifacts",
    "blobs",
    "store",
    "error",
];

/// Layers beside each other: neither uses the other.
const FACES: [&str; 2] = ["rest", "console"];

/// What every layer may use: modules below all layers, and crates by their names in `lib.rs`.
const FOUNDATIONS: [&str; 14] = [
    "error",
    "clock",
    "config",
    "domain",
    "http_client",
    "http_server",
    "idle_closer",
    "json_values",
    "private_files",
    "regular_files",
    "request_problems",
    "splitmix64",
    "string_enum",
    "text_encoding",
];

/// Foundations that may use nothing but themselves and the listed modules, so that they form no cycle.
const PURE: [(&str, &[&str]); 2] =
    [("error", &["domain", "string_enum"]), ("request_problems", &["domain", "error"])];

/// Frameworks, each with the only layers that may name it.
const OWNERS: [(&str, &[&str]); 16] = [
    ("maud", &["console"]),
    ("pulldown_cmark", &["console"]),
    ("poem", &["web", "rest", "console", "mcp", "gym", "replica"]),
    ("rmcp", &["mcp"]),
    ("poem_openapi", &["web", "rest"]),
    ("governor", &["web"]),
    ("prometheus_client", &["web"]),
    ("rusqlite", &["store"]),
    ("crc32fast", &["blobs"]),
    ("reqwest", &["blobs", "cli", "replica"]),
    ("object_store", &["blobs"]),
    ("clap", &["cli", "rest"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("rustix", &["blobs", "cli", "error", "market", "replica", "store"]),
    ("indicatif", &["cli"]),
];

/// The directories of the crates whose modules are checked for cycles. Each has a list of the modules that
/// still form a cycle with their own children: the file of the module uses a child that uses items of that
/// file. Add none to the list. The siblings below these modules are checked like all others. `""` is the root
/// of a crate.
const CRATES: [(&str, &[&str]); 10] = [
    ("src", &["blobs", "cli", "fixtures", "fixtures::records", "fixtures::write", "market", "store"]),
    ("crates/check/src", &[]),
    ("crates/artifacts/src", &["archive", "quality_checks", "datasets", "git"]),
    ("crates/domain/src", &[]),
    ("crates/files/src", &[]),
    ("crates/http/src", &[]),
    ("crates/http_client/src", &[]),
    ("crates/macros/src", &[]),
    ("index/src", &["", "columns"]),
    ("text/src", &[]),
];

/// The directories of the API, whose files have one resource each.
const RESOURCES: [&str; 3] = ["catalog", "vendor_api", "buyer_api"];

/// The resources that have no module of their own in one of the lower layers, each with the module that has
/// them there.
const OTHER_NAMES: [(&str, &str, &str); 5] = [
    // Access is decided with the other proofs of access, from the number of published listings.
    ("browse_access", "operations", "access"),
    ("browse_access", "store", "listings"),
    // Summaries and details of the catalog are rendered once per change.
    ("browse", "store", "renderings"),
    // Codebases and raw data are kinds of assets.
    ("codebases", "store", "assets"),
    ("raw_data", "store", "assets"),
];

/// Returns every source file under a directory of this repository: its path relative to the directory, and
/// its text.
fn sources(directory: &str) -> Vec<(String, String)> {
    fn walk(directory: &Path, out: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                out.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = format!("{}/{directory}/", env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    walk(Path::new(&root), &mut found);
    found.into_iter().map(|(path, text)| (path.strip_prefix(&root).unwrap().to_owned(), text)).collect()
}

/// Returns the layer of a file: its top-level directory, or its file name if it is directly in `src`.
fn layer(path: &str) -> &str {
    path.split('/').next().unwrap().trim_end_matches(".rs")
}

/// Returns the modules at the top of this crate that a text names.
fn used_modules(text: &str) -> Vec<String> {
    let SourceFile { imports, paths, .. } = SourceFile::parse(text);
    let all = imports.into_iter().map(|import| import.path).chain(paths);
    all.filter(|path| path[0] == "crate").filter_map(|path| path.into_iter().nth(1)).collect()
}

/// Returns the text without line comments, which may name any module.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn modules_use_only_lower_layers() {
    let mut violations = Vec::new();
    for (path, text) in sources("src") {
        let Some(level) = LAYERS.iter().position(|known| *known == layer(&path)) else { continue };
        for module in used_modules(&text) {
            let is_below =
                LAYERS.iter().position(|known| *known == module).is_some_and(|other| other >= level);
            let is_impure = PURE.iter().any(|(pure, allowed)| {
                *pure == layer(&path) && *pure != module && !allowed.contains(&module.as_str())
            });
            let is_other_face =
                FACES.contains(&module.as_str()) && FACES.contains(&layer(&path)) && module != layer(&path);
            if is_impure || is_other_face || !(is_below || FOUNDATIONS.contains(&module.as_str())) {
                violations.push(format!("{path} uses {module}"));
            }
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn frameworks_are_named_only_by_their_owners() {
    let mut violations = Vec::new();
    for (path, text) in sources("src") {
        let code = without_comments(&text);
        for (framework, owners) in OWNERS {
            let names = [format!("{framework}::"), format!("use {framework}")];
            if names.iter().any(|name| contains_name(&code, name)) && !owners.contains(&layer(&path)) {
                violations.push(format!("{path} names {framework}"));
            }
        }
        if contains_name(&code, "tantivy::") {
            violations.push(format!("{path} names tantivy"));
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
}

/// Whether a text contains a name that is not a part of a longer name.
fn contains_name(text: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    text.match_indices(name).any(|(at, _)| {
        let ends = name.ends_with(':') || !text[at + name.len()..].starts_with(is_part);
        ends && !text[..at].ends_with(is_part)
    })
}

#[test]
fn modules_have_no_cycles() {
    for (directory, exempt) in CRATES {
        let modules = Modules::new(sources(directory));
        let cycles = modules.cycles(exempt);
        assert!(cycles.is_empty(), "in {directory}:\n{}", cycles.join("\n"));
        for module in exempt {
            let others: Vec<&str> = exempt.iter().copied().filter(|other| other != module).collect();
            assert!(!modules.cycles(&others).is_empty(), "{module:?} needs no exemption any more");
        }
    }
}

#[test]
fn names_are_found() {
    let text = "use crate::{domain::{a, b}, store, rest::x};\nlet y = crate::market::Z; other_crate::no();";
    assert_eq!(used_modules(text), ["domain", "domain", "store", "rest", "market"]);
    assert!(contains_name("use poem::x", "poem::") && !contains_name("use poem_openapi::x", "poem::"));
}

/// A job that is enqueued in another way waits until something else wakes background work.
#[test]
fn only_the_writer_enqueues_jobs() {
    let name = "store::jobs::enqueue";
    let naming: Vec<String> = sources("src")
        .into_iter()
        .filter(|(_, text)| contains_name(&without_comments(text), name))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(naming, ["market/mod.rs"]);
}

/// A resource of the API has the same module name in `rest`, in `operations`, and in `store`.
#[test]
fn a_resource_has_one_name_in_every_layer() {
    let files: Vec<(String, String)> = sources("src");
    let has_module = |layer: &str, name: &str| {
        let paths = [format!("{layer}/{name}.rs"), format!("{layer}/{name}/mod.rs")];
        files.iter().any(|(path, _)| paths.contains(path))
    };
    let mut resources = BTreeSet::new();
    for directory in RESOURCES {
        for (path, text) in sources(&format!("src/rest/{directory}")) {
            let module = path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
            if text.contains("#[routes(") {
                resources.insert(module.to_owned());
            }
        }
    }
    assert!(resources.len() >= 20, "{resources:?}");
    let mut violations = Vec::new();
    for resource in &resources {
        for layer in ["operations", "store"] {
            let other = OTHER_NAMES.iter().find(|(name, of, _)| name == resource && *of == layer);
            let is_listed = other.is_some_and(|(.., module)| has_module(layer, module));
            if has_module(layer, resource) == is_listed {
                violations.push(format!("{layer}/{resource}"));
            }
        }
    }
    let unknown = OTHER_NAMES.iter().filter(|(name, ..)| !resources.contains(*name));
    violations.extend(unknown.map(|(name, ..)| format!("{name} is no resource of the API")));
    assert!(violations.is_empty(), "not exactly one module: {violations:#?}");
}

/// Nothing that serves requests can act for the platform by itself.
#[test]
fn only_code_that_serves_no_requests_acts_for_the_platform() {
    let serves_requests =
        |path: &str| ["web", "rest", "console", "mcp"].contains(&layer(path)) && !path.ends_with("/tests.rs");
    let acting: Vec<String> = sources("src")
        .into_iter()
        .filter(|(_, text)| without_comments(text).contains("Platform::of_process"))
        .map(|(path, _)| path)
        .collect();
    let violations: Vec<&String> = acting.iter().filter(|path| serves_requests(path)).collect();
    assert!(violations.is_empty(), "{violations:#?}");
    assert!(!acting.is_empty(), "the proof has another name now");
}

/// A handler leaves reading, converting, and serializing to `rest::json`, which does all of it in the slot of
/// a reader or the writer. Only the catalog reads by itself, since it caches pages; its reads return bytes.
#[test]
fn handlers_serialize_in_the_slot_of_a_reader() {
    const CALLS: [&str; 5] =
        ["market().read", "market.read", "market().write(", "market.write(", "serde_json::to_vec("];
    let mut violations = Vec::new();
    for directory in RESOURCES {
        for (path, text) in sources(&format!("src/rest/{directory}")) {
            let code: String = without_comments(&text).split_whitespace().collect();
            let may_read = directory == "catalog" && path == "browse.rs";
            for call in CALLS {
                if code.contains(call) && !may_read {
                    violations.push(format!("{directory}/{path} calls {call}"));
                }
            }
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
}
