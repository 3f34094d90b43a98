//! A settings file for a new market: the compiled-in file, in which every setting is a comment.

use std::{fmt::Write, ops::Range};

use toml::{Value, de::DeTable};

use super::defaults::DEFAULTS;

/// Returns the text of a settings file with all settings as comments, except those of `values`, which it sets.
pub fn template(values: &[(&str, Value)]) -> String {
    let table = DeTable::parse(DEFAULTS).expect("the compiled-in settings are valid TOML");
    let mut settings: Vec<(Range<usize>, String)> = Vec::new();
    for (section, body) in table.get_ref() {
        for (name, value) in body.get_ref().as_table().into_iter().flatten() {
            settings.push((
                name.span().start..value.span().end,
                format!("{}.{}", section.get_ref(), name.get_ref()),
            ));
        }
    }
    settings.sort_by_key(|(range, _)| range.start);
    let mut text = "# The settings of this market. A line that begins with # and a key shows a default; to change it, remove the #.\n\
                    # Environment variables (MARKETPLACE_ and the key in upper case: MARKETPLACE_SERVER_LISTEN) and flags override\n\
                    # this file.\n#\n"
        .to_owned();
    // The first paragraph of the compiled-in file is about that file, and the second about marks.
    let mut end = DEFAULTS.find("\n#\n").map_or(0, |end| end + "\n#\n".len());
    for (range, key) in settings {
        text.push_str(&DEFAULTS[end..range.start]);
        match values.iter().find(|(set, _)| *set == key) {
            Some((_, value)) => {
                let name = key.split('.').next_back().unwrap_or_default();
                let _ = write!(text, "{name} = {value}");
            }
            None => {
                let _ = write!(text, "#{}", DEFAULTS[range.clone()].replace('\n', "\n#"));
            }
        }
        end = range.end;
    }
    text.push_str(&DEFAULTS[end..]);
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Settings, SettingsSources};

    #[test]
    fn template_changes_only_the_values_that_it_sets() {
        let text = template(&[("data.folder", "/srv/market".into())]);
        let mut sources = SettingsSources::new();
        sources.add_file(Path::new("my.toml"), &text).unwrap();
        let settings = sources.resolve().unwrap();
        let changed: Vec<_> =
            settings.list().into_iter().filter(|setting| setting.origin.is_some()).collect();
        assert_eq!(changed.len(), 1);
        assert_eq!(
            (changed[0].key.as_str(), changed[0].value.as_str()),
            ("data.folder", Some("/srv/market"))
        );
        assert!(
            text.starts_with("# The settings of this market.")
                && text.contains("\n#catalog = 1200 # reload\n")
        );
    }

    /// Each setting that the template comments out is valid without its first `#`.
    #[test]
    fn all_settings_are_in_the_template() {
        let text = template(&[]);
        let is_setting = |line: &str| {
            line.starts_with("#    ") || line.starts_with('#') && !line.starts_with("# ") && line != "#"
        };
        let all: String = text
            .lines()
            .map(|line| if is_setting(line) { &line[1..] } else { line })
            .flat_map(|line| [line, "\n"])
            .collect();
        let mut sources = SettingsSources::new();
        sources.add_file(Path::new("my.toml"), &all).unwrap();
        let listed = sources.resolve().unwrap().list();
        assert!(listed.iter().all(|setting| setting.origin.is_some() && setting.value == setting.default));
        assert_eq!(listed.len(), Settings::default().list().len());
    }
}
