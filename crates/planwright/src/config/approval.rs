//! The section `approval`: how a person has to be recognised to approve.

use planwright_core::approval::{ApprovalPolicy, ApprovalRule, Require};

use super::setting::{Choice, Choices, Seconds, SettingValue, WholeNumber, section};

/// For how long a passphrase is remembered.
const MINUTES: u64 = 15;

section! {
    pub(super) struct ApprovalSection, "approval" {
        "How a person has to be recognised to approve ([approval.md](approval.md)). It lives in the store once that is made: `planwright approver policy` changes it, and a stricter value here counts for this process only."
        require: Choice<Require> = Require::default(),
        "Exceptions by channel and by risk; the first rule that fits decides."
        rules: Rules = Vec::new(),
        "How long an approval can begin or continue work."
        valid_for: Seconds => "for ever",
        "For how many minutes the terminal chat and a page of the dashboard remember an approver's passphrase; 0 asks every time. `planwright plan approve` asks every time."
        remember: WholeNumber<u64> = MINUTES,
    }
}

impl ApprovalSection {
    pub(super) fn policy(mut self) -> ApprovalPolicy {
        ApprovalPolicy {
            require: self.require(),
            rules: self.rules(),
            valid_for: self.valid_for().map(|time| time.as_secs()),
            remember: Some(self.remember())
                .filter(|minutes| *minutes != MINUTES)
                .map(|minutes| minutes.saturating_mul(60)),
        }
    }
}

impl Choices for Require {
    const NAMES: &'static [(&'static str, Self)] =
        &[("any", Self::Any), ("separate", Self::Separate), ("verified", Self::Verified)];
}

/// Tables in the file; a TOML array in the variable.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct Rules(Vec<ApprovalRule>);

impl SettingValue for Rules {
    type Value = Vec<ApprovalRule>;

    fn parse(text: &str) -> Result<Self, String> {
        #[derive(serde::Deserialize)]
        struct Section {
            rules: Rules,
        }
        let section: Section =
            toml::from_str(&format!("rules = {text}")).map_err(|error| error.message().to_owned())?;
        Ok(section.rules)
    }

    fn kind() -> String {
        "tables `[[approval.rules]]` with `channel`, `risk` (`reads_only`, `changes_files`, `commands`, `network`, `upstream`), \
         `require` and `people` (how many approvers have to sign)"
            .to_owned()
    }

    fn get(self) -> Vec<ApprovalRule> {
        self.0
    }

    fn show(value: &Vec<ApprovalRule>) -> String {
        if value.is_empty() { "no rules".to_owned() } else { format!("{} rules", value.len()) }
    }
}

#[cfg(test)]
mod tests {
    use planwright_core::approval::Risk;
    use planwright_core::session::Channel;

    use super::*;

    #[test]
    fn rules_are_tables_in_the_file_and_an_array_in_the_variable() {
        let text = "require = \"verified\"\nvalid_for = 600\nremember = 5\n[[rules]]\nrisk = \"reads_only\"\nrequire = \"any\"\n";
        let policy = toml::from_str::<ApprovalSection>(text).unwrap().policy();
        assert_eq!((policy.require, policy.valid_for, policy.remember), (Require::Verified, Some(600), Some(300)));
        assert_eq!(policy.rules[0].risk, Some(Risk::ReadsOnly));
        let asked_every_time = toml::from_str::<ApprovalSection>("remember = 0\n").unwrap().policy();
        assert_eq!((asked_every_time.remembered(), ApprovalSection::default().policy().remembered()), (0, 900));
        let rules = Rules::parse(r#"[{ channel = "mcp", require = "verified" }]"#).unwrap().get();
        assert_eq!((rules[0].channel, rules[0].require), (Some(Channel::Mcp), Require::Verified));
        let two = Rules::parse(r#"[{ risk = "commands", require = "verified", people = 2 }]"#).unwrap().get();
        assert_eq!(two[0].people, Some(2));
        assert!(Rules::parse(r#"[{ chanel = "mcp", require = "any" }]"#).unwrap_err().contains("chanel"));
    }

    #[test]
    fn separate_is_the_default() {
        assert_eq!(ApprovalSection::default().policy(), ApprovalPolicy::requiring(Require::Separate));
    }
}
