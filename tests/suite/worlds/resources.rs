//! The cost of worlds: they share files, and use neither threads nor open files while they are idle.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use marketplace::{
    blobs::{DiskFile, DiskUsage},
    domain::{collections::Collection, listings::Actor},
    fixtures,
    operations::{access::Platform, listing_lifecycle, teams, verify},
    worlds::World,
};

use super::{Sandbox, create_team, new_world, team_names};
use crate::harness::{TestMarket, backups::files, listings::listing_fields};

/// Number of worlds of a process.
const WORLDS: u32 = 100;

/// More listings than the index keeps in memory.
const MANY_LISTINGS: usize = 40;

/// The environment variable that says that a process was started for these tests.
const IN_PROCESS: &str = "PROCESS_WITH_WORLDS";

/// Creates listings of a team, each in a write of its own.
fn create_listings(world: &World, team: &str, count: usize) {
    for number in 0..count {
        let create = |writer: &mut marketplace::market::Writer| {
            let vendor = Platform::of_process().vendor(teams::resolve(writer.rows, team)?)?;
            let id = writer.new_id(Collection::Listings);
            listing_lifecycle::create(
                writer,
                &vendor,
                Actor::Team,
                id,
                &listing_fields(&format!("Bells {number}")),
            )
        };
        world.market().write_blocking(create).unwrap();
    }
}

/// Checks the database and the index, and returns the number of listings.
fn count_listings(world: &World) -> u64 {
    let inconsistencies = verify::find_inconsistencies(&world.market()).unwrap();
    assert!(inconsistencies.is_empty(), "the world is inconsistent: {inconsistencies:#?}");
    world.market().snapshot().fingerprints().len() as u64
}

/// Returns the content of each file in a directory.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let with_content = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    files(directory).into_iter().map(with_content).collect()
}

/// Returns how many threads of each name this process has.
fn threads() -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        // A thread may end meanwhile.
        let Ok(name) = fs::read_to_string(task.unwrap().path().join("comm")) else { continue };
        *names.entry(name.trim().to_owned()).or_default() += 1;
    }
    names
}

/// Returns the open and the mapped files of this process whose path contains a text.
fn open_files(part: &str) -> Vec<String> {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap();
    let paths = descriptors.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let mut found: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    found.extend(fs::read_to_string("/proc/self/maps").unwrap().lines().map(str::to_owned));
    found.retain(|path| path.contains(part));
    found
}

#[test]
#[ignore = "runs in a process of its own, which `worlds_need_no_threads_and_no_open_files` starts"]
fn process_with_worlds() {
    if std::env::var_os(IN_PROCESS).is_none() {
        return;
    }
    let sandbox = Sandbox::new(WORLDS + 1);
    let closer = sandbox.worlds().idle_closer();
    let first = sandbox.create("first", "demo");
    let before = threads();
    let worlds: Vec<_> = (0..WORLDS).map(|number| sandbox.create(&number.to_string(), "demo")).collect();
    for (name, count) in threads() {
        let expected = before.get(&name).copied().unwrap_or_default();
        // One thread closes what is idle, in all worlds.
        assert!(count <= expected.max(usize::from(name == "idle-closer")), "{count} threads {name}");
    }
    for world in &worlds {
        create_team(world, "Bells");
        create_listings(world, "Bells", 1);
    }
    closer.close_all();
    assert_eq!(closer.open_count(), 0);
    assert_eq!(open_files("/worlds/world-"), [""; 0]);
    let count = count_listings(&first) + 1;
    for world in &worlds[..3] {
        assert_eq!(count_listings(world), count);
    }
}

#[test]
fn worlds_need_no_threads_and_no_open_files() {
    let process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worlds::resources::process_with_worlds", "--ignored", "--nocapture"])
        .env(IN_PROCESS, "1")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&process.stdout);
    assert!(process.status.success() && output.contains("1 passed"), "{output}\n{process:?}");
}

#[test]
fn writes_continue_after_everything_was_closed() {
    let sandbox = Sandbox::new(10);
    let world = sandbox.create("one", "demo");
    let before = count_listings(&world);
    create_team(&world, "Bells");
    let mut expected = before;
    for count in [1, MANY_LISTINGS, 2] {
        create_listings(&world, "Bells", count);
        sandbox.worlds().idle_closer().close_all();
        expected += count as u64;
        assert_eq!(count_listings(&world), expected);
    }
    assert_eq!(count_listings(&sandbox.create("other", "demo")), before);
}

