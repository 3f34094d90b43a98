//! Lines of code: lines that have something other than white space and comments.
//!
//! Each file is scanned once, with the comment and string syntax of its language. Strings end at the end of
//! their line unless their delimiter is made for several lines, and so do block comments that are never closed,
//! so that one stray token cannot change how the rest of a file is counted.

mod syntaxes;

use self::syntaxes::Syntax;

/// Tokens before a regular expression. After anything else, a slash is a division.
const REGEX_PRECEDERS: [&[u8]; 17] = [
    b"(", b",", b"=", b":", b"[", b"!", b"&", b"|", b"?", b"{", b"}", b";", b"~", b"=>", b"return", b"case",
    b"typeof",
];

/// Quotes as characters, which open no string.
const QUOTE_CHARACTERS: [&[u8]; 3] = [b"'\"'", b"'\\\"'", b"'`'"];

/// Maximum length in bytes of the part of a delimiter of a raw string that the program chooses.
const MAX_RAW_DELIMITER_BYTES: usize = 16;

/// Whether the syntax of a language is known, by the name that linguist gives it.
pub(super) fn is_known(language: &str) -> bool {
    syntaxes::find(language).is_some()
}

/// Returns the number of lines of code of a file in a language, named as linguist names it. If the syntax of
/// the language is not known, every line that is not blank counts.
pub(super) fn count(language: &str, bytes: &[u8]) -> u64 {
    match syntaxes::find(language) {
        Some(syntax) => {
            Scan { syntax, bytes, at: 0, is_nested: syntax.is_nested, unclosed: Vec::new() }.count()
        }
        None => {
            bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count() as u64
        }
    }
}

/// A position in the bytes of a file.
struct Scan<'a> {
    syntax: &'static Syntax,
    bytes: &'a [u8],
    at: usize,
    /// Whether block comments nest. After an unclosed comment, they no longer nest.
    is_nested: bool,
    /// Ends of block comments that do not occur in the rest of the file.
    unclosed: Vec<&'static str>,
}

