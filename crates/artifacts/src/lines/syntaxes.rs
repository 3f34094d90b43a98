//! Comments and strings of families of languages, as tables. Knows nothing of how files are read.

/// Comments and strings of a family of languages.
pub(super) struct Syntax {
    /// Start of a comment that ends with its line.
    pub(super) line: &'static [&'static str],
    /// Start and end of a comment of several lines.
    pub(super) block: &'static [(&'static str, &'static str)],
    /// Whether block comments nest.
    pub(super) is_nested: bool,
    /// Strings; those with longer delimiters come first.
    pub(super) strings: &'static [Quotes],
    /// What begins like a comment, but is code.
    pub(super) code: &'static [&'static str],
    /// Whether there are regular expressions between slashes.
    pub(super) has_regexes: bool,
    /// Whether there are the raw strings of C++, whose delimiter is chosen by the program: `R"x(` and `)x"`.
    pub(super) has_raw_strings: bool,
    /// Whether a line is a comment, by its columns.
    pub(super) is_comment_line: LineTest,
    /// Whether a line begins a comment of whole lines, and whether a line ends it.
    pub(super) section: Option<(LineTest, LineTest)>,
}

/// Whether a line is of a certain kind.
pub(super) type LineTest = fn(&[u8]) -> bool;

/// Delimiters of a string.
#[derive(Clone, Copy)]
pub(super) struct Quotes {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Whether it may have several lines. If not, it ends with its line.
    pub(super) spans_lines: bool,
    /// Sequences that contain the delimiter but do not end the string.
    pub(super) escapes: &'static [&'static str],
}

impl Quotes {
    /// Creates a string of one line, with backslashes before quotes.
    const fn line(quote: &'static str) -> Quotes {
        Quotes { open: quote, close: quote, spans_lines: false, escapes: BACKSLASHES }
    }

    /// Creates a string of several lines, with backslashes before quotes.
    const fn lines(quote: &'static str) -> Quotes {
        Quotes { spans_lines: true, ..Quotes::line(quote) }
    }

    /// Creates a string of several lines that ends with the first closing delimiter.
    const fn raw(open: &'static str, close: &'static str) -> Quotes {
        Quotes { open, close, spans_lines: true, escapes: &[] }
    }
}

const BACKSLASHES: &[&str] = &["\\\\", "\\\"", "\\'", "\\`"];

const QUOTE: Quotes = Quotes::line("\"");
const APOSTROPHE: Quotes = Quotes::line("'");
const BACKTICK: Quotes = Quotes::lines("`");
const TRIPLE_QUOTE: Quotes = Quotes::lines("\"\"\"");
const TRIPLE_APOSTROPHE: Quotes = Quotes::lines("'''");

const C_BLOCK: &[(&str, &str)] = &[("/*", "*/")];
const DOUBLE: &[Quotes] = &[QUOTE];
const BOTH: &[Quotes] = &[QUOTE, APOSTROPHE];
const DOUBLE_OR_TRIPLE: &[Quotes] = &[TRIPLE_QUOTE, QUOTE];
const BOTH_OR_TRIPLE: &[Quotes] = &[TRIPLE_QUOTE, TRIPLE_APOSTROPHE, QUOTE, APOSTROPHE];

const PLAIN: Syntax = Syntax {
    line: &[],
    block: &[],
    is_nested: false,
    strings: &[],
    code: &[],
    has_regexes: false,
    has_raw_strings: false,
    is_comment_line: |_| false,
    section: None,
};

