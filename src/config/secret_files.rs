//! Secrets that are read from files: a file that a setting or a variable with `_file` at its end names, or a credential of the
//! service manager, whose name is the key.

use std::{io::ErrorKind, os::unix::fs::PermissionsExt, path::Path};

use toml::Value;

use super::{
    marks,
    settings_error::SettingsError,
    sources::{SecretFile, SettingsSources},
};
use crate::regular_files;

/// Maximum size of a file with a secret in bytes.
const MAX_BYTES: u64 = 16 * 1024;

/// The permission bits of users other than the owner.
const OTHERS: u32 = 0o077;

impl SettingsSources {
    /// Records that a file contains a secret. `key` is the key of the file.
    pub(super) fn add_secret_file(
        &mut self,
        secret: &str,
        key: &str,
        path: Value,
        origin: String,
    ) -> Result<(), SettingsError> {
        let Value::String(path) = path else {
            let message =
                format!("{key} must be the path of a file, as in {key} = \"/etc/marketplace/secret\"");
            return Err(SettingsError { origin, message });
        };
        if path.is_empty() {
            self.secret_files.remove(secret);
        } else {
            self.secret_files.insert(secret.to_owned(), SecretFile { path: path.into(), origin });
        }
        Ok(())
    }

    /// Adds a warning if other users than the owner have access to a settings file with these secrets. Often, the server is one of
    /// them, so other permissions are no advice.
    pub(super) fn warn_of_secrets_in(&mut self, path: &Path, keys: &[&str]) {
        let [first, ..] = keys else { return };
        let warning = warning_of_access(path, &keys.join(", "));
        self.add_warnings(warning.map(|warning| {
            format!("{warning}; put each secret into a file of its own, and name it with a setting such as {first}_file")
        }));
    }

    /// Reads the secrets that files contain, after all sources are added. `credentials` is the directory of
    /// credentials. Returns warnings about files that other users can access. Fails if a secret is given more than
    /// once.
    pub fn read_secrets(&mut self, credentials: Option<&Path>) -> Result<Vec<String>, SettingsError> {
        let mut warnings = Vec::new();
        for key in marks::secrets() {
            let named = self.secret_files.get(key).cloned();
            // A link that leads nowhere is there, and cannot be read.
            let credential = credentials
                .map(|directory| directory.join(key))
                .filter(|path| path.symlink_metadata().is_ok());
            let value = self.origins.get(key).filter(|_| self.value(key).and_then(Value::as_str) != Some(""));
            let origins = [
                value.cloned(),
                named.as_ref().map(|file| format!("{} ({key}_file)", file.origin)),
                credential.as_ref().map(|path| format!("the credential {}", path.display())),
            ];
            let given: Vec<String> = origins.into_iter().flatten().collect();
            if given.len() > 1 {
                let message =
                    format!("{key} is given more than once, by {}; keep one", given.join(" and by "));
                return Err(SettingsError { origin: given[0].clone(), message });
            }
            let (path, origin) = match (named, credential) {
                (Some(SecretFile { path, origin }), _) => {
                    warnings.extend(warning_of_permissions(&path));
                    (path, origin)
                }
                (None, Some(path)) => (path, "credential".to_owned()),
                (None, None) => continue,
            };
            let secret = read_secret(&path).map_err(|problem| SettingsError {
                origin: origin.clone(),
                message: format!("cannot read {key} from {}: {problem}", path.display()),
            })?;
            let origin = format!("{origin} ({})", path.display());
            self.set_value(key, secret.into(), origin)?;
        }
        Ok(warnings)
    }
}

/// Reads a secret: the text of a file, without a line break at its end. An error says what is wrong.
pub fn read_secret(path: &Path) -> Result<String, String> {
    let text = regular_files::read_to_string(path, MAX_BYTES).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => cause.to_string(),
    })?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line {
        "" => Err("it is empty".to_owned()),
        line if line.contains(['\n', '\r']) => Err("it has more than one line".to_owned()),
        line => Ok(line.to_owned()),
    }
}

