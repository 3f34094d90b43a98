//! Random operations on API keys and upload grants. A model of the keys says which of them must work.

use std::sync::Mutex;

use marketplace::{
    domain::{
        assets::Exclusivity,
        principals::{KeyScope, Principal},
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Market, Requester},
    operations::{
        access::{Authenticated, Platform},
        grants::{self, GrantInput},
        keys,
    },
    store,
};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::{Done, Driver, Made};

/// Microseconds per hour.
const HOUR: i64 = 3_600_000_000;

/// An API key, and what must hold for it.
#[derive(Clone, Debug)]
pub struct Secret {
    pub id: Uuid,
    /// Its team; `None` for the key of an operator.
    pub team: Option<Uuid>,
    pub text: String,
    /// Time from which it is expired.
    pub expires_at: Option<Timestamp>,
    /// Whether another key has replaced it.
    pub is_rotated: bool,
    /// Whether it was revoked, or its team was closed.
    pub is_revoked: bool,
}

impl Secret {
    /// Whether the key must work at any of these times; `None` if at some and not at others.
    fn works(&self, from: Timestamp, to: Timestamp) -> Option<bool> {
        let works_at = |at| !self.is_revoked && self.expires_at.is_none_or(|end| at < end);
        (works_at(from) == works_at(to)).then(|| works_at(to))
    }

    /// Whether authentication accepts the key. Checks that it does exactly if it must.
    fn check(&self, market: &Market, runtime: &Runtime) -> bool {
        let from = market.clock().now();
        let proof = runtime.block_on(Authenticated::authenticate(market, Requester::process(), &self.text));
        let must_work = self.works(from, market.clock().now());
        match &proof {
            Ok(proof) => assert_eq!(self.team, team_of(market, proof.principal()), "{self:?}"),
            Err(Error::Unauthorized(_)) => {}
            Err(error) => panic!("{error}: {self:?}"),
        }
        assert!(must_work.is_none_or(|works| works == proof.is_ok()), "works: {}, {self:?}", proof.is_ok());
        proof.is_ok()
    }
}

fn team_of(market: &Market, principal: Principal) -> Option<Uuid> {
    match principal {
        Principal::Team(row_id) => {
            let find = |reader: &marketplace::market::Reader| {
                store::teams::find_by_row_id(reader.rows, row_id).map(|team| team.id)
            };
            Some(market.read_blocking(find).unwrap())
        }
        Principal::Operator(_) => None,
    }
}

/// Checks that all keys work or do not, as they must.
pub fn check_keys(market: &Market, made: &Mutex<Made>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for key in &made.lock().unwrap().keys {
        key.check(market, &runtime);
    }
}

