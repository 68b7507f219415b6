//! What the records changed about who may decide: a weaker policy, new approvers, passkeys, signed-in browsers and guarded
//! settings. A person is shown what was changed since they looked last.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use super::policy::ApprovalPolicy;
use super::record::{ApprovalEvent, ApprovalRecord, ApprovalState, SealedRecord};
use crate::actor::Actor;

/// Settings of which only the name is shown.
const SECRETS: [&str; 2] = ["telegram.webhook_secret", "sandbox.env"];

/// What changes with an upgrade where an approver is enrolled.
const VERIFIED_BY_DEFAULT: &str = "sessions of `mcp` and `acp` ask for a passphrase or a passkey now (`verified`), because an \
                                   approver is enrolled; `planwright approver policy --channel mcp --require separate` goes back";

/// One change, with who made it and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The number of its record; `None` if it is kept elsewhere.
    pub seq: Option<u64>,
    pub at: Timestamp,
    pub by: Actor,
    pub what: ChangedAbout,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedAbout {
    /// The policy asks for less somewhere.
    PolicyWeakened {
        before: String,
        now: String,
    },
    /// The store was opened by the first version in which `separate` means `verified` for agents with programs of their own.
    VerifiedByDefault,
    ApproverAdded {
        name: String,
    },
    ApproverRemoved {
        name: String,
    },
    PassphraseChanged {
        name: String,
    },
    PasskeyAdded {
        name: String,
        label: String,
    },
    BrowserSignedIn,
    /// The buttons of this user of Telegram count where a verified person is asked for.
    ChatUserBound {
        user: i64,
        approver: String,
    },
    /// Calls run without a question from now on.
    CallsPermitted {
        number: u64,
        what: String,
    },
    /// The tools of an MCP server were accepted.
    ToolsAccepted {
        server: String,
    },
    /// A guarded setting, such as which users of a chat service count. `None` is its default.
    Setting {
        key: String,
        before: Option<String>,
        now: Option<String>,
    },
}

impl ChangedAbout {
    /// Whether less is asked for, or others may decide, than before.
    pub const fn is_weakening(&self) -> bool {
        match self {
            Self::PolicyWeakened { .. } => true,
            Self::VerifiedByDefault
            | Self::ApproverAdded { .. }
            | Self::ApproverRemoved { .. }
            | Self::PassphraseChanged { .. }
            | Self::PasskeyAdded { .. }
            | Self::BrowserSignedIn
            | Self::ChatUserBound { .. }
            | Self::CallsPermitted { .. }
            | Self::ToolsAccepted { .. }
            | Self::Setting { .. } => false,
        }
    }
}

/// For people: `the policy was weakened from `separate` to `any``.
impl fmt::Display for ChangedAbout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PolicyWeakened { before, now } => {
                write!(f, "the approval policy was weakened from {before} to {now}")
            }
            Self::VerifiedByDefault => f.write_str(VERIFIED_BY_DEFAULT),
            Self::ApproverAdded { name } => write!(f, "{name} was enrolled as an approver"),
            Self::ApproverRemoved { name } => write!(f, "the approver {name} was removed"),
            Self::PassphraseChanged { name } => write!(f, "the passphrase of {name} was changed"),
            Self::PasskeyAdded { name, label } => write!(f, "the passkey `{label}` was added for {name}"),
            Self::BrowserSignedIn => f.write_str("a browser was signed in with a link"),
            Self::ChatUserBound { user, approver } => {
                write!(f, "{approver} bound the user {user} of Telegram, whose buttons count as verified")
            }
            Self::CallsPermitted { number, what } => write!(f, "rule {number} permits {what}"),
            Self::ToolsAccepted { server } => write!(f, "the tools of the MCP server {server} were accepted"),
            Self::Setting { key, .. } if SECRETS.contains(&key.as_str()) => write!(f, "`{key}` was changed"),
            Self::Setting { key, before, now } => {
                let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "its default".to_owned());
                write!(f, "`{key}` was changed from {} to {}", value(before), value(now))
            }
        }
    }
}

/// What was changed since a person looked last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unseen {
    /// When a person looked last.
    pub since: Option<Timestamp>,
    pub changes: Vec<RecordedChange>,
}

