//! Random operations on teams: new ones join, others change, and a few are closed.

use marketplace::{
    domain::{
        assets::Exclusivity, changes::Change, codebase_fields::CodebaseChange, inventory::AssetChange,
        listings::Actor, opportunities::BidStatus, problems::Problems, teams::Role, time::Day,
    },
    error::{Error, Result},
    market::Writer,
    operations::{
        access::Platform,
        codebases, listing_drafts, task_changes, team_closures,
        teams::{self, TeamInput},
    },
    store,
};
use uuid::Uuid;

use super::{
    Done, Driver,
    listings::sold_listing,
    made::{Made, Owned},
    vendor,
};

/// Number of vendors, and of buyers, that remain.
const MIN_TEAMS: usize = 3;

/// What a new vendor sells and delivers.
#[derive(Default)]
struct Stock {
    codebases: Vec<Uuid>,
    listings: Vec<Uuid>,
    tasksets: Vec<Uuid>,
}

impl Driver<'_> {
    pub fn change_team(&mut self) -> Result<Done> {
        match self.random.below(20) {
            0..=4 => self.create_team(),
            5 | 6 => self.close_team(),
            7..=9 => self.set_roles(),
            10..=12 => {
                let id = self.pick(|made| &made.unsigned)?;
                self.write(|writer| teams::accept_nda(writer, &id.to_string()))?;
                self.made().unsigned.retain(|team| *team != id);
                Ok(("team.accept_nda", id))
            }
            _ => self.change_profile(),
        }
    }

    /// Creates a team. A vendor begins with codebases, listings that share them, and tasksets.
    fn create_team(&mut self) -> Result<Done> {
        let (is_vendor, is_buyer) = *self.random.pick(&[(true, false), (false, true), (true, true)]);
        let (has_accepted_nda, name) = (self.random.percent(50), format!("Team {:x}", self.random.next()));
        let input = TeamInput { name: &name, is_vendor, is_buyer, tier: 1, has_accepted_nda };
        let (id, stock) = self.write(|writer| {
            let id = teams::create(writer, &input)?;
            let stock = if is_vendor { create_stock(writer, id)? } else { Stock::default() };
            Ok((id, stock))
        })?;
        let mut made = self.made();
        if is_vendor {
            made.vendors.push(id);
        }
        if is_buyer {
            made.buyers.push(id);
        }
        if !has_accepted_nda {
            made.unsigned.push(id);
        }
        let owned = |ids: Vec<Uuid>| ids.into_iter().map(move |record| Owned { id: record, team: id });
        made.codebases.extend(owned(stock.codebases));
        made.listings.extend(owned(stock.listings));
        made.tasksets.extend(owned(stock.tasksets));
        Ok(("team.create", id))
    }

    /// Closes a team, unless too few would remain. This is refused if, and only if, the team owes a delivery or a
    /// decision about one.
    fn close_team(&mut self) -> Result<Done> {
        let deal = if self.random.percent(80) { self.pick(|made| &made.bids).ok() } else { None };
        // Nothing is accepted or delivered meanwhile.
        let mut made = self.made();
        let open: Vec<Uuid> = made.vendors.iter().chain(&made.buyers).copied().collect();
        let id = match deal {
            Some(deal) => *self.random.pick(&[deal.vendor, deal.buyer]),
            None => self.random_of(&open)?,
        };
        if !open.contains(&id) {
            return Err(Error::not_found("team that is not closed"));
        }
        let enough_remain = |teams: &[Uuid]| teams.iter().filter(|team| **team != id).count() >= MIN_TEAMS;
        if !enough_remain(&made.vendors) || !enough_remain(&made.buyers) {
            return Err(Error::not_found("team that can be spared"));
        }
        let (mut owes, name) = (false, id.to_string());
        let closed = self.write(|writer| {
            owes = owes_delivery(writer, &made, id)?;
            team_closures::close(writer, Platform::of_process(), Actor::Platform, &name)
        });
        match closed {
            Ok(_) => {
                assert!(!owes, "team {id} was closed, and owes a delivery");
                made.remove_team(id);
                Ok(("team.close", id))
            }
            Err(Error::Conflict(message)) => {
                assert!(owes, "team {id} was not closed, and owes nothing: {message}");
                Ok(("team.refuse_close", id))
            }
            Err(error) => panic!("team {id} was not closed: {error}"),
        }
    }

    fn set_roles(&mut self) -> Result<Done> {
        let choices = [vec![Role::Vendor], vec![Role::Buyer], vec![Role::Vendor, Role::Buyer]];
        let roles = self.random.pick(&choices).as_slice();
        let mut made = self.made();
        let teams: Vec<Uuid> = made.vendors.iter().chain(&made.buyers).copied().collect();
        let id = self.random_of(&teams)?;
        let enough_remain = |teams: &[Uuid], role| {
            roles.contains(&role) || teams.iter().filter(|team| **team != id).count() >= MIN_TEAMS
        };
        if !enough_remain(&made.vendors, Role::Vendor) || !enough_remain(&made.buyers, Role::Buyer) {
            return Err(Error::not_found("team that can be spared"));
        }
        self.write(|writer| teams::set_roles(writer, Platform::of_process(), &id.to_string(), roles))?;
        let Made { vendors, buyers, .. } = &mut *made;
        for (teams, role) in [(vendors, Role::Vendor), (buyers, Role::Buyer)] {
            teams.retain(|team| *team != id);
            if roles.contains(&role) {
                teams.push(id);
            }
        }
        Ok(("team.set_roles", id))
    }

    fn change_profile(&mut self) -> Result<Done> {
        let (platform, number) = (Platform::of_process(), self.random.next());
        let id = if self.random.percent(50) { self.any_vendor()? } else { self.any_buyer()? };
        let (choice, tier, text) = (self.random.below(4), 1 + (number % 3) as u8, format!("Team {number:x}"));
        let (team, url) = (id.to_string(), format!("https://teams.example/{number:x}.png"));
        self.write(|writer| match choice {
            0 => teams::rename(writer, platform, &team, &text).map(|_| ()),
            1 => teams::set_tier(writer, platform, &team, tier).map(|_| ()),
            2 => teams::set_avatar(writer, platform, &team, Some(&url)).map(|_| ()),
            _ => teams::set_payout_setup(writer, platform, &team, Some(&text)),
        })?;
        let names = ["team.rename", "team.set_tier", "team.set_avatar", "team.set_payout_setup"];
        Ok((names[choice as usize], id))
    }
}

