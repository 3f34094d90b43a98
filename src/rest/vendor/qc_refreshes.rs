//! Reading the quality of all of a team's task assets again.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    domain::tasks::RefreshStatus,
    operations::{
        access::Vendor,
        qc_refreshes::{self, Told},
    },
    rest::{
        App,
        auth::Access,
        once::Once,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::UtcTime,
        vocabulary::Word,
    },
    store::qc_refreshes::Refresh,
};

/// A reading of the quality of all of a team's task assets.
#[derive(Debug, Object, Serialize)]
pub struct QcRefresh {
    /// Its id.
    pub id: Uuid,
    /// How far it is.
    pub status: Word<RefreshStatus>,
    /// When it was asked for.
    pub requested_at: UtcTime,
    /// When it was begun; null before that.
    pub started_at: Option<UtcTime>,
    /// When it ended; null before that.
    pub finished_at: Option<UtcTime>,
    /// Task assets to read.
    pub total: u64,
    /// Task assets read so far.
    pub refreshed: u64,
    /// Why it failed; null where it did not.
    pub error: Option<String>,
}

impl From<Refresh> for QcRefresh {
    fn from(refresh: Refresh) -> QcRefresh {
        QcRefresh {
            id: refresh.id,
            status: Word(refresh.status),
            requested_at: refresh.requested_at.into(),
            started_at: refresh.started_at.map(UtcTime),
            finished_at: refresh.finished_at.map(UtcTime),
            total: refresh.total,
            refreshed: refresh.refreshed,
            error: refresh.error,
        }
    }
}

/// Where reading the quality of a team's task assets stands.
#[derive(Debug, Object, Serialize)]
pub struct QcRefreshState {
    /// The reading under way, or the last one; null before the first.
    pub refresh: Option<QcRefresh>,
    /// When any task asset was last read; null where none was.
    pub qc_refreshed_at: Option<UtcTime>,
}

impl From<Told> for QcRefreshState {
    fn from((refresh, read_at): Told) -> QcRefreshState {
        QcRefreshState { refresh: refresh.map(QcRefresh::from), qc_refreshed_at: read_at.map(UtcTime) }
    }
}

pub struct QcRefreshesApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Tasks")]
impl QcRefreshesApi {
    /// Refresh task quality
    ///
    /// Begins to read the quality of all of the team's task assets again, in the background. While one such reading goes
    /// on, asking again answers that one.
    #[oai(path = "/tasks/refresh-qc", method = "post", operation_id = "refresh_task_qc")]
    async fn request(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        once: Once,
    ) -> Answer<QcRefreshState, 202> {
        let nothing = Sha256::digest(b"").into();
        once.write(&app, access.0, nothing, |writer, vendor| {
            qc_refreshes::request(writer, vendor).map(QcRefreshState::from)
        })
        .await
    }

    /// State of the refresh
    ///
    /// The reading that goes on, or the last one.
    #[oai(path = "/tasks/refresh-qc", method = "get", operation_id = "get_task_qc_refresh")]
    async fn latest(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
    ) -> Answer<QcRefreshState> {
        let told = app.market().glance(move |reader| qc_refreshes::latest(reader, &access.0)).await?;
        Ok(Raw::of(&QcRefreshState::from(told)))
    }
}
