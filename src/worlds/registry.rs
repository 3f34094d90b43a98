//! The worlds of a process, and the snapshots that they can be forked from.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use uuid::Uuid;

use super::{
    details::WorldDetails,
    disk_budget::{self, DiskBudget},
    error::{WorldError, WorldResult},
    exports::{self, ExportedState},
    imports,
    journal::{Coverage, Journal, SharedSpace},
    names::{DEMO, EMPTY, MARKET},
    new_world::NewWorld,
    opener::Opener,
    places::{self, Place, State},
    settings::{self, GivenSettings, WorldSettings},
    source::{Snapshot, Source},
    template::{self, DEFAULT_SEED, Template},
    world::World,
};
use crate::{
    blobs::DiskUsage,
    clock::{Clock, ClockState, NAMESPACE},
    config::{Settings, SettingsError, SettingsSources},
    domain::written::counted,
    error::{Error, Problem, Result, StateCode},
    idle_closer::IdleCloser,
    market::Market,
    operations::keys,
    private_files,
};

/// Bytes of the disk per byte of an exported world, as estimated before it is unpacked.
const UNPACKED_PER_PACKED_BYTE: u64 = 4;

/// What the worlds of a process need.
pub struct WorldsOptions {
    /// How worlds open their markets.
    pub opener: Opener,
    /// Settings of the server.
    pub sources: SettingsSources,
    /// The market of the server, which worlds can be forked from.
    pub root: Market,
    /// Whether the market of the server is the demo market, with its keys.
    pub is_demo: bool,
    /// Directory of the templates and the worlds. Files that an earlier process left there are deleted.
    pub directory: PathBuf,
}

/// The worlds of a process, and their templates.
pub struct Worlds {
    opener: Opener,
    /// Settings of new worlds.
    sources: SettingsSources,
    root: Market,
    is_demo: bool,
    directory: PathBuf,
    /// Maximum number of worlds, and of snapshots.
    limit: usize,
    /// Maximum number of snapshots of one world.
    snapshot_limit: usize,
    /// What all worlds and snapshots use of the disk.
    disk: DiskBudget,
    /// The space that the journals of all worlds use, and the coverage by the clients of all worlds.
    journals: Arc<SharedSpace>,
    coverage: Arc<Coverage>,
    demo: OnceLock<Template>,
    empty: OnceLock<Template>,
    /// Locked while a template is created, so that it is created once.
    creating: Mutex<()>,
    state: Mutex<State>,
}

impl Worlds {
    /// Creates an empty set of worlds in a directory that nothing else uses.
    pub fn new(options: WorldsOptions) -> WorldResult<Worlds> {
        let WorldsOptions { opener, sources, root, is_demo, directory } = options;
        private_files::remove_dir_if_exists(&directory).map_err(WorldError::Files)?;
        Ok(Worlds {
            opener: opener.on_disk_of(&root),
            sources: sources
                .for_worlds()
                .map_err(|SettingsError { message, .. }| Error::internal(message))?,
            limit: root.settings().sandbox.max_worlds as usize,
            snapshot_limit: root.settings().sandbox.max_snapshots_per_world as usize,
            disk: DiskBudget::new(root.settings().sandbox.max_mb),
            journals: SharedSpace::new(root.settings().sandbox.max_mb * disk_budget::BYTES_PER_MEGABYTE),
            coverage: Arc::default(),
            root,
            is_demo,
            directory,
            demo: OnceLock::new(),
            empty: OnceLock::new(),
            creating: Mutex::default(),
            state: Mutex::default(),
        })
    }

    /// Creates a world. The name must be free, and the number of worlds below the maximum.
    /// `port` is the port that its owner serves it on.
    pub fn create(&self, new: &NewWorld, port: Option<u16>) -> WorldResult<Arc<World>> {
        self.create_from(new, port, &self.source(&new.source)?)
    }

    /// Like [`Worlds::create`], but the world begins with a state that was exported to a file. Keys with these IDs get other
    /// digests.
    pub fn create_from_state(
        &self,
        new: &NewWorld,
        file: &Path,
        digests: &BTreeMap<Uuid, [u8; 32]>,
    ) -> WorldResult<Arc<World>> {
        let directory = self.copy_directory(self.next_number());
        let change = |market: &Market| keys::replace_digests(market, digests);
        let (template, settings) = imports::read(&self.opener, &self.sources, file, &directory, change)?;
        self.create_from(new, None, &Source::State(Box::new(template), settings))
    }

