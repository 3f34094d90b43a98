//! A visit of a page: who visits it, with what proof of access, and what was asked for.

use std::{ops::Deref, sync::Arc};

use uuid::Uuid;

use super::{
    address::{Links, Query},
    forms::{Fields, Inputs, OPENED_BY_FIELD},
    navigation::PageTable,
    paths,
    session::SignedIn,
};
use crate::{
    domain::{
        sessions::{SessionPreferences, TeamSide},
        teams::Team,
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Market, Reader, Requester},
    operations::access::{ActingOperator, sessions},
    web::{auth::Policy, served_market::ServedMarket},
};

/// A proof of access that pages can require.
pub trait Proof: Policy + Clone + 'static {}

impl<A: Policy + Clone + 'static> Proof for A {}

/// A visit of a page by somebody who has the required access. `A` is the proof of it.
pub struct Visit<A> {
    /// The proof of access.
    pub access: A,
    /// The rest of the visit, which does not depend on the kind of the proof.
    pub context: Arc<Context>,
}

impl<A> Deref for Visit<A> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

/// What is known about a visit besides the proof of access.
pub struct Context {
    /// The market that is served.
    pub served: Arc<ServedMarket>,
    /// The addresses of its pages.
    pub links: Links,
    /// The base URL of addresses that people copy, such as those of requests.
    pub base_url: String,
    /// The path below [`PREFIX`](super::address::PREFIX).
    pub path: String,
    /// The values of the parameters of the path.
    pub parameters: Vec<String>,
    /// The query.
    pub query: Query,
    /// Whether the request sends a form.
    pub sends_form: bool,
    /// Who visits the page; `None` on pages that everybody may see.
    pub signed_in: Option<SignedIn>,
    /// Who pays for reads and writes.
    pub requester: Requester,
    /// ID of the request.
    pub request_id: String,
    /// What the fields of the page's forms show.
    pub inputs: Inputs,
    /// All pages.
    pub pages: PageTable,
}

impl Context {
    /// Whether the visitor is an operator that may make changes, and not only read.
    pub fn may_act(&self) -> bool {
        let signed_in = self.signed_in.as_ref();
        signed_in.is_some_and(|signed_in| ActingOperator::authorize(signed_in.authenticated.clone()).is_ok())
    }

    /// Returns the market.
    pub fn market(&self) -> &Market {
        self.served.market()
    }

    /// Returns the time of the market.
    pub fn now(&self) -> Timestamp {
        self.market().clock().now()
    }

    /// Returns the team that visits the page; `None` for operators and strangers.
    pub fn team(&self) -> Option<&Team> {
        self.signed_in.as_ref().and_then(|signed_in| signed_in.authenticated.team()).map(Arc::as_ref)
    }

    /// Returns the side of a team with both roles that pages are shown for; `None` for other visitors.
    pub fn side(&self) -> Option<TeamSide> {
        self.team().filter(|team| team.is_buyer && team.is_vendor)?;
        let chosen = self.signed_in.as_ref().and_then(|signed_in| signed_in.session.preferences.side);
        Some(chosen.unwrap_or(TeamSide::Buyer))
    }

    /// Returns the path of the first page of a team with a role: that of its side.
    pub fn home(&self) -> &'static str {
        let sells = self.team().is_some_and(|team| team.is_vendor);
        if sells && self.side() != Some(TeamSide::Buyer) { paths::SELLING } else { paths::CATALOG }
    }

    /// Whether the visitor can open the page with this path, without parameters.
    pub fn has_page(&self, path: &str) -> bool {
        self.signed_in.is_some() && self.pages.of(self.team()).any(|page| page.path == path)
    }

    /// Returns whom the forms of the page belong to: a team, by its ID, or the operators.
    pub fn opened_by(&self) -> String {
        self.team().map_or_else(|| "operator".to_owned(), |team| team.id.to_string())
    }

    /// Fails if somebody else opened the page of a form. A form that does not say who comes from no page.
    pub fn check_opened_by(&self, fields: &Fields) -> Result<()> {
        if fields.get(OPENED_BY_FIELD).is_none_or(|opened_by| opened_by == self.opened_by()) {
            return Ok(());
        }
        let name = self.team().map_or("an operator", |team| team.name.as_str());
        let message = format!(
            "You are now signed in as {name}, but somebody else had opened this form. Nothing was saved."
        );
        Err(Error::Conflict(message))
    }

    /// Changes what the visitor has chosen for the session.
    pub async fn set_preferences(
        &self,
        change: impl FnOnce(SessionPreferences) -> SessionPreferences,
    ) -> Result<()> {
        let signed_in = self.signed_in.as_ref().ok_or_else(|| Error::internal("a form without a session"))?;
        let session = signed_in.session.clone();
        let preferences = change(session.preferences);
        let set = move |market: &Market| sessions::set_preferences(market, &session, preferences);
        self.market().spawn_blocking(set).await
    }

    /// Returns the parameter of the path at this position.
    pub fn parameter(&self, position: usize) -> &str {
        self.parameters.get(position).map_or("", String::as_str)
    }

    /// Returns the ID in the path at this position. Anything else is the address of no page.
    pub fn id(&self, position: usize) -> Result<Uuid> {
        Uuid::try_parse(self.parameter(position)).map_err(|_| Error::not_found("page"))
    }

    /// Returns the address of this page with another query.
    pub fn here(&self, query: &Query) -> String {
        query.at(&self.links.to(&self.path))
    }
}

impl<A: Proof> Visit<A> {
    /// Runs a read operation with the proof of access.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader, &A) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let access = self.access.clone();
        self.market().read(self.requester.clone(), move |reader| work(reader, &access)).await
    }

    /// Like [`Visit::read`], for a part of a file that is being sent. Fails if the key of the visitor, or the session, has ended.
    pub async fn read_part<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader, &A) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let access = self.access.clone();
        self.market().read_part(self.requester.clone(), move |reader| work(reader, &access)).await
    }
}
