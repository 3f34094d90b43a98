//! What is read for the table, and for its file.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    columns::{self, Row},
    state::InventoryState,
};
use crate::{
    console::{
        csv::{self, Part},
        parts::assets::{self as words, Domains},
        prelude::*,
    },
    domain::{
        inventory::Asset,
        row_ids::{AssetRowId, GroupRowId},
        sessions::InventoryColumns,
    },
    operations::{
        assets::{self, AssetFilter, AssetPage},
        groups, taxonomy,
    },
};

/// Number of assets that are read at once for a file.
const ASSETS_PER_PART: usize = 500;

/// The names of what assets are in.
pub struct Names {
    /// The names of the groups.
    groups: BTreeMap<GroupRowId, String>,
    /// The domain tags of the market.
    pub domains: Domains,
}

impl Names {
    fn row<'r>(&'r self, asset: &'r Asset) -> Row<'r> {
        let group = self.groups.get(&asset.group.0).map_or("", String::as_str);
        Row { asset, group, domains: &self.domains }
    }
}

/// A page of assets.
pub struct Found {
    /// The assets, and the counts by group.
    pub page: AssetPage,
    /// The names of what they are in.
    pub names: Names,
}

impl Found {
    /// Reads a page.
    pub fn read(
        reader: &Reader,
        vendor: &Vendor,
        filter: AssetFilter,
        limit: usize,
        from: u64,
    ) -> Result<Found> {
        let page = assets::page_beside_groups(reader, vendor, filter, limit, from)?;
        let groups = page.counts.groups.iter().map(|(group, _)| (group.row_id, group.name.clone()));
        let domains = Domains(taxonomy::domains_of_assets(reader, vendor)?);
        Ok(Found { names: Names { groups: groups.collect(), domains }, page })
    }

    /// Returns the number of assets that match a state.
    pub fn total(&self, state: &InventoryState) -> u64 {
        state.group.map_or_else(|| self.page.counts.total(), |id| self.page.counts.of_group(id))
    }

    /// Returns the rows of the table.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.page.items.iter().map(|asset| self.names.row(asset))
    }
}

/// What is left to read for a file.
enum Left {
    /// Everything: which assets the file has is not known yet.
    Everything(Box<AssetFilter>),
    /// These assets from a position on.
    Assets { row_ids: Arc<[AssetRowId]>, from: usize, names: Arc<Names> },
}

/// Answers with a file of all assets that match a state. The list of assets is read first, so that concurrent changes can
/// neither repeat an asset nor leave one out.
pub async fn file(visit: &Visit<Vendor>, state: &InventoryState, chosen: InventoryColumns) -> Result<Answer> {
    let first = Left::Everything(Box::new(state.filter(&visit.access)?));
    let heads = ["Asset".to_owned()].into_iter();
    let heads = heads.chain(chosen.iter().map(|column| columns::head(column).name.to_owned()));
    let heads = heads.chain(["ID".to_owned()]).collect();
    csv::in_parts(visit, "inventory", heads, first, move |reader, vendor, left| {
        part(reader, vendor, left, chosen)
    })
    .await
}

fn part(reader: &Reader, vendor: &Vendor, left: Left, chosen: InventoryColumns) -> Result<Part<Left>> {
    let (row_ids, from, names) = match left {
        Left::Assets { row_ids, from, names } => (row_ids, from, names),
        Left::Everything(filter) => {
            let row_ids = assets::matching_row_ids(reader, vendor, *filter)?;
            let groups = groups::list(reader, vendor)?.into_iter().map(|group| (group.row_id, group.name));
            let domains = Domains(taxonomy::domains_of_assets(reader, vendor)?);
            (row_ids.into(), 0, Arc::new(Names { groups: groups.collect(), domains }))
        }
    };
    let to = row_ids.len().min(from + ASSETS_PER_PART);
    let found = assets::list_by_row_ids(reader, vendor, &row_ids[from..to])?;
    let rows = found.iter().map(|asset| cells(&names.row(asset), chosen)).collect();
    let next = (to < row_ids.len()).then_some(Left::Assets { row_ids, from: to, names });
    Ok(Part { rows, next })
}

/// Returns the cells of a row of the file.
fn cells(row: &Row, chosen: InventoryColumns) -> csv::Row {
    let name = [words::name(row.asset).to_owned()].into_iter();
    name.chain(chosen.iter().map(|column| columns::value(column, row)))
        .chain([row.asset.id.to_string()])
        .collect()
}
