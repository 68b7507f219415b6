//! `/status`, `/sessions` and `/tools`.

use std::sync::Arc;

use planwright_core::conversation::Conversation;
use planwright_core::gate::{
    ASK_AGENT, ASK_PERSON, Caller, GateContext, GateDecision, PlanTool, ToolEffect, WorkbookTool, decide_other_tool,
};
use planwright_core::session::{Channel, SessionIdentity};
use planwright_core::visible::quoted;
use planwright_core::workspace::Workspace;
use planwright_engine::clock::ago;
use planwright_engine::ledger::{LedgerResult, Page, StoredSession};
use planwright_engine::plan_status::one_line;

use super::plans::plan_work;
use crate::agent_context::AgentContext;
use crate::session::outcome::Answer;
use crate::turn::Turns;

/// The number of sessions that are listed in a chat.
const PAGE: u32 = 64;

#[derive(Debug, Clone)]
pub(super) struct Overview {
    pub(super) agent: Arc<AgentContext>,
    turns: Turns,
}

/// A line about messages that did not reach a person, if there are any.
fn undelivered(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("- notifications: 1 message could not be delivered".to_owned()),
        count => Some(format!("- notifications: {count} messages could not be delivered")),
    }
}

impl Overview {
    pub(super) fn new(agent: &Arc<AgentContext>, turns: Turns) -> Self {
        Self { agent: Arc::clone(agent), turns }
    }

    pub(super) async fn status(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let snapshot = self.agent.engine().sessions().snapshot(session).await?;
        let opened = snapshot.opened()?;
        let mut conversation = Conversation::default();
        let mut apply = |seq, event: &_| conversation.apply(seq, event);
        self.turns.conversations.read(session, opened.history_from, u64::MAX, &mut apply).await?;
        let turn = match &opened.turn {
            Some(turn) => format!("at work, begun {}", ago(turn.begun_at, self.agent.engine().now())),
            None => "idle".to_owned(),
        };
        let summarised = conversation
            .summary
            .as_ref()
            .map_or_else(String::new, |summary| format!(", {} earlier ones summarised", summary.messages));
        let mut lines = vec![
            format!("- session: `{session}`{}", topic(opened.topic.as_deref())),
            format!("- agent: {turn}"),
            format!("- model: `{}`", self.agent.model().name()),
            format!(
                "- conversation: {} messages, about {} of {} tokens{summarised}",
                conversation.items.len(),
                conversation.tokens(),
                self.agent.context_tokens()
            ),
            format!("- plan: {}", plan_work(&snapshot)),
            match &opened.workspace {
                Workspace::Own => format!("- files: `{}`", self.agent.files.folder(session).display()),
                Workspace::Project { path } => format!("- files: the project folder {}", quoted(path)),
            },
        ];
        lines.extend(undelivered(self.agent.engine().ledger().count_undelivered().await?));
        Ok(Answer::text(session, lines.join("\n")))
    }

    pub(super) async fn sessions(&self, here: &SessionIdentity) -> LedgerResult<Answer> {
        let now = self.agent.engine().now();
        let page = self.sessions_of(here.channel).await?;
        let mut lines: Vec<_> = page
            .items
            .iter()
            .map(|stored| {
                let session = &stored.session;
                let mark = if session.identity == *here { " ← here" } else { "" };
                let key = &session.identity.conversation;
                let topic = topic(session.topic.as_deref());
                format!("- `{key}`{topic}, {}{mark}", ago(stored.last_active, now))
            })
            .collect();
        lines.extend(page.damaged.iter().map(|row| format!("- {} cannot be read: {}", row.what, row.reason)));
        if page.next.is_some() {
            lines.push("- and older ones; `/switch KEY` finds them as well".to_owned());
        }
        lines.push("\n`/switch KEY` goes to another one, `/new` begins one.".to_owned());
        Ok(Answer::text(here, lines.join("\n")))
    }

    /// The sessions of one channel, the most recently active first.
    async fn sessions_of(&self, channel: Channel) -> LedgerResult<Page<StoredSession>> {
        let mut found = Page { items: Vec::new(), damaged: Vec::new(), next: None };
        loop {
            let page = self.agent.engine().sessions().list(found.next, PAGE).await?;
            found.items.extend(page.items.into_iter().filter(|stored| stored.session.identity.channel == channel));
            found.damaged.extend(page.damaged);
            found.next = page.next;
            if found.next.is_none() || found.items.len() >= PAGE as usize {
                return Ok(found);
            }
        }
    }

    pub(super) async fn tools(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let snapshot = self.agent.engine().sessions().snapshot(session).await?;
        let situation = GateContext::of(&snapshot, self.agent.engine().policy(), Caller::Conversation);
        let mut lines = Vec::new();
        for spec in self.turns.requests.advertised(&situation, session, None).specs.iter() {
            let effect = match self.agent.toolbox.get(&spec.name) {
                None if PlanTool::named(&spec.name).is_some() => "about the plan",
                None if WorkbookTool::named(&spec.name).is_some() => "about the workbook",
                None if spec.name == ASK_PERSON => "asks you, and waits for your answer",
                None if spec.name == ASK_AGENT => "asks a specialist, who only reads",
                None => "",
                Some(tool) => match (decide_other_tool(&situation, &spec.name, tool.effect()), tool.effect()) {
                    (GateDecision::Record, _) => "written down as a step, not run",
                    (GateDecision::Run | GateDecision::Deny(_), ToolEffect::ReadsOnly) => "only reads",
                    (GateDecision::Run | GateDecision::Deny(_), ToolEffect::Repeatable) => {
                        "changes things, may be repeated"
                    }
                    (GateDecision::Run | GateDecision::Deny(_), ToolEffect::Changes) => "changes things",
                },
            };
            lines.push(format!("- `{}`: {effect}", spec.name));
        }
        let servers = self.server_lines().await?;
        if !servers.is_empty() {
            lines.push("\nMCP servers:\n".to_owned());
            lines.extend(servers);
        }
        Ok(Answer::text(session, lines.join("\n")))
    }
}

fn topic(topic: Option<&str>) -> String {
    topic.map_or_else(String::new, |topic| format!(" “{}”", one_line(topic)))
}
