//! Items that nearly every page uses, imported by one line: `use crate::console::prelude::*`.

pub(super) use maud::{Markup, html};
pub(super) use uuid::Uuid;

pub(super) use super::{
    answer::{Answer, Content},
    changes::{self, Change},
    forms::{Fields, collect, problem},
    lists::{Column, List, ListFilter, ListRequest},
    navigation::{NavigationItem, Section},
    notices::Notice,
    page::{Action, FormPage, Page},
    parts::{
        badges::{self, Tone},
        fields::{self, Field},
        tables::{self, Head},
        text,
    },
    paths,
    seen::Seen,
    visit::{Context, Visit},
};
pub(super) use crate::{
    error::{Error, Result},
    market::Reader,
    operations::access::{Buyer, Member, Vendor},
    web::limits::Budget,
};
