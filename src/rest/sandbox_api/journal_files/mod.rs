//! Entries of journals as responses show them, and journals as files of other formats.

mod addresses;
mod curl;
mod har;
mod shown;

pub use self::{
    addresses::Addresses,
    curl::curl_script,
    har::har,
    shown::{ShownBody, ShownEntry},
};
