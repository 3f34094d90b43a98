//! Reports on payments outside the marketplace: the common parts of the operations of purchases, of purchases of credits, and
//! of withdrawals that keys with the scope `payments` permit.

use poem_openapi::Object;
use uuid::Uuid;

use super::{
    changes::{self, Change},
    resources::Resource,
};
use crate::{
    domain::{money::Currency, problems::Problems},
    error::Error,
    market::{CheckContext, Writer},
    operations::{
        access::{ActingProof, PaymentOperator},
        payments::{self, Outcome, PaymentResolution, StatedAmount},
    },
    request_problems::ProblemsExt,
    rest::{arguments::request_body::Body, json::JsonResult, route::Path, shapes::Amount},
    store::records::Record,
    web::enum_value::EnumValue,
};

/// What is known of a payment that ended.
#[derive(Clone, Copy, Debug, Object)]
pub struct PaymentIn {
    /// The amount of the payment, which must match: the `total` of a purchase, the `amount` of a purchase of credits or of a
    /// withdrawal. Required with a key whose scope is `payments`. With it, the request can be repeated: a payment that has ended
    /// this way already is returned as it is.
    amount: Option<Amount>,
    /// Currency of the amount; US dollars if absent.
    currency: Option<EnumValue<Currency>>,
}

/// Records how a payment ended, once per idempotency key, and responds with the record. The actor is that of the effect that the
/// route states.
pub async fn decide<T: Resource>(
    change: Change<PaymentOperator>,
    id: Path<Uuid>,
    body: Body<PaymentIn, false>,
    resolution: &'static PaymentResolution,
) -> JsonResult<T>
where
    T::Record: Record<Id = Uuid>,
{
    let (Change { call, idempotent }, Body { value, source }, id) = (change, body, id.0);
    let (name, effect) = (call.route.operation, call.route.effect);
    let check = move |_: &CheckContext, operator: &PaymentOperator, problems: Problems| {
        problems.into_result()?;
        StatedAmount::new(operator, value.amount.map(|amount| amount.0))
    };
    let work = move |writer: &mut Writer, operator: &PaymentOperator, amount: StatedAmount| {
        let (platform, effect) =
            (operator.platform(), effect.ok_or_else(|| Error::internal("a transition states its effect"))?);
        let outcome = payments::report(writer, platform, effect.actor, id, (resolution, amount))?;
        let record = T::find(&writer.check_context(), platform, &id)?;
        if outcome == Outcome::Changed {
            changes::audit(writer, operator, name, &record)?;
        }
        Ok(record)
    };
    idempotent.write(&call.served, call.access, source, check, work).await
}
