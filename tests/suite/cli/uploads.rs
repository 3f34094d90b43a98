//! Uploads to a server that cannot be reached all the time.

use std::{
    io::{self, Read},
    net::{Shutdown, TcpListener, TcpStream},
    process::Stdio,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use serde_json::Value;

use super::operator::{Desk, EMPTY_ZIP};

/// What happens to a connection on which a part is sent.
enum PartConnection {
    /// It is closed.
    Cut,
    /// It stays open, and nothing is passed on.
    Stalled,
}

/// A proxy in front of a server. It passes on everything, except for the first parts.
struct Proxy {
    url: String,
    /// Sends a message for each part that is not passed on.
    parts: mpsc::Receiver<()>,
}

impl Proxy {
    /// Starts a proxy that does this to the first connections on which parts are sent, the last one first.
    fn start(server: String, part_connections: Vec<PartConnection>) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, parts) = mpsc::channel();
        let part_connections = Arc::new(Mutex::new(part_connections));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (server, sender) = (server.clone(), sender.clone());
                let part_connections = Arc::clone(&part_connections);
                thread::spawn(move || {
                    let _ = serve(client.unwrap(), &server, &part_connections, &sender);
                });
            }
        });
        Proxy { url, parts }
    }
}

fn serve(
    mut client: TcpStream,
    server: &str,
    part_connections: &Mutex<Vec<PartConnection>>,
    sender: &mpsc::Sender<()>,
) -> io::Result<()> {
    let mut method = [0; 3];
    client.peek(&mut method)?;
    // A part is sent on a connection of its own.
    let part_connection = if &method == b"PUT" { part_connections.lock().unwrap().pop() } else { None };
    match part_connection {
        Some(PartConnection::Cut) => {
            let _ = sender.send(());
            client.shutdown(Shutdown::Both)
        }
        Some(PartConnection::Stalled) => {
            let _ = sender.send(());
            // Until the client ends.
            io::copy(&mut client, &mut io::sink()).map(drop)
        }
        None => {
            let mut to_server = TcpStream::connect(server)?;
            let (mut from_client, mut from_server) = (client.try_clone()?, to_server.try_clone()?);
            thread::spawn(move || {
                let _ = io::copy(&mut from_server, &mut client);
                let _ = client.shutdown(Shutdown::Both);
            });
            io::copy(&mut from_client, &mut to_server)?;
            to_server.shutdown(Shutdown::Write)
        }
    }
}

/// A server with a proxy in front of it, and a zip to upload.
fn desk_with_proxy(part_connections: Vec<PartConnection>) -> (Desk, Proxy) {
    let desk = Desk::remote();
    std::fs::write(desk.directory.path().join("scans.zip"), EMPTY_ZIP).unwrap();
    let proxy = Proxy::start(desk.server.as_ref().unwrap().0.1.clone(), part_connections);
    (desk, proxy)
}

impl Proxy {
    /// Returns a command that uploads the zip through the proxy.
    fn upload(&self, desk: &Desk) -> std::process::Command {
        let key = &desk.server.as_ref().unwrap().1;
        let arguments = ["upload", "scans.zip", "--team", "Acme Data", "--json", "--url", &self.url];
        let mut command = super::marketplace(&arguments, desk.directory.path());
        command.env("MARKETPLACE_OPERATOR_KEY", key).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

#[test]
fn part_that_was_cut_off_is_sent_again() {
    let (desk, proxy) = desk_with_proxy(vec![PartConnection::Cut]);
    let output = proxy.upload(&desk).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    proxy.parts.try_recv().expect("the first attempt was cut off");
    let completed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&completed["size_bytes"], &completed["file_name"]), (&22.into(), &"scans.zip".into()));
    assert!(completed["url"].as_str().unwrap().contains("/v2/blobs/uploads/"));
}

#[test]
fn upload_that_was_killed_is_continued() {
    let (desk, proxy) = desk_with_proxy(vec![PartConnection::Stalled]);
    let mut killed = proxy.upload(&desk).spawn().unwrap();
    proxy.parts.recv().unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let listed = desk.print_json(&["upload", "list", "--team", "Acme Data"]);
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let shown = desk.print(&["upload", "show", id]);
    assert!(shown.contains("scans.zip") && shown.contains("Acme Data"), "{shown}");

    let mut continued = proxy.upload(&desk).spawn().unwrap();
    let mut stderr = String::new();
    continued.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(stderr.starts_with("continuing an upload, with 0 of 1 part received\n"), "{stderr}");
    let output = continued.wait_with_output().unwrap();
    let completed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(completed["id"], id);
    assert_eq!(desk.print_json(&["upload", "list"]).as_array().unwrap().len(), 0);
}

#[test]
fn upload_in_progress_is_canceled() {
    let (desk, proxy) = desk_with_proxy(vec![PartConnection::Stalled]);
    let mut killed = proxy.upload(&desk).spawn().unwrap();
    proxy.parts.recv().unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let id = desk.print_json(&["upload", "list"])[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(desk.print(&["upload", "cancel", &id]), format!("canceled upload {id}"));
    assert_eq!(desk.print_json(&["upload", "list"]).as_array().unwrap().len(), 0);
    let output = proxy.upload(&desk).output().unwrap();
    let completed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_ne!(completed["id"], id.as_str(), "another upload is planned");
}