#[test]
fn fixture_sets_are_seeded_with_one_connection() {
    let sandbox = Sandbox::new(10);
    let (world, other) = (sandbox.create("one", "empty"), sandbox.create("other", "demo"));
    fixtures::seed(&world.market(), &fixtures::demo_set().unwrap()).unwrap();
    assert_eq!(team_names(&world), team_names(&other));
    assert_eq!(count_listings(&world), count_listings(&other));
}

#[test]
fn templates_never_change() {
    let sandbox = Sandbox::new(10);
    let worlds = ["one", "other"].map(|name| sandbox.create(name, "demo"));
    let templates = sandbox.root.market().data_dir().join("worlds/templates");
    let before = contents(&templates);
    for world in &worlds {
        create_team(world, "Bells");
        create_listings(world, "Bells", MANY_LISTINGS);
    }
    sandbox.worlds().idle_closer().close_all();
    create_listings(&worlds[0], "Bells", 1);
    worlds[1].reset().unwrap();
    assert!(sandbox.worlds().delete("one"));
    drop(worlds);
    let after = contents(&templates);
    assert!(before.keys().eq(after.keys()), "{:?}", after.keys());
    for (path, content) in before {
        assert!(after[&path] == content, "{}", path.display());
    }
}

#[test]
fn copies_of_a_world_have_what_it_has_not_written_yet() {
    let sandbox = Sandbox::new(10);
    let world = sandbox.create("one", "demo");
    create_team(&world, "Bells");
    create_listings(&world, "Bells", 3);
    let count = count_listings(&world);
    sandbox.worlds().create_snapshot(&world, "saved").unwrap();
    create_listings(&world, "Bells", 1);
    let saved = sandbox.worlds().create(&new_world(None, "saved"), None).unwrap();
    let copy = sandbox.create("copy", "one");
    assert_eq!((count_listings(&saved), count_listings(&copy)), (count, count + 1));
    create_listings(&copy, "Bells", 1);
    create_listings(&saved, "Bells", MANY_LISTINGS);
    assert_eq!((count_listings(&world), count_listings(&copy)), (count + 1, count + 2));
    assert_eq!(count_listings(&saved), count + MANY_LISTINGS as u64);
    assert_eq!(team_names(&world), team_names(&saved));
}

#[test]
fn worlds_occupy_only_what_is_written_to_them() {
    let sandbox = Sandbox::new(10);
    let (world, other) = (sandbox.create("one", "demo"), sandbox.create("other", "demo"));
    let bytes =
        |world: &World| -> u64 { world.market().disk_files().unwrap().iter().map(DiskFile::own_bytes).sum() };
    let used = || {
        let mut usage = DiskUsage::default();
        for world in sandbox.worlds().list() {
            world.add_disk_usage(&mut usage).unwrap();
        }
        usage.bytes()
    };
    let database = fs::metadata(world.market().data_dir().join("market.sqlite")).unwrap().len();
    let before = bytes(&world);
    assert!(before < database / 10, "{before} of {database}");
    create_team(&world, "Bells");
    let after = bytes(&world);
    assert!(after > before && after < before + database / 2, "{after} after {before}");
    assert_eq!(bytes(&world), after);
    assert_eq!(bytes(&other), before);
    // A file that worlds share counts once.
    let all = used();
    assert!(all > database && all < 2 * database, "{all}");
    let copy = sandbox.create("copy", "one");
    assert!(bytes(&copy) < after && used() < all + 2 * after, "{} of {}", bytes(&copy), used());
    world.reset().unwrap();
    assert_eq!(bytes(&world), before);
}

#[test]
fn reset_and_import_give_the_disk_back_at_once() {
    let root = TestMarket::with_settings(|settings| settings.sandbox.max_mb = 64);
    let sandbox = Sandbox { root };
    let (world, worlds) = (sandbox.create("one", "empty"), sandbox.worlds());
    let exported = worlds.temporary_file().unwrap();
    worlds.export(&world, exported.reopen().unwrap()).unwrap();
    let reserve = || worlds.reserve_disk(10_000_000);
    let fill = || {
        let file = fs::File::create(world.market().data_dir().join("large")).unwrap();
        file.set_len(60_000_000).unwrap();
        // After this write, the files are listed again. The reservation is so large that they are measured.
        create_team(&world, "Bells");
        let _ = worlds.reserve_disk(2_000_000);
        assert!(reserve().is_err() && reserve().is_err());
    };
    fill();
    worlds.reset(&world).unwrap();
    reserve().unwrap();
    fill();
    worlds.import(&world, exported.path()).unwrap();
    reserve().unwrap();
}
