//! Units of supply and the data linked to them.

mod changes;
mod data;
mod new;
mod rows;

pub use changes::{attach_data, delete, detach_data, update};
pub use data::{Progress, Upload, note_files, note_progress, upload_of};
pub use new::{Codebase, NewAsset, NewData, Own, insert};
pub use rows::{COLUMNS, SOURCES, after, find, find_own, numbered, read, title_is_taken, titles_like};
