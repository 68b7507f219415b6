//! The files of a GolemCore workspace, read. A file that cannot be read never costs the others.

use std::fs;
use std::path::{Path, PathBuf};

use planwright_core::legacy::golemcore::{
    GolemGoal, GolemMemory, GolemSession, read_goals, read_memories, read_record, read_session, read_telegram_chats,
};
use serde_json::Value;

use crate::failure::Failure;

const PLANS: &str = "auto/plans.json";
const GOALS: &str = "auto/goals.json";
const SESSIONS: &str = "sessions";
const MEMORY: &str = "memory";
const POINTERS: &str = "preferences/session-pointers.json";
const SETTINGS: &str = "preferences/runtime-config.json";
/// What is known to lie there and is not taken.
const OTHERS: [&str; 7] =
    ["auto/schedules.json", "auto/diary", "skills", "prompts", "models", "usage", "preferences/settings.json"];
/// How deeply the folders of memories are nested.
const MAX_DEPTH: usize = 8;

/// Something in a file, or why it cannot be read.
pub(super) struct Found<T> {
    pub(super) name: String,
    pub(super) read: Result<T, String>,
}

impl<T> Found<T> {
    fn new(name: impl Into<String>, read: Result<T, String>) -> Self {
        Self { name: name.into(), read }
    }
}

pub(super) struct GolemWorkspace {
    pub(super) plans: Option<Found<String>>,
    pub(super) sessions: Vec<Found<GolemSession>>,
    pub(super) goals: Vec<Found<GolemGoal>>,
    pub(super) memories: Vec<Found<GolemMemory>>,
    /// Telegram chats, each with the key of its conversation.
    pub(super) chats: Vec<(String, String)>,
    /// The token of the bot.
    pub(super) bot: Option<String>,
    pub(super) others: Vec<String>,
}

impl GolemWorkspace {
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let plans = exists(folder, PLANS).map(|path| Found::new(PLANS, text(&path)));
        let chats = match exists(folder, POINTERS) {
            Some(path) => read_telegram_chats(&text(&path).map_err(Failure::usage)?)?,
            None => Vec::new(),
        };
        let others = OTHERS.into_iter().filter(|name| exists(folder, name).is_some()).map(str::to_owned).collect();
        Ok(Self {
            plans,
            sessions: sessions(folder),
            goals: goals(folder),
            memories: memories(folder),
            chats,
            bot: bot(folder),
            others,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plans.is_none()
            && self.sessions.is_empty()
            && self.goals.is_empty()
            && self.memories.is_empty()
            && self.chats.is_empty()
    }
}

/// A file or folder that is no link.
fn exists(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name);
    path.symlink_metadata().is_ok_and(|found| !found.is_symlink()).then_some(path)
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("it cannot be read: {error}"))
}

/// The entries of a folder in the order of their names; none if there is no such folder.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect();
    paths.sort();
    paths
}

/// A conversation is in a record, or in JSON as earlier versions wrote it. The record is newer where both are there.
fn sessions(folder: &Path) -> Vec<Found<GolemSession>> {
    let paths = listed(&folder.join(SESSIONS));
    let has_record = |path: &Path| paths.contains(&path.with_extension("pb"));
    let found = paths.iter().filter_map(|path| {
        let json = match path.extension()?.to_str()? {
            "pb" => fs::read(path).map_err(|error| error.to_string()).and_then(|bytes| read_record(&bytes)),
            "json" if !has_record(path) => text(path)
                .and_then(|text| serde_json::from_str(&text).map_err(|error| format!("it is not JSON: {error}"))),
            _ => return None,
        };
        Some(Found::new(name_of(folder, path), json.and_then(|json| read_session(&json))))
    });
    found.collect()
}

fn goals(folder: &Path) -> Vec<Found<GolemGoal>> {
    let Some(path) = exists(folder, GOALS) else { return Vec::new() };
    match text(&path).and_then(|text| read_goals(&text).map_err(|refusal| refusal.message)) {
        Ok(goals) => goals
            .into_iter()
            .zip(1..)
            .map(|(goal, number)| Found::new(format!("goal {number} of {GOALS}"), goal))
            .collect(),
        Err(reason) => vec![Found::new(GOALS, Err(reason))],
    }
}

fn memories(folder: &Path) -> Vec<Found<GolemMemory>> {
    let mut found = Vec::new();
    collect_memories(folder, &folder.join(MEMORY), 0, &mut found);
    found
}

fn collect_memories(workspace: &Path, folder: &Path, depth: usize, found: &mut Vec<Found<GolemMemory>>) {
    if depth > MAX_DEPTH {
        return;
    }
    for path in listed(folder) {
        if path.is_dir() {
            collect_memories(workspace, &path, depth + 1, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            let name = name_of(workspace, &path);
            match text(&path) {
                Ok(text) => {
                    let items = read_memories(&text).into_iter().zip(1..);
                    found.extend(items.map(|(item, line)| Found::new(format!("item {line} of {name}"), item)));
                }
                Err(reason) => found.push(Found::new(name, Err(reason))),
            }
        }
    }
}

/// The token in the settings, as text or as the value of a secret.
fn bot(folder: &Path) -> Option<String> {
    let settings: Value = serde_json::from_str(&text(&exists(folder, SETTINGS)?).ok()?).ok()?;
    let token = &settings["telegram"]["token"];
    token.as_str().or_else(|| token["value"].as_str()).filter(|token| !token.trim().is_empty()).map(str::to_owned)
}

fn name_of(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
