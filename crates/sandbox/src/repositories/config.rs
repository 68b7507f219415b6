//! The settings of a repository, as far as they name what else git obeys.

/// What a file of settings names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Folders of hooks, relative to the files of the repository.
    pub(super) hooks: Vec<String>,
    /// Further files of settings, relative to this one.
    pub(super) included: Vec<String>,
}

impl Settings {
    pub(super) fn parse(text: &str) -> Self {
        let mut settings = Self::default();
        let mut section = String::new();
        let text = text.replace("\r\n", "\n").replace("\\\n", "");
        for mut line in text.lines().map(str::trim) {
            while let Some(rest) = line.strip_prefix('[') {
                let Some((name, rest)) = rest.split_once(']') else { break };
                let name = name.split([' ', '\t', '"', '.']).next().unwrap_or_default();
                section = name.to_ascii_lowercase();
                line = rest.trim_start();
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let into = match (section.as_str(), key.trim().to_ascii_lowercase().as_str()) {
                ("core", "hookspath") => &mut settings.hooks,
                ("include" | "includeif", "path") => &mut settings.included,
                _ => continue,
            };
            into.push(unquoted(value.trim()));
        }
        settings
    }
}

/// A value without its quotes and without what stands behind it.
fn unquoted(value: &str) -> String {
    let (mut text, mut quoted) = (String::new(), false);
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' => text.extend(letters.next()),
            '#' | ';' if !quoted => break,
            letter => text.push(letter),
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_and_included_files_are_found_however_they_are_written() {
        for (text, hooks, included) in [
            ("[core]\n\thooksPath = githooks\n", "githooks", ""),
            ("[CORE] HooksPath=\"git hooks\" ; why", "git hooks", ""),
            ("[core]\nbare = false\nhookspath = a\\\nb # no", "ab", ""),
            ("[include]\n path = ../shared\n[remote \"x\"]\n url = path", "", "../shared"),
            ("[includeIf \"gitdir:~/]x\"]\n path = more", "", "more"),
            ("[core]\n# hooksPath = x\n[other]\nhooksPath = y\n[user]\npath = z", "", ""),
        ] {
            let list = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let found = Settings::parse(text);
            assert_eq!(found.hooks.join(" "), hooks, "{text}");
            assert_eq!(found.included, list(included), "{text}");
        }
    }
}
