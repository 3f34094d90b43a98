//! Git repositories for tests, and an HTTP host that serves them correctly or misbehaves in a chosen way.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use tempfile::TempDir;

/// Runs git in a directory with a fixed time and without user configuration. Returns its standard output.
pub fn git(directory: &Path, arguments: &[&str]) -> String {
    git_at(directory, "2024-03-01T12:00:00Z", arguments)
}

/// Like [`git`], at the time `at`.
pub fn git_at(directory: &Path, at: &str, arguments: &[&str]) -> String {
    let output = git_command(directory, at).args(arguments).output().expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn git_command(directory: &Path, at: &str) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "init.defaultBranch=main", "-c", "gc.auto=0"])
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com"), ("GIT_AUTHOR_DATE", at)])
        .envs([
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.com"),
            ("GIT_COMMITTER_DATE", at),
        ]);
    command
}

/// A directory of repositories, addressed by their full names.
pub struct Repositories {
    directory: TempDir,
}

impl Repositories {
    /// Creates an empty directory of repositories.
    pub fn new() -> Repositories {
        Repositories { directory: tempfile::tempdir().unwrap() }
    }

    /// Returns the base `file://` URL of the repositories.
    pub fn url(&self) -> String {
        format!("file://{}", self.directory.path().display())
    }

    /// Returns the path of a repository.
    pub fn path(&self, full_name: &str) -> PathBuf {
        self.directory.path().join(format!("{full_name}.git"))
    }

    /// Creates a repository without commits and returns its path.
    pub fn create(&self, full_name: &str) -> PathBuf {
        let path = self.path(full_name);
        fs::create_dir_all(&path).unwrap();
        git(&path, &["init", "-q"]);
        path
    }

    /// Creates a repository with one commit and returns its path.
    pub fn create_with_files(&self, full_name: &str, files: &[(&str, &str)]) -> PathBuf {
        let path = self.create(full_name);
        commit(&path, files, "Begin", &[]);
        path
    }
}

/// Writes files to a repository and commits all changes, with further arguments for `git commit`.
pub fn commit(directory: &Path, files: &[(&str, &str)], message: &str, more: &[&str]) {
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(directory, &["add", "-A"]);
    git(directory, &[&["commit", "-q", "--allow-empty", "-m", message], more].concat());
}

/// How a host behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostBehavior {
    /// Serves the repositories correctly.
    Normal,
    /// Rejects requests without this `Authorization` header.
    Private(String),
    /// Redirects every request to this base URL.
    Redirects(String),
    /// Accepts connections and never responds.
    Silent,
    /// Sends an endless list of refs.
    EndlessRefs,
    /// Sends an endless pack.
    EndlessPack,
    /// Responds with HTML instead of the git protocol.
    NotGit,
}

/// A repository host on this machine. It stops when dropped.
pub struct GitHost {
    /// Base URL of the host.
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl GitHost {
    /// Starts a host that serves these repositories.
    pub fn start(repositories: &Repositories, behavior: HostBehavior) -> GitHost {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (directory, log, over) =
            (repositories.directory.path().to_owned(), Arc::clone(&seen), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            // Connections that a silent host holds open.
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                if over.load(Ordering::SeqCst) {
                    break;
                }
                if behavior == HostBehavior::Silent {
                    kept.push(stream);
                    continue;
                }
                let (directory, behavior, log) = (directory.clone(), behavior.clone(), Arc::clone(&log));
                // A client that closes the connection does not fail the test.
                std::thread::spawn(move || respond(stream, &directory, &behavior, &log).ok());
            }
        });
        GitHost { url, requests: seen, is_stopped: is_over, thread: Some(thread) }
    }

    /// Returns the request line and the `Authorization` header (or `-`) of each request so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for GitHost {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // The thread waits for a connection, so open one to wake it.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The parts of a request that the host uses.
struct Request {
    path: String,
    authorization: Option<String>,
    protocol: String,
    body: Vec<u8>,
}

fn read_request(stream: &TcpStream, log: &Mutex<Vec<String>>) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut authorization, mut protocol) = (0, None, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => authorization = Some(value.to_owned()),
            "git-protocol" => value.clone_into(&mut protocol),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let entry = format!("{} {}", first.trim_end(), authorization.as_deref().unwrap_or("-"));
    log.lock().unwrap().push(entry);
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    Ok(Request { path, authorization, protocol, body })
}

fn respond(
    mut stream: TcpStream,
    directory: &Path,
    behavior: &HostBehavior,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let request = read_request(&stream, log)?;
    let is_listing = request.path.contains("/info/refs");
    let kind = if is_listing { "advertisement" } else { "result" };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\nConnection: close\r\n\r\n"
    );
    match behavior {
        HostBehavior::Private(expected) if request.authorization.as_ref() != Some(expected) => {
            return stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n");
        }
        HostBehavior::Redirects(to) => {
            let head =
                format!("HTTP/1.1 301 Moved\r\nLocation: {to}{}\r\nContent-Length: 0\r\n\r\n", request.path);
            return stream.write_all(head.as_bytes());
        }
        HostBehavior::NotGit => {
            return stream.write_all(format!("{head}<html>Please log in</html>").as_bytes());
        }
        HostBehavior::EndlessRefs if !is_listing => {
            stream.write_all(head.as_bytes())?;
            let line =
                format!("00{:x}{} refs/heads/{}\n", 4 + 40 + 1 + 31 + 1, "1".repeat(40), "x".repeat(20));
            loop {
                stream.write_all(line.repeat(1_000).as_bytes())?;
            }
        }
        HostBehavior::EndlessPack if request.body.windows(13).any(|part| part == b"command=fetch") => {
            stream.write_all(head.as_bytes())?;
            // An endless sequence of empty files, each of them complete.
            stream.write_all(b"000dpackfile\n")?;
            let mut pack = b"PACK\0\0\0\x02\x7f\xff\xff\xff".to_vec();
            loop {
                pack.extend(b"\x30\x78\x9c\x03\0\0\0\0\x01".repeat(5_000));
                stream.write_all(format!("{:04x}\x01", pack.len() + 5).as_bytes())?;
                stream.write_all(&pack)?;
                pack.clear();
            }
        }
        _ => {}
    }
    let name = request.path.trim_start_matches('/').split(".git/").next().unwrap_or_default();
    let repository = directory.join(format!("{name}.git"));
    if !repository.is_dir() {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    }
    let mut command = git_command(&repository, "2024-03-01T12:00:00Z");
    command.args(["upload-pack", "--stateless-rpc"]).env("GIT_PROTOCOL", &request.protocol);
    if is_listing {
        command.arg("--advertise-refs");
    }
    let mut child =
        command.arg(".").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    child.stdin.take().unwrap().write_all(&request.body)?;
    stream.write_all(head.as_bytes())?;
    if is_listing {
        stream.write_all(b"001e# service=git-upload-pack\n0000")?;
    }
    std::io::copy(&mut child.stdout.take().unwrap(), &mut stream)?;
    child.wait()?;
    Ok(())
}
