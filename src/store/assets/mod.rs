//! Units of supply and the data linked to them.

mod changes;
mod new;
mod rows;

pub use changes::{attach_data, delete, detach_data, update};
pub use new::{Codebase, NewAsset, NewData, Own, insert};
pub use rows::{COLUMNS, SOURCES, after, find, find_own, read, title_is_taken, titles_like};
