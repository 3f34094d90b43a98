//! Items that many files of the operator API use, in addition to [the prelude of all routes](crate::rest::prelude).

pub(super) use super::{
    changes::{self, Change},
    pages::{self, ListQuery, page_of},
    references,
    resources::{self, Resource, resource, subject},
    routes::{self, DEMO_BUYER, DEMO_TEAM},
};
pub(super) use crate::{
    domain::{events::EventType, listings::Actor, money::Currency},
    error::Result,
    market::{CheckContext, Writer},
    operations::{
        access::{ActingOperator, Operator, Platform},
        records,
    },
    rest::{
        arguments::{if_match::IfMatch, request_body::Omittable},
        prelude::*,
        shapes::{Amount, Money},
    },
};
