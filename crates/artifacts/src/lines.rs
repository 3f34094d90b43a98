//! Lines of code: lines that have something other than white space and comments.
//!
//! Each file is scanned once, with the comment and string syntax of its language. Strings end at the end of
//! their line unless their delimiter is made for several lines, so that one stray quote cannot change how the
//! rest of a file is counted.

/// Comments and strings of a family of languages.
struct Syntax {
    /// Start of a comment that ends with its line.
    line: &'static [&'static str],
    /// Start and end of a comment of several lines.
    block: &'static [(&'static str, &'static str)],
    /// Whether block comments nest.
    is_nested: bool,
    /// Delimiters of strings. Three-byte delimiters and the backtick may span lines; longer ones come first.
    strings: &'static [&'static str],
}

const C_BLOCK: &[(&str, &str)] = &[("/*", "*/")];
const DOUBLE: &[&str] = &["\""];
const BOTH: &[&str] = &["\"", "'"];

const C: Syntax = Syntax { line: &["//"], block: C_BLOCK, is_nested: false, strings: DOUBLE };
const NESTED_C: Syntax =
    Syntax { line: &["//"], block: C_BLOCK, is_nested: true, strings: &["\"\"\"", "\""] };
const SCRIPT: Syntax = Syntax { line: &["//"], block: C_BLOCK, is_nested: false, strings: &["`", "\"", "'"] };
const GO: Syntax = Syntax { line: &["//"], block: C_BLOCK, is_nested: false, strings: &["`", "\""] };
const SLASHES: Syntax = Syntax { line: &["//"], block: &[], is_nested: false, strings: DOUBLE };
const PHP: Syntax = Syntax { line: &["//", "#"], block: C_BLOCK, is_nested: false, strings: BOTH };
const STYLE: Syntax = Syntax { line: &[], block: C_BLOCK, is_nested: false, strings: BOTH };
const HASH: Syntax = Syntax { line: &["#"], block: &[], is_nested: false, strings: BOTH };
const PYTHON: Syntax =
    Syntax { line: &["#"], block: &[], is_nested: false, strings: &["\"\"\"", "'''", "\"", "'"] };
const RUBY: Syntax = Syntax { line: &["#"], block: &[("=begin", "=end")], is_nested: false, strings: BOTH };
const PERL: Syntax = Syntax { line: &["#"], block: &[("=pod", "=cut")], is_nested: false, strings: BOTH };
const JULIA: Syntax =
    Syntax { line: &["#"], block: &[("#=", "=#")], is_nested: true, strings: &["\"\"\"", "\""] };
const POWERSHELL: Syntax = Syntax { line: &["#"], block: &[("<#", "#>")], is_nested: false, strings: BOTH };
const HASH_AND_C: Syntax = Syntax { line: &["#", "//"], block: C_BLOCK, is_nested: false, strings: DOUBLE };
const DASHES: Syntax = Syntax { line: &["--"], block: &[], is_nested: false, strings: DOUBLE };
const SQL: Syntax = Syntax { line: &["--"], block: C_BLOCK, is_nested: false, strings: &["'"] };
const HASKELL: Syntax = Syntax { line: &["--"], block: &[("{-", "-}")], is_nested: true, strings: DOUBLE };
const LUA: Syntax = Syntax { line: &["--"], block: &[("--[[", "]]")], is_nested: false, strings: BOTH };
const LISP: Syntax = Syntax { line: &[";"], block: &[("#|", "|#")], is_nested: true, strings: DOUBLE };
const ASSEMBLY: Syntax = Syntax { line: &[";", "#"], block: C_BLOCK, is_nested: false, strings: DOUBLE };
const PERCENT: Syntax = Syntax { line: &["%"], block: &[], is_nested: false, strings: &[] };
const PROLOG: Syntax = Syntax { line: &["%"], block: C_BLOCK, is_nested: false, strings: BOTH };
const MATLAB: Syntax = Syntax { line: &["%"], block: &[("%{", "%}")], is_nested: false, strings: DOUBLE };
const MARKUP: Syntax = Syntax { line: &[], block: &[("<!--", "-->")], is_nested: false, strings: &[] };
const COMPONENT: Syntax = Syntax {
    line: &["//"],
    block: &[("<!--", "-->"), ("/*", "*/")],
    is_nested: false,
    strings: &["`", "\"", "'"],
};
const PASCAL: Syntax =
    Syntax { line: &["//"], block: &[("{", "}"), ("(*", "*)")], is_nested: false, strings: &["'"] };
