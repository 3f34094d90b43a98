//! Records as operators see them: those of all teams, with the IDs of what they refer to. Each resource can be found
//! by its ID and listed in pages, with filters.

pub mod audit;
pub mod keys;
pub mod pages;
pub mod teams;
pub mod webhook_deliveries;
pub mod webhooks;

use super::Reader;
use crate::error::Result;

use self::pages::{PageRequest, RowPage};

/// A resource that operators find and list.
pub trait Record: Sized + Send {
    /// What identifies a record.
    type Id: Clone + Send + 'static;

    /// What a list can be filtered by.
    type Filter: Send + 'static;

    /// What the record is called in messages, such as `listing`.
    const NAME: &'static str;

    /// Returns the record with this ID.
    fn find(reader: &Reader, id: &Self::Id) -> Result<Option<Self>>;

    /// Returns a page of the records that the filter allows, newest first.
    fn page(reader: &Reader, filter: &Self::Filter, request: PageRequest) -> Result<RowPage<Self>>;
}
