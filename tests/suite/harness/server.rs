//! The real server in its own process, for tests that kill it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use reqwest::{
    Method,
    blocking::{Client, Response},
};
use serde_json::Value;

use super::panics::ProcessLog;

/// A server on a data directory, and the key for requests to it. It is killed when dropped.
pub struct Server {
    process: Child,
    log: ProcessLog,
    url: String,
    key: String,
    client: Client,
}

impl Server {
    /// Starts a server with these settings, given as environment variables.
    pub fn start(directory: &Path, key: &str, settings: &[(String, String)]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
        command.arg("serve").arg("--data").arg(directory).envs(settings.iter().cloned());
        Server::run(command, key)
    }

    /// Starts a server of the demo market.
    pub fn start_demo(key: &str) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
        command.args(["serve", "--demo"]);
        Server::run(command, key)
    }

    fn run(mut command: Command, key: &str) -> Server {
        let command = command.args(["--listen", "127.0.0.1:0"]);
        let log = ProcessLog::new();
        let mut process = command.stdout(Stdio::piped()).stderr(log.stdio()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("the server prints its URL").to_owned();
        let client = marketplace::http_client::blocking().unwrap().build().unwrap();
        Server { process, log, url, key: key.to_owned(), client }
    }

    /// Sends a request and returns the status and the body, `Null` if there is none.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let response = self.send(&self.key, method, path, body);
        (response.status().as_u16(), response.json().unwrap_or_default())
    }

    /// Sends a request with another key.
    pub fn send(&self, key: &str, method: &str, path: &str, body: &Value) -> Response {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(key);
        let request = if body.is_null() { request } else { request.json(body) };
        request.send().unwrap()
    }

    /// Returns the base URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Starts a request whose body has `size` bytes, sends `bytes` of it, and does not wait for the response.
    pub fn start_request(&self, method: &str, path: &str, size: usize, bytes: &[u8]) -> TcpStream {
        let host = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {size}\r\n\r\n",
            self.key
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills the process with SIGKILL.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.log.assert_no_panic();
    }
}

/// Reads the response to a started request; empty if the server was killed before it responded.
pub fn read_response(mut stream: TcpStream) -> String {
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    text
}