const ML: Syntax = Syntax { line: &[], block: &[("(*", "*)")], is_nested: true, strings: DOUBLE };
const F_SHARP: Syntax =
    Syntax { line: &["//"], block: &[("(*", "*)")], is_nested: true, strings: &["\"\"\"", "\""] };
const FORTRAN: Syntax = Syntax { line: &["!"], block: &[], is_nested: false, strings: BOTH };
const BASIC: Syntax = Syntax { line: &["'", "REM "], block: &[], is_nested: false, strings: DOUBLE };
const BATCH: Syntax =
    Syntax { line: &["::", "REM ", "rem ", "@REM ", "@rem "], block: &[], is_nested: false, strings: &[] };
const VIM: Syntax = Syntax { line: &["\""], block: &[], is_nested: false, strings: &[] };
const COBOL: Syntax = Syntax { line: &["*>"], block: &[], is_nested: false, strings: BOTH };

/// The syntax of a language, by the name that linguist gives it.
fn syntax(language: &str) -> Option<&'static Syntax> {
    Some(match language {
        "C" | "C++" | "C#" | "Java" | "Objective-C" | "Objective-C++" | "Cuda" | "CUDA" | "GLSL" | "HLSL"
        | "WGSL" | "OpenCL" | "Metal" | "Protocol Buffer" | "Protocol Buffers" | "Thrift" | "Solidity"
        | "Verilog" | "SystemVerilog" | "Vala" | "Haxe" | "ActionScript" | "Apex" | "Processing"
        | "Arduino" | "Pony" | "Gleam" | "Yacc" | "Lex" | "Bison" | "Linker Script" | "ShaderLab"
        | "Move" | "Cairo" | "Vyper" | "V" | "Chapel" | "ANTLR" | "IDL" | "Unified Parallel C" => &C,
        "Rust" | "Swift" | "Kotlin" | "Scala" | "D" | "Dart" | "Odin" | "Jai" | "Groovy" | "Gradle" => {
            &NESTED_C
        }
        "JavaScript" | "TypeScript" | "TSX" | "JSX" | "EJS" | "SCSS" | "Sass" | "Less" | "Stylus"
        | "PostCSS" => &SCRIPT,
        "Go" => &GO,
        "Zig" => &SLASHES,
        "PHP" | "Hack" => &PHP,
        "CSS" => &STYLE,
        "Python" | "Cython" | "Starlark" | "Elixir" | "GDScript" | "Mojo" | "Snakemake" => &PYTHON,
        "Shell" | "Fish" | "Awk" | "Tcl" | "Makefile" | "CMake" | "Dockerfile" | "R" | "Nim" | "Crystal"
        | "YAML" | "TOML" | "GraphQL" | "Just" | "Meson" | "CoffeeScript" | "Raku" | "Puppet" | "SPARQL"
        | "Rego" | "Sed" | "GN" | "Gherkin" | "Nushell" | "Mako" | "Q#" => &HASH,
        "Ruby" => &RUBY,
        "Perl" => &PERL,
        "Julia" => &JULIA,
        "PowerShell" => &POWERSHELL,
        "HCL" | "Nix" | "Jsonnet" | "Terraform" => &HASH_AND_C,
        "Ada" | "VHDL" | "AppleScript" | "Eiffel" => &DASHES,
        "SQL" | "PLSQL" | "PLpgSQL" | "TSQL" | "SQLPL" => &SQL,
        "Haskell" | "Elm" | "PureScript" | "Idris" | "Agda" | "Lean" | "Literate Haskell" | "Dhall" => {
            &HASKELL
        }
        "Lua" | "Luau" | "MoonScript" | "Teal" => &LUA,
        "Common Lisp" | "Emacs Lisp" | "Scheme" | "Racket" | "Clojure" | "Fennel" | "Janet" | "NewLisp"
        | "Hy" | "WebAssembly" | "AutoHotkey" => &LISP,
        "Assembly" | "Unix Assembly" | "Motorola 68K Assembly" | "LLVM" | "NASL" => &ASSEMBLY,
        "TeX" | "Erlang" | "PostScript" | "BibTeX Style" | "Mercury" => &PERCENT,
        "Prolog" | "Logtalk" => &PROLOG,
        "MATLAB" => &MATLAB,
        "HTML" | "XML" | "XSLT" | "SVG" | "Markdown" | "XAML" | "JSP" | "ASP.NET" | "HTML+ERB"
        | "HTML+EEX" | "HTML+Razor" | "Handlebars" | "Visualforce Page" => &MARKUP,
        "Vue" | "Svelte" | "Astro" => &COMPONENT,
        "Pascal" | "Delphi" | "Component Pascal" => &PASCAL,
        "OCaml" | "Standard ML" | "Mathematica" | "Coq" | "Rocq Prover" | "Isabelle" | "ReasonML" => &ML,
        "F#" => &F_SHARP,
        "Fortran" | "Fortran Free Form" => &FORTRAN,
        "Visual Basic .NET" | "Visual Basic 6.0" | "VBA" | "VBScript" | "Classic ASP" | "QuickBASIC"
        | "BASIC" | "FreeBASIC" | "FreeBasic" => &BASIC,
        "Batchfile" => &BATCH,
        "Vim Script" => &VIM,
        "COBOL" => &COBOL,
        _ => return None,
    })
}

