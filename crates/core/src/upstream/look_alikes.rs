//! Names that a person could take for another one: of a server, and of its tools. They are named before anything is accepted.

use super::similar::skeleton;
use super::{ServerName, UpstreamTool};
use crate::visible::quoted;

/// Names of servers that are shorter differ by one letter too often.
const MIN_NEAR_NAME: usize = 5;

/// A server that is configured or was accepted, with the tools of it that are known.
#[derive(Debug, Clone, Copy)]
pub struct KnownServer<'a> {
    pub name: &'a ServerName,
    pub tools: &'a [UpstreamTool],
}

/// A line for each name of the server and of its tools that looks like another. `own` are the names of Planwright's tools.
pub fn look_alikes(server: KnownServer<'_>, others: &[KnownServer<'_>], own: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = others
        .iter()
        .filter(|other| other.name != server.name && is_near(server.name.as_str(), other.name.as_str()))
        .map(|other| {
            format!(
                "Look twice: the name {} looks like {}, which is another server.",
                quoted(server.name.as_str()),
                quoted(other.name.as_str())
            )
        })
        .collect();
    for (index, tool) in server.tools.iter().enumerate() {
        let looks = skeleton(&tool.name);
        let line = |whose: String| format!("Look twice: its tool {} {whose}.", spelled(&tool.name));
        if let Some(earlier) = server.tools[..index].iter().find(|earlier| skeleton(&earlier.name) == looks) {
            lines.push(line(format!("looks like its tool {}", quoted(&earlier.name))));
        }
        for other in others.iter().filter(|other| other.name != server.name) {
            let Some(known) = other.tools.iter().find(|known| skeleton(&known.name) == looks) else { continue };
            let of = quoted(other.name.as_str());
            lines.push(match known.name == tool.name {
                true => line(format!("has the name of a tool of the server {of}")),
                false => line(format!("looks like {} of the server {of}", quoted(&known.name))),
            });
        }
        if let Some(known) = own.iter().find(|known| skeleton(known) == looks) {
            lines.push(match **known == tool.name {
                true => line("has the name of a tool of Planwright".to_owned()),
                false => line(format!("looks like {}, a tool of Planwright", quoted(known))),
            });
        }
    }
    lines
}

/// The name, with the code points of the first letters in it that are no plain ones.
fn spelled(name: &str) -> String {
    const MAX_LETTERS: usize = 8;
    let letters = name.chars().filter(|c| !c.is_ascii()).take(MAX_LETTERS);
    let letters: Vec<String> = letters.map(|c| format!("U+{:04X}", u32::from(c))).collect();
    if letters.is_empty() { quoted(name) } else { format!("{} (with {})", quoted(name), letters.join(", ")) }
}

/// Whether one looks like the other, or differs from it by one letter.
fn is_near(one: &str, other: &str) -> bool {
    let (looks, others) = (skeleton(one), skeleton(other));
    let shorter = looks.chars().count().min(others.chars().count());
    looks == others || (shorter >= MIN_NEAR_NAME && strsim::levenshtein(&looks, &others) == 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::upstream::UpstreamAnnotations;

    fn tools(names: &[&str]) -> Vec<UpstreamTool> {
        let tool = |name: &&str| UpstreamTool {
            name: (*name).to_owned(),
            title: None,
            description: String::new(),
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: UpstreamAnnotations::default(),
        };
        names.iter().map(tool).collect()
    }

    fn named(server: &str, offered: &[&str]) -> Vec<String> {
        let (server, offered) = (server.parse::<ServerName>().unwrap(), tools(offered));
        let (real, known): (ServerName, _) = ("check-sig".parse().unwrap(), tools(&["verify", "send_mail"]));
        let others = [KnownServer { name: &real, tools: &known }];
        look_alikes(KnownServer { name: &server, tools: &offered }, &others, &["write_file"])
    }

    #[test]
    fn a_server_whose_name_looks_like_another_is_named() {
        for name in ["check-sig-", "checksig", "check-s1g", "check-sigs", "chek-sig"] {
            assert!(named(name, &[])[0].contains("looks like `check-sig`, which is another server"), "{name}");
        }
        for name in ["check-sig", "search", "check-mail"] {
            assert_eq!(named(name, &[]), [""; 0], "{name}");
        }
    }

    #[test]
    fn tools_that_look_like_others_are_named() {
        let lines = named("mail", &["verify", "send-mail", "read", "re\u{430}d", "write_fi1e", "other"]);
        let expected = [
            "its tool `verify` has the name of a tool of the server `check-sig`.",
            "its tool `send-mail` looks like `send_mail` of the server `check-sig`.",
            "its tool `re\u{430}d` (with U+0430) looks like its tool `read`.",
            "its tool `write_fi1e` looks like `write_file`, a tool of Planwright.",
        ];
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.contains(expected), "{line}");
        }
    }
}
