//! Common parts of all resources of the operator API: how a record becomes JSON, and how it is requested.

use serde::Serialize;
use uuid::Uuid;

use crate::{
    error::Result,
    market::CheckContext,
    operations::{
        access::{Platform, ReadingProof},
        records,
    },
    rest::{
        json::{Json, JsonResult},
        route::Call,
    },
    store::records::Record,
};

/// A JSON type that names the record that it is about, for the audit.
pub trait Subject: Serialize + Sized + Send + 'static {
    /// Kind of the record, such as `listing`.
    const KIND: &'static str;

    /// Returns the ID or slug of the record; its kind if a market has only one such record.
    fn id(&self) -> String {
        Self::KIND.to_owned()
    }

    /// Returns the ID of the team that owns the record, or that is acted for; `None` if there is none.
    fn team(&self) -> Option<Uuid> {
        None
    }
}

/// Implements [`Subject`] for a JSON type. The arguments are the type, the kind, the field with the ID, and, if there is one, the
/// field with the ID of the team.
macro_rules! subject {
    ($name:ident, $kind:expr, $($id:ident).+ $(, $($team:ident).+)?) => {
        impl $crate::rest::operator_api::resources::Subject for $name {
            const KIND: &'static str = $kind;

            fn id(&self) -> String {
                ToString::to_string(&self.$($id).+)
            }

            $(fn team(&self) -> Option<uuid::Uuid> {
                self.$($team).+.into()
            })?
        }
    };
}

pub(super) use subject;

/// The JSON of a record that can be requested by its ID.
pub trait Resource: Subject {
    /// The record.
    type Record: Record;

    /// Creates the JSON of a record.
    fn new(record: Self::Record, context: &CheckContext) -> Self;

    /// Returns the JSON of the record with this ID.
    fn find(context: &CheckContext, platform: Platform, id: &<Self::Record as Record>::Id) -> Result<Self> {
        Ok(Self::new(records::find(context.rows, platform, id)?, context))
    }
}

/// Declares the JSON of a record that is read from its row: each field is the column of its name. The arguments are the type,
/// the type of the IDs, the [`Records`], and those of [`subject!`].
///
/// [`Records`]: crate::store::records::Records
macro_rules! resource {
    ($name:ident: $id_type:ty, $records:expr, $($subject:tt)+) => {
        $crate::rest::operator_api::resources::subject!($name, $($subject)+);

        impl $crate::store::records::Record for $name {
            type Id = $id_type;

            const RECORDS: &'static $crate::store::records::Records = &$records;
        }

        impl $crate::rest::operator_api::resources::Resource for $name {
            type Record = $name;

            fn new(record: $name, _: &$crate::market::CheckContext) -> $name {
                record
            }
        }
    };
}

pub(super) use resource;

/// Responds with the record with this ID.
pub async fn get<T: Resource>(call: Call<impl ReadingProof>, id: <T::Record as Record>::Id) -> JsonResult<T> {
    let platform = call.access.platform();
    Json::read(&call.served, call.access.requester(), move |reader| {
        T::find(&reader.check_context(), platform, &id)
    })
    .await
}