/// Whether the syntax of a language is known, by the name that linguist gives it.
pub(super) fn is_known(language: &str) -> bool {
    syntax(language).is_some()
}

/// Returns the number of lines of code of a file in a language, named as linguist names it. If the syntax of
/// the language is not known, every line that is not blank counts.
pub(super) fn count(language: &str, bytes: &[u8]) -> u64 {
    match syntax(language) {
        Some(syntax) => Scan { syntax, bytes, at: 0 }.count(),
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
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if let Some((open, close)) = self.find(self.syntax.block, |(open, _)| open) {
                self.at += open.len();
                if self.skip_block(open, close) {
                    lines += u64::from(has_code);
                    has_code = false;
                }
            } else if self.find(self.syntax.line, |open| open).is_some() {
                self.at = self.end_of_line();
            } else if let Some(quote) = self.find(self.syntax.strings, |quote| quote) {
                has_code = true;
                lines += self.skip_string(quote);
            } else {
                has_code = true;
                // A quote as a character, which opens no string.
                let quoted = [&b"'\"'"[..], b"'\\\"'"].into_iter().find(|quoted| self.is_at(quoted));
                self.at += quoted.map_or(1, <[u8]>::len);
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

    /// Moves past the block comment whose opening delimiter was just passed. Returns whether a line ends in
    /// it.
    fn skip_block(&mut self, open: &str, close: &str) -> bool {
        let (start, mut depth) = (self.at, 1);
        while self.at < self.bytes.len() && depth > 0 {
            if self.is_at(close.as_bytes()) {
                depth -= 1;
                self.at += close.len();
            } else if self.syntax.is_nested && self.is_at(open.as_bytes()) {
                depth += 1;
                self.at += open.len();
            } else {
                self.at += 1;
            }
        }
        memchr::memchr(b'\n', &self.bytes[start..self.at]).is_some()
    }

    /// Moves past the string at the position. Returns how many lines with code end within it.
    fn skip_string(&mut self, quote: &str) -> u64 {
        let spans_lines = quote.len() == 3 || quote == "`";
        let mut lines = 0;
        let mut has_code = true;
        self.at += quote.len();
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\n' if !spans_lines => return lines,
                b'\n' => {
                    lines += u64::from(has_code);
                    has_code = false;
                    self.at += 1;
                }
                b'\\' if self.bytes.get(self.at + 1) != Some(&b'\n') => {
                    has_code = true;
                    self.at = (self.at + 2).min(self.bytes.len());
                }
                _ if self.is_at(quote.as_bytes()) => {
                    self.at += quote.len();
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
            ("SQL", "-- a\nselect '--', 1 /* b */\n  from c;\n", 2),
            ("HTML", "<!-- a\n b -->\n<p>c</p>\n", 1),
            ("Shell", "#!/bin/sh\necho \"# a\"\n", 1),
            ("Haskell", "{- a {- b -} c -}\nmain = x -- d\n", 1),
            ("Unknown language", "# a\n\n  \nb\n", 2),
        ] {
            assert_eq!(count(language, text.as_bytes()), lines, "{language}: {text}");
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
            for language in ["Rust", "Python", "JavaScript", "HTML", "Lua", "Pascal"] {
                proptest::prop_assert!(count(language, &bytes) <= lines);
            }
        }
    }
}
