//! `marketplace events --follow`, on a data directory and on a server.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;

use super::operator::Desk;

/// A running `marketplace events --follow`.
pub struct Follower {
    process: Child,
    /// `None` after the output was closed.
    lines: Option<Lines<BufReader<ChildStdout>>>,
}

impl Follower {
    /// Starts the command with further arguments.
    pub fn start(desk: &Desk, arguments: &[&str]) -> Follower {
        let mut command = desk.command(&[&["events", "--follow"], arguments].concat());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Follower { process, lines: Some(lines) }
    }

    fn next_line(&mut self) -> String {
        self.lines.as_mut().unwrap().next().expect("the command follows").unwrap()
    }

    /// Returns the ID and the type of the next event, and the name of the team in it.
    pub fn next_event(&mut self) -> [String; 3] {
        let event: Value = serde_json::from_str(&self.next_line()).unwrap();
        [&event["id"], &event["type"], &event["data"]["name"]]
            .map(|value| value.as_str().unwrap_or_default().to_owned())
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Follows events, resumes, and stops reading.
fn assert_follows(desk: &Desk) {
    let created = ["--json", "--type", "team.created"];
    let mut follower = Follower::start(desk, &created);
    let seeded = [follower.next_event(), follower.next_event()];
    let mut ids: Vec<String> = seeded.iter().map(|[id, ..]| id.clone()).collect();
    for name in ["One", "Two"] {
        desk.print(&["team", "create", name]);
        // An event of another type is not printed.
        desk.print(&["team", "edit", name, "--tier", "3"]);
        let [id, kind, of] = follower.next_event();
        assert_eq!((kind.as_str(), of.as_str()), ("team.created", name));
        ids.push(id);
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert!(Command::new("kill").arg(follower.process.id().to_string()).status().unwrap().success());
    assert!(follower.process.wait().unwrap().code().is_none(), "the signal ends it");

    let mut resumed = Follower::start(desk, &[&created[..], &["--after", &ids[1]]].concat());
    assert_eq!([resumed.next_event()[0].clone(), resumed.next_event()[0].clone()], ids[2..]);

    let mut table = Follower::start(desk, &["--type", "team.created", "--cursor", &ids[2]]);
    let heading = table.next_line();
    assert!(heading.starts_with("ID  ") && heading.ends_with("  TEAM"), "{heading}");
    let line = table.next_line();
    assert!(line.starts_with(&ids[3]) && line[heading.find("TYPE").unwrap()..].starts_with("team.created"));
    assert!(line.ends_with("  Two"), "the names of teams are shown: {line}");
    // Nobody reads the output anymore: the command ends, although nothing happens.
    table.lines = None;
    assert!(table.process.wait().unwrap().success());
}

#[test]
fn events_of_a_data_directory_are_followed() {
    assert_follows(&Desk::local());
}

#[test]
fn events_of_a_server_are_followed_until_it_stops() {
    let mut desk = Desk::remote();
    assert_follows(&desk);
    let mut follower = Follower::start(&desk, &["--json", "--type", "team.created"]);
    let last = (0..4).map(|_| follower.next_event()[0].clone()).last().unwrap();
    assert_eq!(desk.server.take().unwrap().0.terminate(), 0);
    let stderr = std::io::read_to_string(follower.process.stderr.take().unwrap()).unwrap();
    assert_eq!(follower.process.wait().unwrap().code(), Some(1));
    let place = stderr.split_once("`--cursor ").expect(&stderr).1.split('`').next().unwrap();
    assert!(place >= last.as_str(), "{place} is not before {last}");
    assert!(stderr.contains("cannot connect to http://127.0.0.1:"), "{stderr}");
}
