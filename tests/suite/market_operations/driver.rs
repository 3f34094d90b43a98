//! Performs random operations on a market, as its teams and as the platform.

use std::sync::Mutex;

use marketplace::{
    clock::fixture_record_id,
    domain::{
        collections::Collection,
        listing_lifecycle::Operation,
        listings::Actor,
        money::Cents,
        opportunities::{OpportunityKind, OpportunityMetadata, VisibilityMode},
        opportunity_fields::OpportunityFields,
        project_bids::BidFields,
        purchases::{PayWith, PurchaseKind},
        teams::Team,
    },
    error::{Error, Result, StateCode},
    fixtures::{self, FixtureSet},
    market::{Market, Writer},
    operations::{
        access::{Buyer, Platform, Vendor},
        certifications, credit_purchases, listing_lifecycle,
        offers::{self, OfferInput},
        opportunities, project_bids,
        purchases::{self, PurchaseInput},
        wallet, withdrawals,
    },
    store::{self, listings::ListingFields},
    string_enum::StringEnum,
};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use uuid::Uuid;

use crate::harness::{self, listings::listing_fields, random::Random};

/// Teams that sell; the second one also buys.
pub const VENDORS: [&str; 2] = ["seller", "both"];
/// Teams that buy; the first one also sells.
pub const BUYERS: [&str; 3] = ["both", "buyer", "other"];
/// Codebases of each vendor, which its listings share.
const CODEBASES: usize = 4;
/// Listings of each vendor.
const LISTINGS: usize = 5;

/// The IDs of what was made so far, by any thread.
#[derive(Debug, Default)]
pub struct Made {
    offers: Vec<Uuid>,
    purchases: Vec<Uuid>,
    withdrawals: Vec<Uuid>,
    opportunities: Vec<(Uuid, OpportunityKind)>,
    bids: Vec<Uuid>,
}

impl Made {
    /// Returns the IDs of all records of a market.
    pub fn load(market: &Market) -> Made {
        let path = market.data_dir().join("market.sqlite");
        let rows = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let ids = |table: &str| {
            let mut statement = rows.prepare(&format!("SELECT uuid FROM {table}")).unwrap();
            let ids = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
            ids.map(|id| Uuid::from_slice(&id.unwrap()).unwrap()).collect()
        };
        Made {
            offers: ids("offers"),
            purchases: ids("purchases"),
            withdrawals: ids("withdrawals"),
            ..Made::default()
        }
    }
}

/// Writes the teams, the codebases, and the listings that operations start with. Some listings are exclusive.
pub fn prepare(market: &Market) {
    fixtures::seed_taxonomy(market).unwrap();
    let team = |key: &str, roles: &[&str]| {
        json!({"key": key, "name": key, "roles": roles, "tier": 1, "nda_accepted_at": "-P99D",
            "created_at": "-P99D"})
    };
    let mut set = json!({
        "teams": [team("seller", &["vendor"]), team("both", &["vendor", "buyer"]), team("buyer", &["buyer"]),
            team("other", &["buyer"])],
        "assets": [], "listings": [],
    });
    for vendor in VENDORS {
        for number in 0..CODEBASES {
            set["assets"].as_array_mut().unwrap().push(json!({
                "key": format!("{vendor}-c{number}"), "team": vendor, "sku": "codebase", "title": "Code",
                "description": "D", "domain_tags": ["finance"], "price_usd": 40, "created_at": "-P95D",
                "codebase": {"exclusivity": "available", "lines_of_code": 9, "commits": 2, "contributors": 1,
                    "merged_prs": 0, "history_start": "2020-01-01", "history_end": "2021-01-01",
                    "ci_on_prs": false},
            }));
        }
        for number in 0..LISTINGS {
            let assets: Vec<_> =
                (0..2).map(|next| format!("{vendor}-c{}", (number + next) % CODEBASES)).collect();
            set["listings"].as_array_mut().unwrap().push(json!({
                "key": format!("{vendor}-l{number}"), "team": vendor, "title": "Listing", "description": "D",
                "price_usd": 90, "sample_price_usd": number, "accepts_bids": true, "assets": assets,
                "created_at": "-P90D", "history": [
                    {"event": "submitted", "at": "-P80D"}, {"event": "approved", "at": "-P79D"}],
            }));
        }
    }
    let set = FixtureSet::parse("operations", &[("set.json".to_owned(), set.to_string())]).unwrap();
    fixtures::seed(market, &set).unwrap();
}

