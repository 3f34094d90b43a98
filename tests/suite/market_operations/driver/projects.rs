//! Random opportunities, project bids, and estimations.

use std::collections::BTreeMap;

use marketplace::{
    domain::{
        assets::{Kind, RepositoryChannel},
        changes::Change,
        collections::Collection,
        estimation_requests::{EstimationRequest, Reading},
        estimations::RepositoryMetrics,
        listings::Actor,
        opportunities::{OpportunityKind, OpportunityMetadata, VisibilityMode},
        opportunity_fields::{OpportunityChange, OpportunityFields},
        project_bids::BidFields,
        row_ids::EstimationRowId,
    },
    error::{Error, Result},
    operations::{access::Platform, estimations, opportunities, project_bids},
    store,
};
use uuid::Uuid;

use super::{
    Done, Driver, buyer,
    made::{Deal, Owned},
    vendor,
};

impl Driver<'_> {
    pub fn change_opportunity(&mut self) -> Result<Done> {
        if self.random.percent(25) {
            return self.create_opportunity();
        }
        let (Owned { id, team: owner }, kind) = self.pick(|made| &made.opportunities)?;
        let (owner, excluded) = (self.buyer_or_other(owner)?, self.any_vendor()?);
        let (choice, days) = (self.random.below(12), 50 + self.random.below(20) as i64);
        let is_only_deadline = self.random.percent(70);
        self.write(|writer| {
            let (buyer, of) = (buyer(writer.rows, owner)?, (id, kind));
            match choice {
                0 => opportunities::close(writer, &buyer, Actor::Team, of),
                1 => opportunities::cancel(writer, &buyer, Actor::Team, of),
                2 => opportunities::exclude(writer, &buyer, Actor::Team, of, &[excluded]),
                3 => {
                    let change = OpportunityChange {
                        title: (!is_only_deadline).then(|| "Other title".to_owned()),
                        deadline: Change::Set(writer.now.plus_days(days)),
                        ..OpportunityChange::default()
                    };
                    opportunities::update(writer, &buyer, Actor::Team, of, change)
                }
                _ => opportunities::publish(writer, &buyer, Actor::Team, of),
            }
        })?;
        let names = ["opportunity.close", "opportunity.cancel", "opportunity.exclude", "opportunity.update"];
        Ok((names.get(choice as usize).unwrap_or(&"opportunity.publish"), id))
    }

    fn create_opportunity(&mut self) -> Result<Done> {
        let (owner, days) = (self.any_buyer()?, 1 + self.random.below(60) as i64);
        let is_project = self.random.percent(75);
        let kind = if is_project { OpportunityKind::Project } else { OpportunityKind::Listing };
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
        self.made().opportunities.push((Owned { id, team: owner }, kind));
        Ok(("opportunity.create", id))
    }

    pub fn bid_on_project(&mut self) -> Result<Done> {
        if self.random.percent(40) {
            return self.submit_bid();
        }
        let Deal { id, vendor: bidder, buyer: owner } = self.pick(|made| &made.bids)?;
        let (bidder, owner) = (self.vendor_or_other(bidder)?, self.buyer_or_other(owner)?);
        let (choice, tasksets) = (self.random.below(12), self.tasksets_to_deliver(bidder)?);
        self.write(|writer| match choice {
            0 => project_bids::withdraw(writer, &vendor(writer.rows, bidder)?, Actor::Team, id),
            1 => project_bids::decline(writer, &buyer(writer.rows, owner)?, Actor::Team, id),
            2..=5 => project_bids::accept(writer, &buyer(writer.rows, owner)?, Actor::Team, id),
            6..=8 => project_bids::deliver(writer, &vendor(writer.rows, bidder)?, Actor::Team, id, &tasksets),
            _ => project_bids::complete(writer, &buyer(writer.rows, owner)?, Actor::Team, id),
        })?;
        let name = match choice {
            0 => "project_bid.withdraw",
            1 => "project_bid.decline",
            2..=5 => "project_bid.accept",
            6..=8 => "project_bid.deliver",
            _ => "project_bid.complete",
        };
        Ok((name, id))
    }

    fn submit_bid(&mut self) -> Result<Done> {
        let bidder = self.any_vendor()?;
        let (opportunity, _) = self.pick(|made| &made.opportunities)?;
        let id = self.write(|writer| {
            let vendor = vendor(writer.rows, bidder)?;
            let fields = BidFields { num_tasks: 5, attachments: Vec::new(), expected_timeline_days: Some(9) };
            let id = writer.new_id(Collection::ProjectBids);
            project_bids::submit(writer, &vendor, Actor::Team, id, opportunity.id, &fields).map(|bid| bid.id)
        })?;
        self.made().bids.push(Deal { id, vendor: bidder, buyer: opportunity.team });
        Ok(("project_bid.submit", id))
    }

    /// Returns tasksets to deliver: usually those of the vendor, sometimes none, or those of another one.
    fn tasksets_to_deliver(&mut self, vendor: Uuid) -> Result<Vec<Uuid>> {
        let vendor = self.vendor_or_other(vendor)?;
        let made = self.made();
        let own = made.tasksets.iter().filter(|taskset| taskset.team == vendor);
        let ids: Vec<Uuid> = own.map(|taskset| taskset.id).collect();
        Ok(self.random.sample(&ids, 90))
    }

    /// Requests an estimation, or ends one as its job does.
    pub fn estimate(&mut self) -> Result<Done> {
        let requester = self.any_vendor()?;
        if self.random.percent(50) {
            let sku = *self.random.pick(&[Kind::Codebase, Kind::Environment]);
            let request = EstimationRequest {
                sku,
                channel: RepositoryChannel::Github,
                repo_full_name: "acme/ledger".to_owned(),
                inventory_asset_id: None,
            };
            let id = self.write(|writer| {
                let vendor = vendor(writer.rows, requester)?;
                let ids = (writer.new_id(Collection::Estimations), requester);
                estimations::request(writer, &vendor, Actor::Team, ids, &request).map(|made| made.id)
            })?;
            // Row IDs of estimations are consecutive.
            let mut made = self.made();
            let row_id = EstimationRowId(made.estimations.len() as i64 + 1);
            made.estimations.push(row_id);
            return Ok(("estimation.request", id));
        }
        let row_id = self.pick(|made| &made.estimations)?;
        let reading = match self.random.below(3) {
            0 => Reading::NoRates,
            1 => Reading::Failed("The repository could not be read.".to_owned()),
            _ => Reading::Measured(RepositoryMetrics {
                lines_of_code: 900,
                commits: 20,
                contributors: 2,
                languages: BTreeMap::new(),
            }),
        };
        let id = self.write(|writer| {
            let pending = store::estimations::find_pending(writer.rows, row_id)?;
            let id = pending.ok_or_else(|| Error::not_found("pending estimation"))?.estimation.id;
            estimations::complete(writer, Platform::of_process(), row_id, reading).map(|()| id)
        })?;
        Ok(("estimation.complete", id))
    }
}
