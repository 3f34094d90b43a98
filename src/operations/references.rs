//! Records that the bodies of requests refer to: domains, and groups of the team. A request reads them once,
//! however many references its body has, so that it never occupies a connection for long.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use uuid::Uuid;

use super::access::Vendor;
use crate::{
    domain::{changes::Change, inventory::AssetChange},
    error::{Problem, Result},
    market::CheckContext,
    store::{self, groups::Group},
};

/// The domains and groups that changes of assets refer to, as far as they exist.
#[derive(Debug)]
pub struct References {
    /// The slugs of all domains; empty if no change has domain tags.
    pub domains: HashSet<String>,
    /// The groups by ID.
    pub groups: Groups,
    /// The default group of the team.
    pub default_group: Group,
}

/// Groups of a team that a body refers to, by ID.
#[derive(Clone, Debug, Default)]
pub struct Groups(BTreeMap<Uuid, Group>);

impl References {
    /// Reads what the changes refer to.
    pub fn read<'a>(
        context: &CheckContext,
        vendor: &Vendor,
        changes: impl Iterator<Item = &'a AssetChange> + Clone,
    ) -> Result<References> {
        let has_tags = changes.clone().any(|change| change.domain_tags.is_some());
        let groups = changes.filter_map(|change| match change.group_id {
            Change::Set(id) => Some(id),
            Change::Unchanged | Change::Clear => None,
        });
        Ok(References {
            domains: if has_tags { store::taxonomy::domain_slugs(context.rows)? } else { HashSet::new() },
            groups: Groups::read(context, vendor, groups)?,
            default_group: store::groups::find_default(context.rows, vendor.team_row_id())?,
        })
    }
}

impl Groups {
    /// Reads the team's groups with these IDs.
    pub fn read(context: &CheckContext, vendor: &Vendor, ids: impl Iterator<Item = Uuid>) -> Result<Groups> {
        let ids: BTreeSet<Uuid> = ids.collect();
        let found = store::groups::find_all(context.rows, vendor.team_row_id(), &ids)?;
        Ok(Groups(found.into_iter().map(|group| (group.id, group)).collect()))
    }

    /// Returns the group that the field `group_id` of a body refers to, or a problem. The problem does not
    /// reveal whether another team has a group with this ID.
    pub fn find(&self, id: Uuid) -> std::result::Result<&Group, Problem> {
        self.0.get(&id).ok_or_else(|| {
            let msg = format!("Your team has no group {id}. `GET /v2/asset-groups` lists its groups.");
            Problem::body(&["group_id"], "unknown_reference", msg)
        })
    }
}