const C: Syntax = Syntax { line: &["//"], block: C_BLOCK, strings: DOUBLE, ..PLAIN };
const C_WITH_RAW: Syntax = Syntax { has_raw_strings: true, ..C };
const C_WITH_TRIPLE: Syntax = Syntax { strings: DOUBLE_OR_TRIPLE, ..C };
const C_SHARP: Syntax = Syntax { strings: &[TRIPLE_QUOTE, Quotes::raw("@\"", "\""), QUOTE], ..C };
const C_WITH_BOTH: Syntax = Syntax { strings: BOTH, ..C };
const NESTED_C: Syntax = Syntax { is_nested: true, strings: DOUBLE_OR_TRIPLE, ..C };
const RUST: Syntax = Syntax {
    strings: &[
        Quotes::raw("r\"", "\""),
        Quotes::raw("r#\"", "\"#"),
        Quotes::raw("r##\"", "\"##"),
        Quotes::raw("r###\"", "\"###"),
        QUOTE,
    ],
    ..NESTED_C
};
const DART: Syntax = Syntax { strings: BOTH_OR_TRIPLE, ..NESTED_C };
const GROOVY: Syntax = Syntax { strings: BOTH_OR_TRIPLE, has_regexes: true, ..C };
const SCRIPT: Syntax = Syntax { strings: &[BACKTICK, QUOTE, APOSTROPHE], has_regexes: true, ..C };
const GO: Syntax = Syntax { strings: &[Quotes::raw("`", "`"), QUOTE], ..C };
const SLASHES: Syntax = Syntax { line: &["//"], strings: DOUBLE, ..PLAIN };
const PHP: Syntax = Syntax { line: &["//", "#"], strings: BOTH, code: &["#["], ..C };
const STYLE: Syntax = Syntax { line: &[], strings: BOTH, ..C };
const SASS: Syntax = Syntax { strings: BOTH, ..C };
const HASH: Syntax = Syntax { line: &["#"], strings: BOTH, ..PLAIN };
const PYTHON: Syntax = Syntax { strings: BOTH_OR_TRIPLE, ..HASH };
const RUBY: Syntax =
    Syntax { section: Some((|line| line.starts_with(b"=begin"), |line| line.starts_with(b"=end"))), ..HASH };
const PERL: Syntax = Syntax {
    section: Some((|line| matches!(line, [b'=', b'a'..=b'z', ..]), |line| line.starts_with(b"=cut"))),
    ..HASH
};
const JULIA: Syntax = Syntax { block: &[("#=", "=#")], is_nested: true, strings: DOUBLE_OR_TRIPLE, ..HASH };
const POWERSHELL: Syntax = Syntax { block: &[("<#", "#>")], ..HASH };
const HASH_AND_C: Syntax = Syntax { line: &["#", "//"], block: C_BLOCK, strings: DOUBLE, ..PLAIN };
const NIX: Syntax = Syntax {
    line: &["#"],
    strings: &[Quotes { escapes: &["'''", "''$", "''\\"], ..Quotes::raw("''", "''") }, QUOTE],
    ..HASH_AND_C
};
const JSONNET: Syntax = Syntax { strings: &[Quotes::raw("|||", "|||"), QUOTE, APOSTROPHE], ..HASH_AND_C };
const DASHES: Syntax = Syntax { line: &["--"], strings: DOUBLE, ..PLAIN };
const SQL: Syntax = Syntax { block: C_BLOCK, strings: &[APOSTROPHE], ..DASHES };
const HASKELL: Syntax = Syntax { block: &[("{-", "-}")], is_nested: true, ..DASHES };
const LUA: Syntax = Syntax { block: &[("--[[", "]]")], strings: BOTH, ..DASHES };
const LISP: Syntax =
    Syntax { line: &[";"], block: &[("#|", "|#")], is_nested: true, strings: DOUBLE, ..PLAIN };
const ASSEMBLY: Syntax = Syntax { line: &[";", "#"], block: C_BLOCK, strings: DOUBLE, ..PLAIN };
const PERCENT: Syntax = Syntax { line: &["%"], ..PLAIN };
const PROLOG: Syntax = Syntax { block: C_BLOCK, strings: BOTH, ..PERCENT };
const MATLAB: Syntax = Syntax {
    strings: DOUBLE,
    section: Some((|line| line.trim_ascii() == b"%{", |line| line.trim_ascii() == b"%}")),
    ..PERCENT
};
const MARKUP: Syntax = Syntax { block: &[("<!--", "-->")], ..PLAIN };
const COMPONENT: Syntax = Syntax { block: &[("<!--", "-->"), ("/*", "*/")], ..SCRIPT };
const PASCAL: Syntax =
    Syntax { line: &["//"], block: &[("{", "}"), ("(*", "*)")], strings: &[APOSTROPHE], ..PLAIN };
