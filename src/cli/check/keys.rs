//! The API keys of a check, from the command line or the environment.

use marketplace_check::Key;

use crate::cli::{CommandError, key_variables};

/// The variables with keys, if the command line names none.
const VARIABLES: [&str; 2] = ["MARKETPLACE_API_KEY", "MARKETPLACE_OPERATOR_KEY"];

/// Maximum number of keys.
const MAX_KEYS: usize = 8;

/// Returns the keys that the command line names, or else those in the environment.
pub fn parse(arguments: &[String]) -> Result<Vec<Key>, CommandError> {
    parse_with(arguments, key_variables::read)
}

fn parse_with(
    arguments: &[String],
    variable: impl Fn(&str) -> Result<Option<String>, CommandError>,
) -> Result<Vec<Key>, CommandError> {
    if arguments.len() > MAX_KEYS {
        return Err(CommandError::Usage(format!("at most {MAX_KEYS} keys can be checked at once")));
    }
    let mut keys: Vec<Key> = Vec::new();
    let mut add = |name: String, secret: String| {
        if keys.iter().all(|key| key.secret != secret) {
            keys.push(Key { name, secret });
        }
    };
    for (number, argument) in (1..).zip(arguments) {
        if let Some(name) = argument.strip_prefix('@') {
            let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let secret = if is_name(name) { variable(name)? } else { None };
            let secret = secret.ok_or_else(|| {
                CommandError::Usage(format!("the variable {name:?} of --key contains no key"))
            })?;
            add(name.to_owned(), secret);
        } else {
            let name = format!("KEY_{number}");
            let secret = key_variables::parse(argument, &name)?.to_owned();
            add(name, secret);
        }
    }
    if arguments.is_empty() {
        for name in VARIABLES {
            if let Some(secret) = variable(name)? {
                add(name.to_owned(), secret);
            }
        }
    }
    if keys.is_empty() {
        return Err(CommandError::Usage(format!(
            "a check needs an API key: name one with --key, or set {}",
            VARIABLES.join(" or ")
        )));
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(arguments: &[&str], variables: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        let variable = |name: &str| {
            Ok(variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        let keys = parse_with(&arguments, variable).map_err(|error| error.to_string())?;
        Ok(keys.into_iter().map(|key| (key.name, key.secret)).collect())
    }

    #[test]
    fn keys_come_from_arguments_or_the_environment() {
        let named = |name: &str, secret: &str| (name.to_owned(), secret.to_owned());
        let variables = [("MARKETPLACE_API_KEY", "mkt_a"), ("STAGING", "mkt_b")];
        assert_eq!(names(&[], &variables).unwrap(), [named("MARKETPLACE_API_KEY", "mkt_a")]);
        assert_eq!(
            names(&["mkt_c", "@STAGING", "mkt_c"], &variables).unwrap(),
            [named("KEY_1", "mkt_c"), named("STAGING", "mkt_b")]
        );
        assert!(names(&[], &[]).unwrap_err().contains("--key"));
        for invalid in ["@NONE", "@", "mkt_secret with spaces", "", "mkt_secré"] {
            let message = names(&[invalid], &variables).unwrap_err();
            assert!(!message.contains("secr"), "{message}");
        }
        assert!(names(&["k"; 9], &[]).is_err());
        assert!(!format!("{:?}", parse_with(&["mkt_c".to_owned()], |_| Ok(None)).unwrap()).contains("mkt_c"));
    }
}
