//! The permission rules that are not in the store: those of the configuration, and those in `{data}/permissions.toml`, which
//! earlier versions wrote.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use planwright_core::permission::{GuardedFiles, Permission, PermissionRule, PermissionRules};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_engine::permission_rules::RuleSource;
use serde::Deserialize;

/// Both sources together. The file is read again when it has changed, by this process or by a person.
#[derive(Debug)]
pub(crate) struct PermissionFile {
    configured: Vec<PermissionRule>,
    path: PathBuf,
    /// The files that later run or instruct.
    guarded: GuardedFiles,
    /// Whether rules that allow count. In a store that has its own they do not.
    allows: bool,
    read: Mutex<Option<ReadRules>>,
}

#[derive(Debug, Clone)]
struct ReadRules {
    /// `None` while there is no file.
    version: Option<(SystemTime, u64)>,
    rules: Arc<PermissionRules>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Added {
    #[serde(default)]
    permissions: Vec<PermissionRule>,
}

impl PermissionFile {
    pub(crate) fn new(configured: Vec<PermissionRule>, data: &Path) -> Self {
        let (path, guarded) = (data.join("permissions.toml"), GuardedFiles::default());
        Self { configured, path, guarded, allows: true, read: Mutex::default() }
    }

    /// With these files that later run or instruct, beside the usual ones.
    pub(crate) fn guarding(self, further: &[String]) -> Self {
        Self { guarded: GuardedFiles::with(further), ..self }
    }

    /// Without the rules that allow: an agent can write files, so only those of the store count.
    pub(crate) fn without_allowing(self) -> Self {
        Self { allows: false, ..self }
    }

    /// Every rule that allows calls.
    pub(crate) fn allowing(&self) -> Result<Vec<PermissionRule>, Refusal> {
        let all = self.configured.iter().cloned().chain(self.added()?.permissions);
        Ok(all.filter(|rule| rule.decide == Permission::Allow).collect())
    }

    fn version(&self) -> Result<Option<(SystemTime, u64)>, Refusal> {
        match fs::metadata(&self.path) {
            Ok(file) => Ok(Some((file.modified().map_err(|error| self.unreadable(&error))?, file.len()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    fn added(&self) -> Result<Added, Refusal> {
        match fs::read_to_string(&self.path) {
            Ok(text) => toml::from_str(&text).map_err(|error| self.unreadable(&error.message())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Added::default()),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> Refusal {
        let message = format!("{} cannot be read, so no call is permitted: {error}.", self.path.display());
        Refusal::new(RefusalCode::Unavailable, message)
    }
}

impl RuleSource for PermissionFile {
    fn rules(&self) -> Result<Arc<PermissionRules>, Refusal> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.version()?;
        if let Some(read) = read.as_ref().filter(|read| read.version == version) {
            return Ok(Arc::clone(&read.rules));
        }
        let all = self.configured.iter().cloned().chain(self.added()?.permissions);
        let all = all.filter(|rule| self.allows || rule.decide != Permission::Allow).collect();
        let rules = Arc::new(PermissionRules::new(all)?.guarding(self.guarded.clone()));
        *read = Some(ReadRules { version, rules: Arc::clone(&rules) });
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(tool: &str) -> PermissionRule {
        let (target, server, effect) = (None, None, None);
        PermissionRule { tool: tool.to_owned(), target, server, effect, exact: false, decide: Permission::Allow }
    }

    fn tools(file: &PermissionFile) -> Vec<String> {
        file.rules().unwrap().rules().map(|rule| rule.tool.clone()).collect()
    }

    #[test]
    fn rules_of_the_file_come_after_the_configured_ones() {
        let data = tempfile::tempdir().unwrap();
        let file = PermissionFile::new(vec![rule("a")], data.path());
        assert_eq!(tools(&file), ["a"]);
        let rules: String =
            ["b", "c"].map(|tool| format!("[[permissions]]\ntool = {tool:?}\ndecide = \"allow\"\n")).concat();
        fs::write(data.path().join("permissions.toml"), rules).unwrap();
        assert_eq!(tools(&file), ["a", "b", "c"]);
        assert_eq!(file.allowing().unwrap().len(), 3);
        let denied = PermissionRule { decide: Permission::Deny, ..rule("d") };
        let file = PermissionFile::new(vec![rule("a"), denied], data.path()).without_allowing();
        assert_eq!(tools(&file), ["d"], "only those of the store allow");
    }

    #[test]
    fn guarded_files_are_the_usual_ones_and_those_of_the_settings() {
        let data = tempfile::tempdir().unwrap();
        let is_guarded = |further: &[String], path| {
            let file = PermissionFile::new(Vec::new(), data.path()).guarding(further);
            file.rules().unwrap().guarded().contain(path)
        };
        assert!(is_guarded(&[], "AGENTS.md") && !is_guarded(&[], "tools/run.sh"));
        let further = ["/tools".to_owned()];
        assert!(is_guarded(&further, "AGENTS.md") && is_guarded(&further, "tools/run.sh"));
    }

    #[test]
    fn a_file_that_makes_no_sense_permits_nothing_and_is_kept() {
        let data = tempfile::tempdir().unwrap();
        let (file, path) = (PermissionFile::new(vec![rule("a")], data.path()), data.path().join("permissions.toml"));
        for text in
            ["[[permissions]]\ntool = 1", "permission = []", "[[permissions]]\ntool = \"x\"\ndecide = \"maybe\""]
        {
            fs::write(&path, text).unwrap();
            assert!(file.rules().unwrap_err().message.contains("permissions.toml"), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
