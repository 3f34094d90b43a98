//! Assets and the data linked to them.

mod changes;
mod insert;
mod linked_data;

pub use changes::{attach_data, delete, detach_data, update};
pub use insert::{KindFields, NewAsset, NewData, insert};
pub use linked_data::{
    DataProgress, LinkedRepository, LinkedUpload, find_replaced_values, find_repository, find_upload,
    is_linked, list_repositories, record_commit, record_copy, set_files, set_languages, set_progress,
    set_replaced_values, set_robotics,
};

pub use super::asset_rows::{find_by_row_id, find_own, find_row_id_and_team, list_own};