    fn create_from(&self, new: &NewWorld, port: Option<u16>, source: &Source) -> WorldResult<Arc<World>> {
        let given = settings::merge(&source.settings(), &new.settings);
        let settings = WorldSettings::resolve(&self.sources, given)?;
        self.reserve_disk(0)?;
        let place = self.reserve(new.name.as_deref())?;
        let template = self.origin(source, place.number)?;
        self.reserve_copy(&template)?;
        let begin = template.clock().now;
        let now = new.now.unwrap_or(begin);
        if now < begin {
            let message = format!("`now` must not be before {begin}, the time of `{}`.", new.source);
            return Err(Error::invalid(Problem::body(&["now"], "greater_than_equal", message)).into());
        }
        template::check_advance("now", begin, now)?;
        let seed = new.seed.unwrap_or(template.clock().seed);
        let clock = ClockState { seed, is_running: false, ..template.clock().clone() };
        let details = WorldDetails {
            id: Uuid::new_v5(&NAMESPACE, format!("worlds/{}", place.number).as_bytes()),
            name: place.name.clone(),
            origin: new.clone(),
            expires_at: new.time_to_live.map(|seconds| Clock::System.now().plus_seconds(seconds)),
            port,
        };
        let directory = self.directory.join(format!("world-{}", place.number));
        let start = template.with_clock(clock);
        let journal =
            |directory| Journal::new(Arc::clone(&self.journals), directory, Arc::clone(&self.coverage));
        let world = World::fork(details, &self.opener, start, settings, directory, journal)?;
        if now > begin {
            world.advance_to(now)?;
        }
        world.set_job_timing(new.job_timing);
        world.set_running(new.is_running);
        let world = Arc::new(world);
        place.fill(|state, name| state.worlds.insert(name, Some(Arc::clone(&world))));
        Ok(world)
    }

    /// Makes a snapshot of a world. The name must be free, and the world have fewer snapshots than the maximum.
    pub fn create_snapshot(&self, world: &World, name: &str) -> WorldResult<Arc<Snapshot>> {
        self.reserve_disk(0)?;
        let place = self.reserve_snapshot(name, world)?;
        let template = self.copy_world(world, place.number)?;
        self.reserve_copy(&template)?;
        let settings = world.given_settings();
        let WorldDetails { id: world_id, name: world, .. } = world.details().clone();
        let snapshot = Arc::new(Snapshot { name: name.to_owned(), world, world_id, template, settings });
        place.fill(|state, name| state.snapshots.insert(name, Some(Arc::clone(&snapshot))));
        Ok(snapshot)
    }

    /// Writes the state of a world to an empty file. The caller has the turn.
    pub fn export(&self, world: &World, to: File) -> WorldResult<File> {
        let (settings, keys) = (world.given_settings(), world.keys());
        world.copy(|market, clock| exports::write(market, &ExportedState { clock, settings, keys }, to))?
    }

    /// Writes the initial state of a world to an empty file. Returns none for states that every program has.
    pub fn export_start(&self, world: &World, to: File) -> WorldResult<Option<File>> {
        if [DEMO, EMPTY].contains(&world.details().origin.source.as_str()) {
            return Ok(None);
        }
        let directory = self.copy_directory(self.next_number());
        world.with_start(&directory, |market, state| exports::write(market, &state, to))?.map(Some)
    }

    /// Replaces the state of a world by an exported one: data, clock, counters, and settings. A refused file changes nothing.
    /// The caller must have the turn.
    pub fn import(&self, world: &World, file: &Path) -> WorldResult<()> {
        let packed_bytes = file.metadata().map_err(WorldError::Files)?.len();
        self.reserve_disk(packed_bytes.saturating_mul(UNPACKED_PER_PACKED_BYTE))?;
        let number = self.next_number();
        let directory = self.copy_directory(number);
        let (template, given) = imports::read(&self.opener, &self.sources, file, &directory, |_| Ok(()))?;
        let settings = WorldSettings::resolve(&self.sources, given).map_err(imports::in_market_file)?;
        let replaced = world.replace(&template, &settings);
        self.disk.forget();
        replaced
    }

    /// Returns a world to [where it was forked](World::reset). The caller must have the turn.
    pub fn reset(&self, world: &World) -> WorldResult<()> {
        let reset = world.reset();
        self.disk.forget();
        reset
    }

    /// Deletes all entries of the journal of a world.
    pub fn clear_journal(&self, world: &World) {
        world.journal().clear();
        self.disk.forget();
    }

    /// Creates a temporary file for an export or an import. A file with a name is deleted when the value is dropped.
    pub fn temporary_file(&self) -> std::io::Result<tempfile::NamedTempFile> {
        let directory = self.directory.join("transfers");
        private_files::create_dir_all(&directory)?;
        tempfile::NamedTempFile::new_in(directory)
    }

