//! The worlds of a process.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::{
    WorldError,
    opener::Opener,
    template::{DEFAULT_SEED, START, Template},
    world::World,
};
use crate::{
    clock::ClockState,
    config::Settings,
    domain::time::Timestamp,
    error::{Error, Result},
};

/// Maximum number of characters of a name.
const MAX_NAME_LENGTH: usize = 40;

/// The worlds of a process, and what they are forked from.
pub struct Worlds {
    opener: Opener,
    /// Settings of new worlds.
    settings: Settings,
    /// Where the templates and the worlds are. Nothing else is there.
    directory: PathBuf,
    max_worlds: usize,
    demo: OnceLock<Template>,
    empty: OnceLock<Template>,
    /// Locked while a template is created, so that it is created once.
    creating: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The worlds by name; `None` while one is created.
    worlds: BTreeMap<String, Option<Arc<World>>>,
    /// Number of worlds that were created, which is part of generated names and of the names of directories.
    created: u64,
}

/// What a world is forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The demo market.
    Demo,
    /// A market without teams.
    Empty,
}

/// A world to create.
#[derive(Clone, Debug)]
pub struct NewWorld {
    /// Its name; `None` to generate one.
    pub name: Option<String>,
    /// What it is forked from.
    pub source: Source,
    /// The time at which it begins. Everything that is due until then is carried out first.
    pub now: Timestamp,
    /// Whether its clock runs as fast as the time of the machine.
    pub is_running: bool,
    /// What its IDs and secrets are derived from.
    pub seed: u64,
}

impl Default for NewWorld {
    fn default() -> NewWorld {
        NewWorld { name: None, source: Source::Demo, now: START, is_running: false, seed: DEFAULT_SEED }
    }
}

impl Worlds {
    /// Creates an empty set of worlds in a directory that nothing else uses.
    pub fn new(opener: Opener, settings: Settings, directory: PathBuf, max_worlds: usize) -> Worlds {
        Worlds {
            opener,
            settings,
            directory,
            max_worlds,
            demo: OnceLock::new(),
            empty: OnceLock::new(),
            creating: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Creates a world. The name must be free, and the number of worlds below the maximum.
    pub fn create(&self, new: &NewWorld) -> std::result::Result<Arc<World>, WorldError> {
        let template = self.template(new.source)?;
        if new.now < template.clock().now {
            let message = format!("The world cannot begin before {}.", template.clock().now);
            return Err(Error::Conflict(message).into());
        }
        let place = self.reserve(new.name.as_deref())?;
        let clock = ClockState { seed: new.seed, ..template.clock().clone() };
        let start = template.with_clock(clock);
        let directory = self.directory.join(format!("world-{}", place.number));
        let world = World::fork(place.name.clone(), &self.opener, start, self.settings.clone(), directory)?;
        world.advance_to(new.now)?;
        world.set_running(new.is_running);
        Ok(place.fill(world))
    }

    /// Returns a world, if there is one with this name.
    pub fn find(&self, name: &str) -> Option<Arc<World>> {
        self.lock().worlds.get(name)?.clone()
    }

    /// Returns all worlds, by name.
    pub fn list(&self) -> Vec<Arc<World>> {
        self.lock().worlds.values().flatten().cloned().collect()
    }

    /// Deletes a world. Returns whether there was one. Requests in progress end first.
    pub fn delete(&self, name: &str) -> bool {
        let mut state = self.lock();
        let is_open = matches!(state.worlds.get(name), Some(Some(_)));
        let world = is_open.then(|| state.worlds.remove(name));
        drop(state);
        world.is_some()
    }

    /// Returns a template, which is created at its first use.
    fn template(&self, source: Source) -> std::result::Result<&Template, WorldError> {
        let (cell, name) = match source {
            Source::Demo => (&self.demo, "demo"),
            Source::Empty => (&self.empty, "empty"),
        };
        if let Some(template) = cell.get() {
            return Ok(template);
        }
        let _creating = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = cell.get() {
            return Ok(template);
        }
        let directory = self.directory.join("templates").join(name);
        let template = match source {
            Source::Demo => Template::demo(&self.opener, directory, &self.settings)?,
            Source::Empty => Template::empty(&self.opener, directory, &self.settings)?,
        };
        Ok(cell.get_or_init(|| template))
    }

    /// Reserves a place for a new world.
    fn reserve(&self, name: Option<&str>) -> Result<Place<'_>> {
        let mut state = self.lock();
        if state.worlds.len() >= self.max_worlds {
            return Err(Error::Conflict(format!("There are {} worlds already.", self.max_worlds)));
        }
        let number = state.created + 1;
        let name = match name {
            Some(name) if !is_name(name) => {
                return Err(Error::Conflict(format!(
                    "The name of a world has 1 to {MAX_NAME_LENGTH} characters: a-z, 0-9, and hyphens."
                )));
            }
            Some(name) if state.worlds.contains_key(name) => {
                return Err(Error::Conflict(format!("There is a world `{name}` already.")));
            }
            Some(name) => name.to_owned(),
            None => free_name(&state.worlds, number),
        };
        state.created = number;
        state.worlds.insert(name.clone(), None);
        Ok(Place { worlds: self, name, number })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a text can be the name of a world.
pub fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_NAME_LENGTH).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Returns a generated name that is not taken.
fn free_name(worlds: &BTreeMap<String, Option<Arc<World>>>, number: u64) -> String {
    let names = (number..).map(|number| format!("world-{number}"));
    names.into_iter().find(|name| !worlds.contains_key(name)).expect("there are more numbers than worlds")
}

/// A place for a world that is created. Dropping it gives the place back, unless it was filled.
struct Place<'a> {
    worlds: &'a Worlds,
    name: String,
    number: u64,
}

impl Place<'_> {
    fn fill(self, world: World) -> Arc<World> {
        let world = Arc::new(world);
        self.worlds.lock().worlds.insert(self.name.clone(), Some(Arc::clone(&world)));
        world
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.worlds.lock();
        if matches!(state.worlds.get(&self.name), Some(None)) {
            state.worlds.remove(&self.name);
        }
    }
}