/// The ID of a seeded listing.
fn listing_id(random: &mut Random) -> (&'static str, Uuid) {
    let vendor = *random.pick(&VENDORS);
    let number = random.below(LISTINGS as u64);
    (vendor, fixture_record_id("listings", &format!("{vendor}-l{number}")))
}

fn team(rows: &store::Reader, key: &str) -> Result<Team> {
    Ok(store::teams::find(rows, fixture_record_id("teams", key))?.expect("the team was seeded"))
}

fn vendor(rows: &store::Reader, key: &str) -> Result<Vendor> {
    Platform::of_process().vendor(team(rows, key)?)
}

fn buyer(rows: &store::Reader, key: &str) -> Result<Buyer> {
    Platform::of_process().buyer(team(rows, key)?)
}

/// Performs random operations. Operations that a rule refuses change nothing; any other error is a defect.
pub struct Driver<'a> {
    market: &'a Market,
    made: &'a Mutex<Made>,
    pub random: Random,
}

impl<'a> Driver<'a> {
    pub const fn new(market: &'a Market, made: &'a Mutex<Made>, random: Random) -> Driver<'a> {
        Driver { market, made, random }
    }

    /// Performs one operation. Returns its name, and the ID of its record.
    pub fn act(&mut self) -> Result<(&'static str, Uuid)> {
        match self.random.below(12) {
            0..=2 => self.change_listing(),
            3 | 4 => self.trade_by_offer(),
            5..=7 => self.trade(),
            8 | 9 => self.move_money(),
            10 => self.change_opportunity(),
            _ => self.bid_on_project(),
        }
    }

    /// Runs an operation in a transaction.
    fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.market.write_blocking(work).inspect_err(|error| match error {
            Error::Internal(cause) => panic!("an operation failed: {cause:?}"),
            Error::InvalidState(StateCode::RunInProgress, _) => panic!("{error}"),
            _ => {}
        })
    }

    /// Returns one of the records that were made, if there is any.
    fn pick<T: Copy>(&mut self, records: fn(&mut Made) -> &mut Vec<T>) -> Result<T> {
        let mut made = self.made.lock().unwrap();
        let records = records(&mut made);
        if records.is_empty() { Err(Error::not_found("record")) } else { Ok(*self.random.pick(records)) }
    }

    pub fn change_listing(&mut self) -> Result<(&'static str, Uuid)> {
        let (seller, id) = listing_id(&mut self.random);
        let (is_exclusive, changes_texts) = (self.random.percent(30), self.random.percent(20));
        let place = 1 + self.random.below(10) as u32;
        let title = if changes_texts { "Other title" } else { "Listing" };
        let fields = ListingFields {
            description: "D",
            price: Some(Cents(9_000)),
            sample_price: Some(Cents(self.random.below(3) as i64)),
            accepts_bids: true,
            is_exclusive,
            ..listing_fields(title)
        };
        // What leads to the catalog is done more often than what leads out of it.
        let operation = match self.random.below(20) {
            0..=3 => Operation::Submit,
            4..=7 => Operation::Approve,
            8..=11 => Operation::Publish,
            12 => *self.random.pick(&[Operation::Unpublish, Operation::Archive]),
            13 | 14 => Operation::Restore,
            15 => *self.random.pick(&[Operation::Withdraw, Operation::RequestChanges, Operation::Certify]),
            16 => *self.random.pick(&[Operation::Revoke, Operation::Feature, Operation::Unfeature]),
            _ => Operation::UpdateTexts,
        };
        let platform = Platform::of_process();
        self.write(|writer| match operation {
            Operation::UpdateTexts => {
                let vendor = vendor(writer.rows, seller)?;
                listing_lifecycle::update(writer, &vendor, Actor::Team, id, &fields)
            }
            Operation::Feature => listing_lifecycle::feature(writer, platform, Actor::Platform, id, place),
            Operation::Certify => certifications::certify(writer, platform, Actor::Platform, id),
            other => harness::listing_lifecycle::perform(writer, id, other),
        })?;
        Ok((operation.as_str(), id))
    }

    pub fn trade_by_offer(&mut self) -> Result<(&'static str, Uuid)> {
        let (bidder, pay_with) = (*self.random.pick(&BUYERS), *self.random.pick(PayWith::ALL));
        let amount = Cents(1 + self.random.below(12_000) as i64);
        if self.random.percent(40) {
            let (_, listing) = listing_id(&mut self.random);
            let input = OfferInput { listing, amount, pay_with };
            let id = self.write(|writer| {
                let buyer = buyer(writer.rows, bidder)?;
                offers::submit(writer, &buyer, Actor::Team, &input)
            })?;
            self.made.lock().unwrap().offers.push(id);
            return Ok(("offer", id));
        }
        let (id, seller) = (self.pick(|made| &mut made.offers)?, *self.random.pick(&VENDORS));
        let choice = self.random.below(6);
        let purchase = self.write(|writer| {
            let (vendor, buyer) = (vendor(writer.rows, seller)?, buyer(writer.rows, bidder)?);
            match choice {
                0 => offers::withdraw(writer, &buyer, Actor::Team, id).map(|()| None),
                1 => offers::decline(writer, &vendor, Actor::Team, id).map(|()| None),
                2 => {
                    let (amount, pay_with) = (Some(amount), Some(pay_with));
                    offers::change(writer, &buyer, Actor::Team, id, amount, pay_with).map(|()| None)
                }
                _ => offers::accept(writer, &vendor, Actor::Team, id).map(Some),
            }
        })?;
        self.made.lock().unwrap().purchases.extend(purchase);
        Ok(("decide", id))
    }

    pub fn trade(&mut self) -> Result<(&'static str, Uuid)> {
        let platform = Platform::of_process();
        if self.random.percent(50) {
            let (bought_by, pay_with) = (*self.random.pick(&BUYERS), *self.random.pick(PayWith::ALL));
            let (seller, listing) = listing_id(&mut self.random);
            let kind = *self.random.pick(&[PurchaseKind::Full, PurchaseKind::Full, PurchaseKind::Sample]);
            let selected = format!("{seller}-c{}", self.random.below(CODEBASES as u64));
            let selected = [fixture_record_id("assets", &selected)];
            let asset_ids = self.random.percent(25).then_some(selected.as_slice());
            let input = PurchaseInput { listing, kind, asset_ids, pay_with };
            let purchase = self.write(|writer| {
                let buyer = buyer(writer.rows, bought_by)?;
                purchases::create(writer, &buyer, Actor::Team, &input)
            })?;
            self.made.lock().unwrap().purchases.push(purchase.id);
            return Ok(("purchase", purchase.id));
        }
        let (id, choice) = (self.pick(|made| &mut made.purchases)?, self.random.below(4));
        self.write(|writer| match choice {
            0 => purchases::cancel(writer, platform, Actor::Platform, id),
            1 => purchases::refund(writer, platform, Actor::Platform, id).map(|_| ()),
            _ => purchases::complete(writer, platform, Actor::Platform, id).map(|_| ()),
        })?;
        Ok((["cancel", "refund", "complete", "complete"][choice as usize], id))
    }

    /// Buys, adjusts, and converts credits, and withdraws earnings.
    pub fn move_money(&mut self) -> Result<(&'static str, Uuid)> {
        let platform = Platform::of_process();
        let (seller, payer) = (*self.random.pick(&VENDORS), *self.random.pick(&BUYERS));
        let amount = Cents(1 + self.random.below(20_000) as i64);
        let choice = self.random.below(8);
        match choice {
            0..=2 => self.write(|writer| {
                let member = platform.member(team(writer.rows, payer)?)?;
                credit_purchases::create(writer, &member, Actor::Team, amount)
                    .map(|purchase| ("buy_credits", purchase.id))
            }),
            3 => self.write(|writer| {
                let (team, amount) = (team(writer.rows, payer)?, Cents(amount.0 - 10_000));
                wallet::adjust(writer, platform, Actor::Platform, &team, amount, "Correction")?;
                Ok(("adjust", team.id))
            }),
            4 => self.write(|writer| {
                let vendor = vendor(writer.rows, seller)?;
                wallet::convert(writer, &vendor, Actor::Team, amount)?;
                Ok(("convert", vendor.team().id))
            }),
            5 | 6 => {
                let id = self.write(|writer| {
                    let vendor = vendor(writer.rows, seller)?;
                    withdrawals::create(writer, &vendor, Actor::Team, amount).map(|made| made.id)
                })?;
                self.made.lock().unwrap().withdrawals.push(id);
                Ok(("withdraw", id))
            }
            _ => {
                let (id, is_paid) = (self.pick(|made| &mut made.withdrawals)?, self.random.percent(50));
                self.write(|writer| {
                    if is_paid {
                        withdrawals::mark_paid(writer, platform, Actor::Platform, id)
                    } else {
                        withdrawals::mark_failed(writer, platform, Actor::Platform, id)
                    }
                })?;
                Ok(("end_withdrawal", id))
            }
        }
    }

    fn change_opportunity(&mut self) -> Result<(&'static str, Uuid)> {
        let owner = *self.random.pick(&BUYERS);
        let kind = *self.random.pick(OpportunityKind::ALL);
        if self.random.percent(30) {
            let days = 1 + self.random.below(20) as i64;
            let id = self.write(|writer| {
                let buyer = buyer(writer.rows, owner)?;
                let fields = OpportunityFields {
                    title: "Wanted".to_owned(),
                    description: "D".to_owned(),
                    accepted_asset_types: Vec::new(),
                    metadata: OpportunityMetadata::default(),
                    visibility: VisibilityMode::AllVendors,
                    excluded_team_ids: Vec::new(),
                    deadline: Some(writer.now.plus_days(days)),
                    evaluation_date: None,
                };
                let id = writer.new_id(Collection::Opportunities);
                opportunities::create(writer, &buyer, Actor::Team, (id, kind), &fields).map(|made| made.id)
            })?;
            self.made.lock().unwrap().opportunities.push((id, kind));
            return Ok(("opportunity", id));
        }
        let (id, kind) = self.pick(|made| &mut made.opportunities)?;
        let choice = self.random.below(6);
        self.write(|writer| {
            let (buyer, of) = (buyer(writer.rows, owner)?, (id, kind));
            match choice {
                0 => opportunities::close(writer, &buyer, Actor::Team, of),
                1 => opportunities::cancel(writer, &buyer, Actor::Team, of),
                2 => opportunities::exclude(
                    writer,
                    &buyer,
                    Actor::Team,
                    of,
                    &[fixture_record_id("teams", "seller")],
                ),
                _ => opportunities::publish(writer, &buyer, Actor::Team, of),
            }
        })?;
        Ok(("change_opportunity", id))
    }

    fn bid_on_project(&mut self) -> Result<(&'static str, Uuid)> {
        let (bidder, owner) = (*self.random.pick(&VENDORS), *self.random.pick(&BUYERS));
        if self.random.percent(40) {
            let (opportunity, _) = self.pick(|made| &mut made.opportunities)?;
            let id = self.write(|writer| {
                let vendor = vendor(writer.rows, bidder)?;
                let fields =
                    BidFields { num_tasks: 5, attachments: Vec::new(), expected_timeline_days: Some(9) };
                let id = writer.new_id(Collection::ProjectBids);
                project_bids::submit(writer, &vendor, Actor::Team, id, opportunity, &fields).map(|bid| bid.id)
            })?;
            self.made.lock().unwrap().bids.push(id);
            return Ok(("bid", id));
        }
        let (id, choice) = (self.pick(|made| &mut made.bids)?, self.random.below(8));
        self.write(|writer| {
            let (vendor, buyer) = (vendor(writer.rows, bidder)?, buyer(writer.rows, owner)?);
            match choice {
                0 => project_bids::withdraw(writer, &vendor, Actor::Team, id),
                1 => project_bids::decline(writer, &buyer, Actor::Team, id),
                2..=4 => project_bids::accept(writer, &buyer, Actor::Team, id),
                _ => project_bids::complete(writer, &buyer, Actor::Team, id),
            }
        })?;
        Ok(("decide_bid", id))
    }
}
