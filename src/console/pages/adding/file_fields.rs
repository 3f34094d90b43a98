//! The form for the upload of a zip, and its fields about the zip.

use super::{chosen_exclusivity, chosen_group, exclusivity_field, group_field, name_of};
use crate::{
    console::{parts::fields::Choice, prelude::*},
    domain::{assets::Kind, inventory::Asset, uploads::MAX_SINGLE_PART_BYTES},
    operations::{grant_uploads::FileInput, own_uploads},
    store::{groups::Group, operator_uploads::UploadTarget},
};

/// Name of the field with the kind of a new asset.
const KIND: &str = "kind";

/// Path to which the form for a new asset is sent without a script.
pub const NEW_WHOLE: &str = "/inventory/add/file/whole";

/// Maximum size of a file that arrives in one request.
pub const MAX_WHOLE_BYTES: u64 = MAX_SINGLE_PART_BYTES;

/// Returns the path to which the form for an asset is sent without a script.
pub fn path_for_whole(asset: Uuid) -> String {
    format!("/inventory/{asset}/file/whole")
}

/// What a zip is uploaded for.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A new asset in one of these groups.
    New(&'a [Group]),
    /// This asset.
    Existing(&'a Asset),
}

/// Returns the form. With scripts, the form is sent to the page itself, and the file in parts. Without scripts, the whole form
/// is sent to `whole`.
pub fn form(context: &Context, subject: Subject, whole: &str, leave: (&str, &str)) -> Markup {
    let inputs = &context.inputs;
    let limit = context.market().settings().blobs.max_upload_bytes;
    let without_script = limit.min(MAX_WHOLE_BYTES);
    inputs.add_label("file", "Zip file");
    let is_refused = inputs.problem("file").is_some();
    html! {
        form.stack method="post" enctype="multipart/form-data" action=(context.links.to(whole))
            data-upload-form=(context.links.to(&context.path)) {
            (fields::form_key(context))
            @match subject {
                Subject::New(groups) => { (fields_of_new_asset(inputs, groups)) },
                Subject::Existing(asset) => p { "The file becomes the data of " b.long { bdi { (name_of(asset)) } } "." },
            }
            div.field.panel data-upload-drop {
                label for="file" { "Zip file" (fields::required_mark(true)) }
                p.note #file-h {
                    span data-with-script hidden { "Choose it, or drop it here. Up to " (text::size(limit)) "." }
                    span data-without-script { "Up to " (text::size(without_script)) " without a script." }
                }
                input #file type="file" name="file" accept=".zip,application/zip" required
                    aria-describedby=(if is_refused { "file-h file-p" } else { "file-h" }) aria-invalid=[is_refused.then_some("true")];
                (fields::problem(inputs, "file"))
            }
            p.note role="status" data-upload-state {}
            (fields::buttons(context, "Upload", leave))
        }
    }
}

fn fields_of_new_asset(inputs: &Inputs, groups: &[Group]) -> Markup {
    let choice = |kind: Kind, text: &str, note: &str| Choice {
        value: kind.as_str().to_owned(),
        text: text.to_owned(),
        note: note.to_owned(),
        amount: None,
    };
    let kinds = [
        choice(
            Kind::Codebase,
            "A codebase",
            "Source code. The market counts its lines, and its history if the zip has a Git repository.",
        ),
        choice(
            Kind::RawData,
            "A raw data archive",
            "Documents, images, records, or other files. The market counts the files by their kind.",
        ),
    ];
    html! {
        (fields::choices_below_legend(inputs, KIND, "Content of the zip", &kinds, Kind::Codebase.as_str()))
        (Field::text("title", "Title").required().at_most(200).hint(html! { "For example Harbour ledger. Buyers see it in listings." }).show(inputs))
        (exclusivity_field(inputs, "Exclusive sale (codebases only)"))
        (group_field(inputs, groups))
    }
}

/// Reads what a file becomes. `existing` is the asset that gets it, with its kind.
pub fn target(fields: &Fields, existing: Option<(Uuid, Kind)>) -> Result<UploadTarget> {
    let modified_ms = fields.get("modified_ms").and_then(|text| text.parse().ok());
    if let Some((asset, kind)) = existing {
        let (title, exclusivity, group) = (String::new(), None, None);
        return Ok(UploadTarget { kind, asset: Some(asset), title, exclusivity, group, modified_ms });
    }
    let mut problems = Vec::new();
    let kind = fields.get(KIND).and_then(Kind::parse).filter(|kind| own_uploads::KINDS.contains(kind));
    if kind.is_none() {
        problems.push(problem(KIND, "Choose what the zip has."));
    }
    let title = fields.get("title").unwrap_or_default().to_owned();
    if title.is_empty() {
        problems.push(problem("title", "Enter a title, for example Harbour ledger."));
    }
    let exclusivity = match kind {
        Some(Kind::Codebase) => collect(chosen_exclusivity(fields), &mut problems)?,
        _ => None,
    };
    let group = collect(chosen_group(fields), &mut problems)?.flatten();
    match (kind, problems.is_empty()) {
        (Some(kind), true) => Ok(UploadTarget { kind, asset: None, title, exclusivity, group, modified_ms }),
        _ => Err(Error::Invalid(problems)),
    }
}

/// Reads the file that the script announces.
pub fn announced_file(fields: &Fields) -> Result<FileInput> {
    let none = "Choose a zip file.";
    let file_name = fields.get("file_name").ok_or_else(|| invalid("file", none))?;
    let size_bytes = fields.get("size_bytes").and_then(|text| text.parse().ok());
    let size_bytes = size_bytes.ok_or_else(|| invalid("file", none))?;
    Ok(FileInput { file_name: file_name.to_owned(), size_bytes, sha256: None })
}
