//! A team's messages.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::notifications::NotificationType,
    operations::{access::Member, notifications},
    rest::{
        App,
        auth::Access,
        params::Params,
        raw::{Answer, Raw},
        shapes::UtcTime,
        vocabulary::Word,
    },
};

/// How much of the feed is asked for.
#[derive(Debug, Object)]
pub struct NotificationsQuery {
    /// Messages at most.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
}

fn usual_limit() -> u32 {
    50
}

/// A message to a team.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Notification")]
pub struct NotificationOut {
    /// Its id.
    pub id: Uuid,
    /// The team.
    pub team_id: Uuid,
    /// What happened.
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: Word<NotificationType>,
    /// In a few words.
    pub title: String,
    /// In a sentence or two.
    pub message: String,
    /// Whether somebody of the team has read it.
    pub read: bool,
    /// When it was sent.
    pub created_at: UtcTime,
    /// A path in the web app; null where there is nothing to open.
    pub link: Option<String>,
    /// The project bid that it is about, if any.
    pub opportunity_bid_id: Option<Uuid>,
    /// The opportunity that it is about, if any.
    pub opportunity_id: Option<Uuid>,
    /// The project opportunity that it is about, if any.
    pub project_opportunity_id: Option<Uuid>,
    /// The task that it is about, if any.
    pub task_id: Option<Uuid>,
}

/// A team's messages.
#[derive(Debug, Object, Serialize)]
pub struct Notifications {
    /// The newest first.
    pub notifications: Vec<NotificationOut>,
    /// How many of all the team's messages nobody has read.
    pub unread_count: u64,
}

pub struct NotificationsApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Account")]
impl NotificationsApi {
    /// Notifications
    ///
    /// The team's messages, newest first, and how many are unread. Teams of either side read their feed here.
    #[oai(path = "/vendor/notifications", method = "get", operation_id = "list_notifications")]
    async fn feed(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Member>,
        query: Params<NotificationsQuery>,
    ) -> Answer<Notifications> {
        let (limit, team) = (query.0.limit as usize, access.0.team().id);
        let (feed, unread_count) =
            app.market().glance(move |reader| notifications::feed(reader, &access.0, limit)).await?;
        let shown = feed.into_iter().map(|message| NotificationOut {
            id: message.id,
            team_id: team,
            kind: Word(message.kind),
            title: message.title,
            message: message.message,
            read: message.is_read,
            created_at: message.created_at.into(),
            link: message.link,
            opportunity_bid_id: message.project_bid,
            opportunity_id: message.opportunity,
            project_opportunity_id: message.project_opportunity,
            task_id: message.task,
        });
        Ok(Raw::of(&Notifications { notifications: shown.collect(), unread_count }))
    }
}
