//! Backups of several times in one place: which are kept, and that each can be restored.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use marketplace::{
    config::Settings,
    domain::{backup_retention::Retention, time::Timestamp},
    market::{DATABASE_FILE, Market},
    operations::backups::{self, Place},
};
use serde_json::Value;

use crate::harness::{
    TestMarket,
    backups::{back_up, back_up_dated, create_team, files, has_team, open_restored_at, place, temp_dir},
    random::Random,
    s3::S3Server,
};

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// A market that gets a team before each backup, and the times of the backups with the number of teams in them.
struct Walk {
    market: TestMarket,
    /// Number of teams.
    teams: usize,
    made: BTreeMap<Timestamp, usize>,
}

impl Walk {
    fn new() -> Walk {
        Walk { market: TestMarket::empty(), teams: 0, made: BTreeMap::new() }
    }

    fn market(&self) -> &Market {
        self.market.market()
    }

    fn back_up(&mut self, place: &Place, time: Timestamp, keep: &str) {
        create_team(self.market(), &format!("Team {}", self.teams));
        self.teams += 1;
        let copied = back_up_dated(self.market(), place, time, keep).unwrap();
        self.made.insert(time, self.teams);
        let rule: Retention = keep.parse().unwrap();
        let kept = rule.kept(self.made.keys().copied());
        self.made.retain(|time, _| kept.contains(time));
        assert_eq!(copied.kept, kept.len() as u64);
        let listed: Vec<Timestamp> =
            backups::list(place).unwrap().into_iter().filter_map(|backup| backup.made_at).collect();
        assert_eq!(listed, kept.into_iter().collect::<Vec<_>>());
    }

    /// Restores a backup, and checks that it has the teams of its time.
    fn check_restored(place: &Place, time: Timestamp, count: usize) {
        let restored = open_restored_at(place, time).unwrap();
        let teams = (0..).take_while(|number| has_team(restored.market(), &format!("Team {number}")));
        assert_eq!(teams.count(), count, "{time}");
    }

    fn check_all(&self, place: &Place) {
        for (time, count) in &self.made {
            Walk::check_restored(place, *time, *count);
        }
    }
}

/// Returns the digests of the objects that the manifests in a directory name, and of those that it has.
fn objects(directory: &Path) -> [BTreeSet<String>; 2] {
    let mut named = BTreeSet::new();
    let is_manifest = |path: &&std::path::PathBuf| path.extension().is_some_and(|end| end == "json");
    for path in files(directory).iter().filter(is_manifest) {
        let manifest: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let digests = manifest.to_string();
        let digests = digests.split("\"sha256\":\"").skip(1).map(|rest| rest[..64].to_owned());
        named.extend(digests);
    }
    let stored = files(&directory.join("objects"));
    let stored = stored.iter().filter(|path| path.is_file());
    [named, stored.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()]
}

/// After every deletion, each kept backup can be restored, and no unneeded object is stored.
#[test]
fn kept_backups_can_be_restored() {
    let directory = temp_dir();
    let place = place(&directory.path().join("backups"));
    let (mut walk, mut random) = (Walk::new(), Random::new(7));
    let mut time = at("2026-11-25T12:00:00Z");
    for _ in 0..9 {
        time = time.plus_seconds(3600 * (1 + random.below(40) as i64));
        walk.back_up(&place, time, "daily=2,weekly=2");
        let [named, stored] = objects(&directory.path().join("backups"));
        assert_eq!(named, stored);
    }
    walk.check_all(&place);
    let (first, count) = walk.made.first_key_value().map(|(time, count)| (*time, *count)).unwrap();
    Walk::check_restored(&place, first.plus_seconds(1), count);
    let error = open_restored_at(&place, first.plus_seconds(-1)).map(drop).unwrap_err().message();
    assert!(error.contains("has no backup that was made at") && error.contains("--list"), "{error}");
    // A backup without a rule replaces the newest one, and leaves those of other times.
    create_team(walk.market(), "Undated");
    back_up(walk.market(), &directory.path().join("backups")).unwrap();
    walk.check_all(&place);
    assert_eq!(backups::list(&place).unwrap().len(), walk.made.len() + 1);
}