    fn next_number(&self) -> u64 {
        let mut state = self.lock();
        state.created += 1;
        state.created
    }

    /// Returns the coverage by the clients of all worlds, including worlds that have ended.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Returns the market of the server.
    pub const fn root(&self) -> &Market {
        &self.root
    }

    /// Returns the closer of idle connections and index writers of worlds.
    pub const fn idle_closer(&self) -> &IdleCloser {
        self.opener.idle_closer()
    }

    /// Returns all snapshots, by name.
    pub fn snapshots(&self) -> Vec<Arc<Snapshot>> {
        self.lock().snapshots.values().flatten().cloned().collect()
    }

    /// Returns the world that a snapshot was made from, unless it has ended.
    pub fn find_world_of_snapshot(&self, name: &str) -> Option<Arc<World>> {
        let snapshot = self.lock().snapshots.get(name)?.clone()?;
        self.find(&snapshot.world).filter(|world| world.details().id == snapshot.world_id)
    }

    /// Deletes a snapshot. Returns whether there was one. Worlds that were forked from it stay.
    pub fn delete_snapshot(&self, name: &str) -> bool {
        let mut state = self.lock();
        let is_complete = matches!(state.snapshots.get(name), Some(Some(_)));
        let snapshot = is_complete.then(|| state.snapshots.remove(name)).flatten().flatten();
        drop(state);
        let is_deleted = snapshot.is_some();
        // Deletes its files.
        drop(snapshot);
        self.disk.forget();
        is_deleted
    }

    /// Returns the world with this name, unless it has ended.
    pub fn find(&self, name: &str) -> Option<Arc<World>> {
        self.lock().worlds.get(name)?.clone().filter(|world| !world.is_expired())
    }

    /// Like [`Worlds::find`], but fails if there is no such world.
    pub fn require(&self, name: &str) -> Result<Arc<World>> {
        self.find(name).ok_or_else(|| Error::WorldNotFound(name.to_owned()))
    }

    /// Returns all worlds, by name.
    pub fn list(&self) -> Vec<Arc<World>> {
        let state = self.lock();
        state.worlds.values().flatten().filter(|world| !world.is_expired()).cloned().collect()
    }

    /// Deletes a world. Returns whether there was one. Requests in progress may finish, except those that wait for something.
    pub fn delete(&self, name: &str) -> bool {
        self.delete_if(name, |_| true)
    }

    /// Deletes the world with this ID if it has expired.
    pub fn delete_expired(&self, name: &str, id: Uuid) {
        self.delete_if(name, |world| world.details().id == id && world.is_expired());
    }

    /// Deletes all expired worlds. Usually, each was deleted when it expired.
    fn delete_all_expired(&self) {
        let is_expired = |world: &&Arc<World>| world.is_expired();
        let id = |world: &Arc<World>| (world.name().to_owned(), world.details().id);
        let expired: Vec<(String, Uuid)> =
            self.lock().worlds.values().flatten().filter(is_expired).map(id).collect();
        for (name, id) in expired {
            self.delete_expired(&name, id);
        }
    }

    fn delete_if(&self, name: &str, is_meant: impl FnOnce(&World) -> bool) -> bool {
        let mut state = self.lock();
        let is_found = matches!(state.worlds.get(name), Some(Some(world)) if is_meant(world));
        let world = is_found.then(|| state.worlds.remove(name)).flatten().flatten();
        drop(state);
        let Some(world) = world else { return false };
        world.end();
        // Deletes its files, unless requests in progress use it.
        drop(world);
        self.disk.forget();
        true
    }

    /// Finds what a world is to be forked from.
    fn source(&self, name: &str) -> Result<Source> {
        match name {
            DEMO => return Ok(Source::Demo),
            EMPTY => return Ok(Source::Empty),
            MARKET => return Ok(Source::Market),
            _ => {}
        }
        let snapshot = self.lock().snapshots.get(name).cloned().flatten();
        let unknown = || {
            let message =
                "`from` must be `demo`, `empty`, `market`, or the name of a snapshot or of a world.";
            Error::invalid(Problem::body(&["from"], "value_error", message))
        };
        match snapshot {
            Some(snapshot) => Ok(Source::Snapshot(snapshot)),
            None => self.find(name).map(Source::World).ok_or_else(unknown),
        }
    }

