//! The guides for people who use the web app, as one page with its contents at the top.

use crate::{
    console::{parts::markdown, prelude::*},
    operations::access::Authenticated,
};

/// The guides for teams, each with its title in the first line.
const GUIDES: [&str; 3] = [
    include_str!("../../../docs/team.md"),
    include_str!("../../../docs/buy.md"),
    include_str!("../../../docs/sell.md"),
];

/// The guide for operators.
const FOR_OPERATORS: &str = include_str!("../../../docs/operate.md");

/// What begins a section of a guide.
const SECTION: &str = "\n## ";

/// The page.
pub struct Help;

/// A guide: its title, what precedes its first section, and its sections.
struct Guide<'g> {
    title: &'g str,
    introduction: &'g str,
    sections: Vec<Section<'g>>,
}

/// A section of a guide: its ID, which links name, its heading, and its text.
struct Section<'g> {
    id: String,
    heading: &'g str,
    text: &'g str,
}

impl Page<Authenticated> for Help {
    const PATH: &'static str = paths::HELP;
    const TITLE: &'static str = "Help";

    async fn show(visit: &Visit<Authenticated>) -> Result<Answer> {
        let for_operators = visit.team().is_none().then_some(FOR_OPERATORS);
        let guides: Vec<Guide> = for_operators.into_iter().chain(GUIDES).map(parts).collect();
        let body = html! {
            nav aria-labelledby="contents" {
                h2 #contents { "Contents" }
                @for guide in &guides {
                    p { b { (guide.title) } }
                    ul.columns { @for section in &guide.sections { li { a href={ "#" (section.id) } { (section.heading) } } } }
                }
            }
            @for guide in &guides {
                div.prose { (document(guide.introduction)) }
                @for section in &guide.sections {
                    (tables::section(&section.id, section.heading, &html! { div.prose { (document(section.text)) } }))
                }
            }
        };
        Ok(Content::new(Self::TITLE, body).narrow().into())
    }
}

/// Returns the parts of a guide.
fn parts(guide: &str) -> Guide<'_> {
    let (title, text) = guide.split_once('\n').unwrap_or_default();
    let title = title.trim_start_matches(['#', ' ']);
    let mut parts = text.split(SECTION);
    let introduction = parts.next().unwrap_or_default();
    let sections = parts.map(|part| {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        Section { id: id(title, heading), heading, text }
    });
    Guide { title, introduction, sections: sections.collect() }
}

/// Returns the ID of a section. It contains the title of the guide, since guides may have sections with the same
/// heading.
fn id(title: &str, heading: &str) -> String {
    let words = [title, heading]
        .into_iter()
        .flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphanumeric()));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!("help-{}", words.join("-"))
}

/// Renders a part of a guide without its screenshots: readers are in the web app already.
fn document(text: &str) -> Markup {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("![")).collect();
    markdown::render_document(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guides_have_sections_with_different_ids() {
        let guides: Vec<Guide> = GUIDES.into_iter().chain([FOR_OPERATORS]).map(parts).collect();
        assert!(guides.iter().all(|guide| guide.sections.len() > 3 && !guide.title.is_empty()));
        let mut ids: Vec<&str> =
            guides.iter().flat_map(|guide| &guide.sections).map(|section| section.id.as_str()).collect();
        let count = ids.len();
        assert!(ids.contains(&"help-buy-what-is-delivered"), "{ids:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
