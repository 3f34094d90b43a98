//! The limits of connections.

/// The limits of connections, as in the section `[server]` of the settings.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionSettings {
    /// Seconds that running requests get to finish when the server shuts down.
    pub drain_seconds: u64,
    /// Maximum number of open connections.
    pub max_connections: u32,
    /// Maximum number of open connections from one address; 0 for no limit.
    pub max_connections_per_address: u32,
    /// Maximum number of open connections from one address on which no request is running; 0 for no limit.
    pub max_idle_connections_per_address: u32,
    /// Maximum size in bytes of the request line and headers.
    pub max_header_bytes: u32,
    /// Seconds to receive the request line and headers, and to keep an idle connection open.
    pub header_seconds: u32,
    /// Maximum size in bytes of a request body.
    pub max_body_bytes: u64,
    /// Seconds to receive a request body.
    pub body_seconds: u32,
    /// Seconds that a client may leave response data unread before its connection is closed.
    pub write_seconds: u32,
    /// Minimum rate of request bodies and responses, in bytes per second; 0 for no limit.
    pub min_bytes_per_second: u32,
    /// Length in seconds of the windows in which that rate is measured.
    pub rate_window_seconds: u32,
}

#[cfg(test)]
impl Default for ConnectionSettings {
    fn default() -> ConnectionSettings {
        ConnectionSettings {
            drain_seconds: 10,
            max_connections: 1024,
            max_connections_per_address: 512,
            max_idle_connections_per_address: 256,
            max_header_bytes: 128 << 10,
            header_seconds: 30,
            max_body_bytes: 16 << 20,
            body_seconds: 30,
            write_seconds: 30,
            min_bytes_per_second: 1024,
            rate_window_seconds: 10,
        }
    }
}
