//! The data of events about notifications.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{listings::Actor, notifications::NotificationType};

/// A notification that a team has read. Only the team and operators see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NotificationData {
    /// ID of the notification.
    pub notification_id: Uuid,
    /// Who has read it.
    pub actor: Actor,
    /// Type of the notification.
    pub notification_type: NotificationType,
}
