//! One entry of a mapping at the top of a YAML file, put in and taken out as text: comments, order and quoting of everything
//! else stay. The file is parsed before and after, and a text that would say anything else than intended is not written.

use serde_json::Value;
use yaml_rust2::yaml::Hash;
use yaml_rust2::{Yaml, YamlLoader};

/// Where the entry is: `section:` and below it `name:`.
#[derive(Debug, Clone)]
pub(super) struct YamlEntry {
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    /// The section with nothing but the entry.
    pub(super) text: String,
}

impl YamlEntry {
    /// The entry. The error says why the file cannot be read.
    pub(super) fn found(&self, text: &str) -> Result<Option<Value>, String> {
        let root = parse(text)?;
        Ok(self.entries(&root)?.and_then(|entries| entries.get(&key(self.name))).map(to_json))
    }

    /// The text with the entry, in the place of another one. The error says why it cannot be put in safely.
    pub(super) fn put_in(&self, text: &str) -> Result<String, String> {
        if self.found(text)?.is_some() {
            return self.put_in(&self.take_out(text)?);
        }
        let before = parse(text)?;
        self.entries(&before)?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let block: Vec<&str> = self.text.lines().skip(1).collect();
        let edited = match self.section_line(&lines) {
            Some(at) => {
                let indent = self.child_indent(&lines, at).unwrap_or(2);
                let own = block.first().map_or(2, |line| indent_of(line));
                let mut edited = lines[..at].concat();
                edited.push_str(&self.opened(lines[at], end));
                for line in &block {
                    edited.push_str(&format!("{}{}{end}", " ".repeat(indent), &line[own.min(line.len())..]));
                }
                edited.push_str(&lines[at + 1..].concat());
                edited
            }
            None if before.contains_key(&key(self.section)) => {
                return Err(format!("`{}` is not written as lines below each other", self.section));
            }
            None => {
                let mut edited = text.to_owned();
                if !edited.is_empty() && !edited.ends_with('\n') {
                    edited.push_str(end);
                }
                edited.extend(self.text.lines().map(|line| format!("{line}{end}")));
                edited
            }
        };
        let wanted = parse(&self.text)?;
        let entry = self.entries(&wanted)?.and_then(|entries| entries.get(&key(self.name)).cloned());
        self.check(&before, &edited, entry.as_ref())?;
        Ok(edited)
    }

    /// The text without the entry. A section that is empty then is taken out, too.
    pub(super) fn take_out(&self, text: &str) -> Result<String, String> {
        let before = parse(text)?;
        let is_alone = self.entries(&before)?.is_some_and(|entries| entries.len() == 1);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let not_found = || format!("`{}` is not written as lines below each other", self.section);
        let at = self.section_line(&lines).ok_or_else(not_found)?;
        let indent = self.child_indent(&lines, at).ok_or_else(not_found)?;
        let is_entry = |line: &&str| {
            indent_of(line) == indent
                && line.trim_start().strip_prefix(self.name).is_some_and(|rest| rest.starts_with(':'))
        };
        let begin = (at + 1..lines.len()).find(|&line| is_entry(&lines[line])).ok_or_else(not_found)?;
        let belongs = |line: &str| !line.trim().is_empty() && indent_of(line) > indent;
        let mut end = begin + 1;
        for (line, text) in lines.iter().enumerate().skip(begin + 1) {
            if belongs(text) {
                end = line + 1;
            } else if !text.trim().is_empty() {
                break;
            }
        }
        let is_bare = lines[at].trim_end() == format!("{}:", self.section) && begin == at + 1;
        let kept_section = match (is_alone, is_bare) {
            (true, true) => String::new(),
            (true, false) => lines[at].replacen(':', ": {}", 1),
            (false, _) => lines[at].to_owned(),
        };
        let edited =
            [lines[..at].concat(), kept_section, lines[at + 1..begin].concat(), lines[end..].concat()].concat();
        self.check(&before, &edited, None)?;
        Ok(edited)
    }

    /// The line `section:`, as far as its entries are written below it.
    fn section_line(&self, lines: &[&str]) -> Option<usize> {
        let mut found = (0..lines.len()).filter(|&line| {
            let rest = lines[line].strip_prefix(self.section).and_then(|rest| rest.strip_prefix(':'));
            rest.is_some_and(|rest| matches!(value_of(rest), "" | "{}" | "{ }" | "null" | "~"))
        });
        // Two of them mean that one is a part of a text.
        found.next().filter(|_| found.next().is_none())
    }

    /// The line of the section, ready for entries below it. A comment on it stays.
    fn opened(&self, line: &str, end: &str) -> String {
        let rest = line.strip_prefix(self.section).and_then(|rest| rest.strip_prefix(':')).unwrap_or_default();
        let comment = rest.find('#').map_or("", |at| rest[at..].trim_end());
        let space = if comment.is_empty() { "" } else { "  " };
        format!("{}:{space}{comment}{end}", self.section)
    }

    /// How far the entries of the section are indented.
    fn child_indent(&self, lines: &[&str], at: usize) -> Option<usize> {
        let first = lines[at + 1..].iter().find(|line| !is_blank(line))?;
        Some(indent_of(first)).filter(|indent| *indent > 0)
    }

