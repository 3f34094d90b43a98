//! Sales of a vendor.

use uuid::Uuid;

use super::{access::Vendor, team_records};
use crate::{
    domain::{agreements::names, sales::Sale},
    error::{Error, Result},
    market::Reader,
    store::{self, records::team_lists::sales::TeamSale},
};

/// The statement of a sale, for its vendor.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The sale. The title is that of the agreement, if there is one: a statement does not change with the listing.
    pub sale: TeamSale,
    /// Name of the vendor, which is that of the agreement, too.
    pub vendor_name: String,
}

/// Returns the team's settled sales, newest first.
pub fn list(reader: &Reader, vendor: &Vendor) -> Result<Vec<Sale>> {
    store::sales::list(reader.rows, vendor.team_row_id())
}

/// Returns the statement of a sale of the team. A fixed number of statements of SQL.
pub fn statement(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Statement> {
    let sale: TeamSale = team_records::find(reader.rows, vendor, id)?;
    let mut vendor_name = vendor.team().name.clone();
    let purchase = store::purchases::find(reader.rows, id)?.ok_or_else(|| Error::not_found("sale"))?;
    let agreement = store::agreements::find(reader.rows, purchase.row_id)?;
    if let Some(names) = agreement.as_ref().and_then(|agreement| names(&agreement.text)) {
        names.vendor.clone_into(&mut vendor_name);
    }
    Ok(Statement { sale, vendor_name })
}