impl Scan<'_> {
    fn count(mut self) -> u64 {
        let (mut lines, mut has_code) = (0, false);
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            if byte == b'\n' {
                lines += u64::from(has_code);
                has_code = false;
                self.at += 1;
            } else if let Some(end) = self.end_of_comment_lines() {
                self.at = end;
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if let Some(code) = self.find(self.syntax.code, |code| code) {
                has_code = true;
                self.at += code.len();
            } else if let Some((open, close)) = self.find(self.syntax.block, |(open, _)| open) {
                self.at += open.len();
                if self.skip_block(open, close) {
                    lines += u64::from(has_code);
                    has_code = false;
                }
            } else if self.find(self.syntax.line, |open| open).is_some() {
                self.at = self.end_of_line();
            } else if let Some((open, close)) = self.raw_string() {
                has_code = true;
                self.at += open;
                lines += self.skip_string(&close, true, &[]);
            } else if let Some(quotes) = self.find(self.syntax.strings, |quotes| quotes.open) {
                has_code = true;
                self.at += quotes.open.len();
                lines += self.skip_string(quotes.close.as_bytes(), quotes.spans_lines, quotes.escapes);
            } else {
                has_code = true;
                if self.is_at_regex() {
                    self.skip_regex();
                } else {
                    let quote = QUOTE_CHARACTERS.into_iter().find(|quote| self.is_at(quote));
                    self.at += quote.map_or(1, <[u8]>::len);
                }
            }
        }
        lines + u64::from(has_code)
    }

    /// Whether these bytes are at the position.
    fn is_at(&self, text: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(text)
    }

    /// Returns the first of several delimiters that is at the position.
    fn find<T: Copy>(&self, delimiters: &[T], text: impl Fn(T) -> &'static str) -> Option<T> {
        delimiters.iter().copied().find(|delimiter| self.is_at(text(*delimiter).as_bytes()))
    }

    fn end_of_line(&self) -> usize {
        memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |length| self.at + length)
    }

    /// Returns the end of the comment of whole lines that begins at the position, if there is one.
    fn end_of_comment_lines(&self) -> Option<usize> {
        if self.at > 0 && self.bytes[self.at - 1] != b'\n' {
            return None;
        }
        let line_end = self.end_of_line();
        let line = &self.bytes[self.at..line_end];
        if (self.syntax.is_comment_line)(line) {
            return Some(line_end);
        }
        let (_, is_end) = self.syntax.section.filter(|(is_start, _)| is_start(line))?;
        let mut end = line_end;
        for line in self.bytes[line_end..].split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            if is_end(line) {
                break;
            }
        }
        Some(end)
    }

    /// Moves past the block comment whose opening delimiter was just passed. Returns whether a line ends in
    /// it. A comment that is never closed ends with its line.
    fn skip_block(&mut self, open: &str, close: &'static str) -> bool {
        let (start, mut depth) = (self.at, 1);
        let is_closed = !self.unclosed.contains(&close);
        while is_closed && self.at < self.bytes.len() && depth > 0 {
            if self.is_at(close.as_bytes()) {
                depth -= 1;
                self.at += close.len();
            } else if self.is_nested && self.is_at(open.as_bytes()) {
                depth += 1;
                self.at += open.len();
            } else {
                self.at += 1;
            }
        }
        if depth > 0 {
            // Each of these happens once, so the time stays linear.
            if !std::mem::take(&mut self.is_nested) && is_closed {
                self.unclosed.push(close);
            }
            self.at = start;
            self.at = self.end_of_line();
        }
        memchr::memchr(b'\n', &self.bytes[start..self.at]).is_some()
    }

    /// Whether a regular expression begins at the position.
    fn is_at_regex(&self) -> bool {
        if !self.syntax.has_regexes || !self.is_at(b"/") || self.is_at(b"/>") {
            return false;
        }
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let before = self.bytes[..self.at].iter().rposition(|byte| !is_blank(byte));
        let before = before.map_or(&[][..], |last| &self.bytes[..=last]);
        before.is_empty()
            || before.ends_with(b"\n")
            || REGEX_PRECEDERS.iter().any(|end| before.ends_with(end))
    }

    /// Moves past the regular expression at the position, which ends with its line at the latest.
    fn skip_regex(&mut self) {
        let (mut is_in_class, mut is_escaped) = (false, false);
        self.at += 1;
        // The end of the line is not looked for first: a line can have very many regular expressions.
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| **byte != b'\n') {
            self.at += 1;
            match byte {
                _ if is_escaped => {}
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => return,
                _ => {}
            }
            is_escaped = *byte == b'\\' && !is_escaped;
        }
    }

    /// Returns the length of the delimiter that opens the raw string at the position, and the delimiter that closes it.
    fn raw_string(&self) -> Option<(usize, Vec<u8>)> {
        let rest = self.bytes[self.at..].strip_prefix(b"R\"").filter(|_| self.syntax.has_raw_strings)?;
        let length = rest.iter().take(MAX_RAW_DELIMITER_BYTES + 1).position(|byte| *byte == b'(')?;
        let chosen = &rest[..length];
        let is_delimiter = !chosen.iter().any(|byte| byte.is_ascii_whitespace() || b")\\\"".contains(byte));
        is_delimiter.then(|| (b"R\"(".len() + length, [&b")"[..], chosen, b"\""].concat()))
    }

    /// Moves to the end of the string that begins at the position, after its opening delimiter. Returns how many lines with
    /// code end within it.
    fn skip_string(&mut self, close: &[u8], spans_lines: bool, escapes: &[&'static str]) -> u64 {
        let mut lines = 0;
        let mut has_code = true;
        while self.at < self.bytes.len() {
            if let Some(escape) = self.find(escapes, |escape| escape) {
                has_code = true;
                self.at += escape.len();
                continue;
            }
            match self.bytes[self.at] {
                b'\n' if !spans_lines => return lines,
                b'\n' => {
                    lines += u64::from(has_code);
                    has_code = false;
                    self.at += 1;
                }
                _ if self.is_at(close) => {
                    self.at += close.len();
                    return lines;
                }
                byte => {
                    has_code |= !byte.is_ascii_whitespace();
                    self.at += 1;
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn blank_lines_and_comments_do_not_count() {
        for (language, text, lines) in [
            ("Rust", "// a\nfn main() {\n\n    /* b\n    /* c */\n    */ let x = 1; // d\n}\n", 3),
            ("Rust", "let a = '\"'; // b\n// c\nlet d = \"// e\";", 2),
            ("C", "int a; /* b\n c */ int d;\n/* e */\n", 2),
            ("C", "char *a = \"/*\";\nint b;\n", 2),
            ("Python", "# a\nx = '''\n# not a comment\n\n'''\n", 3),
            ("JavaScript", "const a = `\n// text\n`; // b\n", 3),
            ("Go", "var a = `/*`\nvar b = 1\n", 2),
            ("C++", "auto a = u8R\"x(\n)\" /*\n)x\";\nint b;\n// c\nint d; /* e */\n", 5),
            ("Java", "String a = \"\"\"\n  // \"b\"\n  /* c\n  \"\"\";\nint d; /* e */\n", 5),
            ("SQL", "-- a\nselect '--', 1 /* b */\n  from c;\n", 2),
            ("HTML", "<!-- a\n b -->\n<p>c</p>\n", 1),
            ("Shell", "#!/bin/sh\necho \"# a\"\n", 1),
            ("Haskell", "{- a {- b -} c -}\nmain = x -- d\n", 1),
            ("Unknown language", "# a\n\n  \nb\n", 2),
        ] {
            assert_eq!(count(language, text.as_bytes()), lines, "{language}: {text}");
        }
    }

    /// A comment delimiter outside of a comment hides no lines, with or without a comment after it.
    #[test]
    fn tokens_in_code_begin_no_comment() {
        for (language, line, ordinary, comment) in [
            ("JavaScript", r"s.replace(/\/*$/, '')", "let a = 1;", "/* b */"),
            ("TypeScript", r"return /[/*]/.test(s) && /['`]/.test(t)", "let a = 1;", "/* b */"),
            ("JavaScript", r"const glob = x => /`\/*/.test(x);", "let a = 1;", "/* b */"),
            ("TSX", r"<Glob pattern={/\/*$/} />", "let a = 1 / b;", "/* b */"),
            ("Vue", r"const a = /\/*/;", "let a = 1;", "<!-- b -->"),
            ("Dart", "Glob('assets/*')", "var a = 1;", "/* b */"),
            ("Groovy", "archiveArtifacts 'target/*.jar'", "int a = 1", "/* b */"),
            ("Gradle", r"def a = x =~ /\/*/", "int a = 1", "/* b */"),
            ("Nix", "'' cp -r build/* $out ''", "a = 1;", "/* b */"),
            ("Nix", "'' echo '''/* ''${a} ''", "a = 1;", "/* b */"),
            ("Jsonnet", "local g = '/api/*';", "local a = 1;", "/* b */"),
            ("F#", "List.fold (*) 1 xs", "let a = 1", "(* b *)"),
            ("Rust", "r#\"accept: \"*/*\"\"#;", "let a = 1;", "/* b */"),
            ("Rust", r#"let a = r"C:\"; let b = "/*";"#, "let a = 1;", "/* b */"),
            ("Ruby", "@x ||=begin", "a = 1", "=begin\nb\n=end"),
            ("Go", "case '`', '\"':", "a := 1", "/* `b` */"),
            ("Go", "a := `C:\\`", "a := 1", "/* b */"),
            ("C#", r#"var a = @"C:\"; var b = "/*";"#, "var a = 1;", "/* b */"),
            ("C++", "auto a = R\"(\"/*)\";", "int a;", "/* b */"),
            ("C++", "FOR\"/*\";", "int a;", "/* b */"),
            ("Thrift", "const string A = '/*'", "const i32 A = 1", "/* b */"),
            ("PHP", "#[Route('/api/*')]", "$a = 1;", "/* b */"),
            ("MATLAB", "disp(a); %{", "a = 1;", "%{\nb\n%}"),
        ] {
            let lines = format!("{ordinary}\n").repeat(50);
            assert_eq!(count(language, format!("{line}\n{lines}").as_bytes()), 51, "{language}: {line}");
            let text = format!("{line}\n{lines}{comment}\n{ordinary}\n");
            assert_eq!(count(language, text.as_bytes()), 52, "{language}: {line}, with a comment");
        }
    }

    #[test]
    fn comments_of_whole_lines_do_not_count() {
        for (language, text, lines) in [
            ("Perl", "my $a;\n=head1 NAME\n\nb\n\n=cut\nmy $c;\n", 2),
            ("Perl", "my $a;\n\n=method b\n\ntext to the end\n", 1),
            ("Perl", "my $a\n= 5;\n", 2),
            ("Ruby", "a\n=begin\nb\n=end\nc\n", 2),
            ("COBOL", "000100* a\n      * b\n       MOVE A TO B.\n      / c\n       C *> d\n", 2),
            ("MATLAB", "a\n  %{\nb\n  %}\nc\n", 2),
        ] {
            assert_eq!(count(language, text.as_bytes()), lines, "{language}: {text}");
        }
    }

    #[test]
    fn an_unclosed_comment_ends_with_its_line() {
        for (language, text, lines) in [
            ("C", "int a; /* b\nint c;\n", 2),
            ("C", "/* a\nint b;\n/* c\nint d;\n", 2),
            ("Rust", "let a; /* b\nlet c;\n/* d */\nlet e;\n", 3),
            ("HTML", "<p> <!-- a\n<p>\n", 2),
        ] {
            assert_eq!(count(language, text.as_bytes()), lines, "{language}: {text}");
        }
    }

    /// In quadratic time, this would not end.
    #[test]
    fn counting_takes_linear_time() {
        for (language, text) in [
            ("C", "/* a\n"),
            ("Rust", "/* a\n"),
            ("Vue", "<!-- /* \n"),
            ("JavaScript", "(/[ "),
            ("JavaScript", "=/a/"),
            ("JavaScript", "                 / "),
            ("Perl", "=a\n"),
            ("COBOL", "      "),
        ] {
            count(language, text.repeat(1_000_000).as_bytes());
        }
    }

    #[test]
    fn an_unclosed_string_ends_with_its_line() {
        assert_eq!(count("C", b"char a = \"b;\n// c\nint d;\n"), 2);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_at_most_their_lines(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
            let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
            for language in ["Rust", "Python", "JavaScript", "HTML", "Lua", "Pascal", "Nix", "Perl", "COBOL", "MATLAB"] {
                proptest::prop_assert!(count(language, &bytes) <= lines);
            }
        }
    }
}
