//! Repositories that tests make, and a host that serves them over HTTP as well or as badly as a test wants.

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

/// Runs git in a folder, with nobody's settings and a fixed time. Answers what it says.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    git_at(folder, "2024-03-01T12:00:00Z", arguments)
}

/// The same at another time.
pub fn git_at(folder: &Path, at: &str, arguments: &[&str]) -> String {
    let output = command(folder, at).args(arguments).output().expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn command(folder: &Path, at: &str) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "init.defaultBranch=main", "-c", "gc.auto=0"])
        .current_dir(folder)
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

/// Repositories in a folder, each by its full name.
pub struct Repositories {
    folder: TempDir,
}

impl Repositories {
    /// None yet.
    pub fn new() -> Repositories {
        Repositories { folder: tempfile::tempdir().unwrap() }
    }

    /// The base of their addresses.
    pub fn url(&self) -> String {
        format!("file://{}", self.folder.path().display())
    }

    /// Where one of them lies.
    pub fn path(&self, full_name: &str) -> PathBuf {
        self.folder.path().join(format!("{full_name}.git"))
    }

    /// Makes one without a commit.
    pub fn make(&self, full_name: &str) -> PathBuf {
        let path = self.path(full_name);
        fs::create_dir_all(&path).unwrap();
        git(&path, &["init", "-q"]);
        path
    }

    /// Makes one of a commit.
    pub fn of(&self, full_name: &str, files: &[(&str, &str)]) -> PathBuf {
        let path = self.make(full_name);
        commit(&path, files, "Begin", &[]);
        path
    }
}

/// Commits files to a repository, besides those that it has.
pub fn commit(folder: &Path, files: &[(&str, &str)], message: &str, more: &[&str]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(folder, &["add", "-A"]);
    git(folder, &[&["commit", "-q", "--allow-empty", "-m", message], more].concat());
}

/// How a host behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As it should.
    Good,
    /// It gives nothing to who does not show this `Authorization` header.
    Private(String),
    /// It sends everybody to another address.
    Moves(String),
    /// It says nothing.
    Silent,
    /// It lists branches without end.
    EndlessRefs,
    /// It sends a pack without end.
    EndlessPack,
    /// It answers with something else.
    Nonsense,
}

/// A host of repositories on this machine. Dropping it ends it.
pub struct GitHost {
    /// The base of its addresses.
    pub url: String,
    seen: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl GitHost {
    /// Serves the repositories of a folder.
    pub fn serve(repositories: &Repositories, manner: Manner) -> GitHost {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (folder, log, over) =
            (repositories.folder.path().to_owned(), Arc::clone(&seen), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            // Connections that a silent host keeps open.
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                if over.load(Ordering::SeqCst) {
                    break;
                }
                if manner == Manner::Silent {
                    kept.push(stream);
                    continue;
                }
                let (folder, manner, log) = (folder.clone(), manner.clone(), Arc::clone(&log));
                // A caller that hangs up is no fault of a test.
                std::thread::spawn(move || answer(stream, &folder, &manner, &log).ok());
            }
        });
        GitHost { url, seen, is_over, thread: Some(thread) }
    }

    /// The first line and the credentials of each request so far.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for GitHost {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // The thread waits for a connection.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A request, as far as a host of repositories reads it.
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
    let said = format!("{} {}", first.trim_end(), authorization.as_deref().unwrap_or("-"));
    log.lock().unwrap().push(said);
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    Ok(Request { path, authorization, protocol, body })
}

fn answer(
    mut stream: TcpStream,
    folder: &Path,
    manner: &Manner,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let request = read_request(&stream, log)?;
    let is_listing = request.path.contains("/info/refs");
    let kind = if is_listing { "advertisement" } else { "result" };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\nConnection: close\r\n\r\n"
    );
    match manner {
        Manner::Private(wanted) if request.authorization.as_ref() != Some(wanted) => {
            return stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n");
        }
        Manner::Moves(to) => {
            let head =
                format!("HTTP/1.1 301 Moved\r\nLocation: {to}{}\r\nContent-Length: 0\r\n\r\n", request.path);
            return stream.write_all(head.as_bytes());
        }
        Manner::Nonsense => {
            return stream.write_all(format!("{head}<html>Please log in</html>").as_bytes());
        }
        Manner::EndlessRefs if !is_listing => {
            stream.write_all(head.as_bytes())?;
            let line =
                format!("00{:x}{} refs/heads/{}\n", 4 + 40 + 1 + 31 + 1, "1".repeat(40), "x".repeat(20));
            loop {
                stream.write_all(line.repeat(1_000).as_bytes())?;
            }
        }
        Manner::EndlessPack if request.body.windows(13).any(|part| part == b"command=fetch") => {
            stream.write_all(head.as_bytes())?;
            // Empty files without end, each of which is whole.
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
    let repository = folder.join(format!("{name}.git"));
    if !repository.is_dir() {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    }
    let mut command = command(&repository, "2024-03-01T12:00:00Z");
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
