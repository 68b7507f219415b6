//! A Markdown file that begins with lines `key: value` between two lines `---`, as other agents have them.

use crate::visible::quoted;

#[derive(Debug, PartialEq, Eq)]
pub struct FrontMatter {
    /// In the order of the file, each key once.
    pub fields: Vec<(String, Vec<String>)>,
    pub body: String,
}

impl FrontMatter {
    /// A text without front matter is all body. A list is written as `[a, b]`, as `a, b`, or with a line `- a` for each.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let Some(rest) = text.strip_prefix("---\n") else { return Ok(Self { fields: Vec::new(), body: text }) };
        let Some((head, body)) = rest.split_once("\n---\n").or_else(|| Some((rest.strip_suffix("\n---")?, ""))) else {
            return Err("it begins with `---`, and no second line `---` ends the front matter".to_owned());
        };
        let mut fields: Vec<(String, Vec<String>)> = Vec::new();
        for line in head.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                let (_, items) = fields.last_mut().ok_or_else(|| format!("{} belongs to no key", quoted(line)))?;
                items.push(unquoted(item).to_owned());
                continue;
            }
            let (key, value) =
                line.split_once(':').ok_or_else(|| format!("{} is not a line `key: value`", quoted(line)))?;
            let key = key.trim().to_owned();
            if fields.iter().any(|(other, _)| *other == key) {
                return Err(format!("{} is given twice", quoted(&key)));
            }
            fields.push((key, values(value.trim())));
        }
        Ok(Self { fields, body: body.to_owned() })
    }
}

fn values(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(list) => split(list),
        None => vec![unquoted(text).to_owned()],
    }
}

/// The items of a list that is written on one line.
pub fn split(list: &str) -> Vec<String> {
    list.split(',').map(|item| unquoted(item.trim()).to_owned()).filter(|item| !item.is_empty()).collect()
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let within = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_body_are_told_apart() {
        let text = "---\nname: cook\ndescription: \"Cooks: well\"\ntools: [read_file, 'grep_files']\nmore:\n  - a\n  - b\n---\n# Cook\n---\n";
        let parsed = FrontMatter::parse(text).unwrap();
        let field = |key: &str| parsed.fields.iter().find(|(name, _)| name == key).unwrap().1.clone();
        assert_eq!(field("name"), ["cook"]);
        assert_eq!(field("description"), ["Cooks: well"]);
        assert_eq!(field("tools"), ["read_file", "grep_files"]);
        assert_eq!(field("more"), ["a", "b"]);
        assert_eq!(parsed.body, "# Cook\n---\n");
        assert_eq!(FrontMatter::parse("\u{feff}---\r\nname: cook\r\n---").unwrap().fields.len(), 1);
        assert_eq!(FrontMatter::parse("Cooks.\n---\n").unwrap().body, "Cooks.\n---\n");
    }

    #[test]
    fn what_is_no_front_matter_is_told() {
        for (text, expected) in [
            ("---\nname: cook\n", "no second line"),
            ("---\nname\n---\n", "not a line `key: value`"),
            ("---\n- a\n---\n", "belongs to no key"),
            ("---\na: 1\na: 2\n---\n", "given twice"),
        ] {
            let refused = FrontMatter::parse(text).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
