//! A client of one kept connection, as small as it can be: what it costs is not measured, but it should not wait.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

/// A connection with a key.
pub struct Client {
    stream: BufReader<TcpStream>,
    address: String,
    key: String,
}

impl Client {
    /// Connects.
    pub fn connect(address: &str, key: &str) -> Client {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Client { stream: BufReader::new(stream), address: address.to_owned(), key: key.to_owned() }
    }

    /// The body of a GET, which must succeed.
    pub fn get(&mut self, path: &str) -> Vec<u8> {
        self.ask("GET", path, "")
    }

    /// The body that a POST of JSON is answered with, which must succeed.
    #[allow(dead_code)] // Not every benchmark writes.
    pub fn post(&mut self, path: &str, body: &str) -> Vec<u8> {
        let head = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        self.ask("POST", path, &format!("{head}\r\n{body}"))
    }

    /// The answer to a request, whose further headers and body are `rest`.
    fn ask(&mut self, method: &str, path: &str, rest: &str) -> Vec<u8> {
        let end = if rest.is_empty() { "\r\n" } else { rest };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{end}",
            self.address, self.key
        );
        self.stream.get_mut().write_all(request.as_bytes()).expect("a request is sent");
        let mut length = 0;
        let mut status = String::new();
        self.stream.read_line(&mut status).expect("a status line");
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).expect("a header line");
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        assert!(status.starts_with("HTTP/1.1 20"), "{path}: {status}{}", String::from_utf8_lossy(&body));
        body
    }
}
