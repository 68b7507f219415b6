//! Files that later run or instruct: an editor, a shell or the next agent obeys them without asking.

use std::sync::Arc;

/// Names at any depth, or from the workspace's root if they begin with `/`.
const GUARDED: &[&str] = &[
    // What instructs agents.
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "/agents",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".cursorrules",
    ".clinerules",
    ".gemini",
    ".goose",
    ".goosehints",
    ".kiro",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".roo",
    ".windsurf",
    ".windsurfrules",
    ".mcp.json",
    ".claude-plugin",
    "gemini-extension.json",
    "hooks/hooks.json",
    ".github/agents",
    ".github/chatmodes",
    ".github/hooks",
    ".github/plugin",
    ".github/copilot-instructions.md",
    ".github/instructions",
    ".github/prompts",
    // What editors obey.
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".devcontainer.json",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".exrc",
    ".dir-locals.el",
    // What shells and tools run when a folder is entered or used.
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".bashrc",
    ".bash_aliases",
    ".bash_login",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
    ".gdbinit",
    ".npmrc",
    ".yarnrc.yml",
    ".cargo/config",
    ".cargo/config.toml",
    // What git and its helpers run.
    ".gitmodules",
    ".githooks",
    ".husky",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    // What runs elsewhere with rights of its own.
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".circleci",
];

/// The files that a plan covers only if it names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedFiles(Arc<[String]>);

impl Default for GuardedFiles {
    fn default() -> Self {
        Self::with(&[])
    }
}

impl GuardedFiles {
    /// The usual ones and these.
    pub fn with(further: &[String]) -> Self {
        let usual = GUARDED.iter().map(|name| (*name).to_owned());
        let further = further.iter().map(|name| name.trim_end_matches('/').to_owned());
        Self(usual.chain(further.filter(|name| !name.trim_start_matches('/').is_empty())).collect())
    }

    /// Whether the file at this path, or a folder around it, is one of them.
    pub fn contain(&self, path: &str) -> bool {
        self.guarding(path).is_some()
    }

    fn guarding(&self, path: &str) -> Option<&str> {
        let names: Vec<_> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        let guards = |entry: &&String| {
            let wanted: Vec<_> = entry.trim_start_matches('/').split('/').collect();
            let is_same =
                |part: &[&str]| part.iter().zip(&wanted).all(|(name, wanted)| name.eq_ignore_ascii_case(wanted));
            let mut parts = names.windows(wanted.len());
            if entry.starts_with('/') { parts.next().is_some_and(is_same) } else { parts.any(is_same) }
        };
        self.0.iter().find(guards).map(String::as_str)
    }

    /// Whether the words of a rule or a plan mean this file: its own path, or the folder that makes it one of these.
    pub(super) fn is_named(&self, path: &str, words: &str) -> bool {
        let words = words.strip_prefix("./").unwrap_or(words);
        let folder = words.strip_suffix("/**").unwrap_or(words).trim_end_matches('/');
        let is_below = path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_below && self.contain(folder)
    }
}

/// Whether the name is git's folder. Some file systems take these for `.git`: case, an old short name, and letters that are not seen.
pub fn is_git_name(name: &str) -> bool {
    let seen: String = name
        .chars()
        .filter(|letter| !matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'))
        .collect();
    let seen = seen.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    seen == ".git" || seen == "git~1"
}