const ML: Syntax = Syntax { block: &[("(*", "*)")], is_nested: true, strings: DOUBLE, ..PLAIN };
const F_SHARP: Syntax = Syntax { line: &["//"], strings: DOUBLE_OR_TRIPLE, code: &["(*)"], ..ML };
const FORTRAN: Syntax = Syntax { line: &["!"], strings: BOTH, ..PLAIN };
const BASIC: Syntax = Syntax { line: &["'", "REM "], strings: DOUBLE, ..PLAIN };
const BATCH: Syntax = Syntax { line: &["::", "REM ", "rem ", "@REM ", "@rem "], ..PLAIN };
const VIM: Syntax = Syntax { line: &["\""], ..PLAIN };
const COBOL: Syntax =
    Syntax { line: &["*>"], strings: BOTH, is_comment_line: is_cobol_comment_line, ..PLAIN };

/// Whether column 7 of a line in the fixed form of COBOL marks it as a comment. A number may precede it.
fn is_cobol_comment_line(line: &[u8]) -> bool {
    let Some((number, [indicator, ..])) = line.split_at_checked(6) else { return false };
    matches!(indicator, b'*' | b'/') && number.iter().all(|byte| byte.is_ascii_digit() || *byte == b' ')
}

/// The syntax of a language, by the name that linguist gives it.
pub(super) fn find(language: &str) -> Option<&'static Syntax> {
    Some(match language {
        "GLSL" | "HLSL" | "WGSL" | "Verilog" | "SystemVerilog" | "Processing" | "Gleam" | "Linker Script"
        | "ShaderLab" | "Move" | "IDL" => &C,
        "C" | "C++" | "Objective-C" | "Objective-C++" | "Cuda" | "CUDA" | "OpenCL" | "Metal" | "Arduino"
        | "Yacc" | "Lex" | "Bison" | "Unified Parallel C" => &C_WITH_RAW,
        "Java" | "Vala" | "Pony" => &C_WITH_TRIPLE,
        "C#" => &C_SHARP,
        "Protocol Buffer" | "Protocol Buffers" | "Thrift" | "Solidity" | "Haxe" | "ActionScript" | "Apex"
        | "Cairo" | "V" | "Chapel" | "ANTLR" => &C_WITH_BOTH,
        "Swift" | "Kotlin" | "Scala" | "D" | "Odin" | "Jai" => &NESTED_C,
        "Rust" => &RUST,
        "Dart" => &DART,
        "Groovy" | "Gradle" => &GROOVY,
        "JavaScript" | "TypeScript" | "TSX" | "JSX" | "EJS" => &SCRIPT,
        "SCSS" | "Sass" | "Less" | "Stylus" | "PostCSS" => &SASS,
        "Go" => &GO,
        "Zig" => &SLASHES,
        "PHP" | "Hack" => &PHP,
        "CSS" => &STYLE,
        "Python" | "Cython" | "Starlark" | "Elixir" | "GDScript" | "Mojo" | "Snakemake" | "Vyper" => &PYTHON,
        "Shell" | "Fish" | "Awk" | "Tcl" | "Makefile" | "CMake" | "Dockerfile" | "R" | "Nim" | "Crystal"
        | "YAML" | "TOML" | "GraphQL" | "Just" | "Meson" | "CoffeeScript" | "Raku" | "Puppet" | "SPARQL"
        | "Rego" | "Sed" | "GN" | "Gherkin" | "Nushell" | "Mako" | "Q#" => &HASH,
        "Ruby" => &RUBY,
        "Perl" => &PERL,
        "Julia" => &JULIA,
        "PowerShell" => &POWERSHELL,
        "HCL" | "Terraform" => &HASH_AND_C,
        "Nix" => &NIX,
        "Jsonnet" => &JSONNET,
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
