//! Conditions on assets as one text: the conditions of the API's lists with spaces between them. A condition with a space has
//! quotation marks around its value.

use crate::{
    domain::asset_filters::{self, AssetCondition},
    error::excerpt,
    string_enum::StringEnum,
};

/// Maximum number of conditions, and of problems with them, that are read: more of them than any list takes.
const MAX_READ: usize = 50;

/// Parses a text, or returns what is wrong with each part of it that cannot be read.
pub fn parse(text: &str) -> (Vec<AssetCondition>, Vec<String>) {
    let (mut conditions, mut problems) = (Vec::new(), Vec::new());
    let parts = match split(text) {
        Ok(parts) => parts,
        Err(problem) => return (conditions, vec![problem]),
    };
    for part in parts {
        if conditions.len().max(problems.len()) >= MAX_READ {
            break;
        }
        match asset_filters::parse_filter(&part, None) {
            Ok(condition) if conditions.contains(&condition) => {}
            Ok(condition) => conditions.push(condition),
            Err(error) => problems.push(format!(
                "“{}” cannot be read: {} (at character {}).",
                excerpt(&part),
                error.message.replace('`', ""),
                error.position + 1
            )),
        }
    }
    (conditions, problems)
}

/// Returns a condition as the API's lists take it.
pub fn entry(condition: &AssetCondition) -> String {
    let AssetCondition { field, operator, value } = condition;
    format!("{}:{}:{value}", field.as_str(), operator.as_str())
}

/// Writes conditions so that [`parse`] reads them.
pub fn write(conditions: &[AssetCondition]) -> String {
    let texts: Vec<String> = conditions.iter().map(write_one).collect();
    texts.join(" ")
}

fn write_one(condition: &AssetCondition) -> String {
    let value = &condition.value;
    if !value.contains(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\\')) {
        return entry(condition);
    }
    let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
    entry(&AssetCondition { value: format!("\"{quoted}\""), ..condition.clone() })
}

/// Splits a text at white space outside quotation marks, and removes these. Inside them, a backslash stands before a quotation
/// mark or a backslash that belongs to the value.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut parts, mut part, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => part.extend(letters.next()),
            letter if letter.is_whitespace() && !is_quoted => {
                if !part.is_empty() {
                    parts.push(std::mem::take(&mut part));
                }
            }
            letter => part.push(letter),
        }
    }
    if is_quoted {
        return Err("A quotation mark has no second one. Put one at the end of the value.".to_owned());
    }
    if !part.is_empty() {
        parts.push(part);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_written_as_they_are_read() {
        for text in
            ["", "stage:is:complete channel:is_not:zip", r#"name:contains:"a \"b\" \\ c" domain:is:finance"#]
        {
            let (conditions, problems) = parse(text);
            assert_eq!((write(&conditions).as_str(), problems.len()), (text, 0));
        }
        assert_eq!(parse("  name:is:a   name:is:a ").0.len(), 1, "each condition once");
        assert_eq!(parse("name:is:a:b").0[0].value, "a:b");
    }

    #[test]
    fn each_part_that_cannot_be_read_is_a_problem() {
        let (conditions, problems) = parse("stage:is:done name:is:x color:is:red");
        assert_eq!((conditions.len(), problems.len()), (1, 2));
        assert!(
            problems[0].starts_with("“stage:is:done” cannot be read: stage must be one of"),
            "{problems:?}"
        );
        assert_eq!(parse("name:is:\"x").1.len(), 1);
    }

    proptest::proptest! {
        /// Any text is read or refused without a panic, and what was read is read again from what is written.
        #[test]
        fn any_text_is_read_or_refused(text in r#"(name:is:[a "\\]{0,6} ?){0,3}"#) {
            let (conditions, _) = parse(&text);
            proptest::prop_assert_eq!(parse(&write(&conditions)), (conditions, Vec::new()));
        }
    }
}
