//! The list of all settings: in `planwright --help`, and as `docs/configuration.md`.

use super::file::File;
use super::setting::Setting;

/// The settings with their variables, for `--help`.
pub(crate) fn settings_help() -> String {
    let mut text = String::new();
    for Setting { key, variable, default, about, .. } in File::settings() {
        let plain = |text: &str| text.replace('`', "");
        text.push_str(&format!("  {key} [{}]  {variable}\n      {}\n", plain(&default), plain(about)));
    }
    text
}

/// The keys and the variables of all settings.
pub(crate) fn all_settings() -> impl Iterator<Item = (String, String)> {
    File::settings().into_iter().map(|setting| (setting.key, setting.variable))
}

/// The default of a setting, as the reference has it.
pub(crate) fn setting_default(key: &str) -> Option<String> {
    File::settings().into_iter().find(|setting| setting.key == key).map(|setting| setting.default)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn section(setting: &Setting) -> &str {
        setting.key.split_once('.').map_or("", |(section, _)| section)
    }

    fn page() -> String {
        let mut tables = String::new();
        for settings in File::settings().chunk_by(|one, next| section(one) == section(next)) {
            tables.push_str(&match section(&settings[0]) {
                "" => "## Top level\n\n".to_owned(),
                name => format!("## `[{name}]`\n\n"),
            });
            tables.push_str("| key | variable | value | default | |\n|---|---|---|---|---|\n");
            for Setting { key, variable, kind, default, about } in settings {
                let name = key.rsplit('.').next().unwrap();
                tables.push_str(&format!("| `{name}` | `{variable}` | {kind} | {default} | {about} |\n"));
            }
            tables.push('\n');
        }
        include_str!("reference.md").replace("{settings}\n", &tables)
    }

    #[test]
    fn the_configuration_page_is_current() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        if std::env::var_os("WRITE_DOCS").is_some() {
            std::fs::write(&path, page()).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(written == page(), "docs/configuration.md is out of date; `make docs` writes it");
    }

    #[test]
    fn the_example_on_the_page_is_valid() {
        let page = page();
        let (_, example) = page.split_once("```toml\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        toml::from_str::<File>(example).unwrap();
        for row in page.lines().filter(|line| line.starts_with("| `") && line.contains("PLANWRIGHT_")) {
            assert!(matches!(row.matches('|').count(), 3 | 6), "a cell has a bar in it: {row}");
        }
    }

    /// The keys that the file accepts are those of the reference.
    #[test]
    fn every_key_of_the_file_is_in_the_reference() {
        let settings = File::settings();
        let accepted = |text: &str| -> Vec<String> {
            let error = toml::from_str::<File>(text).unwrap_err().to_string();
            let (_, names) = error.split_once("expected").unwrap_or_else(|| panic!("{error}"));
            names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let mut keys = Vec::new();
        for key in accepted("unknown_key = 1") {
            match key.as_str() {
                "plan" | "approval" | "turn" | "reply" | "limits" | "server" | "planning_files" | "projects"
                | "files" | "sandbox" | "gateway" | "hook" | "chat" | "auto" | "memory" | "telegram" | "notify" => {
                    let of_section = accepted(&format!("[{key}]\nunknown_key = 1"));
                    keys.extend(of_section.iter().map(|name| format!("{key}.{name}")));
                }
                // Its tables of servers have no line each.
                "mcp" => {
                    let of_section = accepted("[mcp]\nunknown_key = 1");
                    let others = of_section.iter().filter(|name| *name != "servers");
                    keys.extend(others.map(|name| format!("mcp.{name}")));
                    keys.push(key);
                }
                _ => keys.push(key),
            }
        }
        keys.sort();
        let mut listed: Vec<_> = settings.iter().map(|setting| setting.key.clone()).collect();
        listed.sort();
        assert_eq!(keys, listed);
    }

    /// Every `PLANWRIGHT_…` in the program is on the page.
    #[test]
    fn every_variable_of_the_program_is_on_the_page() {
        fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { sources(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let page = page();
        for path in found.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
            let text = std::fs::read_to_string(path).unwrap();
            let names = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
            for name in names.filter(|word| word.len() > 11 && word.starts_with("PLANWRIGHT_")) {
                assert!(page.contains(name), "{name} of {} is not on the page", path.display());
            }
        }
    }
}
