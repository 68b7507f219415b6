//! Cards about what waits anywhere, sent to people who are allowed. The private chat of a person has the id of the person.

use std::sync::Arc;

use planwright_agent::session::ask_prompt::ask_text;
use planwright_core::choices::WaitingAsk;
use planwright_core::ids::RunId;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerResult;

use crate::card;
use crate::card_watch::SentCard;
use crate::context::BotContext;
use crate::conversation::Addressee;
use crate::markdown::{FormattedText, LinkStyle, MAX_TEXT};
use crate::message::{Button, Keyboard, Markup, OutgoingMessage};
use crate::run_chats;
use crate::update::Person;

/// A cheap handle on the bot, for messages that answer no update.
#[derive(Debug, Clone)]
pub struct InboxCards {
    context: Arc<BotContext>,
}

impl InboxCards {
    pub(crate) fn new(context: &Arc<BotContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    /// The people who are allowed.
    pub fn users(&self) -> &[i64] {
        &self.context.options.allowed_users
    }

    /// A plan that waits for a decision, or that waits while it is carried out. `id` names the message: it is sent once.
    pub async fn send_plan(&self, id: &str, user: i64, plan: &Plan) -> LedgerResult<()> {
        let to = addressee(user);
        if self.has_card(&plan.session, user, plan.id.as_str()).await? {
            return Ok(());
        }
        let messages = match plan.status {
            PlanStatus::Ready => card::plan_messages(&self.context, id, &to, plan).await?,
            _ => card::execution_messages(&self.context, id, &to, plan).await?,
        };
        self.put(id, &messages).await
    }

    /// What a turn asks.
    pub async fn send_ask(&self, id: &str, user: i64, waiting: &WaitingAsk) -> LedgerResult<()> {
        let to = addressee(user);
        if self.has_card(&waiting.session, user, waiting.ask.id.as_str()).await? {
            return Ok(());
        }
        let text = FormattedText::markdown(&ask_text(waiting), LinkStyle::Written);
        let parts = text.split(MAX_TEXT).into_iter().filter(|part| !part.is_blank());
        let mut messages: Vec<_> = parts.map(|part| OutgoingMessage::text(user, part, None)).collect();
        card::add_ask(&self.context, id, &to, waiting, &mut messages).await?;
        self.put(id, &messages).await
    }

    /// Whether the person is told about the run in the chat that it was started in.
    pub async fn tells_run(&self, session: &SessionIdentity, user: i64, run: &RunId) -> LedgerResult<bool> {
        run_chats::tells(&self.context, session, run, user).await
    }

    /// Words with a link.
    pub async fn send_text(&self, id: &str, user: i64, text: &str, path: &str) -> LedgerResult<()> {
        let open = self.context.link(path).map(|url| Button { text: "Open".to_owned(), code: None, url: Some(url) });
        let markup = open.map(|open| Markup::Buttons(Keyboard { rows: vec![vec![open]] }));
        self.put(id, &[OutgoingMessage::text(user, FormattedText::plain(text), markup)]).await
    }

    /// Whether the person has a card about it already.
    async fn has_card(&self, session: &SessionIdentity, user: i64, subject: &str) -> LedgerResult<bool> {
        let prefix = format!("card/{}/{session}/{user}/", self.context.bot);
        let cards = self.context.ledger.keyed_records(&prefix, 100).await?;
        let about =
            |body: &str| serde_json::from_str::<SentCard>(body).is_ok_and(|card| card.subject.subject == subject);
        Ok(cards.iter().any(|(_, record)| about(&record.body)))
    }

    async fn put(&self, id: &str, messages: &[OutgoingMessage]) -> LedgerResult<()> {
        let stored =
            messages.iter().enumerate().map(|(index, message)| self.context.stored(format!("{id}-{index}"), message));
        self.context.put(&stored.collect::<LedgerResult<Vec<_>>>()?).await
    }
}

fn addressee(user: i64) -> Addressee {
    let person = Person { id: user, first_name: String::new(), username: None };
    Addressee { update: 0, chat: user, person }
}
