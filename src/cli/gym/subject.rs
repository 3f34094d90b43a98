//! The market and the questions of a command, and the copy of the market.

use std::net::SocketAddr;

use clap::Args;

use crate::{
    cli::{
        CommandError, CommandResult, GlobalOptions, init_logging, open_directory, print_note,
        temporary_directory::TemporaryDirectory,
    },
    fixtures::demo_image::{self, DEMO_TIME},
    gym::{self, Gym, GymOptions, Report},
    market::OpenMode,
    store::Durability,
    worlds,
};

/// Which market and which questions.
#[derive(Debug, Args)]
pub struct Subject {
    /// Use the demo market instead of a data directory.
    #[arg(long)]
    demo: bool,
    /// Selects the subjects of questions. The same market and seed always result in the same questions.
    #[arg(long, value_name = "N", default_value_t = gym::DEFAULT_SEED)]
    seed: u64,
}

/// A gym, and its directory, which is deleted after it.
pub struct OpenedGym {
    pub gym: Gym,
    _directory: TemporaryDirectory,
}

impl Subject {
    /// Copies the market and opens the copy, whose endpoint is served at `address` if that is set. Says which templates are
    /// omitted.
    pub fn open(
        &self,
        options: &GlobalOptions,
        address: Option<SocketAddr>,
    ) -> Result<OpenedGym, CommandError> {
        if self.demo && options.data.is_some() {
            return Err(CommandError::Usage("--demo and --data exclude each other".to_owned()));
        }
        let mut layers = options.load_layers_for(self.demo)?;
        let address = address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        layers.set("server.listen", address.to_string().into(), "--listen".to_owned())?;
        let settings = layers.resolve()?;
        init_logging(&settings, "warn");
        let temporary = TemporaryDirectory::create()?;
        let directory = temporary.path().join("market");
        let now = if self.demo {
            demo_image::unpack(&directory, None, Durability::None)?;
            DEMO_TIME
        } else {
            let folder = settings.data.folder.clone();
            let market = open_directory(&folder, settings.clone(), OpenMode::ReadOnly, Durability::Full)?;
            worlds::copy_records(&market, &directory)
                .map_err(|error| CommandError::Other(error.to_string()))?;
            market.clock().now()
        };
        let base_url = format!("http://{address}");
        let gym = Gym::open(GymOptions { directory, settings, now, seed: self.seed, base_url })?;
        for name in gym.omitted() {
            print_note(format_args!("omitted: the market has no data for the question {name}"));
        }
        Ok(OpenedGym { gym, _directory: temporary })
    }
}

impl From<gym::GymError> for CommandError {
    fn from(error: gym::GymError) -> CommandError {
        CommandError::Other(error.to_string())
    }
}

/// Fails if the share of right answers is below a minimum.
pub fn check_score(report: &Report, min_score: Option<f64>) -> CommandResult {
    let total = &report.total;
    match min_score {
        // As a fraction, since a rounded score could seem to be the minimum.
        Some(min_score) if total.score() < min_score => Err(CommandError::Other(format!(
            "the score {}/{} is below the minimum of {min_score}",
            total.right, total.questions
        ))),
        _ => Ok(()),
    }
}