    /// Returns the template of a source. Copies of markets that are open get this number.
    fn origin(&self, source: &Source, number: u64) -> WorldResult<Template> {
        match source {
            Source::Demo => self.template(DEMO, &self.demo, Template::demo),
            Source::Empty => self.template(EMPTY, &self.empty, Template::empty),
            Source::Market => self.copy_root(number),
            Source::World(world) => self.copy_world(world, number),
            Source::Snapshot(snapshot) => Ok(snapshot.template.clone()),
            Source::State(template, _) => Ok(template.as_ref().clone()),
        }
    }

    /// Returns a template, which is created at its first use.
    fn template(
        &self,
        name: &str,
        cell: &OnceLock<Template>,
        create: fn(&Opener, PathBuf, &Settings) -> WorldResult<Template>,
    ) -> WorldResult<Template> {
        if let Some(template) = cell.get() {
            return Ok(template.clone());
        }
        let _creating = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = cell.get() {
            return Ok(template.clone());
        }
        let settings = WorldSettings::resolve(&self.sources, GivenSettings::default())?.resolved;
        let template = create(&self.opener, self.directory.join("templates").join(name), &settings)?;
        Ok(cell.get_or_init(|| template).clone())
    }

    /// Checks that the worlds and snapshots may use this many bytes more of the disk, and counts them. Fails, too, if the disk
    /// would have less than its reserve.
    pub fn reserve_disk(&self, bytes: u64) -> WorldResult<()> {
        self.root.ensure_space(bytes)?;
        self.disk.reserve(bytes, || {
            let mut usage = DiskUsage::default();
            for world in self.list() {
                world.add_disk_usage(&mut usage)?;
            }
            for snapshot in self.snapshots() {
                usage.add(snapshot.template.disk_files()?);
            }
            Ok(usage.bytes())
        })
    }

    /// Like [`Worlds::reserve_disk`], for a copy of a template. Shared files count although they use no additional space.
    fn reserve_copy(&self, template: &Template) -> WorldResult<()> {
        let mut usage = DiskUsage::default();
        usage.add(template.disk_files()?);
        self.reserve_disk(usage.bytes())
    }

    fn copy_root(&self, number: u64) -> WorldResult<Template> {
        let clock = ClockState::new(self.root.clock().now(), false, DEFAULT_SEED);
        let keys = if self.is_demo { template::demo_keys() } else { Vec::new() };
        Template::of_market(&self.root, self.copy_directory(number), clock, keys.into())
    }

    fn copy_world(&self, world: &World, number: u64) -> WorldResult<Template> {
        let keys = world.keys();
        world.copy(|market, clock| Template::of_market(market, self.copy_directory(number), clock, keys))?
    }

    fn copy_directory(&self, number: u64) -> PathBuf {
        self.directory.join("copies").join(number.to_string())
    }

    /// Reserves a place for a new world.
    fn reserve(&self, name: Option<&str>) -> Result<Place<'_>> {
        self.delete_all_expired();
        let mut state = self.lock();
        if state.worlds.len() >= self.limit {
            let worlds = counted(self.limit as u64, "world", "worlds");
            let message = format!("The server has {worlds}, which is the maximum. Delete one.");
            return Err(Error::InvalidState(StateCode::TooManyWorlds, message));
        }
        state.created += 1;
        let number = state.created;
        let name = match name {
            Some(name) => state.check_free(name).map(|()| name.to_owned())?,
            None => state.free_name(number),
        };
        state.worlds.insert(name.clone(), None);
        Ok(Place { state: &self.state, name, number })
    }

    /// Reserves a place for a new snapshot of a world, whose turn the caller has.
    fn reserve_snapshot(&self, name: &str, world: &World) -> Result<Place<'_>> {
        self.delete_all_expired();
        let mut state = self.lock();
        let full = |message| Err(Error::InvalidState(StateCode::TooManyWorlds, message));
        let is_of_world = |snapshot: &&Arc<Snapshot>| snapshot.world_id == world.details().id;
        if state.snapshots.values().flatten().filter(is_of_world).count() >= self.snapshot_limit {
            let snapshots = counted(self.snapshot_limit as u64, "snapshot", "snapshots");
            return full(format!(
                "The world has {snapshots}, which is the maximum of one world. Delete one of them."
            ));
        }
        if state.snapshots.len() >= self.limit {
            let snapshots = counted(self.limit as u64, "snapshot", "snapshots");
            return full(format!("The server has {snapshots}, which is the maximum. Delete one."));
        }
        state.check_free(name)?;
        state.created += 1;
        state.snapshots.insert(name.to_owned(), None);
        Ok(Place { state: &self.state, name: name.to_owned(), number: state.created })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        places::lock(&self.state)
    }
}
