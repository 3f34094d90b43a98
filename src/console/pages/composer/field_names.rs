//! Names of fields of the form, for the code that shows the form and the code that reads it.

use uuid::Uuid;

/// Field that says that the form contains the texts. The texts of a listing in the catalog cannot be changed.
pub(super) const HAS_TEXTS: &str = "texts";

/// Field with the ID of an asset of the sample, repeated.
pub(super) const SAMPLE: &str = "sample";

/// Returns the name of the field with the paths of an asset.
pub(super) fn paths_field(asset: Uuid) -> String {
    format!("paths_{asset}")
}

/// Returns the name of the field with a file of an asset, repeated.
pub(super) fn files_field(asset: Uuid) -> String {
    format!("files_{asset}")
}

/// Returns the name of the field with the tasks of an asset.
pub(super) fn tasks_field(asset: Uuid) -> String {
    format!("tasks_{asset}")
}
