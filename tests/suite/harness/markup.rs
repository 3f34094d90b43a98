//! Reads the markup of pages strictly, as text that anybody may have written into: each tag and attribute must be one that pages
//! have.

use std::collections::BTreeSet;

/// Elements that have no end tag.
const VOID: [&str; 5] = ["meta", "link", "input", "br", "hr"];

/// Elements that stand in a line of text. All others begin a block.
const INLINE: [&str; 17] = [
    "a", "b", "bdi", "code", "del", "em", "i", "kbd", "small", "span", "strong", "sub", "sup", "time", "use",
    "svg", "q",
];

/// Elements that no page has.
const FORBIDDEN: [&str; 12] = [
    "iframe", "img", "object", "embed", "base", "applet", "audio", "video", "frame", "frameset", "math",
    "style",
];

/// Attributes whose value is an address.
const ADDRESSES: [&str; 9] =
    ["href", "src", "action", "formaction", "hx-get", "hx-post", "hx-put", "hx-delete", "data-request"];

/// An element of a page.
#[derive(Debug)]
pub struct Element {
    /// Name of the element.
    pub name: String,
    /// Its attributes: names and values as they are read.
    pub attributes: Vec<(String, String)>,
}

impl Element {
    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn has_class(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|classes| classes.split(' ').any(|known| known == class))
    }
}

/// A piece of text in a line.
#[derive(Debug)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether its direction cannot change that of the text around it.
    pub is_isolated: bool,
    /// The innermost element that is a block.
    pub block: String,
}

/// What a page consists of.
#[derive(Debug, Default)]
pub struct Document {
    /// All elements in their order.
    pub elements: Vec<Element>,
    /// The texts of each line or paragraph.
    pub lines: Vec<Vec<Piece>>,
}

/// Reads a page. Fails with the reason if it is no markup that a page may have.
pub fn parse(page: &str) -> Result<Document, String> {
    let mut document = Document::default();
    let (mut open, mut rest): (Vec<usize>, &str) = (Vec::new(), page);
    let mut line = Vec::new();
    while let Some(start) = rest.find('<') {
        add_text(&document, &open, &rest[..start], &mut line)?;
        let Some(end) = rest[start..].find('>') else {
            return Err(format!("unfinished tag: {}", near(rest)));
        };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        if tag.starts_with('!') {
            if tag != "!DOCTYPE html" {
                return Err(format!("markup: {tag}"));
            }
            continue;
        }
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        if !INLINE.contains(&name) && !line.is_empty() {
            document.lines.push(std::mem::take(&mut line));
        }
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop().map(|index| document.elements[index].name.as_str());
            if last != Some(name) {
                return Err(format!("</{name}> ends {last:?} before {}", near(rest)));
            }
            continue;
        }
        let element = element(tag)?;
        let is_void = tag.ends_with('/') || VOID.contains(&element.name.as_str());
        document.elements.push(element);
        if !is_void {
            open.push(document.elements.len() - 1);
        }
    }
    if !open.is_empty() || rest.trim() != "" {
        return Err(format!("{} elements are open at the end: {}", open.len(), near(rest)));
    }
    Ok(document)
}

fn near(text: &str) -> String {
    text.chars().take(120).collect()
}

fn add_text(document: &Document, open: &[usize], text: &str, line: &mut Vec<Piece>) -> Result<(), String> {
    if text.contains('>') {
        return Err(format!("text with a bracket: {}", near(text)));
    }
    if text.trim().is_empty() {
        return Ok(());
    }
    let elements: Vec<&Element> = open.iter().map(|index| &document.elements[*index]).collect();
    let is_isolated = elements.iter().any(|element| element.name == "bdi" || element.has_class("prose"));
    let block = elements.iter().rev().find(|element| !INLINE.contains(&element.name.as_str()));
    let block = block.map(|element| element.name.clone()).unwrap_or_default();
    line.push(Piece { text: unescape(text), is_isolated, block });
    Ok(())
}

fn element(tag: &str) -> Result<Element, String> {
    let (name, mut rest) = tag.split_at(tag.find([' ', '\n', '/']).unwrap_or(tag.len()));
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b':')
    };
    if !is_name(name) || FORBIDDEN.contains(&name.to_lowercase().as_str()) {
        return Err(format!("element <{}>", near(tag)));
    }
    let (mut attributes, mut names) = (Vec::new(), BTreeSet::new());
    loop {
        rest = rest.trim_start();
        if rest.is_empty() || rest == "/" {
            break;
        }
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (attribute, after) = rest.split_at(end);
        if !is_name(attribute)
            || attribute.starts_with("on")
            || attribute.starts_with("hx-on")
            || attribute == "style"
        {
            return Err(format!("attribute {attribute:?} of <{}>", near(tag)));
        }
        if !names.insert(attribute.to_owned()) {
            return Err(format!("{attribute:?} twice in <{}>", near(tag)));
        }
        let Some(quoted) = after.strip_prefix("=\"") else {
            if after.starts_with('=') {
                return Err(format!("unquoted {attribute:?} of <{}>", near(tag)));
            }
            attributes.push((attribute.to_owned(), String::new()));
            rest = after;
            continue;
        };
        let Some((value, after)) = quoted.split_once('"') else {
            return Err(format!("unfinished {attribute:?} of <{}>", near(tag)));
        };
        attributes.push((attribute.to_owned(), unescape(value)));
        rest = after;
    }
    let element = Element { name: name.to_owned(), attributes };
    check_addresses(&element)?;
    Ok(element)
}

/// Addresses are of this server, or they are links of the web that are marked as foreign.
fn check_addresses(element: &Element) -> Result<(), String> {
    for (name, value) in element.attributes.iter().filter(|(name, _)| ADDRESSES.contains(&name.as_str())) {
        let is_here = value.starts_with('#') || (value.starts_with('/') && !value.starts_with("//"));
        let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let is_web = value.starts_with("https://") || value.starts_with("http://");
        let is_marked = element.attribute("rel").is_some_and(|rel| rel.contains("noopener"));
        if !is_plain || !(is_here || (is_web && element.name == "a" && is_marked)) {
            return Err(format!("{name}={value:?} of <{}>", element.name));
        }
    }
    Ok(())
}

/// Returns a text as it is read.
pub fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_markup_is_found() {
        parse("<!DOCTYPE html><p class=\"a\">x <bdi>y</bdi><br></p>").unwrap();
        for page in [
            "<p>x",
            "<p>x</b></p>",
            "<p onclick=\"x\"></p>",
            "<a href=\"javascript:x\">x</a>",
            "<a href=\"//evil.example\">x</a>",
            "<a href=\"https://evil.example\">x</a>",
            "<img src=\"/x\">",
            "<p>a > b</p>",
            "<p id=x></p>",
            "<p style=\"x\"></p>",
        ] {
            assert!(parse(page).is_err(), "{page}");
        }
    }
}
