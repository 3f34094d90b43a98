//! The options of all commands: which settings file, and which market.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;

use super::{command_error::CommandError, logging::init_logging, output::print_note};
use crate::{
    clock::{Clock, Entropy},
    config::{Settings, SettingsError, SettingsSources, VARIABLE_PREFIX},
    fixtures,
    market::{self, Market, OpenMode, OpenOptions},
    private_files, regular_files, replica, rest,
    store::{Durability, OpenError},
};

/// The settings file that is read if `--config` is not set.
pub(super) const SETTINGS_FILE: &str = "marketplace.toml";

/// Uses no settings file, not even one in the working directory.
const NO_FILE: &str = "/dev/null";

/// Options of all commands.
#[derive(Clone, Debug, Args)]
pub(super) struct GlobalOptions {
    /// Settings file [default: ./marketplace.toml, if it exists, and --demo is not set]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Data directory of the market [default: the setting data.folder, initially "data"]
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
}

impl GlobalOptions {
    /// Returns the settings file; none if there is none. A settings file in the working directory does not apply to a demo that
    /// is started there.
    pub(super) fn settings_file(&self, is_demo: bool) -> Option<PathBuf> {
        self.config.clone().or_else(|| {
            let default_path = PathBuf::from(SETTINGS_FILE);
            (!is_demo && is_there(&default_path)).then_some(default_path)
        })
    }

    /// Loads the settings file and the environment variables, and prints warnings about them. The caller adds the flags.
    pub(super) fn load_layers(&self) -> Result<SettingsSources, CommandError> {
        self.load_layers_for(false)
    }

    /// Like [`GlobalOptions::load_layers`], for a command that may have `--demo`.
    pub(super) fn load_layers_for(&self, is_demo: bool) -> Result<SettingsSources, CommandError> {
        self.load_layers_of_server(is_demo).inspect(print_warnings)
    }

    /// Like [`GlobalOptions::load_layers_for`], for a server, whose log has the warnings: nothing is printed.
    pub(super) fn load_layers_of_server(&self, is_demo: bool) -> Result<SettingsSources, CommandError> {
        let file = self.settings_file(is_demo);
        let is_file_unused = is_demo && file.is_none() && is_there(Path::new(SETTINGS_FILE));
        let mut sources = self.load_layers_of(file)?;
        sources.add_warnings(is_file_unused.then(|| {
            format!("--demo does not use ./{SETTINGS_FILE}; to use it, add --config {SETTINGS_FILE}")
        }));
        Ok(sources)
    }

    /// Like [`GlobalOptions::load_layers`], for a command that does not use a settings file in the working directory: it may be one
    /// of the untrusted files that the command reads.
    pub(super) fn load_named_layers(&self) -> Result<SettingsSources, CommandError> {
        self.load_layers_of(self.config.clone()).inspect(print_warnings)
    }

    fn load_layers_of(&self, file: Option<PathBuf>) -> Result<SettingsSources, CommandError> {
        const MAX_SETTINGS_BYTES: u64 = 1 << 20;
        // The service manager's directory of credentials.
        const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";
        let mut sources = SettingsSources::new();
        if let Some(path) = file.filter(|path| path != Path::new(NO_FILE)) {
            let text = regular_files::read_to_string(&path, MAX_SETTINGS_BYTES).map_err(|cause| {
                CommandError::Usage(format!("cannot read settings file {}: {cause}", path.display()))
            })?;
            sources.add_file(&path, &text)?;
        }
        // Variables of other programs may have any names and values.
        let ours = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| name.starts_with(VARIABLE_PREFIX));
        let ours: Vec<(String, String)> = ours
            .map(|(name, value)| utf8(&name, &value).map(|value| (name, value)))
            .collect::<Result<_, SettingsError>>()?;
        let warnings = sources.add_variables(ours)?;
        sources.add_warnings(warnings);
        if let Some(directory) = &self.data {
            let folder = utf8("--data", directory.as_os_str())?;
            sources.set("data.folder", folder.into(), "--data".to_owned())?;
        }
        let credentials = std::env::var_os(CREDENTIALS_VARIABLE).filter(|path| !path.is_empty());
        let warnings = sources.read_secrets(credentials.as_deref().map(Path::new))?;
        sources.add_warnings(warnings);
        Ok(sources)
    }

    /// Opens the market for a command that may change it. Fails if there is no market, unless `may_create`.
    pub(super) fn open_market(&self, may_create: bool) -> Result<Market, CommandError> {
        self.open_market_for(OpenMode::Command, may_create)
    }

    /// Opens the market to look for damage, without changing anything.
    pub(super) fn inspect_market(&self) -> Result<Market, CommandError> {
        self.open_market_for(OpenMode::Inspect, false)
    }

    fn open_market_for(&self, mode: OpenMode, may_create: bool) -> Result<Market, CommandError> {
        let settings = self.load_layers()?.resolve()?;
        let directory = settings.data.folder.clone();
        if !may_create {
            OpenError::require_file(&directory.join(market::DATABASE_FILE))
                .map_err(|error| CommandError::Open(error.into()))?;
        }
        init_logging(&settings, "warn");
        open_directory(&directory, settings, mode, Durability::Full)
    }
}

/// Prints the warnings about sources of settings.
pub(super) fn print_warnings(sources: &SettingsSources) {
    for warning in sources.warnings() {
        print_note(format_args!("warning: {warning}"));
    }
}

/// Whether a path exists. A dangling link counts as existing, so that reading it fails.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Returns the value of a variable or a flag as text.
fn utf8(origin: &str, value: &OsStr) -> Result<String, SettingsError> {
    value.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("{} is not in UTF-8", value.to_string_lossy());
        SettingsError { origin: origin.to_owned(), message }
    })
}

/// Opens a market that uses the system clock and the system's random numbers. This process creates files as the owner of the
/// directory from then on.
pub(super) fn open_directory(
    directory: &Path,
    settings: Settings,
    mode: OpenMode,
    durability: Durability,
) -> Result<Market, CommandError> {
    private_files::create_as_owner_of(directory);
    if mode == OpenMode::Command {
        replica::refuse_former_primary(directory, &settings)?;
    }
    let market = Market::open(OpenOptions {
        data_dir: directory.to_owned(),
        settings,
        clock: Arc::new(Clock::System),
        entropy: Entropy::System,
        durability,
        mode,
        renderer: rest::RENDERER,
        run_step: crate::operations::due_steps::run_step,
        program: market::this_program(),
    })?;
    if !mode.is_read_only() {
        fixtures::seed_taxonomy(&market)?;
    }
    Ok(market)
}
