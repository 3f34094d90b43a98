//! The backups in a place: the newest one, and the dated ones. Each has a manifest, and they share their objects.

use std::collections::HashSet;

use super::{
    manifest::{MANIFEST_FILE, Manifest},
    objects::Objects,
    place::Place,
    state::Replace,
};
use crate::{
    domain::{backup_retention::Retention, time::Timestamp},
    error::{Error, ErrorChain, Result},
};

/// The directory with the manifests of dated backups.
const DIRECTORY: &str = "snapshots";

/// End of the names of manifests.
const SUFFIX: &str = ".json";

/// A backup in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBackup {
    /// Time of the backup. `None` for the newest one if its manifest is damaged.
    pub made_at: Option<Timestamp>,
    /// Whether a new backup without a retention rule replaces it.
    pub is_dated: bool,
    /// Contents, or why they are unknown.
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
        backups.push(KeptBackup { made_at: Some(made_at), is_dated: true, contents });
    }
    match Manifest::read(place, MANIFEST_FILE) {
        Ok(Some(newest)) => {
            let made_at = newest.made_at();
            if made_at.is_some() && !backups.iter().any(|backup| backup.made_at == made_at) {
                backups.push(KeptBackup { made_at, is_dated: false, contents: Ok(contents_of(&newest)) });
                backups.sort_by_key(|backup| backup.made_at);
            }
        }
        Ok(None) => {}
        Err(error) if backups.is_empty() => return Err(error),
        // The dated ones can be restored.
        Err(error) => {
            backups.push(KeptBackup { made_at: None, is_dated: false, contents: Err(error.message()) });
        }
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
    if let Some(found) = find_if_any(place, at)? {
        return Ok(found);
    }
    Err(Error::Conflict(match at {
        Some(at) if !list(place)?.is_empty() => format!(
            "{place} has no backup that was made at {at} or before; `marketplace restore {place} --list` shows all"
        ),
        _ => format!(
            "{place} contains no complete backup: there is no {MANIFEST_FILE}; name what `marketplace backup` wrote to"
        ),
    }))
}

/// Like [`find`], but a missing backup is not an error. A damaged one is.
pub(super) fn find_if_any(place: &Place, at: Option<Timestamp>) -> Result<Option<Manifest>> {
    let Some(at) = at else { return Manifest::read(place, MANIFEST_FILE) };
    let dated = list_dated(place)?.into_iter().rfind(|made_at| *made_at <= at);
    // It may be damaged if a dated one is needed.
    let newest = Manifest::read(place, MANIFEST_FILE);
    if let Ok(Some(newest)) = &newest
        && let Some(made_at) = newest.made_at().filter(|made_at| *made_at <= at)
        && dated.is_none_or(|dated| dated < made_at)
    {
        return Ok(Some(newest.clone()));
    }
    match dated {
        Some(dated) => Manifest::read(place, &dated_name(dated)),
        None => newest.map(|_| None),
    }
}

/// Returns the newest dated backup whose manifest can be read, which identifies the market of the dated backups; `None`
/// if there are no dated backups. If no manifest can be read, only an operator can decide to replace them.
pub(super) fn newest_dated(place: &Place, replace: Replace) -> Result<Option<Manifest>> {
    let mut problem = None;
    for made_at in list_dated(place)?.into_iter().rev() {
        match Manifest::read(place, &dated_name(made_at)) {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    match problem {
        Some(error) if replace != Replace::AnyState => Err(Error::Conflict(format!(
            "{place} has backups of an unknown market, since none of their manifests can be read ({}); choose \
             another directory, or add --replace if they are of this market",
            error.message()
        ))),
        _ => Ok(None),
    }
}

/// Keeps a complete backup, and the earlier one that it replaces, as dated backups.
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

/// Deletes the dated backups that a rule does not keep. Deletes none without a rule, or if the manifest of one of them
/// cannot be read, since an intact one may be needed in its place. Returns how many dated backups there are now, and
/// how many were deleted.
pub(super) fn delete_others(place: &Place, rule: Option<&Retention>) -> Result<(u64, u64)> {
    let dated = list_dated(place)?;
    let count = dated.len() as u64;
    let Some(rule) = rule else { return Ok((count, 0)) };
    let kept = rule.kept(dated.iter().copied());
    if kept.len() == dated.len() {
        return Ok((count, 0));
    }
    for made_at in &dated {
        if let Err(cause) = Manifest::read(place, &dated_name(*made_at)) {
            tracing::warn!(cause = %ErrorChain(&cause), "no dated backup was deleted, since one cannot be read");
            return Ok((count, 0));
        }
    }
    let mut deleted = 0;
    for made_at in dated.iter().filter(|made_at| !kept.contains(made_at)) {
        let name = dated_name(*made_at);
        match place.delete(&name) {
            Ok(()) => deleted += 1,
            Err(cause) => {
                tracing::warn!(%cause, path = place.location(&name), "a dated backup could not be deleted");
            }
        }
    }
    Ok((count - deleted, deleted))
}

/// Deletes the objects that no backup in the place contains. If one of the manifests cannot be read, none is deleted.
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
