//! Who holds parts of the limits of a server.

use crate::{domain::principals::Principal, http_server::fair_limit, market::MarketId};

/// A principal of a market, which has a share of each limit.
pub type ShareOwner = (MarketId, Principal);

/// Who holds a part of a limit.
pub type Holder = fair_limit::Holder<ShareOwner>;

/// A limit that principals and client networks share fairly.
pub type FairLimit = fair_limit::FairLimit<ShareOwner>;

pub use fair_limit::Maxima;

/// A held part of a limit.
pub type FairPermit = fair_limit::FairPermit<ShareOwner>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{row_ids::KeyRowId, teams::TeamRowId};

    #[test]
    fn team_and_operator_key_with_equal_row_ids_have_separate_shares() {
        let limit = FairLimit::new(8, 2, 0);
        let holder = |principal| [Some(Holder::Principal((MarketId(0), principal))), None];
        let (team, operator) = (Principal::Team(TeamRowId(1)), Principal::Operator(KeyRowId(1)));
        let held =
            (limit.try_acquire(holder(team), 2).unwrap(), limit.try_acquire(holder(operator), 2).unwrap());
        assert!(limit.try_acquire(holder(operator), 1).is_none(), "the operator has its share");
        drop(held);
    }
}
