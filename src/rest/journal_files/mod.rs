//! What journals show of their entries, and journals as files of other formats.

mod curl;
mod har;
mod shown;

pub use self::{
    curl::curl_script,
    har::har,
    shown::{ShownBody, ShownEntry},
};

/// The addresses that a journal was recorded at.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// Name of the world.
    pub world: String,
    /// Base address of the server.
    pub server: String,
    /// Base address of the world.
    pub base: String,
    /// Address of its port, if it has one.
    pub port: Option<String>,
}
