//! `/status`, `/sessions` and `/tools`: what there is, and how it stands.

use planwright_core::conversation::Conversation;
use planwright_core::gate::{
    ASK_AGENT, Caller, GateContext, GateDecision, PlanTool, ToolEffect, WorkbookTool, decide_other_tool,
};
use planwright_core::session::{Channel, SessionIdentity};

use super::plans::plan_work;
use super::standing::title;
use crate::agent::Agent;
use crate::clock::ago;
use crate::ledger::{LedgerResult, Page, StoredSession};
use crate::session::outcome::Answer;

/// How many sessions are listed in a chat.
const PAGE: u32 = 64;

impl Agent {
    pub(super) async fn session_status(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let snapshot = self.engine().sessions().snapshot(session).await?;
        let opened = snapshot.opened()?;
        let mut conversation = Conversation::default();
        let mut take_in = |seq, event: &_| conversation.take_in(seq, event);
        self.read(session, opened.history_from, u64::MAX, &mut take_in).await?;
        let turn = match &opened.turn {
            Some(turn) => format!("at work, begun {}", ago(turn.begun_at, self.engine().now())),
            None => "idle".to_owned(),
        };
        let summarised = conversation
            .summary
            .as_ref()
            .map_or_else(String::new, |summary| format!(", {} earlier ones summarised", summary.messages));
        let lines = [
            format!("- session: `{session}`{}", topic(opened.topic.as_deref())),
            format!("- agent: {turn}"),
            format!("- model: `{}`", self.model().name()),
            format!(
                "- conversation: {} messages, about {} of {} tokens{summarised}",
                conversation.items.len(),
                conversation.tokens(),
                self.context_tokens()
            ),
            format!("- plan: {}", plan_work(&snapshot)),
            format!("- files: `{}`", self.shared.files.folder(session).display()),
        ];
        Ok(Answer::words(session, lines.join("\n")))
    }

    pub(super) async fn list_sessions(&self, here: &SessionIdentity) -> LedgerResult<Answer> {
        let now = self.engine().now();
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
        Ok(Answer::words(here, lines.join("\n")))
    }

    /// The sessions of one channel, the most recently active first.
    async fn sessions_of(&self, channel: Channel) -> LedgerResult<Page<StoredSession>> {
        let mut found = Page { items: Vec::new(), damaged: Vec::new(), next: None };
        loop {
            let page = self.engine().sessions().list(found.next, PAGE).await?;
            found.items.extend(page.items.into_iter().filter(|stored| stored.session.identity.channel == channel));
            found.damaged.extend(page.damaged);
            found.next = page.next;
            if found.next.is_none() || found.items.len() >= PAGE as usize {
                return Ok(found);
            }
        }
    }

    pub(super) async fn list_tools(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let snapshot = self.engine().sessions().snapshot(session).await?;
        let situation = GateContext::of(&snapshot, self.engine().policy(), Caller::Conversation);
        let mut lines = Vec::new();
        for spec in self.advertised(&situation) {
            let effect = match self.shared.toolbox.get(&spec.name) {
                None if PlanTool::named(&spec.name).is_some() => "about the plan",
                None if WorkbookTool::named(&spec.name).is_some() => "about the workbook",
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
        Ok(Answer::words(session, lines.join("\n")))
    }
}

fn topic(topic: Option<&str>) -> String {
    topic.map_or_else(String::new, |topic| format!(" “{}”", title(topic)))
}
