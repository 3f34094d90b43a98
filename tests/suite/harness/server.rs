//! The real server in a process of its own, for tests that kill it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use reqwest::{Method, blocking::Client};
use serde_json::Value;

/// A server on a folder, and a key that it is asked with. Dropping it kills it.
pub struct Server {
    process: Child,
    url: String,
    key: String,
    client: Client,
}

impl Server {
    /// Starts one with these settings, by the names that they have in the environment.
    pub fn start(folder: &Path, key: &str, settings: &[(String, String)]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_marketplace"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder)
            .envs(settings.iter().cloned())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("the server listens").to_owned();
        let client = Client::builder().no_proxy().build().unwrap();
        Server { process, url, key: key.to_owned(), client }
    }

    /// Answers a request: its status and its body, `Null` where there is none.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.key);
        let request = if body.is_null() { request } else { request.json(body) };
        let answer = request.send().unwrap();
        (answer.status().as_u16(), answer.json().unwrap_or_default())
    }

    /// Begins a request with a body of a size, sends these bytes of it, and waits for nothing.
    pub fn begin(&self, method: &str, path: &str, size: usize, bytes: &[u8]) -> TcpStream {
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

    /// Kills it as no process can refuse.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Everything that a server answers to a request that was begun; nothing where it was killed before.
pub fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    text
}
