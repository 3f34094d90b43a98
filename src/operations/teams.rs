//! Administration of teams, for operators of the market.

use marketplace_text::similar_names::most_similar;
use uuid::Uuid;

use super::{
    access::{Platform, check_open},
    nda, payouts,
};
use crate::{
    domain::{
        collections::Collection,
        events::{EventData, TeamData},
        problems::Problems,
        teams::{Role, Team, TeamRowId, roles},
        texts,
        time::Timestamp,
    },
    error::{Error, NameList, Problem, Result, quoted},
    market::{Reader, Writer},
    request_problems::{ProblemsExt, check_text},
    store::{self, teams::NewTeam},
};

/// Maximum number of names, before and after an unknown one in their order, among which a similar one is looked for.
const MAX_COMPARED: usize = 2_000;

/// Maximum number of bytes of the URL of an avatar.
const MAX_AVATAR_URL: usize = 2_048;

/// A team to create.
#[derive(Clone, Debug)]
pub struct TeamInput<'a> {
    /// Name of the team, 1 to 120 characters without control characters.
    pub name: &'a str,
    /// Whether the team has the vendor role.
    pub is_vendor: bool,
    /// Whether the team has the buyer role.
    pub is_buyer: bool,
    /// Seller tier, 1 to 3.
    pub tier: u8,
    /// Whether the team has accepted the mutual NDA.
    pub has_accepted_nda: bool,
}

/// Creates a team and its default group. Returns the ID of the team.
pub fn create(writer: &mut Writer, team: &TeamInput) -> Result<Uuid> {
    let mut problems = Problems::default();
    let name = problems.collect(parse_name(team.name))?;
    problems.collect(check_tier(team.tier))?;
    let name = problems.into_result_of(name)?;
    check_name_is_free(writer.rows, name, None)?;
    let id = writer.new_id(Collection::Teams);
    let new = NewTeam {
        id,
        group_id: writer.new_id(Collection::Groups),
        name,
        is_vendor: team.is_vendor,
        is_buyer: team.is_buyer,
        tier: team.tier,
        nda_accepted_at: team.has_accepted_nda.then_some(writer.now),
        avatar_url: None,
        created_at: writer.now,
    };
    let row_id = store::teams::insert(writer.rows, &new)?;
    if team.has_accepted_nda {
        nda::record_text(writer, row_id, None)?;
    }
    let data = TeamData {
        team_id: id,
        name: name.to_owned(),
        roles: roles(team.is_vendor, team.is_buyer),
        tier: team.tier,
        nda_accepted_at: new.nda_accepted_at,
        avatar_url: None,
    };
    writer.emit(Some(row_id), id, &EventData::TeamCreated(data))?;
    Ok(id)
}

/// Returns a valid name without surrounding space.
fn parse_name(text: &str) -> Result<&str> {
    let name = text.trim();
    check_text(&["name"], name, texts::TEAM_NAME)?;
    Ok(name)
}

fn check_tier(tier: u8) -> Result<()> {
    if (1..=3).contains(&tier) {
        return Ok(());
    }
    let problem = Problem::body(&["tier"], "less_than_equal", "The tier must be 1, 2, or 3.");
    Err(Error::invalid(problem))
}

/// Checks that no other team than `team` has the name, in any case and encoding. Names of closed teams stay reserved.
fn check_name_is_free(rows: &store::Reader, name: &str, team: Option<TeamRowId>) -> Result<()> {
    let same = store::teams::list_by_name_key(rows, name)?;
    match same.iter().find(|other| Some(other.row_id) != team) {
        None => Ok(()),
        Some(other) => Err(Error::Conflict(format!(
            "There is already a team {} with the ID {}. Names of teams are unique regardless of case, so choose \
             another one.",
            quoted(&other.name),
            other.id
        ))),
    }
}

/// Returns all teams, sorted by name.
pub fn list(reader: &Reader) -> Result<Vec<Team>> {
    store::teams::list(reader.rows)
}

/// Returns the team with this ID, or the team with this name. The case of a name matters only if several teams
/// have it.
pub fn resolve(rows: &store::Reader, id_or_name: &str) -> Result<Team> {
    if let Ok(id) = Uuid::try_parse(id_or_name) {
        return store::teams::find(rows, id)?.ok_or_else(|| Error::not_found(format!("team {id}")));
    }
    let exact = store::teams::list_by_name(rows, id_or_name)?;
    let mut found = match exact.len() {
        0 => store::teams::list_by_name_key(rows, id_or_name)?,
        _ => exact,
    };
    match (found.pop(), found.is_empty()) {
        (Some(team), true) => Ok(team),
        (None, _) => {
            let similar =
                most_similar(id_or_name, store::teams::list_names_near(rows, id_or_name, MAX_COMPARED)?);
            let hint = similar.map(|name| format!(" Did you mean {}?", quoted(&name))).unwrap_or_default();
            Err(Error::not_found(format!("No team is called {}.{hint}", quoted(id_or_name))))
        }
        (last, _) => {
            let ids: NameList = found.iter().chain(&last).map(|team| team.id).collect();
            let message = format!(
                "Several teams are named {id_or_name}. Use one of their IDs: {ids}.",
                id_or_name = quoted(id_or_name)
            );
            Err(Error::Conflict(message))
        }
    }
}