impl Driver<'_> {
    /// Creates, changes, or uses a key. Nobody else changes a key meanwhile, so that the model is right.
    pub fn use_keys(&mut self) -> Result<Done> {
        match self.random.below(13) {
            0..=2 => self.create_key(),
            3..=5 => self.rotate_key(),
            6 | 7 => self.change_expiry(),
            8 | 9 => self.revoke_key(),
            _ => {
                let made = self.made();
                let index = self.pick_index(made.keys.len())?;
                let key = &made.keys[index];
                let is_accepted = key.check(self.market, &self.runtime);
                Ok((if is_accepted { "key.use" } else { "key.refuse_use" }, key.id))
            }
        }
    }

    /// Returns a random time of expiry, or none.
    fn random_expiry(&mut self, percent: u64) -> Option<i64> {
        self.random.percent(percent).then(|| (1 + self.random.below(200) as i64) * HOUR)
    }

    fn create_key(&mut self) -> Result<Done> {
        let mut made = self.made();
        let is_of_operator = self.random.percent(30);
        let teams: Vec<Uuid> = made.vendors.iter().chain(&made.buyers).copied().collect();
        let team = self.random_of(&teams)?;
        let lifetime = self.random_expiry(40);
        let (expires_at, (id, text)) = self.write(|writer| {
            let expires_at = lifetime.map(|lifetime| writer.now.plus_micros(lifetime));
            let created = if is_of_operator {
                keys::create_for_operator(writer, Platform::of_process(), "ci", KeyScope::All, expires_at)
            } else {
                keys::create(writer, &team.to_string(), "ci", expires_at)
            };
            Ok((expires_at, created?))
        })?;
        let team = (!is_of_operator).then_some(team);
        made.keys.push(Secret { id, team, text, expires_at, is_rotated: false, is_revoked: false });
        Ok((if is_of_operator { "key.create_for_operator" } else { "key.create" }, id))
    }

    /// Rotates a key. Both keys work then, the replaced one until the overlap ends.
    fn rotate_key(&mut self) -> Result<Done> {
        let mut made = self.made();
        let index = self.pick_index(made.keys.len())?;
        let (replaced, lifetime) = (made.keys[index].clone(), self.random_expiry(20));
        let (now, expires_at, (id, text)) = self.write(|writer| {
            let expires_at = lifetime.map(|lifetime| writer.now.plus_micros(lifetime));
            let created = keys::rotate(writer, Platform::of_process(), replaced.id, expires_at)?;
            let times = store::keys::find(writer.rows, created.0)?.expect("the key was created");
            Ok((writer.now, times.expires_at, created))
        })?;
        assert_eq!((replaced.works(now, now), replaced.is_rotated), (Some(true), false), "{replaced:?}");
        let overlap = i64::from(self.market.settings().keys.rotation_overlap_hours) * HOUR;
        let end = now.plus_micros(overlap);
        let old = &mut made.keys[index];
        old.is_rotated = true;
        old.expires_at = Some(old.expires_at.map_or(end, |earlier| earlier.min(end)));
        old.check(self.market, &self.runtime);
        let new = Secret { id, text, expires_at, ..replaced };
        new.check(self.market, &self.runtime);
        made.keys.push(new);
        Ok(("key.rotate", id))
    }

    fn change_expiry(&mut self) -> Result<Done> {
        let mut made = self.made();
        let index = self.pick_index(made.keys.len())?;
        let (id, lifetime) = (made.keys[index].id, self.random_expiry(60));
        let (now, expires_at) = self.write(|writer| {
            let expires_at = lifetime.map(|lifetime| writer.now.plus_micros(lifetime));
            keys::change_expiry(writer, Platform::of_process(), id, expires_at)?;
            Ok((writer.now, expires_at))
        })?;
        let key = &mut made.keys[index];
        assert_eq!((key.works(now, now), key.is_rotated), (Some(true), false), "{key:?}");
        key.expires_at = expires_at;
        Ok(("key.change_expiry", id))
    }

    fn revoke_key(&mut self) -> Result<Done> {
        let mut made = self.made();
        let index = self.pick_index(made.keys.len())?;
        let id = made.keys[index].id;
        let now = self.write(|writer| keys::revoke(writer, id).map(|()| writer.now))?;
        let key = &mut made.keys[index];
        assert_eq!(key.works(now, now), Some(true), "{key:?}");
        key.is_revoked = true;
        Ok(("key.revoke", id))
    }

    /// Creates an upload grant, or revokes one.
    pub fn use_grants(&mut self) -> Result<Done> {
        if self.random.percent(30) {
            let team = self.any_vendor()?;
            let (grant, id) = self.write(|writer| {
                let input = GrantInput {
                    team: &team.to_string(),
                    title: "Code",
                    exclusivity: Exclusivity::Available,
                    group: None,
                    max_bytes: None,
                };
                let (grant, _) = grants::create(writer, &input)?;
                let found = store::grants::find_by_row_id(writer.rows, grant)?;
                Ok((grant, found.expect("the grant was created").id))
            })?;
            self.made().grants.push(grant);
            return Ok(("grant.create", id));
        }
        // Grants expire so soon that only the newest is likely to be open.
        let newest = if self.random.percent(60) { self.made().grants.last().copied() } else { None };
        let grant = newest.map_or_else(|| self.pick(|made| &made.grants), Ok)?;
        let id = self.write(|writer| {
            grants::revoke(writer, grant)?;
            let found = store::grants::find_by_row_id(writer.rows, grant)?;
            Ok(found.expect("the grant was revoked").id)
        })?;
        Ok(("grant.revoke", id))
    }
}
