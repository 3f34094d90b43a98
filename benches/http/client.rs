//! A minimal HTTP client with one keep-alive connection. Its own cost is not measured, but it should add no
//! delay.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
};

/// A connection to the server, with an API key.
pub struct Client {
    stream: BufReader<TcpStream>,
    address: String,
    key: String,
}

impl Client {
    /// Connects to `address` (host and port).
    pub fn connect(address: &str, key: &str) -> Client {
        let stream = TcpStream::connect(address).expect("connect to the server");
        stream.set_nodelay(true).expect("set TCP_NODELAY");
        Client { stream: BufReader::new(stream), address: address.to_owned(), key: key.to_owned() }
    }

    /// Opens the connection again.
    #[allow(dead_code)] // Not every benchmark goes on after an error.
    pub fn reconnect(&mut self) {
        *self = Client::connect(&self.address, &self.key);
    }

    /// Sends a GET request and returns the response body. Panics if the request fails.
    pub fn get(&mut self, path: &str) -> Vec<u8> {
        self.send("GET", path, "")
    }

    /// Sends a POST request with a JSON body and returns the response body. Panics if the request fails.
    #[allow(dead_code)] // Not every benchmark writes.
    pub fn post(&mut self, path: &str, body: &str) -> Vec<u8> {
        let head = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        self.send("POST", path, &format!("{head}\r\n{body}"))
    }

    /// Sends a DELETE request. Panics if it fails.
    #[allow(dead_code)] // Not every benchmark deletes.
    pub fn delete(&mut self, path: &str) {
        self.send("DELETE", path, "");
    }

    /// Sends a request and returns the response body. Panics if the request fails.
    fn send(&mut self, method: &str, path: &str, headers_and_body: &str) -> Vec<u8> {
        let (status, body) = self.try_send(method, path, headers_and_body).expect("send the request");
        assert!((200..300).contains(&status), "{path}: {status} {}", String::from_utf8_lossy(&body));
        body
    }

    /// Sends a request and returns the status and the response body. `headers_and_body` holds further headers, an empty line, and the
    /// request body.
    pub fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers_and_body: &str,
    ) -> io::Result<(u16, Vec<u8>)> {
        let end = if headers_and_body.is_empty() { "\r\n" } else { headers_and_body };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{end}",
            self.address, self.key
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut length = 0;
        let mut status = String::new();
        self.stream.read_line(&mut status)?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::UnexpectedEof)?;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, body))
    }
}
