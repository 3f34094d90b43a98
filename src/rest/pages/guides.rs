//! The guides: the pages of `docs/`, as they were when the program was built. The server serves them as text, and the
//! landing page links them.

use poem::{Endpoint, Response};

use crate::rest::pages::openapi_pages;

/// A guide.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    /// Name of its file.
    pub file_name: &'static str,
    /// Its text, in Markdown.
    pub text: &'static str,
}

/// Returns the guides with these names.
macro_rules! guides {
    ($($name:literal),+ $(,)?) => {
        [$(Guide {
            file_name: concat!($name, ".md"),
            text: include_str!(concat!("../../../docs/", $name, ".md")),
        }),+]
    };
}

/// All guides, in the order of the README.
pub static GUIDES: [Guide; 20] = guides![
    "start",
    "concepts",
    "team",
    "buy",
    "sell",
    "operate",
    "install",
    "service",
    "deployment",
    "backups",
    "replicas",
    "scale",
    "monitoring",
    "operator-api",
    "security",
    "performance",
    "test",
    "agents",
    "webhooks",
    "reference",
];

impl Guide {
    /// Returns the title.
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches('#').trim()
    }

    /// Returns the path below which the server serves it. Guides link each other by their file names.
    pub fn path(&self) -> String {
        format!("/guides/{}", self.file_name)
    }

    /// Returns the page with its text, which browsers show as it is.
    pub fn page(&self) -> impl Endpoint<Output = Response> + 'static {
        let text = self.text;
        openapi_pages::static_page("text/plain; charset=utf-8", None, move || text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(path: &str) -> String {
        format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn guides_are_those_of_the_readme_in_its_order() {
        let readme = std::fs::read_to_string(repository("README.md")).unwrap();
        let linked = readme.lines().filter_map(|line| line.strip_prefix("- [docs/")?.split_once(']'));
        let linked: Vec<&str> = linked.map(|(file_name, _)| file_name).collect();
        let served: Vec<&str> = GUIDES.iter().map(|guide| guide.file_name).collect();
        assert_eq!(served, linked);
        let mut files: Vec<String> = std::fs::read_dir(repository("docs"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| std::path::Path::new(name).extension().is_some_and(|extension| extension == "md"))
            .collect();
        files.sort_unstable();
        let mut sorted = served;
        sorted.sort_unstable();
        assert_eq!(sorted, files);
        assert_eq!((GUIDES[0].title(), GUIDES[0].path().as_str()), ("Start", "/guides/start.md"));
    }
}
