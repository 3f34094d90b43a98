//! Pages of the server: the landing page, the guides, and the pages of the documents.

pub mod guides;
pub mod landing_page;
pub mod openapi_pages;
