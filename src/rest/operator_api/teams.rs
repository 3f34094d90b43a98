//! Teams of the marketplace.

use poem_openapi::types::MaybeUndefined;

use crate::{
    domain::teams::Role,
    operations::{access::PaymentReader, team_closures, teams},
    rest::{
        operator_api::prelude::*,
        shapes::strings::{AvatarUrl, PayoutSetup, TeamName},
    },
    store::records::teams::TEAMS,
};

/// A team.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Team")]
pub struct TeamOut {
    /// ID of the team.
    pub id: Uuid,
    /// Name of the team, which vendors' listings show.
    pub name: String,
    /// Marketplace roles of the team.
    pub roles: Vec<EnumValue<Role>>,
    /// Seller tier, 1 to 3.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    pub tier: u8,
    /// Time at which the team accepted the mutual NDA; null if it has not.
    pub nda_accepted_at: Option<UtcTime>,
    /// URL of the avatar image; null if there is none.
    pub avatar_url: Option<String>,
    /// How the team is paid, in words. Only operators read it.
    pub payout_setup: Option<String>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time at which the team was closed; null unless closed.
    pub closed_at: Option<UtcTime>,
}

resource!(TeamOut: Uuid, TEAMS, "team", id, id);

page_of! {
    /// A page of teams.
    TeamPage, TeamOut
}

/// What the list of teams can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct TeamFilters {
    /// Name of the team, in any case.
    name: Option<String>,
    /// A role that the team has.
    role: Option<EnumValue<Role>>,
    /// Whether the team was closed.
    closed: Option<bool>,
}

/// A team to create.
#[derive(Debug, Object)]
pub struct TeamIn {
    /// Name of the team; must be unique, ignoring case.
    name: MaybeInvalid<TeamName>,
    /// Marketplace roles of the team. Without any, the team can use its key only for its account.
    #[oai(validator(max_items = 2))]
    roles: Vec<MaybeInvalid<EnumValue<Role>>>,
    /// Seller tier; 1 if absent.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    tier: Option<i64>,
    /// Whether the team has accepted the mutual NDA.
    #[oai(default)]
    nda_accepted: bool,
}

/// Changes to a team. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct TeamPatch {
    /// New name; must be unique, ignoring case.
    name: Omittable<TeamName>,
    /// New marketplace roles.
    #[oai(validator(max_items = 2))]
    roles: Omittable<Vec<EnumValue<Role>>>,
    /// New seller tier.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    tier: Omittable<i64>,
    /// New URL of the avatar image; null for none.
    avatar_url: MaybeUndefined<AvatarUrl>,
    /// How the team is paid, in words; null to delete it. A change notifies the team, with the type
    /// `payout_setup_changed`, and the team cannot request withdrawals in the web app for
    /// `payouts.change_delay_days` after it.
    payout_setup: MaybeUndefined<PayoutSetup>,
}

#[routes(prefix = "/operator/v1", tag = Teams)]
impl TeamsApi {
    /// List teams
    ///
    /// Returns the teams, newest first.
    #[get("/teams", routes::list(&["role=vendor&limit=2", "name=nobody", "closed=false"]))]
    async fn list_teams(call: Call<Operator>, query: Params<ListQuery<TeamFilters>>) -> JsonResult<TeamPage> {
        pages::list(call, query).await
    }

