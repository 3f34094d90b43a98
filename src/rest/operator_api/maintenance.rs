//! Maintenance, during which teams read and change nothing.

use super::resources::Subject;
use crate::{
    operations::maintenance,
    rest::{operator_api::prelude::*, shapes::strings::AnnouncementText},
};

/// Whether the market is being maintained.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Maintenance")]
pub struct MaintenanceOut {
    /// Whether the market is in maintenance. Changes by teams are refused with 503 `at_capacity` and `details.reason` `maintenance`.
    pub enabled: bool,
    /// Message to teams, in the error and above each page of the web app; null if not enabled.
    pub text: Option<String>,
    /// When an operator has switched it on; null if not enabled, or only by the setting `maintenance.enabled`.
    pub started_at: Option<UtcTime>,
}

impl Subject for MaintenanceOut {
    const KIND: &'static str = "maintenance";
}

/// Maintenance to begin.
#[derive(Debug, Object)]
pub struct MaintenanceIn {
    /// Message to teams, in which `[label](address)` is a link on pages; the setting `maintenance.text` if absent.
    text: Omittable<AnnouncementText>,
}

#[routes(prefix = "/operator/v1", tag = Market)]
impl MaintenanceApi {
    /// Get the maintenance
    ///
    /// Returns whether the market is in maintenance, and the message to teams.
    #[get("/maintenance", routes::read(Contract::new(Target::None)))]
    async fn get_maintenance(call: Call<Operator>) -> JsonResult<MaintenanceOut> {
        Json::read(&call.served, call.access.requester(), |reader| {
            MaintenanceOut::find(&reader.check_context())
        })
        .await
    }

    /// Switch maintenance on
    ///
    /// Refuses changes by teams until maintenance is switched off. If it is on, replaces the message to teams. Teams can read
    /// everything, and operators, due steps, background jobs, and webhooks continue. Requests that have begun are completed.
    /// Parts of uploads are refused, unless another store receives them. Each world is switched separately.
    #[put("/maintenance", routes::create(Actor::Platform, &[]))]
    async fn start_maintenance(
        call: Call<ActingOperator>,
        #[example(json!({"text": "We move to another server until 09:00 UTC. Reading works."}))] body: Body<
            MaintenanceIn,
        >,
    ) -> JsonResult<MaintenanceOut> {
        changes::put(call, body, |writer, platform, body: MaintenanceIn| {
            let text = body.text.0.map(String::from);
            maintenance::start(writer, platform, text.as_deref())?;
            MaintenanceOut::find(&writer.check_context())
        })
        .await
    }

    /// Switch maintenance off
    ///
    /// Lets teams change things again. Has no effect if maintenance is off. Fails if the setting `maintenance.enabled` has
    /// switched it on.
    #[delete("/maintenance", routes::create(Actor::Platform, &[]))]
    async fn end_maintenance(call: Call<ActingOperator>) -> std::result::Result<NoContent, ApiError> {
        changes::delete(call, |writer, platform| {
            maintenance::end(writer, platform)?;
            MaintenanceOut::find(&writer.check_context())
        })
        .await
    }
}

impl MaintenanceOut {
    fn find(context: &CheckContext) -> Result<MaintenanceOut> {
        let current = maintenance::current(context)?;
        Ok(MaintenanceOut {
            enabled: current.is_some(),
            started_at: current.as_ref().and_then(|current| current.started_at).map(UtcTime),
            text: current.map(|current| current.text),
        })
    }
}