/// Like [`resolve`]. Fails if the team was closed.
pub fn resolve_open(rows: &store::Reader, id_or_name: &str) -> Result<Team> {
    let team = resolve(rows, id_or_name)?;
    check_open(&team)?;
    Ok(team)
}

/// Records that a team has accepted the mutual NDA. Returns the time of its first acceptance.
pub fn accept_nda(writer: &mut Writer, id_or_name: &str) -> Result<Timestamp> {
    let team = resolve_open(writer.rows, id_or_name)?;
    if let Some(at) = team.nda_accepted_at {
        return Ok(at);
    }
    nda::record(writer, team, None)?;
    Ok(writer.now)
}

/// Renames a team. Its listings show the new name.
pub fn rename(writer: &mut Writer, _: Platform, team: &str, name: &str) -> Result<Team> {
    let team = resolve_open(writer.rows, team)?;
    let name = parse_name(name)?;
    check_name_is_free(writer.rows, name, Some(team.row_id))?;
    change(writer, team, EventData::TeamRenamed, |team| name.clone_into(&mut team.name))
}

/// Replaces the marketplace roles of a team. Existing records stay: a team without the vendor role keeps its listings, also
/// published ones, and a team without the buyer role keeps its purchases and offers. The team itself can no longer change them;
/// the platform can.
pub fn set_roles(writer: &mut Writer, _: Platform, team: &str, roles: &[Role]) -> Result<Team> {
    let team = resolve_open(writer.rows, team)?;
    change(writer, team, EventData::TeamRolesChanged, |team| {
        team.is_vendor = roles.contains(&Role::Vendor);
        team.is_buyer = roles.contains(&Role::Buyer);
    })
}

/// Changes the seller tier of a team, 1 to 3. Its listings show the new tier.
pub fn set_tier(writer: &mut Writer, _: Platform, team: &str, tier: u8) -> Result<Team> {
    let team = resolve_open(writer.rows, team)?;
    check_tier(tier)?;
    change(writer, team, EventData::TeamTierChanged, |team| team.tier = tier)
}

/// Changes the avatar of a team: an HTTPS URL, or `None` for no avatar.
pub fn set_avatar(writer: &mut Writer, _: Platform, team: &str, url: Option<&str>) -> Result<Team> {
    let team = resolve_open(writer.rows, team)?;
    if let Some(url) = url {
        check_avatar_url(url)?;
    }
    change(writer, team, EventData::TeamAvatarChanged, |team| team.avatar_url = url.map(str::to_owned))
}

/// Checks the URL of an avatar.
pub fn check_avatar_url(url: &str) -> Result<()> {
    let host = url.strip_prefix("https://").unwrap_or_default();
    let is_valid = !host.is_empty() && !host.starts_with('/') && url.len() <= MAX_AVATAR_URL;
    if is_valid && url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    let rule =
        format!("The URL must begin with https:// and have at most {MAX_AVATAR_URL} ASCII characters.");
    Err(Error::invalid(Problem::body(&["avatar_url"], "url", rule)))
}

/// Changes a team, and queues its listings for the index if they show the changed fields. A change without an
/// effect writes nothing.
fn change(
    writer: &Writer,
    before: Team,
    event: impl FnOnce(TeamData) -> EventData,
    change: impl FnOnce(&mut Team),
) -> Result<Team> {
    let mut team = before.clone();
    change(&mut team);
    if team == before {
        return Ok(before);
    }
    store::teams::update(writer.rows, &team)?;
    if (&team.name, team.tier) != (&before.name, before.tier) {
        store::teams::queue_listings(writer.rows, team.row_id)?;
    }
    writer.emit(Some(team.row_id), team.id, &event(TeamData::from(&team)))?;
    Ok(team)
}

/// Stores how a team is paid, as free text that only operators read. `None` deletes it. A closed team has a
/// payout setup, too, since its earnings stay payable.
pub fn set_payout_setup(writer: &mut Writer, _: Platform, team: &str, text: Option<&str>) -> Result<()> {
    let team = resolve(writer.rows, team)?;
    let text = payouts::parse(text)?;
    if store::teams::find_payout_setup(writer.rows, team.row_id)?.as_deref() == text {
        return Ok(());
    }
    payouts::replace(writer, &team, text)
}

/// Returns how a team is paid, if that was stated.
pub fn payout_setup(reader: &Reader, _: Platform, team: &str) -> Result<Option<String>> {
    let team = resolve(reader.rows, team)?;
    store::teams::find_payout_setup(reader.rows, team.row_id)
}
