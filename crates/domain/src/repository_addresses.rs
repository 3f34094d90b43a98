//! Addresses of repositories, as people copy them from their browser or from a command.

use super::{assets::RepositoryChannel, patterns::is_repository_name};

/// Returns the host and the full name of the repository at an address, such as `https://github.com/owner/name` and
/// `git@gitlab.com:group/name.git`. Other parts of the address, such as a branch, are ignored. `None` for other hosts, and for
/// addresses that do not name a repository.
pub fn parse_repository_address(text: &str) -> Option<(RepositoryChannel, String)> {
    let text = text.trim();
    let after_scheme =
        ["https://", "http://", "ssh://", "git://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let rest = after_scheme.unwrap_or(text);
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, rest) = authority.rfind('@').map_or(("", rest), |at| (&rest[..at], &rest[at + 1..]));
    // Somebody who pastes a password should notice.
    if user.contains(':') {
        return None;
    }
    let end = rest.find(['/', ':'])?;
    let (host, mut path) = (rest[..end].to_ascii_lowercase(), &rest[end + 1..]);
    // A colon is followed by a port only if the address has a scheme.
    if after_scheme.is_some() && rest[end..].starts_with(':') {
        path = path.split_once('/').filter(|(port, _)| port.parse::<u16>().is_ok())?.1;
    }
    let channel = match host.strip_prefix("www.").unwrap_or(&host) {
        "github.com" => RepositoryChannel::Github,
        "gitlab.com" => RepositoryChannel::Gitlab,
        "bitbucket.org" => RepositoryChannel::Bitbucket,
        _ => return None,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    if segments.clone().any(|segment| [".", ".."].contains(&segment)) {
        return None;
    }
    let segments: Vec<&str> = if channel.has_subgroups() {
        // A hyphen separates the name from the page of the repository.
        segments.take_while(|segment| *segment != "-").collect()
    } else {
        segments.take(2).collect()
    };
    let name = segments.join("/");
    let name = name.strip_suffix(".git").unwrap_or(&name);
    is_repository_name(name).then(|| (channel, name.to_owned()))
}

/// Returns why a host cannot have a repository with this full name; `None` if it can, or if this is no full name at all.
pub fn find_name_fault(channel: RepositoryChannel, full_name: &str) -> Option<&'static str> {
    let is_in_subgroup = full_name.split('/').nth(2).is_some();
    let fault = "must have the pattern owner/name, since only GitLab has subgroups";
    (is_in_subgroup && !channel.has_subgroups()).then_some(fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::string_enum::StringEnum;

    #[test]
    fn only_gitlab_has_subgroups() {
        for channel in RepositoryChannel::ALL.iter().copied() {
            assert_eq!(find_name_fault(channel, "acme/ledger"), None);
            let is_gitlab = channel == RepositoryChannel::Gitlab;
            assert_eq!(find_name_fault(channel, "acme/led/ger").is_none(), is_gitlab, "{}", channel.as_str());
        }
    }

    #[test]
    fn addresses_are_read_as_people_copy_them() {
        use RepositoryChannel::{Bitbucket, Github, Gitlab};
        for (text, channel, name) in [
            ("https://github.com/tideclock/harbour", Github, "tideclock/harbour"),
            (" http://www.GitHub.com/a/b/tree/main/src?tab=x#readme ", Github, "a/b"),
            ("git@github.com:a/b.git", Github, "a/b"),
            ("github.com/a/.github/", Github, "a/.github"),
            ("ssh://git@github.com:22/a/b.git", Github, "a/b"),
            ("https://github.com/a/b/tree/release@2", Github, "a/b"),
            ("ssh://git@gitlab.com/group/sub/name.git", Gitlab, "group/sub/name"),
            ("https://gitlab.com/group/sub/name/-/tree/main", Gitlab, "group/sub/name"),
            ("https://user@bitbucket.org/a/b/src/main/", Bitbucket, "a/b"),
        ] {
            assert_eq!(parse_repository_address(text), Some((channel, name.to_owned())), "{text}");
        }
        for text in [
            "",
            "a/b",
            "https://example.com/a/b",
            "https://github.com/a",
            "https://github.com/../a",
            "https://example.com/x@github.com/a/b",
            "https://github.com:a/b",
            "https://me:secret@github.com/a/b",
            "https://github.com/a/b/../../c",
            "https://github.com.example/a/b",
            "github.com",
        ] {
            assert_eq!(parse_repository_address(text), None, "{text}");
        }
    }
}
