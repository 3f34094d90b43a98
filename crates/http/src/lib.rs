//! The HTTP server under the APIs: connections, request bodies and their codings, codings of responses, and limits that are
//! shared fairly. It knows no resource of the market: the program states how refused requests are answered ([`Refusals`]), and
//! who shares a limit ([`fair_limit::Holder`]).

pub mod arrived_body;
pub mod byte_ranges;
pub mod chunks;
pub mod client_network;
pub mod coding;
pub mod connections;
pub mod fair_limit;
pub mod faulty_body;
pub mod head;
pub mod host;
mod min_rate;
mod refusal;
pub mod request_coding;
pub mod response_body;
mod settings;
pub mod tls;
mod transfer_coding;
pub mod trusted_proxies;

pub use refusal::{Refusal, Refusals};
pub use settings::ConnectionSettings;
