//! Names of tools that only look like another name, and the nearest ones to a name that does not exist.

use crate::refusal::Refusal;
use crate::visible::quoted;

/// How many names a refusal gives.
const MAX_NEAREST: usize = 3;

/// Refuses a name that no tool has and that one could take for a tool: it looks like one, or begins with the name of a
/// server. Other names are tools of the agent's own program.
pub fn check_tool_name(name: &str, known: &[&str], servers: &[&str]) -> Result<(), Refusal> {
    if known.contains(&name) {
        return Ok(());
    }
    let looks = skeleton(name);
    if let Some(real) = known.iter().find(|real| skeleton(real) == looks) {
        return Err(Refusal::not_found(format!(
            "There is no tool {}. It only looks like {}; use exactly that name.",
            quoted(name),
            quoted(real)
        )));
    }
    let lower = name.trim().to_lowercase();
    let of_server = servers.iter().any(|server| lower.starts_with(&format!("{server}__")));
    if of_server { Err(no_such_tool(name, known)) } else { Ok(()) }
}

/// The refusal of a call to a tool that does not exist.
pub fn no_such_tool(name: &str, known: &[&str]) -> Refusal {
    no_such("tool", name, known)
}

/// The refusal of a request for something that does not exist, such as a prompt.
pub fn no_such(what: &str, name: &str, known: &[&str]) -> Refusal {
    let near: Vec<_> = nearest(name, known).into_iter().map(quoted).collect();
    let hint = if near.is_empty() { String::new() } else { format!(" The nearest are {}.", near.join(", ")) };
    Refusal::not_found(format!("There is no {what} {}.{hint}", quoted(name)))
}

/// The names that need the fewest changes, at most three, without those that have nothing in common.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let looks = skeleton(name);
    let mut ranked: Vec<_> = known.iter().map(|real| (strsim::levenshtein(&looks, &skeleton(real)), *real)).collect();
    ranked.retain(|(changes, real)| *changes < looks.chars().count().max(skeleton(real).chars().count()));
    ranked.sort_unstable();
    ranked.into_iter().take(MAX_NEAREST).map(|(_, real)| real).collect()
}

/// What a person sees of a name at a glance: no case, no marks between words, nothing hidden, and one letter for all that
/// look alike.
pub(super) fn skeleton(name: &str) -> String {
    let shown = name.chars().filter_map(|c| match plain_letter(c) {
        '0' => Some('o'),
        '1' | 'i' => Some('l'),
        c if c.is_ascii_alphanumeric() => Some(c),
        // Marks between words, spaces, hidden characters and accents.
        c if c.is_ascii() || !c.is_alphanumeric() => None,
        c => Some(c),
    });
    shown.collect()
}

/// The Latin letter that a letter of another alphabet looks like, in lower case.
fn plain_letter(c: char) -> char {
    let c = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    let lower = c.to_lowercase().next().unwrap_or(c);
    match lower {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' | 'ҽ' => 'e',
        'ɡ' => 'g',
        'н' | 'һ' => 'h',
        'і' | 'ı' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' | 'μ' => 'm',
        'ո' | 'η' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'ᴢ' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["up__note", "up__read", "files__write_file"];

    #[test]
    fn a_name_that_looks_like_another_is_refused_with_that_one() {
        for name in [
            "up__Note",
            "UP__NOTE",
            "up_note",
            "up note",
            " up__note",
            "up\u{200b}__note",
            "up__n\u{43e}te",
            "up__n0te",
            "\u{ff55}p__note",
        ] {
            let refusal = check_tool_name(name, &KNOWN, &["up", "files"]).unwrap_err();
            assert!(refusal.message.contains("only looks like `up__note`"), "{name:?}: {refusal}");
        }
    }

    #[test]
    fn a_name_of_a_server_that_has_no_such_tool_is_refused_with_the_nearest() {
        let refusal = check_tool_name("up__notes", &KNOWN, &["up", "files"]).unwrap_err();
        assert!(refusal.message.contains("The nearest are `up__note`"), "{refusal}");
        assert!(no_such_tool("zzz", &[]).message.ends_with("There is no tool `zzz`."));
    }

    #[test]
    fn names_of_the_agents_own_tools_are_none_of_ours() {
        for name in ["Bash", "write_file", "upload", "note", "up__note"] {
            assert!(check_tool_name(name, &KNOWN, &["up"]).is_ok(), "{name}");
        }
    }
}
