//! What upstream servers list. A name that a server lists is its own word; any other is free text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::upstream::{ServerName, no_such};
use planwright_engine::upstream::UpstreamRequest;
use tokio::time::timeout;

use super::Gateway;

/// How long a server may take to list something before a name counts as one that it does not list.
const LIST_TIME: Duration = Duration::from_secs(5);

/// What a server lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ListedKind {
    Resources,
    Templates,
    Prompts,
}

impl ListedKind {
    const fn request(self) -> UpstreamRequest {
        match self {
            Self::Resources => UpstreamRequest::ListResources,
            Self::Templates => UpstreamRequest::ListResourceTemplates,
            Self::Prompts => UpstreamRequest::ListPrompts,
        }
    }

    /// The key of the list, and that of the name in each entry.
    const fn keys(self) -> (&'static str, &'static str) {
        match self {
            Self::Resources => ("resources", "uri"),
            Self::Templates => ("resourceTemplates", "uriTemplate"),
            Self::Prompts => ("prompts", "name"),
        }
    }

    /// One of them, for people.
    const fn noun(self) -> &'static str {
        match self {
            Self::Resources => "resource",
            Self::Templates => "template",
            Self::Prompts => "prompt",
        }
    }
}

/// What each server listed last.
#[derive(Debug, Default)]
pub(super) struct ListedNames(Mutex<BTreeMap<(ServerName, ListedKind), BTreeSet<String>>>);

impl ListedNames {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(ServerName, ListedKind), BTreeSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, server: &ServerName, kind: ListedKind) -> BTreeSet<String> {
        self.lock().get(&(server.clone(), kind)).cloned().unwrap_or_default()
    }

    fn has(&self, server: &ServerName, kind: ListedKind, name: &str) -> bool {
        self.lock().get(&(server.clone(), kind)).is_some_and(|listed| listed.contains(name))
    }
}

impl Gateway {
    /// A name that the server listed before is known, so the server is asked for its list only about others. The error says
    /// that it listed nothing.
    pub(super) async fn find_listed(&self, server: &ServerName, kind: ListedKind, name: &str) -> Result<bool, Refusal> {
        if self.listed.has(server, kind, name) {
            return Ok(true);
        }
        let listed = timeout(LIST_TIME, self.request(server, kind.request())).await;
        let Ok(Ok(listed)) = listed else {
            let message = format!("The MCP server {server} did not list its {}s, so none is asked for.", kind.noun());
            return Err(Refusal::new(RefusalCode::Unavailable, message));
        };
        let (list, key) = kind.keys();
        let all = listed[list].as_array().into_iter().flatten();
        let names = all.filter_map(|one| one[key].as_str().map(str::to_owned)).collect();
        self.listed.lock().insert((server.clone(), kind), names);
        Ok(self.listed.has(server, kind, name))
    }

    /// Refuses a name that the server does not list, with the nearest ones. `shown` is a name as clients know it.
    pub(super) async fn check_listed(
        &self,
        server: &ServerName,
        kind: ListedKind,
        name: &str,
        shown: impl Fn(&str) -> String,
    ) -> Result<(), Refusal> {
        if self.find_listed(server, kind, name).await? {
            return Ok(());
        }
        let known: Vec<_> = self.listed.of(server, kind).iter().map(|name| shown(name)).collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        Err(no_such(kind.noun(), &shown(name), &known))
    }

    /// Whether a server lists this address. One that lists nothing in time does not.
    pub(super) async fn is_listed(&self, server: &ServerName, uri: &str) -> bool {
        self.find_listed(server, ListedKind::Resources, uri).await.unwrap_or(false)
    }
}