    fn entries<'a>(&self, root: &'a Hash) -> Result<Option<&'a Hash>, String> {
        match root.get(&key(self.section)) {
            None | Some(Yaml::Null) => Ok(None),
            Some(Yaml::Hash(entries)) => Ok(Some(entries)),
            Some(_) => Err(format!("`{}` in it is not a mapping", self.section)),
        }
    }

    /// The new text says the same as before, but for the entry.
    fn check(&self, before: &Hash, edited: &str, entry: Option<&Yaml>) -> Result<(), String> {
        let not_safe = || "it is written in a way that cannot be changed safely".to_owned();
        let after = parse(edited).map_err(|_| not_safe())?;
        let section = key(self.section);
        let others = |root: &Hash| root.iter().filter(|(name, _)| **name != section).count();
        let same_others = others(before) == others(&after)
            && before.iter().filter(|(name, _)| **name != section).all(|(name, value)| after.get(name) == Some(value));
        let name = key(self.name);
        let entries = |root: &Hash| self.entries(root).ok().flatten().cloned().unwrap_or_default();
        let (old, new) = (entries(before), entries(&after));
        let rest = |entries: &Hash| entries.iter().filter(|(key, _)| **key != name).count();
        let same_rest = rest(&old) == rest(&new)
            && old.iter().filter(|(key, _)| **key != name).all(|(key, value)| new.get(key) == Some(value));
        (same_others && same_rest && new.get(&name) == entry).then_some(()).ok_or_else(not_safe)
    }
}

/// Keys are texts there; other ones are left out.
pub(crate) fn to_json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::String(text) | Yaml::Real(text) => Value::String(text.clone()),
        Yaml::Boolean(value) => Value::Bool(*value),
        Yaml::Integer(number) => Value::from(*number),
        Yaml::Array(values) => values.iter().map(to_json).collect(),
        Yaml::Hash(fields) => {
            let fields = fields.iter().filter_map(|(name, value)| Some((name.as_str()?.to_owned(), to_json(value))));
            Value::Object(fields.collect())
        }
        Yaml::Null | Yaml::BadValue | Yaml::Alias(_) => Value::Null,
    }
}

fn key(name: &str) -> Yaml {
    Yaml::String(name.to_owned())
}

/// The mapping that the file is. An empty file is an empty mapping.
fn parse(text: &str) -> Result<Hash, String> {
    let mut documents = YamlLoader::load_from_str(text).map_err(|error| format!("it is not YAML: {error}"))?;
    match (documents.pop(), documents.is_empty()) {
        (None | Some(Yaml::Null), true) => Ok(Hash::new()),
        (Some(Yaml::Hash(root)), true) => Ok(root),
        _ => Err("it is not one mapping".to_owned()),
    }
}

/// What stands after the colon, without a comment.
fn value_of(rest: &str) -> &str {
    let rest = rest.trim();
    if rest.starts_with('#') { "" } else { rest.find(" #").map_or(rest, |at| rest[..at].trim_end()) }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static ENTRY: LazyLock<YamlEntry> = LazyLock::new(|| YamlEntry {
        section: "extensions",
        name: "planwright",
        text: "extensions:\n  planwright:\n    enabled: true\n    args: [mcp]\n".to_owned(),
    });

    #[test]
    fn an_entry_is_put_in_and_taken_out_and_everything_else_stays() {
        for (before, after) in [
            ("", ENTRY.text.as_str()),
            (
                "# mine\nGOOSE_MODE: auto",
                "# mine\nGOOSE_MODE: auto\nextensions:\n  planwright:\n    enabled: true\n    args: [mcp]\n",
            ),
            (
                "extensions: # my tools\n    # the shell\n    developer:\n        enabled: true # yes\n\nGOOSE_MODEL: \"x\"\n",
                "extensions:  # my tools\n    planwright:\n      enabled: true\n      args: [mcp]\n    # the shell\n    developer:\n        enabled: true # yes\n\nGOOSE_MODEL: \"x\"\n",
            ),
            (
                "extensions: {}\r\nA: 1\r\n",
                "extensions:\r\n  planwright:\r\n    enabled: true\r\n    args: [mcp]\r\nA: 1\r\n",
            ),
        ] {
            assert_eq!(ENTRY.put_in(before).as_deref(), Ok(after), "{before}");
            let entry = serde_json::json!({ "enabled": true, "args": ["mcp"] });
            assert_eq!((ENTRY.found(before), ENTRY.found(after)), (Ok(None), Ok(Some(entry))));
            let left = ENTRY.take_out(after).unwrap();
            assert_eq!(ENTRY.found(&left), Ok(None), "{left}");
            for line in before.lines().filter(|line| !line.starts_with("extensions")) {
                assert!(left.contains(line), "{line} is lost: {left}");
            }
        }
        // Put in and taken out again, a file is what it was.
        for text in [
            "GOOSE_MODE: auto\n",
            "A: 1\nextensions:\n  developer:\n    enabled: true\n\n  # last\n  memory:\n    enabled: false\n",
        ] {
            assert_eq!(ENTRY.take_out(&ENTRY.put_in(text).unwrap()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn an_entry_is_put_in_the_place_of_an_older_one() {
        let before = "A: 1 # one\nextensions:\n  planwright:\n    args: [old]\n  developer:\n    enabled: true\n";
        let after = ENTRY.put_in(before).unwrap();
        assert_eq!(after, before.replace("    args: [old]\n", "    enabled: true\n    args: [mcp]\n"));
    }

    #[test]
    fn a_file_that_cannot_be_changed_safely_is_refused() {
        for (text, expected) in [
            ("a: [1", "not YAML"),
            ("- a\n", "not one mapping"),
            ("a: 1\n---\nb: 2\n", "not one mapping"),
            ("{a: 1}\n", "safely"),
            ("extensions: [a]\n", "not a mapping"),
            ("extensions: {developer: {enabled: true}}\n", "below each other"),
            ("a: 1\n...\n", "safely"),
        ] {
            let refused = ENTRY.put_in(text).expect_err(text);
            assert!(refused.contains(expected), "{text}: {refused}");
        }
    }
}
