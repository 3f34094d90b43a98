//! Notifications of an opportunity to any number of teams, each with one statement.

use uuid::Uuid;

use crate::{
    domain::{notifications::NotificationType, opportunities::Opportunity, time::Timestamp},
    error::Result,
    store::{
        Reader, Writer,
        notifications::{BulkNotification, insert_for_all},
    },
};

/// The teams that are notified of an opportunity, in addition to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// All vendors that may see it: with the vendor role and an accepted NDA, neither closed nor excluded.
    Vendors,
    /// Teams that were notified of its publication and are not excluded, and teams with a bid that was neither
    /// declined nor withdrawn, without closed teams.
    Concerned,
}

impl Audience {
    /// Returns the query for the row IDs (`team`) of the teams of the audience and of the owner. ?1 is the
    /// opportunity, ?2 is its owner.
    const fn teams(self) -> &'static str {
        match self {
            Audience::Vendors => {
                "SELECT t.id AS team FROM teams t WHERE t.id = ?2
                    OR (t.is_vendor AND t.nda_accepted_at IS NOT NULL AND t.closed_at IS NULL AND NOT EXISTS (
                        SELECT 1 FROM opportunity_exclusions e WHERE e.opportunity = ?1 AND e.team = t.id))"
            }
            Audience::Concerned => {
                "SELECT c.team FROM (
                 SELECT p.team FROM (
                    SELECT n.team, n.type FROM notifications n WHERE n.opportunity = ?1
                    UNION ALL SELECT n.team, n.type FROM notifications n WHERE n.project_opportunity = ?1) p
                 WHERE p.type = 'opportunity_published' AND NOT EXISTS (
                    SELECT 1 FROM opportunity_exclusions e WHERE e.opportunity = ?1 AND e.team = p.team)
                 UNION SELECT b.team FROM project_bids b
                 WHERE b.opportunity = ?1 AND b.status NOT IN ('declined', 'withdrawn')
                 ) c JOIN teams t ON t.id = c.team WHERE t.closed_at IS NULL AND t.id <> ?2
                 UNION ALL SELECT ?2"
            }
        }
    }
}

/// Returns the number of teams of an audience without the owner, and the IDs of the first `max` of them in the
/// order of their row IDs.
pub fn find_recipients(
    reader: &Reader,
    opportunity: &Opportunity,
    audience: Audience,
    max: usize,
) -> Result<(u64, Vec<Uuid>)> {
    let teams = audience.teams();
    let count = format!("SELECT count(*) FROM ({teams}) r WHERE r.team <> ?2");
    let list = format!(
        "SELECT x.uuid FROM ({teams}) r JOIN teams x ON x.id = r.team WHERE r.team <> ?2
         ORDER BY r.team LIMIT ?3"
    );
    let (row_id, owner) = (opportunity.row_id, opportunity.owner_row_id);
    Ok((
        reader.query_one(&count, (row_id, owner), |row| row.get(0))?,
        reader.query_all(&list, (row_id, owner, max as i64), |row| row.get(0))?,
    ))
}

/// The notifications to an audience and the owner.
#[derive(Debug)]
pub struct Announcement<'a> {
    /// Type of the notifications.
    pub kind: NotificationType,
    /// Title and message for the audience.
    pub for_teams: (&'a str, &'a str),
    /// Title and message for the owner.
    pub for_owner: (&'a str, &'a str),
    /// Path of a page in an application of the platform.
    pub link: &'a str,
    /// ID from which the IDs of the notifications are derived.
    pub seed: Uuid,
    /// Time of the notifications.
    pub at: Timestamp,
}

/// Notifies an audience and the owner, with one statement.
pub fn announce(
    writer: &Writer,
    opportunity: &Opportunity,
    audience: Audience,
    announcement: &Announcement,
) -> Result<()> {
    let Announcement { kind, for_teams, for_owner, link, seed, at } = *announcement;
    let (row_id, owner) = (opportunity.row_id, opportunity.owner_row_id);
    let notification = BulkNotification {
        kind,
        text: for_teams,
        owner: Some((owner, for_owner.0, for_owner.1)),
        link: Some(link),
        page: None,
        opportunity: Some((row_id, opportunity.kind)),
        seed,
        created_at: at,
    };
    let parameters = [row_id.0.into(), owner.0.into()];
    insert_for_all(writer, (audience.teams(), parameters), &notification)
}
