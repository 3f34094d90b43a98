//! nginx, with the example configuration, in front of several servers.

use std::{
    fs,
    net::TcpStream,
    path::Path,
    process::{Child, Command},
};

use super::cluster::unused_port;

/// nginx as a process.
pub struct Nginx {
    process: Child,
    pub url: String,
}

impl Nginx {
    /// Starts nginx with an upstream of several addresses. It answers after a moment.
    pub fn start(directory: &Path, addresses: &[String]) -> Nginx {
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/proxies/nginx.conf");
        let example = fs::read_to_string(example).unwrap();
        let (port, unused) = (unused_port(), unused_port());
        let servers =
            addresses.iter().map(|address| format!("server {address};")).collect::<Vec<_>>().join("\n");
        let mut config = example;
        for (from, to) in [
            ("server 127.0.0.1:8080;", servers.as_str()),
            ("listen 80;", &format!("listen 127.0.0.1:{unused};")),
            ("listen 443 ssl http2;", &format!("listen 127.0.0.1:{port};")),
            ("ssl_certificate /etc", "# ssl_certificate /etc"),
            ("ssl_certificate_key /etc", "# ssl_certificate_key /etc"),
        ] {
            assert!(config.contains(from), "{from} is not in the example");
            config = config.replace(from, to);
        }
        let directory = directory.join("nginx");
        fs::create_dir(&directory).unwrap();
        let path = directory.display();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {path}/{kind};\n"))
            .concat();
        let head = format!("daemon off;\npid {path}/pid;\nerror_log {path}/error.log;\nevents {{}}\n");
        let file = directory.join("nginx.conf");
        fs::write(&file, format!("{head}http {{\naccess_log off;\n{temporary}{config}\n}}\n")).unwrap();
        let mut command = Command::new("nginx");
        let process = command.arg("-p").arg(&directory).arg("-c").arg(&file).spawn();
        Nginx { process: process.expect("nginx is installed"), url: format!("http://127.0.0.1:{port}") }
    }

    /// Whether it accepts connections.
    pub fn is_ready(&self) -> bool {
        TcpStream::connect(self.url.trim_start_matches("http://")).is_ok()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its workers only if it is asked to.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}
