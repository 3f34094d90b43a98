//! Items that many pages use, imported by one line: `use crate::console::prelude::*`. Pages of operators have a prelude of their
//! own with additional items.

pub(super) use marketplace_text::is_blank;
pub(super) use maud::{Markup, html};
pub(super) use uuid::Uuid;

pub(super) use super::{
    address::Query,
    answer::{Answer, Content},
    changes::{self, Change},
    forms::{Fields, Inputs, as_typed, collect, invalid, problem},
    list_filters::ListFilter,
    lists::{Column, List, ListRequest},
    navigation::{NavigationItem, Section},
    notices::Notice,
    page::{Action, FormPage, Page},
    parts::{
        about,
        badges::{self, Tone},
        fields::{self, Field},
        icons, kinds,
        tables::{self, Cell, Head},
        text,
    },
    paths,
    questions::{Confirmation, ConfirmationPage, Question},
    seen::Seen,
    visit::{Context, Visit},
};
pub(super) use crate::{
    domain::{listings::Actor, money::Cents, time::Timestamp},
    error::{Error, Result},
    market::{CheckContext, Reader, Writer},
    operations::{
        access::{Buyer, Member, Vendor},
        notifications, team_records,
    },
    store::records::pages::TeamPage,
    string_enum::StringEnum,
    web::limits::Budget,
};
