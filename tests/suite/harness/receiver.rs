//! An endpoint of webhooks, on its own port: it keeps what it receives, and responds as the test says.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
};

/// How an endpoint responds.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With a status, header lines (each with its line break), and a body.
    Response(u16, &'static str, String),
    /// With a status and a short body, after a notification.
    Held(Arc<Notify>, u16),
    /// Never; the connection stays open.
    Never,
}

impl Reply {
    /// Returns a response with a status and a short body.
    pub fn status(status: u16) -> Reply {
        Reply::Response(status, "", format!("status {status}"))
    }
}

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// Path and query.
    pub target: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// Body of the request.
    pub body: String,
}

impl Received {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        &found.unwrap_or_else(|| panic!("no header {name}")).1
    }

    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns the type of the event.
    pub fn event_type(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }
}

/// A running endpoint. It stops with the runtime of the test.
pub struct Receiver {
    /// URL of the endpoint.
    pub url: String,
    reply: Arc<Mutex<Reply>>,
    received: watch::Receiver<Vec<Received>>,
}

impl Receiver {
    /// Starts an endpoint. Must be called on an async runtime.
    pub fn start(reply: Reply) -> Receiver {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let listener = TcpListener::from_std(listener).unwrap();
        let (sender, received) = watch::channel(Vec::new());
        let (reply, sender) = (Arc::new(Mutex::new(reply)), Arc::new(sender));
        let replies = Arc::clone(&reply);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&replies), Arc::clone(&sender)));
            }
        });
        Receiver { url, reply, received }
    }

    /// Replaces how the endpoint responds.
    pub fn reply_with(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// Returns what was received so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.borrow().clone()
    }

    /// Waits until so many requests were received in all, and returns them.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        self.received.clone().wait_for(|received| received.len() >= count).await.unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, reply: Arc<Mutex<Reply>>, received: Arc<watch::Sender<Vec<Received>>>) {
    let mut bytes = Vec::new();
    let request = loop {
        if let Some(request) = parse(&bytes) {
            break request;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let reply = reply.lock().unwrap().clone();
    received.send_modify(|all| all.push(request));
    let reply = match reply {
        Reply::Held(notify, status) => {
            notify.notified().await;
            Reply::status(status)
        }
        reply => reply,
    };
    match reply {
        Reply::Held(..) | Reply::Never => std::future::pending().await,
        Reply::Response(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n");
            // A client that closes the connection does not fail the test.
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
    }
}

/// Parses a request, if it is complete.
fn parse(bytes: &[u8]) -> Option<Received> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let target = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse::<usize>().ok()?;
    (body.len() == length).then(|| Received { target, headers, body: body.to_owned() })
}
