//! Worlds: forks of a market with a clock and IDs of their own.

mod advance;
mod coverage;
mod determinism;
mod expectations;
mod exports;
pub mod faults;
mod http;
mod import_mutations;
mod isolation;
mod journal;
mod journal_limits;
mod journal_secrets;
mod journal_story;
mod kills;
mod one_advance;
mod processes;
mod replay;
mod repositories;
mod resources;
mod tables;
mod tcp;
mod turns;

use std::{fs, sync::Arc};

use marketplace::{
    domain::{events::EventRowId, time::Timestamp},
    operations::teams::{self, TeamInput},
    store::{self, events::Event},
    worlds::{NewWorld, START, World, Worlds},
};
use uuid::Uuid;

use crate::harness::TestMarket;

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

/// Worlds in a temporary directory.
struct Sandbox {
    root: TestMarket,
}

impl Sandbox {
    fn new(max_worlds: u32) -> Sandbox {
        Sandbox { root: TestMarket::with_settings(|settings| settings.sandbox.max_worlds = max_worlds) }
    }

    fn worlds(&self) -> &Worlds {
        self.root.worlds()
    }

    fn create(&self, name: &str, source: &str) -> Arc<World> {
        self.create_with(name, source, &[])
    }

    fn create_with(&self, name: &str, source: &str, settings: &[(&str, i64)]) -> Arc<World> {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).into()));
        let new = NewWorld { settings: settings.collect(), ..new_world(Some(name), source) };
        self.worlds().create(&new, None).unwrap()
    }
}

fn new_world(name: Option<&str>, source: &str) -> NewWorld {
    NewWorld { name: name.map(str::to_owned), source: source.to_owned(), ..NewWorld::default() }
}

fn create_team(world: &World, name: &str) -> Uuid {
    let team = TeamInput { name, is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: true };
    world.market().write_blocking(|writer| teams::create(writer, &team)).unwrap()
}

fn team_names(world: &World) -> Vec<String> {
    let teams = world.market().read_blocking(|reader| store::teams::list(reader.rows)).unwrap();
    teams.into_iter().map(|team| team.name).collect()
}

/// Returns the number, type, time, and data of each event.
fn events(world: &World) -> Vec<(EventRowId, &'static str, Timestamp, String)> {
    use marketplace::string_enum::StringEnum;
    let all =
        world.market().read_blocking(|reader| store::events::list_after(reader.rows, EventRowId(0), 1 << 20));
    let parts = |event: Event| (event.row_id, event.event_type.as_str(), event.occurred_at, event.data);
    all.unwrap().into_iter().map(parts).collect()
}

#[test]
fn worlds_share_what_they_were_forked_from_and_nothing_else() {
    let sandbox = Sandbox::new(10);
    let (one, other) = (sandbox.create("one", "demo"), sandbox.create("other", "demo"));
    assert_eq!((one.clock().now, team_names(&one)), (START, team_names(&other)));
    let before = team_names(&one).len();
    create_team(&one, "Only here");
    assert_eq!((team_names(&one).len(), team_names(&other).len()), (before + 1, before));
    let empty = sandbox.create("third", "empty");
    assert_eq!(team_names(&empty), [""; 0]);
}

#[test]
fn worlds_made_alike_create_the_same_ids_at_the_same_times() {
    let sandbox = Sandbox::new(10);
    let worlds = ["a", "b"].map(|name| sandbox.create(name, "empty"));
    let ids = worlds.each_ref().map(|world| ["First", "Second"].map(|name| create_team(world, name)));
    assert_eq!(ids[0], ids[1]);
    let [a, b] = worlds.each_ref().map(|world| events(world));
    assert_eq!(a, b);
    let times: Vec<Timestamp> = a.iter().rev().take(2).map(|(_, _, at, _)| *at).collect();
    assert!(times[0] > times[1], "each write moves the clock");
    let new = NewWorld { seed: Some(2), ..new_world(None, "empty") };
    let other = sandbox.worlds().create(&new, None).unwrap();
    assert_ne!(create_team(&other, "First"), ids[0][0]);
}

#[test]
fn reset_returns_to_the_fork() {
    let sandbox = Sandbox::new(10);
    let world = sandbox.create("one", "empty");
    let start = world.clock();
    let first = create_team(&world, "First");
    world.advance_to(START.plus_micros(DAY)).unwrap();
    world.reset().unwrap();
    assert_eq!((world.clock(), team_names(&world)), (start, vec![]));
    assert_eq!(create_team(&world, "First"), first);
}

#[test]
fn names_are_unique_and_the_number_of_worlds_is_limited() {
    let sandbox = Sandbox::new(2);
    let create = |name: Option<&str>| {
        sandbox
            .worlds()
            .create(&new_world(name, "empty"), None)
            .map(|world| world.name().to_owned())
            .map_err(|error| error.to_string())
    };
    assert_eq!(create(Some("world-2")).unwrap(), "world-2");
    assert!(create(Some("world-2")).unwrap_err().contains("a world with this name"));
    assert_eq!(create(None).unwrap(), "world-3");
    assert!(create(None).unwrap_err().contains("2 worlds"));
    assert!(sandbox.worlds().delete("world-2") && !sandbox.worlds().delete("world-2"));
    assert_eq!(sandbox.worlds().list().len(), 1);
    assert!(sandbox.worlds().find("world-2").is_none() && sandbox.worlds().find("world-3").is_some());
    assert!(sandbox.worlds().delete("world-3"));
    let left: Vec<_> = fs::read_dir(sandbox.root.market().data_dir().join("worlds")).unwrap().collect();
    assert_eq!(left.len(), 1, "only the templates are left: {left:?}");
}

/// Nothing deletes an expired world if the system clock was set back.
#[test]
fn world_that_has_expired_and_was_not_deleted_makes_room_for_others() {
    let sandbox = Sandbox::new(1);
    let new = NewWorld { time_to_live: Some(0), ..new_world(Some("one"), "empty") };
    let expired = sandbox.worlds().create(&new, None).unwrap();
    assert!(sandbox.worlds().find("one").is_none() && !expired.has_ended());
    let world = sandbox.create("one", "empty");
    assert!(expired.has_ended() && !world.has_ended());
}