/// What was changed since a person looked last, in order. The first policy and the first settings of a store change nothing.
pub fn since_last_look<'a>(records: impl IntoIterator<Item = &'a SealedRecord>) -> Unseen {
    let mut settings = None::<BTreeMap<String, String>>;
    let mut before = ApprovalState::default();
    let mut changes: Vec<RecordedChange> = Vec::new();
    let mut since = None;
    for sealed in records {
        // A record that cannot be read is found by the check of the records.
        let Ok(record) = serde_json::from_str::<ApprovalRecord>(&sealed.body) else { continue };
        let ApprovalRecord { seq, at, by, event, .. } = record;
        let found = match event {
            ApprovalEvent::PolicySet { policy: now, with_defaults } => {
                let found = about_policy(&before, &now, with_defaults);
                before.policy = Some(now);
                before.with_defaults |= with_defaults;
                found
            }
            ApprovalEvent::SettingsSet { settings: now } => {
                settings.replace(now.clone()).map(|before| compare(&before, &now)).unwrap_or_default()
            }
            ApprovalEvent::ApproverAdded { approver } => {
                let name = approver.name.clone();
                before.approvers.0.push(approver);
                vec![ChangedAbout::ApproverAdded { name }]
            }
            ApprovalEvent::ApproverRemoved { name } => {
                before.approvers.remove(&name);
                vec![ChangedAbout::ApproverRemoved { name }]
            }
            ApprovalEvent::PassphraseChanged { name, .. } => vec![ChangedAbout::PassphraseChanged { name }],
            ApprovalEvent::PasskeyAdded { name, passkey } => {
                vec![ChangedAbout::PasskeyAdded { name, label: passkey.label }]
            }
            ApprovalEvent::PermissionGiven { rule, .. } => {
                vec![ChangedAbout::CallsPermitted { number: seq, what: rule.describe() }]
            }
            ApprovalEvent::BrowserSignedIn { .. } => vec![ChangedAbout::BrowserSignedIn],
            ApprovalEvent::ChatUserBound { user, approver } => vec![ChangedAbout::ChatUserBound { user, approver }],
            ApprovalEvent::RecordsSeen { seq, until } => {
                changes.retain(|change| change.seq > Some(seq));
                since = Some(until);
                Vec::new()
            }
            ApprovalEvent::PassphraseTried { .. }
            | ApprovalEvent::PassphraseAccepted { .. }
            | ApprovalEvent::PasskeyRemoved { .. }
            | ApprovalEvent::PermissionRemoved { .. }
            | ApprovalEvent::PasskeyUsed { .. }
            | ApprovalEvent::ChatUserUnbound { .. }
            | ApprovalEvent::SignInLinkMade { .. }
            | ApprovalEvent::BrowserSignedOut { .. }
            | ApprovalEvent::AgentSeen { .. }
            | ApprovalEvent::ClientsKept { .. } => Vec::new(),
            // It is told from what is kept of the server, which versions before this record have as well.
            ApprovalEvent::ToolsAccepted { .. } => Vec::new(),
        };
        changes.extend(found.into_iter().map(|what| RecordedChange { seq: Some(seq), at, by: by.clone(), what }));
    }
    Unseen { since, changes }
}

/// A policy that asks for less than the one before, or the first one of a version with other defaults.
fn about_policy(before: &ApprovalState, now: &ApprovalPolicy, with_defaults: bool) -> Vec<ChangedAbout> {
    let Some(policy) = &before.policy else { return Vec::new() };
    if before.is_weakened_by(now) {
        return vec![ChangedAbout::PolicyWeakened { before: describe(policy), now: describe(now) }];
    }
    let is_raised = with_defaults && before.is_raised_by_defaults();
    is_raised.then_some(ChangedAbout::VerifiedByDefault).into_iter().collect()
}

fn compare(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<ChangedAbout> {
    let keys: std::collections::BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let changed = keys.into_iter().filter(|key| before.get(*key) != now.get(*key));
    let change = |key: &String| ChangedAbout::Setting {
        key: key.clone(),
        before: before.get(key).cloned(),
        now: now.get(key).cloned(),
    };
    changed.map(change).collect()
}

/// What is asked for at the top, and by the rules.
fn describe(policy: &ApprovalPolicy) -> String {
    let rules = match policy.rules.as_slice() {
        [] => String::new(),
        [_] => " with one rule".to_owned(),
        rules => format!(" with {} rules", rules.len()),
    };
    let ends = policy.valid_for.map(|seconds| format!(", valid for {seconds} seconds")).unwrap_or_default();
    format!("`{}`{rules}{ends}", policy.require.as_str())
}
