//! Clients that decide when they send and receive the parts of a message, over TCP.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::oneshot,
};

use super::faults::{BUYER, market_with_world};
use crate::harness::TestMarket;

/// A demo market with a world `one`, which is served on a port.
pub struct Server {
    pub market: TestMarket,
    pub address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

/// A connection of a client.
pub struct Client {
    pub stream: TcpStream,
    pub received: Vec<u8>,
}

impl Server {
    pub async fn start() -> Server {
        Server::serve(market_with_world().await)
    }

    pub fn serve(market: TestMarket) -> Server {
        let (address, stop) = market.listen();
        Server { market, address, _stop: stop }
    }

    pub async fn connect(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Sends a GET request on a new connection, and returns what is received until the connection is closed.
    pub async fn get_until_closed(&self, path: &str) -> String {
        let mut client = self.connect().await;
        client.send("GET", path, BUYER, "", "").await;
        client.rest().await
    }
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Client {
        Client { stream: TcpStream::connect(address).await.unwrap(), received: Vec::new() }
    }

    pub async fn send(&mut self, method: &str, path: &str, key: &str, headers: &str, body: &str) {
        let headers = format!("content-length: {}\r\n{headers}", body.len());
        self.send_part(method, path, key, &headers, body).await;
    }

    /// Sends a request with the first part of its body, whose length is among the headers.
    pub async fn send_part(&mut self, method: &str, path: &str, key: &str, headers: &str, part: &str) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\n{headers}\r\n{part}"
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
    }

    /// Receives the head of a response.
    pub async fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = self.received.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap().to_lowercase();
            }
            assert!(self.stream.read_buf(&mut self.received).await.unwrap() > 0, "{:?}", self.received);
        }
    }

    /// Receives this many bytes of a body.
    pub async fn body(&mut self, length: usize) -> String {
        while self.received.len() < length {
            assert!(self.stream.read_buf(&mut self.received).await.unwrap() > 0, "{:?}", self.received);
        }
        String::from_utf8(self.received.drain(..length).collect()).unwrap()
    }

    /// Receives what is left until the connection is closed.
    pub async fn rest(mut self) -> String {
        self.stream.read_to_end(&mut self.received).await.unwrap();
        String::from_utf8(self.received).unwrap()
    }
}

/// Returns the value of a header of a head in lower case.
pub fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_default()
}

/// Returns the length of a body from the head before it.
pub fn content_length(head: &str) -> usize {
    header(head, "content-length").parse().unwrap()
}
