//! A Git host with the smart HTTP protocol, in a separate process, so that its CPU time is not measured.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

/// Environment variable with the directory to serve. It tells this program to run as the host.
const DIRECTORY_VARIABLE: &str = "REPOSITORIES_HOST";

/// A running host process, which is killed on drop.
pub struct Host {
    process: Child,
    /// Base URL of the host.
    pub url: String,
}

impl Host {
    /// Starts a host for a directory of repositories.
    pub fn start(directory: &Path) -> Host {
        let mut process = Command::new(std::env::current_exe().expect("find this program"))
            .env(DIRECTORY_VARIABLE, directory)
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the host");
        let mut url = String::new();
        BufReader::new(process.stdout.take().expect("stdout is piped"))
            .read_line(&mut url)
            .expect("read a line");
        Host { process, url: url.trim().to_owned() }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns whether this process is to run as the host.
pub fn is_host_process() -> bool {
    std::env::var_os(DIRECTORY_VARIABLE).is_some()
}

/// Serves repositories until the process is killed.
pub fn run_host() {
    let directory = std::env::var(DIRECTORY_VARIABLE).expect("the directory is set");
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind a free port");
    println!("http://{}", listener.local_addr().expect("the listener has an address"));
    for stream in listener.incoming().flatten() {
        // Ignore clients that disconnect.
        let _ = handle_connection(&stream, &directory);
    }
}

fn handle_connection(mut stream: &TcpStream, directory: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut protocol, mut encoding) = (0, String::new(), String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        let Some((name, value)) = line.split_once(": ") else { break };
        match name {
            "content-length" => length = value.parse().unwrap_or(0),
            "git-protocol" => value.clone_into(&mut protocol),
            "content-encoding" => value.clone_into(&mut encoding),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut git = Command::new("git")
        .arg("http-backend")
        .envs([("GIT_PROJECT_ROOT", directory), ("GIT_HTTP_EXPORT_ALL", "1"), ("PATH_INFO", path)])
        .envs([("QUERY_STRING", query), ("REQUEST_METHOD", method), ("GIT_PROTOCOL", &protocol)])
        .envs([("HTTP_CONTENT_ENCODING", encoding.as_str()), ("CONTENT_LENGTH", &length.to_string())])
        .env("CONTENT_TYPE", "application/x-git-upload-pack-request")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    git.stdin.take().expect("stdin is piped").write_all(&body)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")?;
    std::io::copy(&mut git.stdout.take().expect("stdout is piped"), &mut stream)?;
    git.wait()?;
    Ok(())
}