/// While the objects of a backup are not known, nothing is deleted.
#[test]
fn damaged_manifest_costs_no_other_backup() {
    let directory = temp_dir();
    let place = place(directory.path());
    let mut walk = Walk::new();
    let start = at("2026-11-25T12:00:00Z");
    for day in 0..2 {
        walk.back_up(&place, start.plus_days(day), "daily=2");
    }
    let manifest = directory.path().join("snapshots/2026-11-26T120000.000Z.json");
    let text = fs::read(&manifest).unwrap();
    fs::write(&manifest, "{").unwrap();
    let copied = back_up_dated(walk.market(), &place, start.plus_days(2), "daily=2").unwrap();
    assert_eq!((copied.kept, copied.deleted), (3, 0));
    walk.made.insert(start.plus_days(2), walk.teams);
    let listed = backups::list(&place).unwrap();
    assert!(listed[1].contents.as_ref().unwrap_err().contains("is damaged"), "{listed:?}");
    fs::write(&manifest, text).unwrap();
    walk.check_all(&place);
    walk.back_up(&place, start.plus_days(3), "daily=2");
}

/// The dated backups say of which market they are, and can be restored, if the manifest of the newest one is damaged or missing.
#[test]
fn dated_backups_do_not_need_the_newest_one() {
    let directory = temp_dir();
    let place = place(directory.path());
    let (mut walk, other) = (Walk::new(), TestMarket::empty());
    let start = at("2026-11-25T12:00:00Z");
    for day in 0..2 {
        walk.back_up(&place, start.plus_days(day), "daily=2");
    }
    let newest = directory.path().join("backup.json");
    fs::write(&newest, "{").unwrap();
    let listed = backups::list(&place).unwrap();
    assert_eq!((listed.len(), listed[2].made_at), (3, None));
    assert!(listed[2].contents.as_ref().unwrap_err().contains("backup.json is damaged"), "{listed:?}");
    walk.check_all(&place);
    fs::remove_file(&newest).unwrap();
    // Test markets have the same secrets, so one is changed.
    let database = rusqlite::Connection::open(other.market().data_dir().join(DATABASE_FILE)).unwrap();
    database.execute("UPDATE secrets SET value = zeroblob(32)", []).unwrap();
    let back_up_other = || {
        back_up_dated(other.market(), &place, start.plus_days(2), "daily=1").map(drop).unwrap_err().message()
    };
    let error = back_up_other();
    assert!(error.contains("contains a backup of another market"), "{error}");
    let manifests = files(&directory.path().join("snapshots"));
    let texts: Vec<Vec<u8>> = manifests.iter().map(|path| fs::read(path).unwrap()).collect();
    for path in &manifests {
        fs::write(path, "{").unwrap();
    }
    let error = back_up_other();
    assert!(error.contains("of an unknown market") && error.contains("--replace"), "{error}");
    for (path, text) in manifests.iter().zip(texts) {
        fs::write(path, text).unwrap();
    }
    walk.back_up(&place, start.plus_days(2), "daily=2");
    walk.check_all(&place);
}

#[test]
fn bucket_has_several_backups() {
    let (store, directory) = (S3Server::start(), temp_dir());
    let mut settings = Settings::default();
    store.configure(&mut settings);
    let place = Place::open(Path::new("s3://market/backups/of-market"), &settings).unwrap();
    let mut walk = Walk::new();
    for hours in [0, 1, 30, 31] {
        walk.back_up(&place, at("2026-11-25T12:00:00Z").plus_seconds(3600 * hours), "daily=2");
    }
    assert_eq!(walk.made.len(), 2);
    walk.check_all(&place);
    let before = store.object_names().len();
    let again = back_up_dated(walk.market(), &place, at("2026-11-26T20:00:00Z"), "daily=2").unwrap();
    assert_eq!(again.new_bytes, 0, "what the bucket has is not sent again");
    assert_eq!(store.object_names().len(), before);
    let error = back_up(walk.market(), walk.market().data_dir()).map(drop).unwrap_err().message();
    assert!(error.contains("is not empty and contains no backup"), "{error}");
    let other = Place::open(Path::new("s3://market/other"), &settings).unwrap();
    let error = open_restored_at(&other, at("2026-11-26T20:00:00Z")).map(drop).unwrap_err().message();
    assert!(error.contains("s3://market/other contains no complete backup"), "{error}");
    let error =
        Place::open(Path::new("s3://market/x"), &Settings::default()).map(drop).unwrap_err().message();
    assert!(error.contains("an access key in [backups]"), "{error}");
    drop(directory);
}

/// A large file reaches the bucket in parts, and comes back the same.
#[test]
fn bucket_has_uploads_and_repositories() {
    let store = S3Server::start();
    let mut settings = Settings::default();
    store.configure(&mut settings);
    let place = Place::open(Path::new("s3://market/demo"), &settings).unwrap();
    let market = TestMarket::demo();
    let time = at("2026-11-25T12:00:00Z");
    let copied = back_up_dated(market.market(), &place, time, "daily=2").unwrap();
    assert!(copied.uploads > 0 && copied.repositories > 0 && copied.problems.is_empty(), "{copied:?}");
    drop(open_restored_at(&place, time).unwrap());
}
