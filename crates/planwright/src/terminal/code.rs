//! The colours of code, line by line: comments, strings, numbers and keywords of the usual languages.

use super::palette::{CODE, COMMENT, KEYWORD, NUMBER, PLAIN, STRING};
use super::text::Span;

/// What a language looks like, as far as one line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language {
    comment: &'static str,
    quotes: &'static [char],
    keywords: &'static [&'static str],
}

const SHELL: Language = Language {
    comment: "#",
    quotes: &['"', '\''],
    keywords: &[
        "if", "then", "else", "elif", "fi", "for", "in", "do", "done", "while", "case", "esac", "function", "return",
        "exit", "export", "set", "local",
    ],
};
const PYTHON: Language = Language {
    comment: "#",
    quotes: &['"', '\''],
    keywords: &[
        "def", "class", "return", "if", "elif", "else", "for", "while", "in", "not", "and", "or", "import", "from",
        "as", "with", "try", "except", "finally", "raise", "lambda", "yield", "async", "await", "None", "True",
        "False",
    ],
};
const RUST: Language = Language {
    comment: "//",
    quotes: &['"'],
    keywords: &[
        "fn", "let", "mut", "pub", "struct", "enum", "impl", "trait", "use", "mod", "match", "if", "else", "for", "in",
        "while", "loop", "return", "async", "await", "move", "const", "static", "type", "where", "as", "ref", "self",
        "Self", "crate", "super", "true", "false",
    ],
};
const SCRIPT: Language = Language {
    comment: "//",
    quotes: &['"', '\'', '`'],
    keywords: &[
        "function",
        "const",
        "let",
        "var",
        "return",
        "if",
        "else",
        "for",
        "of",
        "in",
        "while",
        "switch",
        "case",
        "class",
        "extends",
        "new",
        "import",
        "export",
        "from",
        "default",
        "async",
        "await",
        "type",
        "interface",
        "null",
        "true",
        "false",
        "this",
    ],
};
const CURLY: Language = Language {
    comment: "//",
    quotes: &['"', '\''],
    keywords: &[
        "func",
        "package",
        "import",
        "var",
        "const",
        "type",
        "struct",
        "interface",
        "return",
        "if",
        "else",
        "for",
        "range",
        "switch",
        "case",
        "class",
        "public",
        "private",
        "static",
        "void",
        "int",
        "new",
        "null",
        "nil",
        "true",
        "false",
        "include",
        "go",
        "defer",
    ],
};
const SQL: Language = Language {
    comment: "--",
    quotes: &['\''],
    keywords: &[
        "select", "from", "where", "and", "or", "not", "insert", "into", "values", "update", "set", "delete", "create",
        "table", "alter", "drop", "index", "join", "left", "on", "order", "by", "group", "limit", "null", "primary",
        "key",
    ],
};
const DATA: Language = Language { comment: "#", quotes: &['"', '\''], keywords: &["true", "false", "null"] };

impl Language {
    /// Of the word after the fence.
    pub(super) fn named(name: &str) -> Option<Self> {
        let first = name.split([' ', ',', '{']).next().unwrap_or_default().to_lowercase();
        Some(match first.as_str() {
            "sh" | "bash" | "zsh" | "shell" | "make" | "makefile" | "dockerfile" => SHELL,
            "py" | "python" => PYTHON,
            "rs" | "rust" => RUST,
            "js" | "ts" | "jsx" | "tsx" | "javascript" | "typescript" => SCRIPT,
            "go" | "c" | "h" | "cpp" | "java" | "cs" | "kotlin" | "swift" => CURLY,
            "sql" => SQL,
            "json" | "toml" | "yaml" | "yml" | "ini" => DATA,
            _ => return None,
        })
    }
}

/// A line of code. Without a language all of it is drawn alike.
pub(super) fn spans(line: &str, language: Option<Language>) -> Vec<Span> {
    let Some(language) = language else { return vec![Span::new(line, CODE)] };
    let (mut spans, mut rest) = (Vec::new(), line);
    let mut after_word = false;
    while let Some(c) = rest.chars().next() {
        let (length, style) = if rest.starts_with(language.comment) && !after_word {
            (rest.len(), COMMENT)
        } else if language.quotes.contains(&c) {
            (quoted(rest, c), STRING)
        } else if c.is_ascii_digit() && !after_word {
            (run(rest, |c| c.is_ascii_alphanumeric() || c == '.' || c == '_'), NUMBER)
        } else if c.is_alphabetic() || c == '_' {
            let length = run(rest, |c| c.is_alphanumeric() || c == '_');
            (length, if is_keyword(&rest[..length], language) { KEYWORD } else { PLAIN })
        } else {
            (c.len_utf8(), PLAIN)
        };
        after_word = c.is_alphanumeric() || c == '_';
        spans.push(Span::new(&rest[..length], style));
        rest = &rest[length..];
    }
    spans
}

fn is_keyword(word: &str, language: Language) -> bool {
    language.keywords.contains(&word) || (language == SQL && language.keywords.contains(&word.to_lowercase().as_str()))
}

/// The bytes at the beginning whose characters fit.
fn run(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|c| !fits(c)).unwrap_or(text.len())
}

/// The bytes of a string with its quotes. One that does not end in this line goes to its end.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styled(line: &str, language: &str) -> Vec<(String, &'static str)> {
        let name = |span: &Span| {
            [(COMMENT, "comment"), (STRING, "string"), (NUMBER, "number"), (KEYWORD, "keyword")]
                .into_iter()
                .find(|(style, _)| Span::new(span.text(), *style) == *span)
                .map(|(_, name)| (span.text().to_owned(), name))
        };
        spans(line, Language::named(language)).iter().filter_map(name).collect()
    }

    #[test]
    fn the_parts_of_a_line_are_told_apart() {
        let of =
            |parts: &[(&str, &'static str)]| parts.iter().map(|(text, kind)| ((*text).to_owned(), *kind)).collect();
        let expect: [(&str, &str, Vec<_>); 5] = [
            ("let n = 12; // a", "rust", of(&[("let", "keyword"), ("12", "number"), ("// a", "comment")])),
            ("echo \"a \\\" b\" # c", "sh", of(&[("\"a \\\" b\"", "string"), ("# c", "comment")])),
            ("SELECT x1 FROM t", "sql", of(&[("SELECT", "keyword"), ("FROM", "keyword")])),
            ("return 'open", "python", of(&[("return", "keyword"), ("'open", "string")])),
            ("let n = 1", "something", Vec::new()),
        ];
        for (line, language, parts) in expect {
            assert_eq!(styled(line, language), parts, "{line}");
        }
    }

    #[test]
    fn every_character_of_the_line_is_there() {
        for line in ["", "fn f<'a>(x: &'a str) -> u8 { b'ä' }", "  漢 \"字", "a#b"] {
            for language in ["rust", "sh", "none"] {
                let text: String = spans(line, Language::named(language)).iter().map(Span::text).collect();
                assert_eq!(text, line, "{language}");
            }
        }
    }
}
