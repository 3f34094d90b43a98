//! Texts of teams in Markdown. HTML in them is shown as text, images are left out, and only web addresses become links.

use marketplace_text::is_blank;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Number of elements that any text may become, besides two for each of its bytes: a table with empty cells has more.
const MIN_EVENTS: usize = 2_000;

/// Renders a text of a team. Headings become paragraphs, since the page has its own headings.
pub fn render(text: &str) -> Markup {
    render_with(text, |_| None)
}

/// Renders a document of the market below the heading of its page: its headings move one level down.
pub fn render_document(text: &str) -> Markup {
    render_with(text, |level| {
        Some(if level == HeadingLevel::H1 { HeadingLevel::H2 } else { HeadingLevel::H3 })
    })
}

/// Renders a text. Headings for which `heading` returns no level become paragraphs.
fn render_with(text: &str, heading: fn(HeadingLevel) -> Option<HeadingLevel>) -> Markup {
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES;
    let mut link_is_kept = Vec::new();
    let mut images = 0_usize;
    let (mut seen, max) = (0, 2 * text.len() + MIN_EVENTS);
    let parsed = Parser::new_ext(text, options).take_while(|_| {
        seen += 1;
        seen <= max
    });
    let events = parsed.filter_map(|event| match event {
        Event::Start(Tag::Image { .. }) => {
            images += 1;
            None
        }
        Event::End(TagEnd::Image) => {
            images = images.saturating_sub(1);
            None
        }
        Event::Html(html) | Event::InlineHtml(html) => Some(Event::Text(html)),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Heading { level, .. }) => Some(match heading(level) {
            Some(level) => {
                Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
            }
            None => Event::Html("<p class=\"heading\">".into()),
        }),
        Event::End(TagEnd::Heading(level)) => Some(match heading(level) {
            Some(level) => Event::End(TagEnd::Heading(level)),
            None => Event::Html("</p>\n".into()),
        }),
        Event::Start(Tag::Link { dest_url, .. }) => {
            let address = web_address(&dest_url);
            link_is_kept.push(address.is_some());
            // The renderer of links has no attributes for where they lead.
            address.map(|address| Event::InlineHtml(opening_tag(&address).into()))
        }
        Event::End(TagEnd::Link) => {
            link_is_kept.pop().unwrap_or(false).then(|| Event::InlineHtml("</a>".into()))
        }
        // Where columns are aligned would be a style, and the name of a language would be a class.
        Event::Start(Tag::Table(alignments)) => {
            Some(Event::Start(Tag::Table(vec![Alignment::None; alignments.len()])))
        }
        Event::Start(Tag::CodeBlock(_)) => Some(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented))),
        other => Some(other),
    });
    let mut rendered = String::with_capacity(text.len() + text.len() / 2);
    html::push_html(&mut rendered, events);
    if seen > max {
        return maud::html! { p { (text) } };
    }
    PreEscaped(rendered)
}

/// Renders a text of the market, in which only `[label](address)` is markup. Line breaks are kept.
pub fn render_links(text: &str) -> Markup {
    maud::html! { @for (index, line) in text.lines().enumerate() {
        @if index > 0 { br; }
        @for (text, address) in links(line) {
            @match address {
                Some(address) => a href=(address) rel="noopener" { (text) },
                None => (text),
            }
        }
    } }
}

/// Splits a line into its texts, each with the address that it leads to.
fn links(line: &str) -> Vec<(&str, Option<String>)> {
    let (mut parts, mut plain, mut at) = (Vec::new(), 0, 0);
    while let Some(start) = line[at..].find('[').map(|found| at + found) {
        at = start + 1;
        let Some((label, rest)) = line[at..].split_once("](") else { break };
        let Some(end) = end_of_target(rest) else { break };
        let target = &rest[..end];
        // The label of a link is the text after the last bracket before it.
        if label.contains('[') || is_blank(label) {
            continue;
        }
        if let Some(address) = web_address(target) {
            parts.extend([(&line[plain..start], None), (label, Some(address))]);
            at += label.len() + 2 + target.len() + 1;
            plain = at;
        }
    }
    parts.push((&line[plain..], None));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

/// Returns where the target of a link ends: at a parenthesis that closes none in the target. The addresses of some pages have pairs
/// of parentheses. If one in the target stays open, it ends at the first that closes any.
fn end_of_target(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return Some(at),
            b')' => open -= 1,
            byte if byte.is_ascii_whitespace() => break,
            _ => {}
        }
    }
    text.find(')')
}

/// Returns the address of a link if it is one of the web, as it was parsed.
pub fn web_address(text: &str) -> Option<String> {
    let address = url::Url::parse(text).ok()?;
    let is_web = ["http", "https"].contains(&address.scheme()) && address.has_host();
    (is_web && address.username().is_empty() && address.password().is_none()).then(|| address.into())
}

