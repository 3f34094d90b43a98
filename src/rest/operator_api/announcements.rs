//! The announcement of the market on all pages of the web app.

use super::resources::Subject;
use crate::{
    domain::announcements::{Announcement, AnnouncementLevel},
    operations::announcements,
    rest::{
        operator_api::prelude::*,
        shapes::{RequestTime, strings::AnnouncementText},
    },
};

/// The announcement of operators on all pages of the web app.
#[derive(Debug, Default, Object, Serialize)]
#[oai(rename = "Announcement")]
pub struct AnnouncementOut {
    /// Plain text, in which `[label](address)` is a link; null if nothing is announced. Then pages show the setting
    /// `console.banner`.
    pub text: Option<String>,
    /// How it is shown; null if nothing is announced.
    pub level: Option<EnumValue<AnnouncementLevel>>,
    /// Time from which on it is shown; null if at once.
    pub starts_at: Option<UtcTime>,
    /// Time until which it is shown; null if it is shown until it is deleted.
    pub ends_at: Option<UtcTime>,
    /// Time of the last change; null if nothing is announced.
    pub changed_at: Option<UtcTime>,
    /// Whether it is shown now.
    pub shown: bool,
}

impl Subject for AnnouncementOut {
    const KIND: &'static str = "announcement";
}

/// An announcement.
#[derive(Debug, Object)]
pub struct AnnouncementIn {
    /// Plain text, in which `[label](address)` is a link.
    text: MaybeInvalid<AnnouncementText>,
    /// How it is shown; `information` if absent.
    level: Option<EnumValue<AnnouncementLevel>>,
    /// Time from which on it is shown; at once if absent.
    starts_at: Option<RequestTime>,
    /// Time until which it is shown; if absent, it is shown until it is deleted.
    ends_at: Option<RequestTime>,
}

#[routes(prefix = "/operator/v1", tag = Market)]
impl AnnouncementsApi {
    /// Get the announcement
    ///
    /// Returns the announcement of operators on all pages of the web app, also before and after it is shown.
    #[get("/announcement", routes::read(Contract::new(Target::None)))]
    async fn get_announcement(call: Call<Operator>) -> JsonResult<AnnouncementOut> {
        let platform = call.access.platform();
        Json::read(&call.served, call.access.requester(), move |reader| {
            AnnouncementOut::find(&reader.check_context(), platform)
        })
        .await
    }

    /// Announce something
    ///
    /// Shows a text on all pages of the web app, also those for signing in. Replaces the earlier announcement.
    #[put("/announcement", routes::create(Actor::Platform, &[]))]
    async fn set_announcement(
        call: Call<ActingOperator>,
        #[example(json!({
            "text": "On Sunday, nothing can be changed from 08:00 to 09:00 UTC. [What we do](https://status.example.com)",
            "level": "warning",
        }))]
        body: Body<AnnouncementIn>,
    ) -> JsonResult<AnnouncementOut> {
        changes::put(call, body, |writer, platform, body: AnnouncementIn| {
            let announcement = Announcement {
                text: body.text.into_valid()?.into(),
                level: body.level.map_or(AnnouncementLevel::Information, |level| level.0),
                starts_at: body.starts_at.map(|at| at.0),
                ends_at: body.ends_at.map(|at| at.0),
            };
            announcements::set(writer, platform, announcement)?;
            AnnouncementOut::find(&writer.check_context(), platform)
        })
        .await
    }

    /// Delete the announcement
    ///
    /// Deletes the announcement of operators. Has no effect if there is none.
    #[delete("/announcement", routes::create(Actor::Platform, &[]))]
    async fn delete_announcement(call: Call<ActingOperator>) -> std::result::Result<NoContent, ApiError> {
        changes::delete(call, |writer, platform| {
            announcements::delete(writer, platform)?;
            AnnouncementOut::find(&writer.check_context(), platform)
        })
        .await
    }
}

impl AnnouncementOut {
    fn find(context: &CheckContext, platform: Platform) -> Result<AnnouncementOut> {
        let Some(stored) = announcements::stored(context, platform)? else {
            return Ok(AnnouncementOut::default());
        };
        let Announcement { text, level, starts_at, ends_at } = stored.announcement;
        Ok(AnnouncementOut {
            text: Some(text),
            level: Some(EnumValue(level)),
            starts_at: starts_at.map(UtcTime),
            ends_at: ends_at.map(UtcTime),
            changed_at: Some(UtcTime(stored.changed_at)),
            shown: stored.is_shown,
        })
    }
}
