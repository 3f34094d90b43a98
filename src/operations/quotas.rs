//! Quotas of principals: what a team or an operator may add to the market.

use crate::{
    config::QuotaSettings,
    domain::{principals::Principal, quotas::Usage},
    error::{Error, QuotaExcess, Result},
    market::Writer,
    store,
};

/// Runs `work`, and fails if the principal then exceeds a quota by what `work` added. The error rolls the
/// transaction back.
pub fn enforce<T>(
    writer: &mut Writer,
    principal: Principal,
    work: impl FnOnce(&mut Writer) -> Result<T>,
) -> Result<T> {
    let before = store::usage::find(writer.rows, principal)?;
    let result = work(writer)?;
    let after = store::usage::find(writer.rows, principal)?;
    match before.find_excess(&after, &limits(&writer.settings.quotas), principal.kind()) {
        Some(excess) => Err(Error::QuotaExceeded(excess)),
        None => Ok(result),
    }
}

/// Fails if a holder that uses `used` of a quota cannot have one more record. The quota has a name, and a limit.
pub fn check_one_more(holder: &'static str, (quota, limit): (&'static str, u64), used: u64) -> Result<()> {
    if used < limit {
        return Ok(());
    }
    Err(Error::QuotaExceeded(QuotaExcess { holder, quota, limit, used, requested: 1 }))
}

/// Returns the limits of every principal.
fn limits(settings: &QuotaSettings) -> Usage {
    Usage {
        assets: settings.assets,
        groups: settings.groups,
        upload_bytes: settings.upload_gb * 1_000_000_000,
        idempotency_keys: settings.idempotency_keys,
        idempotency_bytes: settings.idempotency_mb * 1_000_000,
    }
}
