//! A parser for the paths that a Rust source file names: the imports, and the paths in the code. It knows
//! just enough of the syntax for that.

/// The parts of the syntax that paths consist of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    PathSeparator,
    Symbol(char),
}

/// An imported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The segments of the imported path; without the `*` of a glob import.
    pub path: Vec<String>,
    /// The name under which the path is imported; none for a glob import and for `as _`.
    pub name: Option<String>,
}

/// What a file names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// All imports, also those within functions.
    pub imports: Vec<Import>,
    /// The paths in the code that have several segments.
    pub paths: Vec<Vec<String>>,
    /// The files that are modules of tests, as declared with `#[cfg(test)] mod name;`.
    pub test_modules: Vec<String>,
}

impl SourceFile {
    /// Parses all code of a file.
    pub fn parse(text: &str) -> SourceFile {
        SourceFile::from_tokens(&tokens(text, false))
    }

    /// Parses the code of a file without the items that exist only in tests.
    pub fn parse_without_tests(text: &str) -> SourceFile {
        let (code, test_modules) = without_tests(&tokens(text, false));
        SourceFile { test_modules, ..SourceFile::from_tokens(&code) }
    }

    fn from_tokens(code: &[Token]) -> SourceFile {
        let mut file = SourceFile::default();
        let mut at = 0;
        while at < code.len() {
            // `use<T>` states what an opaque type captures.
            let is_import = code[at] == word("use") && code.get(at + 1) != Some(&Token::Symbol('<'));
            let start = at;
            if is_import {
                at += 1;
                skip_separator(code, &mut at);
                parse_import(code, &mut at, &[], &mut file.imports);
                continue;
            }
            let mut path = Vec::new();
            while let Some(Token::Word(segment)) = code.get(at) {
                path.push(segment.clone());
                at += 1;
                match (code.get(at), code.get(at + 1)) {
                    (Some(Token::PathSeparator), Some(Token::Word(_))) => at += 1,
                    _ => break,
                }
            }
            // A path that continues another one, such as `::to_vec` in `<[u8]>::to_vec`, names no module.
            if path.len() > 1 && (start == 0 || code[start - 1] != Token::PathSeparator) {
                file.paths.push(path);
            }
            at = at.max(start + 1);
        }
        file
    }
}

fn word(text: &str) -> Token {
    Token::Word(text.to_owned())
}

fn skip_separator(code: &[Token], at: &mut usize) {
    if code.get(*at) == Some(&Token::PathSeparator) {
        *at += 1;
    }
}

/// Parses an import from a token after `use`, `{`, or `,` up to the token after it. `prefix` is the path of
/// the groups around it.
fn parse_import(code: &[Token], at: &mut usize, prefix: &[String], out: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    loop {
        match code.get(*at) {
            Some(Token::Word(segment)) => path.push(segment.clone()),
            Some(Token::Symbol('*')) => {
                *at += 1;
                return out.push(Import { path, name: None });
            }
            Some(Token::Symbol('{')) => {
                *at += 1;
                while let Some(token) = code.get(*at) {
                    match token {
                        Token::Symbol('}') => {
                            *at += 1;
                            return;
                        }
                        Token::Symbol(',') => *at += 1,
                        _ => parse_import(code, at, &path, out),
                    }
                }
                return;
            }
            _ => {
                *at += 1;
                return;
            }
        }
        *at += 1;
        if code.get(*at) != Some(&Token::PathSeparator) {
            break;
        }
        *at += 1;
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let mut name = path.last().cloned();
    if code.get(*at) == Some(&word("as")) {
        name = match code.get(*at + 1) {
            Some(Token::Word(alias)) if alias != "_" => Some(alias.clone()),
            _ => None,
        };
        *at += 2;
    }
    out.push(Import { path, name });
}

/// Removes the items that exist only in tests. Also returns the names of the test modules in other files.
fn without_tests(code: &[Token]) -> (Vec<Token>, Vec<String>) {
    let symbol = Token::Symbol;
    let mark = [symbol('#'), symbol('['), word("cfg"), symbol('('), word("test"), symbol(')'), symbol(']')];
    let (mut kept, mut test_modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < code.len() {
        if !code[at..].starts_with(&mark) {
            kept.push(code[at].clone());
            at += 1;
            continue;
        }
        at += mark.len();
        if let [Token::Word(keyword), Token::Word(name), Token::Symbol(';'), ..] = &code[at..]
            && keyword == "mod"
        {
            test_modules.push(name.clone());
        }
        // The item ends with its first block, or with a semicolon outside of parentheses.
        let mut depth = 0;
        while let Some(token) = code.get(at) {
            at += 1;
            match token {
                Token::Symbol('(' | '[' | '{') => depth += 1,
                Token::Symbol(')' | ']') => depth -= 1,
                Token::Symbol('}') => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                Token::Symbol(';') if depth == 0 => break,
                _ => {}
            }
        }
    }
    (kept, test_modules)
}

/// Splits a text into tokens. Comments and literals are dropped, except strings in attributes, which may hold
/// paths: `#[serde(default = "crate::path")]`.
fn tokens(text: &str, is_in_string: bool) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let is_word = |character: &char| character.is_alphanumeric() || *character == '_';
    let (mut out, mut at) = (Vec::new(), 0);
    // The number of open brackets of the attribute at this place; 0 outside of attributes.
    let mut attribute_depth = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        match rest {
            ['/', '/', ..] => at += rest.iter().take_while(|character| **character != '\n').count(),
            ['/', '*', ..] => at += block_comment_length(rest),
            ['r', '"' | '#', ..] if !is_in_string && raw_string(rest).is_some() => {
                at += raw_string(rest).unwrap_or(1);
            }
            ['"', ..] if !is_in_string => {
                let length = string_length(rest);
                if attribute_depth > 0 {
                    let content: String = rest[1..length - 1].iter().collect();
                    out.extend(tokens(&content, true));
                }
                at += length;
            }
            // An escaped letter, which may be a quote, and the rest up to the closing quote.
            ['\'', '\\', _, escape @ ..] => {
                at += 4 + escape.iter().take_while(|character| **character != '\'').count();
            }
            ['\'', _, '\'', ..] => at += 3,
            [':', ':', ..] => {
                out.push(Token::PathSeparator);
                at += 2;
            }
            [first, ..] if is_word(first) => {
                let length = rest.iter().take_while(|character| is_word(character)).count();
                out.push(Token::Word(rest[..length].iter().collect()));
                at += length;
            }
            [first, ..] => {
                match (first, &out[..]) {
                    ('[', [.., Token::Symbol('#')] | [.., Token::Symbol('#'), Token::Symbol('!')]) => {
                        attribute_depth = 1;
                    }
                    ('[', _) if attribute_depth > 0 => attribute_depth += 1,
                    (']', _) if attribute_depth > 0 => attribute_depth -= 1,
                    _ => {}
                }
                if !first.is_whitespace() {
                    out.push(Token::Symbol(*first));
                }
                at += 1;
            }
            [] => {}
        }
    }
    out
}

