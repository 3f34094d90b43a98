//! Keys in environment variables, or in files that variables name.

use std::{env::VarError, path::Path};

use marketplace_text::{is_blank, without_invisible_ends};

use super::{CommandError, print_note};
use crate::config::{read_secret, warning_of_permissions};

/// Returns the key in a variable, or in the file that the variable with `_FILE` at the end of its name names. `None` if neither
/// is set. Errors name the one that is.
pub fn read(name: &str) -> Result<Option<String>, CommandError> {
    let file_name = format!("{name}_FILE");
    let path = match (variable(name)?, variable(&file_name)?) {
        (Some(_), Some(_)) => {
            return Err(CommandError::Usage(format!(
                "{name} and {file_name} are both set; keep one of them"
            )));
        }
        (Some(text), None) => {
            return parse(&text, &format!("the variable {name}")).map(|key| Some(key.to_owned()));
        }
        (None, None) => return Ok(None),
        (None, Some(path)) => path,
    };
    let text = read_secret(Path::new(&path)).map_err(|problem| {
        CommandError::Usage(format!("cannot read the key in {file_name}, {path}: {problem}"))
    })?;
    if let Some(warning) = warning_of_permissions(Path::new(&path)) {
        print_note(format_args!("warning: {warning}"));
    }
    parse(&text, &format!("the file of {file_name}, {path},")).map(|key| Some(key.to_owned()))
}

/// Returns the value of a variable; `None` if nothing of it can be seen.
fn variable(name: &str) -> Result<Option<String>, CommandError> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !is_blank(value))),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            Err(CommandError::Usage(format!("the variable {name} is not text in UTF-8")))
        }
    }
}

/// Returns a key without what cannot be seen around it, such as the line break at the end of a file. An error names its source.
pub fn parse<'t>(text: &'t str, source: &str) -> Result<&'t str, CommandError> {
    let key = without_invisible_ends(text);
    // Quotes are not removed from the values in some files of variables.
    let is_of_key = |byte: u8| byte.is_ascii_graphic() && !b"\"'".contains(&byte);
    if key.is_empty() || !key.bytes().all(is_of_key) {
        return Err(CommandError::Usage(format!(
            "{source} does not contain one key: keys have no spaces, line breaks, quotes, or special characters"
        )));
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_around_keys_is_removed() {
        for text in ["mkt_op_1", " mkt_op_1\n", "mkt_op_1\r\n", "\u{feff}mkt_op_1", "\u{200b}mkt_op_1\u{a0}"]
        {
            assert_eq!(parse(text, "X").unwrap(), "mkt_op_1");
        }
        for text in ["", " \n", "mkt_op_1\nmkt_op_2", "mkt_op_é", "m\0k\0t\0", "\"mkt_op_1\""] {
            let message = parse(text, "the variable X").unwrap_err().to_string();
            assert!(message.starts_with("the variable X") && !message.contains("mkt_op"), "{message}");
        }
    }
}
