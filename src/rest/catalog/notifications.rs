//! Notifications of a team.

use crate::{
    domain::notifications::NotificationType,
    operations::{access::Member, notifications},
    rest::{prelude::*, shapes::limit_offset},
};

/// Query parameters of the notification feed.
#[derive(Debug, Object)]
pub struct NotificationsQuery {
    /// Maximum number of notifications to return.
    #[oai(default = "limit_offset::default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
}

/// A message from the platform to a team.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Notification")]
pub struct NotificationOut {
    /// ID of the notification.
    pub id: Uuid,
    /// ID of the team that received the notification.
    pub team_id: Uuid,
    /// The event that the notification is about.
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: EnumValue<NotificationType>,
    /// Headline of the notification.
    pub title: String,
    /// Text of the notification, one or two sentences.
    pub message: String,
    /// Whether a member of the team has read the notification.
    pub read: bool,
    /// Time at which the notification was sent.
    pub created_at: UtcTime,
    /// Path of the page that the notification is about, in an application of the platform that is not part of this
    /// server; null if there is none.
    pub link: Option<String>,
    /// ID of the project bid that the notification is about; null if it is not about a project bid.
    pub opportunity_bid_id: Option<Uuid>,
    /// ID of the opportunity that the notification is about; null if it is not about an opportunity.
    pub opportunity_id: Option<Uuid>,
    /// ID of the project opportunity that the notification is about; null if it is not about one.
    pub project_opportunity_id: Option<Uuid>,
    /// ID of the task that the notification is about; null if it is not about a task. It is not the ID of an
    /// asset.
    pub task_id: Option<Uuid>,
}

/// The newest notifications of a team.
#[derive(Debug, Object, Serialize)]
pub struct Notifications {
    /// The notifications, newest first.
    pub notifications: Vec<NotificationOut>,
    /// Number of unread notifications of the team, including those beyond `limit`.
    pub unread_count: u64,
}

#[routes(prefix = "/v2", tag = Account)]
impl NotificationsApi {
    /// List notifications
    ///
    /// Returns the team's newest notifications, newest first, and the number of unread ones. Vendor and buyer
    /// teams both read their notifications here.
    #[get(
        "/vendor/notifications",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Account,
                    "list_notifications",
                    "Notifications",
                    "The team's notifications, newest first; only the newest 100 are available.",
                ),
                "notifications",
            ),
            Contract::new(Target::None)
                .with_queries(&["limit=100", "limit=1"])
                .with_misspelled("limt=3", "limit"),
        ),
    )]
    async fn list_notifications(
        call: Call<Member>,
        query: Params<NotificationsQuery>,
    ) -> JsonResult<Notifications> {
        let (limit, team) = (query.0.limit as usize, call.access.team().id);
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (feed, unread_count) = notifications::list_newest(reader, &call.access, limit)?;
            let items = feed.into_iter().map(|message| NotificationOut {
                id: message.id,
                team_id: team,
                kind: EnumValue(message.kind),
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
            Ok(Notifications { notifications: items.collect(), unread_count })
        })
        .await
    }
}
