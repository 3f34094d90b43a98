//! A host of repositories over smart HTTP, in a process of its own, so that its CPU time is nobody else's.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

/// How this program is told to be the host: the folder to serve.
const FOLDER: &str = "REPOSITORIES_HOST";

/// The host. Dropping it ends it.
pub struct Host {
    process: Child,
    /// The base of its addresses.
    pub url: String,
}

impl Host {
    /// Serves a folder of repositories.
    pub fn start(folder: &Path) -> Host {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut url = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut url).expect("a line");
        Host { process, url: url.trim().to_owned() }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether this process is to be the host.
pub fn is_asked_for() -> bool {
    std::env::var_os(FOLDER).is_some()
}

/// Answers without end.
pub fn serve() {
    let folder = std::env::var(FOLDER).expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("http://{}", listener.local_addr().expect("an address"));
    for stream in listener.incoming().flatten() {
        // A caller that hangs up is none of ours.
        let _ = answer(&stream, &folder);
    }
}

fn answer(mut stream: &TcpStream, folder: &str) -> std::io::Result<()> {
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
        .envs([("GIT_PROJECT_ROOT", folder), ("GIT_HTTP_EXPORT_ALL", "1"), ("PATH_INFO", path)])
        .envs([("QUERY_STRING", query), ("REQUEST_METHOD", method), ("GIT_PROTOCOL", &protocol)])
        .envs([("HTTP_CONTENT_ENCODING", encoding.as_str()), ("CONTENT_LENGTH", &length.to_string())])
        .env("CONTENT_TYPE", "application/x-git-upload-pack-request")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    git.stdin.take().expect("a pipe").write_all(&body)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")?;
    std::io::copy(&mut git.stdout.take().expect("a pipe"), &mut stream)?;
    git.wait()?;
    Ok(())
}
