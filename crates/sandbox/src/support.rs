//! What this system can enforce.

use crate::SandboxLevel;

/// The result of a trial on this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    items: Vec<SupportItem>,
}

/// One mechanism of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupportItem {
    pub name: &'static str,
    pub available: bool,
    /// What it is used for, or why it is missing.
    pub detail: String,
    /// Without it no restricted level is enforced.
    pub required: bool,
}

impl SupportItem {
    pub(crate) fn available(name: &'static str, detail: String) -> Self {
        Self { name, available: true, detail, required: false }
    }

    pub(crate) fn missing(name: &'static str, detail: String) -> Self {
        Self { name, available: false, detail, required: false }
    }

    pub(crate) fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

impl Support {
    pub(crate) fn of(items: Vec<SupportItem>) -> Self {
        Self { items }
    }

    pub fn items(&self) -> &[SupportItem] {
        &self.items
    }

    /// Why the level cannot be enforced, or `None` if it can.
    pub fn refusal(&self, level: SandboxLevel) -> Option<String> {
        if !level.is_restricted() {
            return None;
        }
        let missing: Vec<_> = self
            .items
            .iter()
            .filter(|item| item.required && !item.available)
            .map(|item| format!("{} missing ({})", item.name, item.detail))
            .collect();
        (!missing.is_empty()).then(|| missing.join("; "))
    }

    /// A line for each mechanism and one for each level, for `doctor` and the start of a server.
    pub fn lines(&self) -> Vec<String> {
        let item = |item: &SupportItem| match item.available {
            true => format!("{}: {}", item.name, item.detail),
            false if item.required => format!("{}: missing, required; {}", item.name, item.detail),
            false => format!("{}: missing, not required; {}", item.name, item.detail),
        };
        let level = |level: SandboxLevel| match self.refusal(level) {
            None if level.is_restricted() => format!("level {level}: enforced"),
            None => format!("level {level}: enforces nothing"),
            Some(_) => format!("level {level}: cannot be enforced; commands at this level are refused"),
        };
        self.items.iter().map(item).chain(SandboxLevel::ALL.into_iter().map(level)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_mechanism_refuses_the_restricted_levels() {
        let namespaces = SupportItem::missing("namespaces", "forbidden".to_owned()).required();
        let landlock = SupportItem::available("Landlock", "version 7".to_owned());
        let support = Support::of(vec![namespaces, landlock]);
        let expected = Some("namespaces missing (forbidden)".to_owned());
        assert_eq!(support.refusal(SandboxLevel::Workspace), expected);
        assert_eq!(support.refusal(SandboxLevel::ReadOnly), expected);
        assert_eq!(support.refusal(SandboxLevel::Open), None);
        assert_eq!(
            support.lines(),
            [
                "namespaces: missing, required; forbidden",
                "Landlock: version 7",
                "level read_only: cannot be enforced; commands at this level are refused",
                "level workspace: cannot be enforced; commands at this level are refused",
                "level open: enforces nothing",
            ]
        );
    }

    #[test]
    fn landlock_alone_is_not_required() {
        let namespaces = SupportItem::available("namespaces", "own files".to_owned()).required();
        let landlock = SupportItem::missing("Landlock", "old kernel".to_owned());
        let support = Support::of(vec![namespaces, landlock]);
        assert_eq!(support.refusal(SandboxLevel::Workspace), None);
        assert_eq!(support.lines()[1], "Landlock: missing, not required; old kernel");
    }
}