/// Whether the bids say that a team has an accepted bid that it has not delivered yet, or that it has to decide
/// about a delivery.
fn owes_delivery(writer: &Writer, made: &Made, team: Uuid) -> Result<bool> {
    for deal in &made.bids {
        let status = store::opportunities::find_bid(writer.rows, deal.id)?.expect("a bid stays").status;
        let is_owed = deal.vendor == team && status == BidStatus::Accepted;
        if is_owed || deal.buyer == team && status == BidStatus::Delivered {
            return Ok(true);
        }
    }
    Ok(false)
}

fn create_stock(writer: &mut Writer, team: Uuid) -> Result<Stock> {
    let (vendor, domains) = (vendor(writer.rows, team)?, ["finance".to_owned()]);
    let mut stock = Stock::default();
    for _ in 0..3 {
        let day = |text| Day::parse(text).map_or(Change::Unchanged, Change::Set);
        let change = AssetChange {
            title: Some("Code".to_owned()),
            description: Change::Set("D".to_owned()),
            domain_tags: Some(domains.iter().cloned().map(Some).collect()),
            price_usd: Change::Set(40.0),
            codebase: CodebaseChange {
                exclusivity: Change::Set(Exclusivity::Available),
                lines_of_code: Change::Set(9),
                commits: Change::Set(2),
                contributors: Change::Set(1),
                merged_prs: Change::Set(0),
                history_start: day("2020-01-01"),
                history_end: day("2021-01-01"),
                ci_on_prs: Change::Set(false),
            },
            ..AssetChange::default()
        };
        let asset = codebases::check_new(&writer.check_context(), &vendor, change, Problems::default())?;
        stock.codebases.push(codebases::create(writer, &vendor, &asset, None)?.id);
    }
    for assets in stock.codebases.windows(2) {
        let fields = sold_listing("Listing", &domains);
        stock.listings.push(listing_drafts::create(writer, &vendor, Actor::Team, &fields, assets)?);
    }
    for name in ["First", "Second"] {
        stock.tasksets.push(task_changes::create_taskset(writer, &vendor, name, &[])?);
    }
    Ok(stock)
}
