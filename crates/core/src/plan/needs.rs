//! What a plan says that it needs: the files it changes, the commands it runs, the tools it calls and the hosts it reads from.
//!
//! A document says it in a fenced block, which is a part of its text and so of its digest:
//!
//! ````text
//! ```planwright-needs
//! files = ["src/**", "docs/api.md"]
//! commands = ["cargo test"]
//! ```
//! ````
//!
//! Without the block a document needs nothing in particular, and its approval covers what it always covered.

use globset::GlobBuilder;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

use crate::ids::StepId;
use crate::plan::PlanContent;
use crate::plan::markdown::OPTIONS;
use crate::refusal::Refusal;
use crate::visible::quoted;
use crate::workspace::normal;

/// The word after the fence.
const LANGUAGE: &str = "planwright-needs";
/// Of each list.
const MAX_ENTRIES: usize = 200;
/// How many letters and digits in a row the name of a tool with `*` has at least.
const MIN_NAMED: usize = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlanNeeds {
    /// Paths below the project, also with `*` and `**`.
    pub files: Vec<String>,
    /// Shell lines. More words may follow, as in a permission rule.
    pub commands: Vec<String>,
    /// Names of tools, also with `*` beside some letters of the name.
    pub tools: Vec<String>,
    /// Hosts, also as `*.example.org`.
    pub network: Vec<String>,
}

impl PlanNeeds {
    /// The block of a document. It is refused if it cannot be read as what it is to say.
    pub fn of_document(markdown: &str) -> Result<Option<Self>, Refusal> {
        let found = Self::read(markdown)?;
        found.as_ref().map_or(Ok(()), Self::check)?;
        Ok(found)
    }

    fn read(markdown: &str) -> Result<Option<Self>, Refusal> {
        // The parser is slow beside a search.
        if !markdown.contains(LANGUAGE) {
            return Ok(None);
        }
        let blocks = blocks(markdown);
        let [block] = blocks.as_slice() else {
            return match blocks.len() {
                0 => Ok(None),
                _ => Err(Refusal::invalid(format!("The plan has more than one block `{LANGUAGE}`; write one."))),
            };
        };
        // A person approves what they read.
        if ["\\u", "\\U", "\\x"].iter().any(|escape| block.contains(escape)) {
            return Err(Refusal::invalid(format!(
                "The block `{LANGUAGE}` cannot be used: it has an escape such as `\\u`; write every letter as itself."
            )));
        }
        toml::from_str(block).map(Some).map_err(|error| {
            Refusal::invalid(format!(
                "The block `{LANGUAGE}` cannot be read: {}. It is TOML with the lists `files`, `commands`, `tools` and `network`, \
                 such as `commands = [\"cargo test\"]`.",
                error.message().lines().next().unwrap_or_default()
            ))
        })
    }

    fn check(&self) -> Result<(), Refusal> {
        let invalid = |why: String| Refusal::invalid(format!("The block `{LANGUAGE}` cannot be used: {why}."));
        for (name, list) in
            [("files", &self.files), ("commands", &self.commands), ("tools", &self.tools), ("network", &self.network)]
        {
            if list.len() > MAX_ENTRIES {
                return Err(invalid(format!("`{name}` has more than {MAX_ENTRIES} entries")));
            }
            if list.iter().any(|entry| entry.trim().is_empty()) {
                return Err(invalid(format!("`{name}` has an empty entry")));
            }
        }
        for path in &self.files {
            if glob(path).is_none() || normal(path).is_none() {
                return Err(invalid(format!("{} is no path below the project", quoted(path))));
            }
        }
        for tool in &self.tools {
            if !names_tools(tool) {
                return Err(invalid(format!(
                    "{} could mean every tool; write the name of one, or at least {MIN_NAMED} letters of it in a row and `*`",
                    quoted(tool)
                )));
            }
        }
        Ok(())
    }

    /// Whether every path is named. A path is one below the project.
    pub fn covers_files(&self, paths: &[String]) -> bool {
        let is_named = |path: &String| {
            let Some(path) = normal(path) else { return false };
            self.files.iter().filter_map(|named| glob(named)).any(|glob| glob.is_match(&path))
        };
        !paths.is_empty() && paths.iter().all(is_named)
    }

    /// Whether exactly this file is named, without `*` and not by a folder around it.
    pub fn names_file(&self, path: &str) -> bool {
        normal(path).is_some_and(|path| self.files.iter().any(|named| normal(named).as_ref() == Some(&path)))
    }

    pub fn covers_tool(&self, tool: &str) -> bool {
        // A plan of an earlier version may have an entry that is not taken any more.
        let named = self.tools.iter().filter(|named| names_tools(named));
        named.filter_map(|named| glob(named)).any(|glob| glob.is_match(tool))
    }

    pub fn covers_host(&self, host: &str) -> bool {
        self.network.iter().any(|named| match named.strip_prefix("*.") {
            Some(domain) => {
                let before = host.len().checked_sub(domain.len()).filter(|at| host.is_char_boundary(*at));
                before.is_some_and(|at| host[..at].ends_with('.') && host[at..].eq_ignore_ascii_case(domain))
            }
            None => named.eq_ignore_ascii_case(host),
        })
    }
}

impl PlanContent {
    /// What the approved steps say that they need, if they say anything. What a recorded call needs is the call itself.
    pub fn declared_needs(&self, approved: impl Fn(&StepId) -> bool) -> Option<PlanNeeds> {
        match self {
            // A block that cannot be read was refused when the text was stored.
            Self::Document(document) => PlanNeeds::read(&document.markdown).ok().flatten(),
            Self::Collect(_) => None,
            // The person saw whole lines, so nothing may follow them: they are compared as the plan's commands.
            Self::Build(built) => {
                let needs = || PlanNeeds { files: built.files.clone(), ..PlanNeeds::default() };
                (!self.commands(approved).is_empty()).then(needs)
            }
        }
    }
}

/// Whether an entry names a tool, or several by a part of their names. `mcp` is a part of the names of all servers' tools.
fn names_tools(entry: &str) -> bool {
    if entry.contains(['[', ']', '{', '}', '?', '\\']) {
        return false;
    }
    let mut parts = entry.split(|letter: char| !letter.is_ascii_alphanumeric());
    !entry.contains('*') || parts.any(|part| part.len() >= MIN_NAMED && part != "mcp")
}

fn glob(text: &str) -> Option<globset::GlobMatcher> {
    let text = text.strip_prefix("./").unwrap_or(text);
    GlobBuilder::new(text).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// The texts of the blocks.
fn blocks(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new_ext(markdown, OPTIONS) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info)))
                if info.split_whitespace().next() == Some(LANGUAGE) =>
            {
                open = Some(String::new());
            }
            Event::Text(text) => {
                if let Some(block) = &mut open {
                    block.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}
