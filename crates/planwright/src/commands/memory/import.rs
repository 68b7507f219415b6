//! `planwright memory import`: what was learnt elsewhere, with who said it and when.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use planwright_core::ids::RequestId;
use planwright_core::memory::{MemoryKind, MemoryOrigin, NewMemory};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::submitter::SubmitRequest;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::context::Context;
use crate::failure::{ExitResult, Failure};
use crate::terminal::palette::BOLD;
use crate::terminal::text::{paint, shown_line};

/// The largest file that is taken.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A memory in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Imported {
    content: String,
    #[serde(default)]
    author: Option<String>,
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    kind: MemoryKind,
    #[serde(default)]
    tags: Vec<String>,
}

pub(super) async fn run(context: &Context, session: &SessionIdentity, file: &Path) -> ExitResult {
    let text = read(file)?;
    let name = file.display().to_string();
    let imported = parse(&text).map_err(|reason| Failure::usage(format!("{name}: {reason}; nothing was saved")))?;
    // All of it is looked at before the first is saved.
    let mut memories = Vec::with_capacity(imported.len());
    for (number, one) in (1..).zip(imported) {
        let wrong = |refusal: Refusal| Failure::usage(format!("{name}: memory {number}: {refusal}; nothing was saved"));
        memories.push(new_memory(one).map_err(wrong)?);
    }
    let (mut saved, mut known) = (0, 0);
    let mut seen = BTreeMap::<String, u32>::new();
    for (number, new) in (1..).zip(memories) {
        let id = request(session, &new, &mut seen)?;
        if context.ledger.find_request(session, &id).await?.is_some() {
            known += 1;
            continue;
        }
        let request = context.engine.submitter().request(session, &context.person);
        context.engine.memories().save_as(SubmitRequest { id, ..request }, new).await.map_err(|error| {
            Failure::from(error).hint(format!("memory {number} of {name}; {saved} before it are saved"))
        })?;
        saved += 1;
    }
    context.screen.answer(
        || json!({ "session": session.to_string(), "saved": saved, "known": known }),
        || {
            let before = if known > 0 { format!("; {known} were imported before") } else { String::new() };
            let memories = if saved == 1 { "memory" } else { "memories" };
            let saved = paint(&format!("{saved} {memories}"), BOLD);
            format!("Saved {saved} from {} in {session}{before}.\n", shown_line(&name))
        },
    )
}

fn read(file: &Path) -> Result<String, Failure> {
    let unreadable = |error: std::io::Error| Failure::usage(format!("{} cannot be read: {error}", file.display()));
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).map_err(unreadable)?.take(MAX_BYTES + 1).read_to_string(&mut text)
    };
    if read.map_err(unreadable)? as u64 > MAX_BYTES {
        return Err(Failure::usage(format!("{} has more than {MAX_BYTES} bytes", file.display())));
    }
    Ok(text)
}

fn parse(text: &str) -> Result<Vec<Imported>, String> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).map_err(|error| error.to_string());
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))).collect()
}

fn new_memory(imported: Imported) -> Result<NewMemory, Refusal> {
    let Imported { content, author, at, context, kind, tags } = imported;
    let origin = MemoryOrigin::stated(author, at.as_deref(), context)?;
    Ok(NewMemory { kind, tags, origin, ..NewMemory::by_person(content) })
}

/// The name of what is imported, which is the same in every import. The same words twice in one file are two memories.
fn request(session: &SessionIdentity, new: &NewMemory, seen: &mut BTreeMap<String, u32>) -> Result<RequestId, Failure> {
    let words = json!([session.to_string(), new.content, new.kind, new.tags, new.origin]).to_string();
    let times = seen.entry(words.clone()).or_default();
    *times += 1;
    let hash = hex::encode(Sha256::digest(format!("{words}\n{times}")));
    Ok(RequestId::new(format!("memory-import-{}", &hash[..32]))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_an_object_a_line_or_a_list() {
        let line = r#"{"content":"It rains.","author":"Ada","at":"2026-05-07","context":"a walk","kind":"fact"}"#;
        for text in [format!("{line}\n\n{line}\n"), format!("[{line}, {line}]")] {
            let memories = parse(&text).unwrap();
            assert_eq!(memories.len(), 2);
            let new = new_memory(memories.into_iter().next().unwrap()).unwrap();
            let origin = new.origin.unwrap();
            assert_eq!((origin.author.as_deref(), origin.context.as_deref()), (Some("Ada"), Some("a walk")));
        }
        assert!(parse("{\"content\":\"a\"}\nnonsense").unwrap_err().starts_with("line 2: "));
        assert!(parse("{\"content\":\"a\",\"colour\":1}").is_err());
    }

    #[test]
    fn the_same_memory_has_the_same_name_in_every_import() {
        let session: SessionIdentity = "cli:k3yk3y8x".parse().unwrap();
        let names = |contents: &[&str]| {
            let mut seen = BTreeMap::new();
            let new = contents.iter().map(|content| NewMemory::by_person(*content));
            new.map(|new| request(&session, &new, &mut seen).unwrap()).collect::<Vec<_>>()
        };
        let first = names(&["a", "a", "b"]);
        assert_eq!(first, names(&["a", "a", "b"]));
        assert!(first[0] != first[1] && first[1] != first[2]);
        assert_eq!(names(&["b"]), [first[2].clone()]);
    }
}
