//! Pages of the server: the landing page, the guides, and the pages of the documents.

pub mod guides;
pub mod landing_page;
pub mod openapi_pages;

use crate::rest::api::APIS;
use guides::GUIDES;

/// Whether a path is that of a page for people: the landing page, a guide, or the reference of an API.
pub fn is_page(path: &str) -> bool {
    let is_guide = || GUIDES.iter().any(|guide| guide.path() == path);
    path == "/" || is_guide() || APIS.iter().any(|api| api.docs_path() == path)
}
