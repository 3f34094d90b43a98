//! Webhooks of teams and of operators, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::webhooks::WebhookStatus,
    error::Result,
    store::webhooks::{self, COLUMNS, TABLES, Webhook},
};

/// What the list of webhooks can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct WebhookFilter {
    /// The team whose events are sent.
    pub team: Option<Uuid>,
    /// Whether events are sent.
    pub status: Option<WebhookStatus>,
}

impl Record for Webhook {
    type Id = Uuid;
    type Filter = WebhookFilter;

    const NAME: &'static str = "webhook";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<Webhook>> {
        webhooks::find(reader, *id)
    }

    fn page(reader: &Reader, filter: &WebhookFilter, request: PageRequest) -> Result<RowPage<Webhook>> {
        PageQuery::new(COLUMNS, TABLES, "w.id")
            .when(true, "w.deleted_at IS NULL")
            .refers_to("w.team", "teams", filter.team)
            .filter(
                "(w.disabled_at IS NULL) = ?",
                filter.status.map(|status| status == WebhookStatus::Enabled),
            )
            .fetch(reader, request, webhooks::read)
    }
}
