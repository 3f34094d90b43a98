//! A server in front of another one that changes its responses.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use reqwest::{Method, blocking::Client};
use serde_json::Value;

/// A request that the proxy received.
#[derive(Clone, Debug)]
pub struct Seen {
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Seen {
    /// Returns the path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    /// Returns the query, empty if there is none.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// Returns a header, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }
}

/// The response of the server, which the proxy may change.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the connection is closed without a response.
    pub is_cut: bool,
}

impl Answer {
    /// Changes the body as JSON.
    pub fn change(&mut self, change: impl FnOnce(&mut Value)) {
        let mut json: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        change(&mut json);
        self.body = json.to_string().into_bytes();
    }

    /// Replaces a header, or removes it if the value is empty.
    pub fn set_header(&mut self, name: &str, value: &str) {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// A running proxy. Its thread ends with the process.
pub struct Proxy {
    /// Its URL.
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Proxy {
    /// Starts a proxy for the server at an address. `change` gets each request and the response to it.
    pub fn start(server: &str, mut change: impl FnMut(&Seen, &mut Answer) + Send + 'static) -> Proxy {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let (log, server) = (Arc::clone(&seen), format!("http://{server}"));
        thread::spawn(move || {
            let client = marketplace::http_client::blocking().unwrap().build().unwrap();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read_request(&stream) else { continue };
                let mut answer = forward(&client, &server, &request);
                change(&request, &mut answer);
                log.lock().unwrap().push(request.clone());
                if !answer.is_cut {
                    // The client may have closed the connection of a response that is too long.
                    let _ = write_answer(&mut stream, &answer, request.method == "HEAD");
                }
            }
        });
        Proxy { url, seen }
    }

    /// Returns the requests that were received.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut request = Seen { method, target, headers, body: Vec::new() };
    request.body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

fn forward(client: &Client, server: &str, request: &Seen) -> Answer {
    let method = Method::from_bytes(request.method.as_bytes()).unwrap();
    let mut builder =
        client.request(method, format!("{server}{}", request.target)).body(request.body.clone());
    let connection = ["host", "connection", "content-length"];
    for (name, value) in request.headers.iter().filter(|(name, _)| !connection.contains(&name.as_str())) {
        builder = builder.header(name, value);
    }
    let response = builder.send().unwrap();
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    Answer { status, headers, body: response.bytes().unwrap().to_vec(), is_cut: false }
}

fn write_answer(stream: &mut TcpStream, answer: &Answer, is_head: bool) -> std::io::Result<()> {
    let connection = ["connection", "content-length", "transfer-encoding"];
    let headers = answer.headers.iter().filter(|(name, _)| !connection.contains(&name.as_str()));
    let mut head = Vec::new();
    write!(head, "HTTP/1.1 {} Status\r\nconnection: close\r\n", answer.status)?;
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n")?;
    }
    if answer.status != 304 && answer.status != 204 {
        write!(head, "content-length: {}\r\n", answer.body.len())?;
    }
    head.extend_from_slice(b"\r\n");
    stream.write_all(&head)?;
    stream.write_all(if is_head { &[] } else { &answer.body })
}
