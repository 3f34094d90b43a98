//! The marks of settings: comments at the end of their lines in the compiled-in file, such as `# reload`.

use std::{collections::BTreeMap, sync::LazyLock};

use toml::de::DeTable;

use super::defaults::DEFAULTS;

/// The marks of a setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// `reload`: a change takes effect while the server runs.
    pub(super) is_reloadable: bool,
    /// `secret`: the value can be read from a file.
    pub(super) is_secret: bool,
}

/// The marks of all settings, by key.
static MARKS: LazyLock<BTreeMap<String, Marks>> =
    LazyLock::new(|| parse(DEFAULTS).expect("the marks of the compiled-in settings are known"));

/// Returns the marks of a setting.
pub(super) fn of(key: &str) -> Marks {
    MARKS.get(key).copied().unwrap_or_default()
}

/// Returns the secret setting whose file a key that ends with `_file` names; `None` for other keys.
pub(super) fn secret_of_file_key(key: &str) -> Option<&str> {
    key.strip_suffix("_file").filter(|secret| of(secret).is_secret)
}

/// Returns the keys of the secrets.
pub(super) fn secrets() -> impl Iterator<Item = &'static str> {
    MARKS.iter().filter(|(_, marks)| marks.is_secret).map(|(key, _)| key.as_str())
}

/// Reads the marks of a settings file.
fn parse(text: &str) -> Result<BTreeMap<String, Marks>, String> {
    let table = DeTable::parse(text).map_err(|error| error.to_string())?;
    let mut all = BTreeMap::new();
    for (section, values) in table.get_ref() {
        let values = values.get_ref().as_table().into_iter().flatten();
        for (name, value) in values {
            let rest = text[value.span().end..].lines().next().unwrap_or_default();
            let mut marks = Marks::default();
            for mark in rest.trim().trim_start_matches('#').split(',').map(str::trim) {
                match mark {
                    "" => {}
                    "reload" => marks.is_reloadable = true,
                    "secret" => marks.is_secret = true,
                    other => {
                        return Err(format!(
                            "unknown mark {other:?} of {}.{}",
                            section.get_ref(),
                            name.get_ref()
                        ));
                    }
                }
            }
            all.insert(format!("{}.{}", section.get_ref(), name.get_ref()), marks);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_at_the_end_of_lines() {
        let text = "[a]\n# reload\nb = 1\nc = \"#\" # reload, secret\nd = [\n  \"x\", # y\n] # reload\n";
        let marks = parse(text).unwrap();
        let (none, reload) = (Marks::default(), Marks { is_reloadable: true, is_secret: false });
        let expected = [("a.b", none), ("a.c", Marks { is_secret: true, ..reload }), ("a.d", reload)];
        assert_eq!(marks, expected.map(|(key, marks)| (key.to_owned(), marks)).into());
        assert_eq!(parse("[a]\nb = 1 # x\n").unwrap_err(), "unknown mark \"x\" of a.b");
    }
}
