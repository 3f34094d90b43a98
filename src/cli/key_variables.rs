//! Keys in environment variables, or in files that variables name.

use std::path::Path;

use super::{CommandError, print_note};
use crate::config::{read_secret, warning_of_permissions};

/// Returns the key in a variable, or in the file that the variable with `_FILE` at the end of its name names. `None` if neither
/// is set.
pub fn read(name: &str) -> Result<Option<String>, CommandError> {
    let file_name = format!("{name}_FILE");
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let path = match (variable(name), variable(&file_name)) {
        (Some(_), Some(_)) => {
            return Err(CommandError::Usage(format!(
                "{name} and {file_name} are both set; keep one of them"
            )));
        }
        (key, None) => return Ok(key),
        (None, Some(path)) => path,
    };
    let key = read_secret(Path::new(&path)).map_err(|problem| {
        CommandError::Usage(format!("cannot read the key in {file_name}, {path}: {problem}"))
    })?;
    if let Some(warning) = warning_of_permissions(Path::new(&path)) {
        print_note(format_args!("warning: {warning}"));
    }
    Ok(Some(key))
}
