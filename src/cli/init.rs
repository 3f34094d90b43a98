//! The `marketplace init` command.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::json;

use super::{
    CommandError, CommandResult, GlobalOptions, SETTINGS_FILE, init_logging, open_directory, print_line,
};
use crate::{
    config::{SettingsSources, template},
    console::PREFIX,
    domain::principals::KeyScope,
    market::{Market, OpenMode},
    operations::{access::Platform, keys},
    private_files,
    store::Durability,
    web::link_base::base_url,
};

/// Name of the data directory in the directory of a market.
const DATA_DIRECTORY: &str = "data";

/// Name of the first operator key.
const KEY_NAME: &str = "First operator";

/// Create a market in a directory: its settings file, its data, and its first operator key.
///
/// The key is printed once, and not stored. The settings file contains all settings, with comments.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace init ./market\n  marketplace init /etc/marketplace --data /var/lib/marketplace --key-file /root/operator.key"
)]
pub struct Init {
    /// Directory for the settings file, and for the data unless --data or `MARKETPLACE_DATA_FOLDER` names another one. It must be
    /// empty, or not exist yet.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Write the key to this new file, which only its owner can read, instead of printing it.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long = "json")]
    is_json: bool,
}

impl Init {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        if options.config.is_some() {
            let message = format!("init writes DIR/{SETTINGS_FILE}, so --config has no effect");
            return Err(CommandError::Usage(message));
        }
        let directory = absolute(&self.directory)?;
        // The variable would override the settings file.
        let named = options.load_named_layers()?;
        let data = if named.is_set_for_process("data.folder") {
            absolute(&named.resolve()?.data.folder)?
        } else {
            directory.join(DATA_DIRECTORY)
        };
        check_empty(&directory)?;
        check_empty(&data)?;
        if let Some(file) = self.key_file.as_deref().filter(|file| file.exists()) {
            return Err(CommandError::Usage(format!(
                "{} exists already; choose another file",
                file.display()
            )));
        }
        let settings_file = directory.join(SETTINGS_FILE);
        let folder = data.to_str().ok_or_else(|| failed(&data, &"its name is not in UTF-8"))?;
        let text = template(&[("data.folder", folder.into())]);
        let mut sources = SettingsSources::new();
        sources.add_file(&settings_file, &text)?;
        let settings = sources.resolve()?;
        init_logging(&settings, "warn");
        private_files::create_dir_all(&directory).map_err(|cause| failed(&directory, &cause))?;
        // This comes first, since nothing shows the key again. If it fails, the command can be repeated.
        let key_file = self.key_file.as_deref().map(NewFile::create).transpose()?;
        // Also before the data directory is opened, as whose owner this process creates files from then on.
        let new_settings = NewFile::create(&settings_file)?;
        let market = open_directory(&data, settings, OpenMode::Command, Durability::Full)?;
        new_settings.write(&text)?;
        let key = create_key(&market)?;
        if let Some(file) = key_file {
            file.write(&format!("{key}\n"))?;
        }
        let settings = market.settings();
        let sign_in = format!("{}{PREFIX}", base_url(settings, settings.server.listen));
        self.print(&settings_file, &data, &key, &sign_in);
        Ok(())
    }

    /// Prints what was created, and what to do next. `sign_in` is the address of the web app.
    fn print(&self, settings_file: &Path, data: &Path, key: &str, sign_in: &str) {
        let (settings_file, data) = (settings_file.display().to_string(), data.display().to_string());
        let serve = format!("marketplace serve --config {}", quoted(&settings_file));
        let team = format!(
            "marketplace team create \"Acme Data\" --role vendor --config {}",
            quoted(&settings_file)
        );
        let key_file = self.key_file.as_ref().map(|file| file.display().to_string());
        if self.is_json {
            let key = key_file.is_none().then_some(key);
            return print_line(json!({
                "settings_file": settings_file,
                "data_folder": data,
                "operator_key": key,
                "operator_key_file": key_file,
                "next": [serve, team],
            }));
        }
        print_line(format_args!("settings      {settings_file}"));
        print_line(format_args!("data          {data}"));
        match key_file {
            Some(file) => print_line(format_args!("operator key  in {file}")),
            None => print_line(format_args!(
                "operator key  {key}\n              It is not shown again: keep it now."
            )),
        }
        print_line("\nNext:");
        print_line(format_args!(
            "  1. Look through the settings, above all [server] and [tls]: {settings_file}"
        ));
        print_line(format_args!("  2. Start the server:     {serve}"));
        print_line(format_args!("  3. Sign in with the key: {sign_in}"));
        print_line(format_args!("  4. Create a team:        {team}"));
    }
}

/// A new file that only the user of this process can access. It is deleted again if nothing is written to it.
struct NewFile<'a> {
    path: &'a Path,
    file: File,
    is_complete: bool,
}

impl NewFile<'_> {
    fn create(path: &Path) -> Result<NewFile<'_>, CommandError> {
        let file = private_files::open_options().write(true).create_new(true).open(path);
        let file = file.map_err(|cause| failed(path, &cause))?;
        Ok(NewFile { path, file, is_complete: false })
    }

    fn write(mut self, text: &str) -> CommandResult {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        self.is_complete = written.is_ok();
        written.map_err(|cause| failed(self.path, &cause))
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if !self.is_complete
            && let Err(cause) = fs::remove_file(self.path)
        {
            tracing::warn!(%cause, path = %self.path.display(), "the incomplete file could not be deleted");
        }
    }
}

/// Creates the first operator key, and returns it.
fn create_key(market: &Market) -> Result<String, CommandError> {
    let created = market.write_blocking(|writer| {
        keys::create_for_operator(writer, Platform::of_process(), KEY_NAME, KeyScope::All, None)
    });
    Ok(created?.1)
}

fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    std::path::absolute(path).map_err(|cause| failed(path, &cause))
}

/// Fails unless a directory is empty or does not exist.
fn check_empty(path: &Path) -> CommandResult {
    let found = private_files::if_found(private_files::file_names(path))
        .map_err(|cause| failed(path, &private_files::not_a_directory(cause)))?;
    if found.is_none_or(|names| names.is_empty()) {
        return Ok(());
    }
    let message = format!(
        "{} is not empty, so nothing was created; choose another directory, or serve the market that is there",
        path.display()
    );
    Err(CommandError::Usage(message))
}

/// Returns a path as an argument for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    if path.bytes().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn failed(path: &Path, cause: &dyn std::fmt::Display) -> CommandError {
    CommandError::Other(format!("cannot create {}: {cause}", path.display()))
}
