//! The asset that a vendor can create from a scan.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::{
    cli::CommandError,
    domain::{
        assets::{Exclusivity, Kind},
        texts::TITLE,
    },
    operations::scans::Report,
};

/// Returns the title of the asset, or the error if a market would not accept it.
pub(super) fn title(path: &Path, stated: Option<&str>) -> Result<String, CommandError> {
    let title = stated.map_or_else(|| name_of(path), str::to_owned);
    match TITLE.find_fault(&title) {
        None => Ok(title),
        Some((_, fault)) => {
            Err(CommandError::Usage(format!("the title {fault}: state another one with --title")))
        }
    }
}

/// Returns the exclusivity that was stated for an asset of a kind, or the error if a row lacks it.
pub(super) fn exclusivity(
    kind: Option<Kind>,
    stated: Option<Exclusivity>,
) -> Result<Option<Exclusivity>, CommandError> {
    match (kind, stated) {
        (Some(Kind::Codebase), None) => {
            let message = "a row of a codebase says whether it can still be sold exclusively: add --exclusivity available \
                           or --exclusivity unavailable";
            Err(CommandError::Usage(message.to_owned()))
        }
        (Some(Kind::Codebase), stated) => Ok(stated),
        _ => Ok(None),
    }
}

/// Returns a row for `POST /v2/codebases/batch`, or the body of `POST /v2/raw-data`. Fails if a required piece is missing that
/// only the vendor knows.
pub(super) fn row(
    report: &Report,
    path: &Path,
    stated_title: Option<&str>,
    stated_exclusivity: Option<Exclusivity>,
) -> Result<Value, CommandError> {
    let title = title(path, stated_title)?;
    let mut row = Map::from_iter([("title".to_owned(), json!(title))]);
    if let Some(exclusivity) = exclusivity(report.kind, stated_exclusivity)? {
        row.insert("exclusivity".to_owned(), json!(exclusivity));
    }
    let description = report.description.as_ref().map(|description| json!(description));
    row.extend(description.map(|description| ("description".to_owned(), description)));
    let figures = report.figures.iter().flat_map(|figures| &figures.fields);
    row.extend(
        figures
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| ((*name).to_owned(), value.clone())),
    );
    Ok(Value::Object(row))
}

/// Returns the name of a directory or a file, without the extensions of repositories and archives.
fn name_of(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = [".git", ".zip", ".bundle"].iter().find_map(|extension| name.strip_suffix(extension));
    stem.filter(|stem| !stem.is_empty()).unwrap_or(&name).to_owned()
}