/// Returns the length of the block comment at the start of a text. Block comments can be nested.
fn block_comment_length(text: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the length of the string literal at the start of a text, with its quotes.
fn string_length(text: &[char]) -> usize {
    let mut at = 1;
    while let Some(character) = text.get(at) {
        match character {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the length of the raw string literal at the start of a text; none if there is no such literal.
fn raw_string(text: &[char]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|character| **character == '#').count();
    let start = 1 + hashes;
    if text.get(start) != Some(&'"') {
        return None;
    }
    let end = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect::<Vec<_>>();
    let length = text[start + 1..].windows(end.len()).position(|window| window == end)?;
    Some(start + 1 + length + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(text: &str) -> Vec<String> {
        let show = |import: &Import| {
            let path = import.path.join("::");
            match &import.name {
                Some(name) if import.path.last() == Some(name) => path,
                Some(name) => format!("{path} as {name}"),
                None => format!("{path}::*"),
            }
        };
        SourceFile::parse(text).imports.iter().map(show).collect()
    }

    fn paths(text: &str) -> Vec<String> {
        SourceFile::parse_without_tests(text).paths.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn groups_of_imports_are_expanded() {
        let text = "pub(crate) use super::{a::{self, B, c::*}, d as e};
            use crate::{domain::x, store};
            fn f() { use self::g::H; }
            use ::std::io;";
        let expected = [
            "super::a",
            "super::a::B",
            "super::a::c::*",
            "super::d as e",
            "crate::domain::x",
            "crate::store",
            "self::g::H",
            "std::io",
        ];
        assert_eq!(imports(text), expected);
    }

    #[test]
    fn paths_in_code_are_found() {
        let text = "#[oai(tag = \"crate::api::Tag::A\")]
            fn f(x: &super::x::Y) -> impl Sized + use<'_> { child::call::<crate::T>(x.y, $crate::m!()) }
            let z = <[u8]>::to_vec;";
        assert_eq!(
            paths(text),
            ["crate::api::Tag::A", "super::x::Y", "child::call", "crate::T", "crate::m",]
        );
    }

    #[test]
    fn comments_and_literals_are_ignored() {
        let text = r##"// crate::a::b
            /* crate::a /* nested */ crate::c::d */
            let s = "crate::e::f \" crate::g::h"; let r = r#"crate::i::j " "#;
            let c = '"'; let v = vec!["crate::m::n"]; let q = '\''; let l: &'static str = crate::k::l;"##;
        assert_eq!(paths(text), ["crate::k::l"]);
    }

    #[test]
    fn test_modules_are_ignored() {
        let text = "use crate::a::B;
            #[cfg(test)]
            mod tests { use crate::c::D; fn f() { crate::e::f() } }
            #[cfg(test)]
            mod query_plans;
            fn g() { crate::h::i() }";
        let file = SourceFile::parse_without_tests(text);
        assert_eq!(file.imports.len(), 1);
        assert_eq!(paths(text), ["crate::h::i"]);
        assert_eq!(file.test_modules, ["query_plans"]);
        assert_eq!(SourceFile::parse(text).imports.len(), 2);
    }
}
