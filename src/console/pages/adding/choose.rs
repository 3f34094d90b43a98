//! The ways to add assets, and the uploads that are not finished.

use super::{
    file::AddFile, reference::Reference, repository::AddRepository, table::AddTable, tasks::AddTasks, upload,
};
use crate::{
    console::prelude::*,
    operations::{codebase_tables::MAX_ROWS, own_uploads},
    store::operator_uploads::OperatorUpload,
};

/// The page.
pub struct AddAssets;

impl Page<Vendor> for AddAssets {
    const PATH: &'static str = paths::ADD_ASSETS;
    const TITLE: &'static str = "Add to your inventory";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let uploads = visit.read(own_uploads::list).await?;
        let body = html! {
            @if !uploads.is_empty() {
                (tables::section("unfinished", "Unfinished uploads", &unfinished(&visit.context, &uploads)))
            }
            (ways(&visit.context))
            p.note { a href=(visit.links.to(Reference::PATH)) { "Domains and kinds that the market has" } }
        };
        Ok(Content::new(Self::TITLE, body).with_parent("Inventory", paths::INVENTORY).narrow().into())
    }
}

fn ways(context: &Context) -> Markup {
    let limit = text::size(context.market().settings().blobs.max_upload_bytes);
    let ways = [
        (
            AddRepository::PATH,
            "A repository",
            "A codebase at GitHub, GitLab, or Bitbucket. The market copies it, and reads lines, languages, history, and contributors.".to_owned(),
            "Needs its address.",
        ),
        (
            AddFile::PATH,
            "A zip file",
            format!("A codebase or raw data, up to {limit}. A transfer that was interrupted goes on where it ended."),
            "Needs the file and a title.",
        ),
        (
            AddTable::PATH,
            "A table of codebases",
            format!("Up to {MAX_ROWS} codebases from a spreadsheet. You add their data later."),
            "Needs a title for each, and whether it can be sold exclusively.",
        ),
        (
            AddTasks::PATH,
            "Tasks of the platform",
            "The latest versions of the tasks of your tasksets.".to_owned(),
            "Needs tasks with a successful build.",
        ),
    ];
    html! {
        ul.cards { @for (path, name, about, needs) in &ways {
            li.card {
                h2 { a href=(context.links.to(path)) { (name) } }
                p { (about) }
                p.note { (needs) }
            }
        } }
        p.note {
            "Programs can upload zips, too: with an "
            a href=(context.links.to(paths::GRANTS)) { "upload grant" }
            ", or a key of your team."
        }
    }
}

fn unfinished(context: &Context, uploads: &[OperatorUpload]) -> Markup {
    let row = |upload: &OperatorUpload| {
        let path = paths::upload(upload.upload.id);
        [
            Head::text("File")
                .cell(html! { a.long href=(context.links.to(&path)) { bdi { (upload.file_name) } } }),
            Head::number("Size").cell(text::size(upload.upload.layout.size_bytes)),
            Head::text("Becomes").cell(upload::becomes(upload)),
            Head::text("Has to arrive by").cell(text::moment(upload.expires_at)),
            Head::text("Change").cell(html! { span.row {
                a.button.little href=(context.links.to(&path)) { "Go on" }
                a.button.little.danger href=(context.links.to(&format!("{path}/discard"))) { "Discard…" }
            } }),
        ]
    };
    tables::of("Unfinished uploads", uploads, row)
}
