//! The guide of the web app, for people.

use crate::{
    console::{parts::markdown, prelude::*},
    operations::access::Authenticated,
};

/// The guide, whose first line is its title.
const GUIDE: &str = include_str!("../../../docs/console.md");

/// The page.
pub struct Help;

impl Page for Help {
    const PATH: &'static str = paths::HELP;
    const TITLE: &'static str = "Help";

    type Access = Authenticated;

    async fn show(_: &Visit<Authenticated>) -> Result<Answer> {
        // Screenshots show what is on the other pages.
        let lines = GUIDE.lines().skip(1).filter(|line| !line.starts_with("!["));
        // The page has the first heading, so the others are one level higher.
        let raised =
            |line: &'static str| line.strip_prefix('#').filter(|rest| rest.starts_with('#')).unwrap_or(line);
        let text = lines.map(raised).collect::<Vec<_>>().join("\n");
        let body = html! { div.prose { (markdown::render_document(&text)) } };
        Ok(Content::new(Self::TITLE, body).narrow().into())
    }
}
