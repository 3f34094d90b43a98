//! The state that all handlers share.

use std::sync::Arc;

use poem::Request;

use super::{first_page_cache::FirstPageCache, in_flight::InFlight};
use crate::{
    error::{Error, Result},
    market::Market,
};

/// State that all handlers share.
pub struct App {
    market: Market,
    base_url: String,
    first_pages: FirstPageCache,
    in_flight: InFlight,
}

impl App {
    /// Creates the state for a market. `base_url` is the base URL of all links that the server generates,
    /// without a trailing slash.
    pub fn new(market: Market, base_url: &str) -> App {
        App {
            market,
            base_url: base_url.to_owned(),
            first_pages: FirstPageCache::default(),
            in_flight: InFlight::default(),
        }
    }

    /// Returns the state that `app_builder` adds to every request.
    pub fn from_request(request: &Request) -> Result<&App> {
        let app = request.data::<Arc<App>>().map(Arc::as_ref);
        app.ok_or_else(|| Error::internal("no app in the request"))
    }

    /// Returns the market that the handlers operate on.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// Returns the base URL of all links that the server generates, without a trailing slash.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the cache of unfiltered first pages of the catalog.
    pub const fn first_pages(&self) -> &FirstPageCache {
        &self.first_pages
    }

    /// Returns the requests with an idempotency key that are in progress.
    pub const fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }
}