/// Returns a warning if other users than the owner have access to a file with a secret.
pub fn warning_of_permissions(path: &Path) -> Option<String> {
    let warning = warning_of_access(path, "a secret")?;
    Some(format!("{warning}; run chmod 600 {}", path.display()))
}

fn warning_of_access(path: &Path, what: &str) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let path = path.display();
    (mode & OTHERS != 0)
        .then(|| format!("{path} has {what}, and users other than its owner can access it (mode {mode:03o})"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KEY: &str = "repositories.github_token";
    const FILE_KEY: &str = "repositories.github_token_file";

    /// Reads the token from a file with this text. Returns the token, or the error.
    fn read(text: &[u8]) -> Result<String, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        fs::write(&path, text).unwrap();
        let mut sources = SettingsSources::new();
        let setting = format!("[repositories]\ngithub_token_file = {:?}\n", path.to_str().unwrap());
        sources.add_file(Path::new("my.toml"), &setting).unwrap();
        sources.read_secrets(None).map_err(|error| error.message)?;
        let settings = sources.resolve().unwrap();
        Ok(settings.repositories.github_token.reveal().unwrap().to_owned())
    }

    #[test]
    fn line_break_at_the_end_and_byte_order_mark_are_removed() {
        for text in ["abc", "abc\n", "abc\r\n", "\u{feff}abc\n"] {
            assert_eq!(read(text.as_bytes()).unwrap(), "abc");
        }
        for (text, problem) in [
            (&b""[..], "it is empty"),
            (b"\n", "it is empty"),
            (b"a\nb\n", "it has more than one line"),
            (b"\xff", "it is not text in UTF-8"),
            (&vec![b'a'; MAX_BYTES as usize + 1], "which is the limit"),
        ] {
            assert!(read(text).unwrap_err().contains(problem), "{problem}");
        }
    }

    #[test]
    fn a_secret_is_given_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(KEY);
        fs::write(&path, "from-file").unwrap();
        let named = || {
            let mut sources = SettingsSources::new();
            sources.set(FILE_KEY, path.to_str().unwrap().into(), "--file".to_owned()).unwrap();
            sources
        };
        assert!(named().read_secrets(Some(directory.path())).unwrap_err().message.contains("more than once"));
        let mut twice = named();
        twice.set(KEY, "x".into(), "--token".to_owned()).unwrap();
        let error = twice.read_secrets(None).unwrap_err().to_string();
        assert!(error.starts_with("--token: repositories.github_token is given more than once"), "{error}");
        let mut credential = SettingsSources::new();
        assert_eq!(credential.read_secrets(Some(directory.path())).unwrap(), [""; 0]);
        let settings = credential.resolve().unwrap();
        assert_eq!(settings.repositories.github_token.reveal(), Some("from-file"));
        let listed = settings.list();
        let setting = listed.iter().find(|setting| setting.key == KEY).unwrap();
        assert!(setting.origin.as_deref().unwrap().starts_with("credential ("), "{setting:?}");
    }

    #[test]
    fn files_that_others_can_read_are_warned_about() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, warns) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(warning_of_permissions(file.path()).is_some(), warns, "{mode:o}");
            // A settings file, too, if it has a secret.
            for (settings, has_secret) in [("github_token = \"x\"", true), ("github_token = \"\"", false)] {
                let mut sources = SettingsSources::new();
                sources.add_file(file.path(), &format!("[repositories]\n{settings}\n")).unwrap();
                let is_warned_about = sources.warnings().iter().any(|warning| warning.contains(FILE_KEY));
                assert_eq!(is_warned_about, warns && has_secret, "{mode:o} {settings}");
            }
        }
    }

    #[test]
    fn only_secrets_have_file_keys() {
        let mut sources = SettingsSources::new();
        let error = sources.set("repositories.github_url_file", "x".into(), "--x".to_owned()).unwrap_err();
        assert!(error.message.starts_with("unknown key"), "{error}");
        let error = sources.set(FILE_KEY, 1.into(), "--x".to_owned()).unwrap_err();
        assert!(error.message.contains("must be the path of a file"), "{error}");
    }
}