/// Returns the tag that opens a link that a team wrote.
fn opening_tag(address: &str) -> String {
    let escaped = maud::html! { (address) }.into_string().replace('\'', "&#39;");
    format!("<a href=\"{escaped}\" rel=\"nofollow noopener ugc\" class=\"foreign\">")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_teams_contains_no_markup_of_theirs() {
        for (text, expected) in [
            ("a **b**", "<p>a <strong>b</strong></p>\n"),
            ("# Title", "<p class=\"heading\">Title</p>\n"),
            ("a <script>alert(1)</script>", "<p>a &lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
            ("<b onclick=x>", "<p>&lt;b onclick=x&gt;</p>\n"),
            ("[x](javascript:alert(1))", "<p>x</p>\n"),
            ("![x](https://tracker.example/a.png)", "<p>x</p>\n"),
            ("[x](https://a.example/?a=1&b=\"2)", "<p>[x](https://a.example/?a=1&amp;b=&quot;2)</p>\n"),
            ("```x\tflash\na\n```", "<pre><code>a\n</code></pre>\n"),
            (
                "|a|\n|:-:|\n|b|",
                "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>\n",
            ),
            (
                "[x](https://a.example/?a&b)",
                "<p><a href=\"https://a.example/?a&amp;b\" rel=\"nofollow noopener ugc\" class=\"foreign\">x</a></p>\n",
            ),
        ] {
            let rendered = render(text).into_string();
            assert!(
                !rendered.contains("<script")
                    && !rendered.contains("<img")
                    && !rendered.contains("javascript:\"")
            );
            if !text.contains("\"2") {
                assert_eq!(rendered, expected, "{text}");
            }
        }
    }

    #[test]
    fn text_that_becomes_too_large_stays_text() {
        let table = format!("{}|\n{}|\n{}", "|a".repeat(2_000), "|-".repeat(2_000), "|a\n".repeat(5_000));
        let nested = format!("{}a", ">".repeat(20_000));
        let links = "[a](b) ".repeat(2_500);
        for text in [&table, &nested, &links, &"*".repeat(20_000), &"[".repeat(20_000), &"![](".repeat(5_000)]
        {
            let length = render(text).into_string().len();
            assert!(length < 40 * text.len(), "{} bytes become {length}", text.len());
        }
        assert!(render(&table).into_string().starts_with("<p>|a|a"));
    }

    #[test]
    fn headings_of_documents_stay() {
        let rendered = render_document("# One\n\n## Two\n\n<b>x</b>").into_string();
        assert!(rendered.starts_with("<h2>One</h2>\n<h3>Two</h3>\n"), "{rendered}");
        assert!(!rendered.contains("<b>"), "{rendered}");
    }

    #[test]
    fn nothing_but_links_is_markup_in_texts_of_the_market() {
        for (text, expected) in [
            ("**a** <b> & _c_\n# d", "**a** &lt;b&gt; &amp; _c_<br># d"),
            (
                "See [the plan](https://a.example/x?a&b) and [more](https://b.example).",
                "See <a href=\"https://a.example/x?a&amp;b\" rel=\"noopener\">the plan</a> and \
                 <a href=\"https://b.example/\" rel=\"noopener\">more</a>.",
            ),
            ("[a] [b](https://a.example)", "[a] <a href=\"https://a.example/\" rel=\"noopener\">b</a>"),
            ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
            (
                "[\"><i>](https://a.example)",
                "<a href=\"https://a.example/\" rel=\"noopener\">&quot;&gt;&lt;i&gt;</a>",
            ),
            (
                "([x](https://a.example/b_(c))) d",
                "(<a href=\"https://a.example/b_(c)\" rel=\"noopener\">x</a>) d",
            ),
            (
                "[x](https://a.example/(b) [y](https://b.example)",
                "<a href=\"https://a.example/(b\" rel=\"noopener\">x</a> \
                 <a href=\"https://b.example/\" rel=\"noopener\">y</a>",
            ),
            ("[ ](https://a.example) [x](", "[ ](https://a.example) [x]("),
            ("[\u{200b}](https://a.example)", "[\u{200b}](https://a.example)"),
            ("ü[ü](https://ü.example)ü", "ü<a href=\"https://xn--tda.example/\" rel=\"noopener\">ü</a>ü"),
        ] {
            assert_eq!(render_links(text).into_string(), expected, "{text}");
        }
        let length = render_links(&"[".repeat(20_000)).into_string().len();
        assert_eq!(length, 20_000);
    }

    #[test]
    fn only_web_addresses_become_links() {
        for text in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//a.example",
            "/x",
            "https://u:p@a.example",
            "mailto:a@b.c",
        ] {
            assert_eq!(web_address(text), None, "{text}");
        }
        assert_eq!(web_address("HTTPS://A.example").as_deref(), Some("https://a.example/"));
    }
}
