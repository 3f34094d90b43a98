//! The backups of a place: the newest one, and those of earlier times that are kept. Each has a manifest, and they share their
//! objects.

use std::collections::HashSet;

use super::{
    manifest::{MANIFEST_FILE, Manifest},
    objects::Objects,
    place::Place,
};
use crate::{
    domain::{backup_retention::Retention, time::Timestamp},
    error::{Error, Result},
};

/// The directory with the manifests of dated backups.
const DIRECTORY: &str = "snapshots";

/// End of the names of manifests.
const SUFFIX: &str = ".json";

/// A backup in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBackup {
    /// Time of the backup.
    pub made_at: Timestamp,
    /// Whether a backup without a rule for what is kept replaces it.
    pub is_dated: bool,
    /// Contents; or why they are unknown.
    pub contents: std::result::Result<BackupContents, String>,
}

/// What a backup contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupContents {
    /// Version of the program that made it.
    pub program: String,
    /// Size in bytes.
    pub total_bytes: u64,
    /// Number of uploads.
    pub uploads: u64,
    /// Number of repository copies.
    pub repositories: u64,
}

/// Returns the backups in a place, oldest first.
pub fn list(place: &Place) -> Result<Vec<KeptBackup>> {
    let mut backups = Vec::new();
    for made_at in list_dated(place)? {
        let read = Manifest::read(place, &dated_name(made_at)).map_err(|error| error.message());
        let contents = read.and_then(|found| found.ok_or_else(|| "it was deleted meanwhile".to_owned()));
        let contents = contents.map(|manifest| contents_of(&manifest));
        backups.push(KeptBackup { made_at, is_dated: true, contents });
    }
    if let Some(newest) = Manifest::read(place, MANIFEST_FILE)?
        && let Some(made_at) = newest.made_at()
        && !backups.iter().any(|backup| backup.made_at == made_at)
    {
        backups.push(KeptBackup { made_at, is_dated: false, contents: Ok(contents_of(&newest)) });
        backups.sort_by_key(|backup| backup.made_at);
    }
    Ok(backups)
}

fn contents_of(manifest: &Manifest) -> BackupContents {
    BackupContents {
        program: manifest.program.clone(),
        total_bytes: manifest.total_bytes(),
        uploads: manifest.uploads.len() as u64,
        repositories: manifest.repositories.len() as u64,
    }
}

/// Returns the newest backup that was made at this time or before, or the newest of all.
pub(super) fn find(place: &Place, at: Option<Timestamp>) -> Result<Manifest> {
    let missing = || {
        Error::Conflict(format!(
            "{place} contains no complete backup: there is no {MANIFEST_FILE}; name what `marketplace backup` wrote to"
        ))
    };
    let Some(at) = at else { return Manifest::read(place, MANIFEST_FILE)?.ok_or_else(missing) };
    let dated = list_dated(place)?.into_iter().rfind(|made_at| *made_at <= at);
    // It may be damaged if a dated one is needed.
    let newest = Manifest::read(place, MANIFEST_FILE);
    if let Ok(Some(newest)) = &newest
        && let Some(made_at) = newest.made_at().filter(|made_at| *made_at <= at)
        && dated.is_none_or(|dated| dated < made_at)
    {
        return Ok(newest.clone());
    }
    match dated {
        Some(dated) => Manifest::read(place, &dated_name(dated))?.ok_or_else(missing),
        None => match newest? {
            None => Err(missing()),
            Some(_) => Err(Error::Conflict(format!(
                "{place} has no backup that was made at {at} or before; `marketplace restore {place} --list` shows all"
            ))),
        },
    }
}

/// Keeps a backup, which is complete, and the earlier one that it replaces, as dated backups.
pub(super) fn date(place: &Place, earlier: Option<&Manifest>, manifest: &Manifest) -> Result<()> {
    let dated: HashSet<Timestamp> = list_dated(place)?.into_iter().collect();
    for manifest in earlier.into_iter().chain([manifest]) {
        match manifest.made_at() {
            Some(made_at) if !dated.contains(&made_at) => manifest.write(place, &dated_name(made_at))?,
            _ => {}
        }
    }
    Ok(())
}

/// Deletes the dated backups that a rule does not keep; all stay without a rule. Returns how many are kept, and how many were
/// deleted.
pub(super) fn delete_others(place: &Place, rule: Option<&Retention>) -> Result<(u64, u64)> {
    let dated = list_dated(place)?;
    let Some(rule) = rule else { return Ok((dated.len() as u64, 0)) };
    let kept = rule.kept(dated.iter().copied());
    for made_at in dated.iter().filter(|made_at| !kept.contains(made_at)) {
        let name = dated_name(*made_at);
        place.delete(&name).map_err(place.cannot("delete", &name))?;
    }
    Ok((kept.len() as u64, (dated.len() - kept.len()) as u64))
}

/// Deletes the objects that no backup in the place has. If one of the manifests cannot be read, none is deleted.
pub(super) fn delete_superfluous(place: &Place, newest: &Manifest, objects: &Objects) -> Result<()> {
    let mut kept: HashSet<String> = newest.objects().map(|object| object.sha256.clone()).collect();
    for made_at in list_dated(place)? {
        if let Some(manifest) = Manifest::read(place, &dated_name(made_at))? {
            kept.extend(manifest.objects().map(|object| object.sha256.clone()));
        }
    }
    objects.retain(&kept).map_err(place.cannot("delete objects in", ""))
}

/// Returns the times of the dated backups, in order.
fn list_dated(place: &Place) -> Result<Vec<Timestamp>> {
    let names = place.list(DIRECTORY).map_err(place.cannot("list", DIRECTORY))?;
    let mut times: Vec<Timestamp> = names.iter().filter_map(|name| parse_name(name)).collect();
    times.sort_unstable();
    Ok(times)
}

/// Returns the name of the manifest of a dated backup. Some file systems allow no colons.
fn dated_name(made_at: Timestamp) -> String {
    format!("{DIRECTORY}/{}{SUFFIX}", made_at.to_string().replace(':', ""))
}

/// Returns the time in the name of a manifest, without its directory.
fn parse_name(name: &str) -> Option<Timestamp> {
    let text = name.strip_suffix(SUFFIX)?;
    let (day, clock) = text.split_once('T')?;
    let (hours, minutes, rest) = (clock.get(..2)?, clock.get(2..4)?, clock.get(4..)?);
    let made_at = Timestamp::parse(&format!("{day}T{hours}:{minutes}:{rest}"))?;
    (dated_name(made_at).ends_with(&format!("/{name}"))).then_some(made_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_time() {
        let at = Timestamp::parse("2026-11-28T19:04:32.123Z").unwrap();
        let name = dated_name(at);
        assert_eq!(name, "snapshots/2026-11-28T190432.123Z.json");
        assert_eq!(parse_name("2026-11-28T190432.123Z.json"), Some(at));
        for other in ["2026-11-28T190432.1Z.json", "2026-11-28T190432.123Z.json.new", "x.json", "2026T1.json"]
        {
            assert_eq!(parse_name(other), None, "{other}");
        }
    }
}
