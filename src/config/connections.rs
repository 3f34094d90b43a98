//! The settings of connections, as the HTTP server takes them.

use super::ServerSettings;
use crate::http_server::ConnectionSettings;

impl ServerSettings {
    /// Returns the limits of connections.
    pub const fn connections(&self) -> ConnectionSettings {
        ConnectionSettings {
            drain_seconds: self.drain_seconds,
            max_connections: self.max_connections,
            max_connections_per_address: self.max_connections_per_address,
            max_idle_connections_per_address: self.max_idle_connections_per_address,
            max_header_bytes: self.max_header_bytes,
            header_seconds: self.header_seconds,
            max_body_bytes: self.max_body_bytes,
            body_seconds: self.body_seconds,
            write_seconds: self.write_seconds,
            min_bytes_per_second: self.min_bytes_per_second,
            rate_window_seconds: self.rate_window_seconds,
        }
    }
}
