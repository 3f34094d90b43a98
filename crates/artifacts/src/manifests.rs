//! Descriptions in build manifests of codebases.

use marketplace_text::encoding;
use serde_json::Value;

use super::yaml;

/// Maximum size in bytes of a manifest that is parsed. Its values take up to eighty times as much memory.
const MAX_BYTES: usize = 256 << 10;

/// Maximum number of characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 2_000;

/// Returns the rank of a manifest that may contain a description, by its name, or `None` for other files. The
/// lowest rank takes precedence.
pub fn rank(name: &str) -> Option<usize> {
    ["Cargo.toml", "package.json", "pyproject.toml", "composer.json", "pubspec.yaml"]
        .iter()
        .position(|manifest| name == *manifest)
}

/// Returns the description in a manifest. Returns `None` if it has none, is larger than 256 KiB, or cannot be
/// parsed.
pub fn description(name: &str, bytes: &[u8]) -> Option<String> {
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let text = encoding::decode(bytes)?;
    let manifest: Value = match name.rsplit_once('.')?.1 {
        "toml" => serde_json::to_value(toml::from_str::<toml::Table>(&text).ok()?).ok()?,
        "json" => serde_json::from_str(&text).ok()?,
        _ => serde_json::to_value(yaml::parse(bytes)?).ok()?,
    };
    let pointers = [
        "/package/description",
        "/workspace/package/description",
        "/project/description",
        "/tool/poetry/description",
        "/description",
    ];
    let description = pointers.iter().find_map(|pointer_path| manifest.pointer(pointer_path)?.as_str())?;
    sanitize_description(description)
}

/// Converts third-party text into a description: one line, limited in length, without control characters.
pub fn sanitize_description(text: &str) -> Option<String> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text
        .chars()
        .filter(|character| !super::readme::is_forbidden(*character))
        .take(MAX_DESCRIPTION_CHARS)
        .collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_is_read_from_each_manifest_format() {
        let cases = [
            ("Cargo.toml", "[package]\nname = \"a\"\ndescription = \"Sorts  things\"", Some("Sorts things")),
            ("Cargo.toml", "[workspace.package]\ndescription = \"A set\"", Some("A set")),
            ("Cargo.toml", "[package]\ndescription.workspace = true", None),
            (
                "package.json",
                r#"{"name": "a", "description": "Sorts\u001b[1m things"}"#,
                Some("Sorts[1m things"),
            ),
            ("pyproject.toml", "[tool.poetry]\ndescription = \"Sorts\"", Some("Sorts")),
            ("pyproject.toml", "[project]\ndescription = \"Sorts\"", Some("Sorts")),
            ("pubspec.yaml", "name: a\ndescription: >\n  Sorts\n  things\n", Some("Sorts things")),
            ("package.json", "{", None),
            ("composer.json", r#"{"description": "  "}"#, None),
        ];
        for (name, text, expected) in cases {
            assert_eq!(description(name, text.as_bytes()).as_deref(), expected, "{text}");
            let with_mark = format!("\u{feff}{text}");
            assert_eq!(description(name, with_mark.as_bytes()).as_deref(), expected, "{text}");
            let utf_16: Vec<u8> = with_mark.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_eq!(description(name, &utf_16).as_deref(), expected, "{text}");
        }
    }

    /// None of these takes more than a few milliseconds or megabytes.
    #[test]
    fn hostile_manifests_have_no_description() {
        let aliases = format!("a: &x [{}]\nb: [{}]\n", "1,".repeat(40_000), "*x,".repeat(40_000));
        let text = "x".repeat(MAX_BYTES);
        for (name, text) in [
            ("pubspec.yaml", aliases),
            ("Cargo.toml", format!("{}a = 1", "a.".repeat(100_000))),
            ("Cargo.toml", format!("a = {}", "[".repeat(100_000))),
            ("package.json", "[".repeat(100_000)),
            ("package.json", format!("{{\"description\": \"{text}\"}}")),
        ] {
            assert_eq!(description(name, text.as_bytes()), None, "{name}");
        }
    }
}