    /// Create a team
    ///
    /// Creates a team with its default group. It has no API key yet.
    #[post("/teams", routes::create(Actor::Platform, &[EventType::TeamCreated]))]
    async fn create_team(
        change: Change,
        #[example(json!({
            "name": "Tideclock",
            "roles": ["vendor"],
            "nda_accepted": true,
        }))]
        body: Body<TeamIn>,
    ) -> JsonResult<TeamOut, 201> {
        changes::post_body(change, body, |writer, _, team: TeamIn| {
            let name: String = team.name.into_valid()?.into();
            let roles = references::distinct("roles", MaybeInvalid::all(team.roles, |role| role.0)?)?;
            let input = teams::TeamInput {
                name: &name,
                is_vendor: roles.contains(&Role::Vendor),
                is_buyer: roles.contains(&Role::Buyer),
                tier: team.tier.unwrap_or(1) as u8,
                has_accepted_nda: team.nda_accepted,
            };
            teams::create(writer, &input)
        })
        .await
    }

    /// Get a team
    ///
    /// Returns a team. A key with the scope `payments` is enough.
    #[get("/teams/{team_id}", routes::get("teams"))]
    async fn get_team(call: Call<PaymentReader>, team_id: Path<Uuid>) -> JsonResult<TeamOut> {
        resources::get(call, team_id.0).await
    }

    /// Update a team
    ///
    /// Changes a team. What exists stays: a team without the vendor role keeps its listings, and one without the buyer
    /// role its purchases.
    #[patch(
        "/teams/{team_id}",
        routes::change(
            "teams",
            Actor::Platform,
            &[
                EventType::TeamRenamed,
                EventType::TeamRolesChanged,
                EventType::TeamTierChanged,
                EventType::TeamAvatarChanged,
                EventType::TeamPayoutSetupChanged,
            ],
        ),
    )]
    async fn update_team(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        team_id: Path<Uuid>,
        #[example(json!({"tier": 2}))] body: Body<TeamPatch>,
    ) -> JsonResult<TeamOut> {
        changes::patch(call, if_match, team_id.0, body, update).await
    }

    /// Accept the mutual NDA
    ///
    /// Records that the team has accepted the mutual NDA. The time of the first acceptance stays.
    #[post(
        "/teams/{team_id}/accept-nda",
        routes::change("teams", Actor::Team, &[EventType::TeamNdaAccepted]),
    )]
    async fn accept_team_nda(change: Change, team_id: Path<Uuid>) -> JsonResult<TeamOut> {
        changes::transition(change, team_id, |writer, _, _, id: Uuid| {
            teams::accept_nda(writer, &id.to_string())
        })
        .await
    }

    /// Close a team
    ///
    /// Closes a team for good: ends its pending purchases, its offers, bids, and opportunities, archives its listings,
    /// revokes its keys and grants, and disables its webhooks. Its earnings stay payable. A team that owes a delivery cannot be closed.
    #[post(
        "/teams/{team_id}/close",
        routes::change(
            "teams",
            Actor::Platform,
            &[
                EventType::TeamClosed,
                EventType::PurchaseCancelled,
                EventType::OfferWithdrawn,
                EventType::OfferDeclined,
                EventType::ListingOffersDeclined,
                EventType::ProjectBidWithdrawn,
                EventType::ProjectBidDeclined,
                EventType::OpportunityClosed,
                EventType::OpportunityCancelled,
                EventType::ListingWithdrawn,
                EventType::ListingArchived,
                EventType::KeyRevoked,
                EventType::UploadGrantRevoked,
                EventType::WebhookDisabled,
            ],
        ),
    )]
    async fn close_team(change: Change, team_id: Path<Uuid>) -> JsonResult<TeamOut> {
        changes::transition(change, team_id, |writer, platform, actor, id: Uuid| {
            team_closures::close(writer, platform, actor, &id.to_string())
        })
        .await
    }
}

/// Changes the fields of a team that a body states.
fn update(writer: &mut Writer, platform: Platform, id: &Uuid, patch: TeamPatch) -> Result<()> {
    let team = id.to_string();
    if let Some(name) = patch.name.0 {
        teams::rename(writer, platform, &team, &name.0)?;
    }
    if let Some(roles) = patch.roles.0 {
        let roles = references::distinct("roles", roles.into_iter().map(|role| role.0).collect())?;
        teams::set_roles(writer, platform, &team, &roles)?;
    }
    if let Some(tier) = patch.tier.0 {
        teams::set_tier(writer, platform, &team, tier as u8)?;
    }
    match patch.avatar_url {
        MaybeUndefined::Undefined => {}
        MaybeUndefined::Null => drop(teams::set_avatar(writer, platform, &team, None)?),
        MaybeUndefined::Value(url) => drop(teams::set_avatar(writer, platform, &team, Some(&url.0))?),
    }
    match patch.payout_setup {
        MaybeUndefined::Undefined => Ok(()),
        MaybeUndefined::Null => teams::set_payout_setup(writer, platform, &team, None),
        MaybeUndefined::Value(text) => teams::set_payout_setup(writer, platform, &team, Some(&text.0)),
    }
}
