//! The section `hook`: what the hooks of clients do.

use serde::Deserialize;

use super::setting::{Choice, Choices, section};

section! {
    pub(super) struct HookSection, "hook" {
        "Where a person is asked about a call of a client's own tool that an approved plan does not cover and no rule denies: in the client, or in Planwright's inbox."
        ask: Choice<HookAsk> = HookAsk::default(),
    }
}

/// Where a person is asked about such a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookAsk {
    /// By the client itself. One that cannot ask denies.
    #[default]
    Client,
    /// In Planwright's inbox; the agent makes the call again once it is permitted.
    Inbox,
}

impl Choices for HookAsk {
    const NAMES: &'static [(&'static str, Self)] = &[("client", Self::Client), ("inbox", Self::Inbox)];
}
