//! Items that many pages of operators use, in addition to [the prelude of all pages](crate::console::prelude).

pub(super) use super::{
    inputs::{self, id_of},
    paths::{
        ANNOUNCEMENTS, ASSET_TYPES, ASSETS, BUILDS, CONTENT_TAGS, DOMAINS, ESTIMATIONS, GRANTS,
        INVENTORY_TAGS, KEYS, LISTING_TABS, LISTINGS, OPERATOR_KEYS, OPPORTUNITIES, OPPORTUNITY_TABS,
        PROJECT_BIDS, PROJECTS, REVIEW, RUNS, TASK_TABS, TASKS, TASKSETS, TAXONOMY_TABS, TEAM_TABS, TEAMS,
        TRACE_IMPORTS, UPLOADS, VERSIONS, WEBHOOK_TABS, WEBHOOKS, search_for,
    },
};
pub(super) use crate::{
    console::{
        prelude::*,
        resources::{
            self, DeriveColumns, FieldFormat,
            FieldFormat::{
                Badge, Called, Deadline, Flag, Id, Many, Moment, Money, Number, Plain, Record,
                Records as Linked, Size, State, Text, Word, Words,
            },
            Input, Key, Links, Previewed, RecordField, RecordTitle, RenderFn, Resource, Step,
        },
    },
    operations::{
        access::{ActingOperator, Operator, Platform},
        records,
    },
    store::records::{
        Records,
        any_record::{AnyRecord, Value},
    },
};
