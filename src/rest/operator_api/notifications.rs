//! Notifications of teams.

use crate::{
    domain::notifications::NotificationType, operations::notifications, rest::operator_api::prelude::*,
    store::records::notifications::NOTIFICATIONS,
};

/// A message from the platform to a team.
#[derive(Debug, Object, Serialize, Deserialize)]
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
    /// ID of the opportunity that the notification is about; null if it is not about an opportunity.
    pub opportunity_id: Option<Uuid>,
    /// ID of the project opportunity that the notification is about; null if it is not about one.
    pub project_opportunity_id: Option<Uuid>,
    /// ID of the project bid that the notification is about; null if it is not about a project bid.
    pub project_bid_id: Option<Uuid>,
    /// ID of the task that the notification is about; null if it is not about a task. It is not the ID of an asset.
    pub task_id: Option<Uuid>,
}

resource!(NotificationOut: Uuid, NOTIFICATIONS, "notification", id, team_id);

page_of! {
    /// A page of notifications.
    NotificationPage, NotificationOut
}

/// What the list of notifications can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct NotificationFilters {
    /// ID of the team that received the notification.
    team_id: Option<Uuid>,
    /// The event that the notification is about.
    #[oai(rename = "type")]
    kind: Option<EnumValue<NotificationType>>,
    /// Whether no member of the team has read the notification.
    unread: Option<bool>,
}

#[routes(prefix = "/operator/v1", tag = Teams)]
impl NotificationsApi {
    /// List notifications
    ///
    /// Returns the notifications of all teams, newest first.
    #[get(
        "/notifications",
        routes::list(&[
            "type=sale_completed&limit=2",
            "unread=true",
            "unread=false&team_id=d16976a0-9c51-5248-afa1-7e0552589e1a",
        ]),
    )]
    async fn list_notifications(
        call: Call<Operator>,
        query: Params<ListQuery<NotificationFilters>>,
    ) -> JsonResult<NotificationPage> {
        pages::list(call, query).await
    }

    /// Get a notification
    ///
    /// Returns a notification.
    #[get("/notifications/{notification_id}", routes::get("notifications"))]
    async fn get_notification(
        call: Call<Operator>,
        notification_id: Path<Uuid>,
    ) -> JsonResult<NotificationOut> {
        resources::get(call, notification_id.0).await
    }

    /// Mark a notification as read
    ///
    /// Marks a notification as read, in the name of its team. One that was read stays read.
    #[post(
        "/notifications/{notification_id}/read",
        routes::change("notifications", Actor::Team, &[EventType::NotificationRead]),
    )]
    async fn mark_notification_read(
        change: Change,
        notification_id: Path<Uuid>,
    ) -> JsonResult<NotificationOut> {
        changes::transition(change, notification_id, notifications::mark_read).await
    }
}
