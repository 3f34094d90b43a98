//! Items that many files with routes use, imported by one line: `use crate::rest::prelude::*`. The operator API has a prelude of
//! its own with additional items.

pub(super) use poem_openapi::Object;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::json;
pub(super) use uuid::Uuid;

pub(super) use super::{
    arguments::{
        params::Params,
        request_body::{Body, MaybeInvalid},
    },
    idempotent::Idempotent,
    json::{Json, JsonResult, NoContent},
    route::{Call, Contract, Path, RouteAttributes, Target, Tool, ToolText, Toolset, routes},
    shapes::UtcTime,
};
pub(super) use crate::{
    error::{Code, Error},
    market::Reader,
    operations::access::Vendor,
    web::{enum_value::EnumValue, limits::Budget, problem::ApiError},
};
