//! Assets and the data linked to them.

mod changes;
mod data;
mod new;
mod rows;

pub use changes::{attach_data, delete, detach_data, update};
pub use data::{
    Linked, Progress, Upload, is_linked, note_commit, note_copy, note_files, note_languages, note_progress,
    note_robotics, repository_of, upload_of,
};
pub use new::{Codebase, NewAsset, NewData, Own, insert};
pub use rows::{COLUMNS, SOURCES, after, find, find_own, numbered, read, title_is_taken, titles_like};
