//! Listings and assets of a vendor that have a kind that an opportunity accepts.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{
    domain::{assets::Kind, listings::CatalogStatus, teams::TeamRowId},
    error::Result,
    store::{Reader, row},
};

/// Maximum number of a team's newest listings, and of its newest assets, that are compared with an opportunity.
const MAX_COMPARED: u32 = 500;

/// Something of a vendor that is of an accepted kind.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// ID of the listing or the asset.
    pub id: Uuid,
    /// Title, or the name of the repository.
    pub title: String,
    /// What the listing contains, or what the asset is.
    pub kinds: Vec<Kind>,
    /// Status of the listing in the catalog; `None` for an asset.
    pub catalog_status: Option<CatalogStatus>,
    /// Its tags, and the languages of its code.
    pub words: Vec<String>,
}

/// Returns the newest of a team's listings that are not archived and have an asset of one of these kinds.
pub fn list_candidate_listings(reader: &Reader, team: TeamRowId, kinds: &[Kind]) -> Result<Vec<Candidate>> {
    const SQL: &str = "SELECT l.uuid, l.title, l.catalog_status, l.domain_tags, l.tag_slugs,
             (SELECT json_group_array(DISTINCT a.kind) FROM listing_assets la JOIN assets a ON a.id = la.asset
              WHERE la.listing = l.id) AS kinds
         FROM (SELECT * FROM listings WHERE team = ?1 AND catalog_status <> 'archived' ORDER BY id DESC LIMIT ?3) l
         WHERE EXISTS (
             SELECT 1 FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = l.id AND a.kind IN (SELECT value FROM json_each(?2)))
         ORDER BY l.id DESC";
    reader.query_all(SQL, (team, row::to_json(kinds)?, MAX_COMPARED), |row| {
        let mut words: Vec<String> = row::json(row, "domain_tags")?;
        words.extend(row::json::<Vec<String>>(row, "tag_slugs")?);
        Ok(Candidate {
            id: row.get("uuid")?,
            title: row.get("title")?,
            kinds: row::json(row, "kinds")?,
            catalog_status: Some(row.get("catalog_status")?),
            words,
        })
    })
}

/// Returns the newest of a team's assets of these kinds that are on no listing but an archived one.
pub fn list_candidate_assets(reader: &Reader, team: TeamRowId, kinds: &[Kind]) -> Result<Vec<Candidate>> {
    const SQL: &str =
        "SELECT a.uuid, coalesce(nullif(a.title, ''), d.repo_full_name, '') AS title, a.kind, a.domain_tags,
             coalesce(a.languages, '{}') AS languages
         FROM (SELECT * FROM assets WHERE team = ?1 AND deleted_at IS NULL ORDER BY id DESC LIMIT ?3) a
         LEFT JOIN data_objects d ON d.asset = a.id
         WHERE a.kind IN (SELECT value FROM json_each(?2))
             AND (d.asset IS NULL OR d.archive_status <> 'failed' AND d.analysis_status <> 'failed')
             AND NOT EXISTS (
                 SELECT 1 FROM listing_assets la JOIN listings l ON l.id = la.listing
                 WHERE la.asset = a.id AND l.catalog_status <> 'archived')
         ORDER BY a.id DESC";
    reader.query_all(SQL, (team, row::to_json(kinds)?, MAX_COMPARED), |row| {
        let mut words: Vec<String> = row::json(row, "domain_tags")?;
        words.extend(row::json::<BTreeMap<String, u64>>(row, "languages")?.into_keys());
        Ok(Candidate {
            id: row.get("uuid")?,
            title: row.get("title")?,
            kinds: vec![row.get("kind")?],
            catalog_status: None,
            words,
        })
    })
}
