//! Cards are kept up to date: what is decided elsewhere is written below the card, and its buttons are removed.

use std::time::Duration;

use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::changes::{ChangeFollower, Changed};
use planwright_engine::ledger::LedgerResult;
use planwright_engine::who;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::card;
use crate::context::BotContext;
use crate::conversation::Addressee;
use crate::markdown::{Entity, FormattedText};
use crate::message::{CardKind, CardSubject, OutgoingMessage};
use crate::update::Person;

/// Changes that come closer together are looked at once.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Cards are also looked at after this time: a change may have been missed.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
const CARDS: u32 = 200;

/// A card as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentCard {
    pub(crate) subject: CardSubject,
    pub(crate) chat: i64,
    pub(crate) message: i64,
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) entities: Vec<Entity>,
}

/// What became of the subject of a card.
enum CardState {
    Open,
    /// What is written below it.
    Decided(String),
    /// A later version waits.
    Newer(std::sync::Arc<Plan>),
}

pub(crate) async fn run(context: &BotContext) {
    let mut changes = ChangeFollower::follow(context.ledger.as_ref(), DEBOUNCE);
    let mut changed = Changed::anywhere();
    loop {
        let sessions = changed.sessions.iter().filter(|_| !changed.resync).map(Some);
        for session in sessions.chain(changed.resync.then_some(None)) {
            if let Err(error) = update_all(context, session).await {
                tracing::warn!(event = "telegram_cards_not_updated", %error);
            }
        }
        changed = match timeout(POLL_INTERVAL, changes.next()).await {
            Ok(Some(changed)) => changed,
            Ok(None) => return,
            Err(_) => Changed::anywhere(),
        };
    }
}

/// Looks at the cards of one session, or of all.
pub(crate) async fn update_all(context: &BotContext, session: Option<&SessionIdentity>) -> LedgerResult<()> {
    let prefix = match session {
        Some(session) => format!("card/{}/{session}/", context.bot),
        None => format!("card/{}/", context.bot),
    };
    for (key, record) in context.ledger.keyed_records(&prefix, CARDS).await? {
        match serde_json::from_str::<SentCard>(&record.body) {
            Ok(card) => update(context, &key, &card).await?,
            Err(_) => context.ledger.remove_keyed_record(&key).await?,
        }
    }
    Ok(())
}

async fn update(context: &BotContext, key: &str, card: &SentCard) -> LedgerResult<()> {
    let (message, newer) = match state(context, &card.subject).await? {
        CardState::Open => return Ok(()),
        CardState::Decided(message) => (message, None),
        CardState::Newer(plan) => ("There is a newer version; its card follows.".to_owned(), Some(plan)),
    };
    let mut text = FormattedText { text: card.text.clone(), entities: card.entities.clone() };
    text.push_text("\n\n");
    text.push_bold(&message);
    let mut edited = OutgoingMessage::text(card.chat, text, None);
    edited.replaces = Some(card.message);
    let id = format!("card-{}-{}-{}-{}", context.bot, card.chat, card.message, card.subject.digest);
    let mut messages = vec![context.stored(id, &edited)?];
    if let Some(plan) = newer {
        let person = Person { id: card.subject.user, first_name: String::new(), username: None };
        let to = Addressee { update: 0, chat: card.chat, person };
        let id = format!("card-{}-{}-{}-{}", context.bot, card.chat, plan.id, plan.digest());
        for (index, message) in card::plan_messages(context, &id, &to, &plan).await?.iter().enumerate() {
            messages.push(context.stored(format!("{id}-{index}"), message)?);
        }
    }
    context.put(&messages).await?;
    context.ledger.remove_keyed_record(key).await
}

async fn state(context: &BotContext, subject: &CardSubject) -> LedgerResult<CardState> {
    match subject.kind {
        CardKind::Ask => {
            let stored = context.ledger.session(&subject.session).await?;
            let waits = stored.as_ref().and_then(|stored| stored.session.waiting_ask());
            let is_open = waits.is_some_and(|ask| ask.id.as_str() == subject.subject);
            Ok(if is_open { CardState::Open } else { CardState::Decided("This is answered.".to_owned()) })
        }
        CardKind::Plan => {
            let Some(plan) = card::find(context, &subject.session, &subject.subject).await? else {
                return Ok(CardState::Decided("The plan does not exist any more.".to_owned()));
            };
            Ok(match plan.status {
                PlanStatus::Ready if plan.digest().to_string() == subject.digest => CardState::Open,
                PlanStatus::Ready => CardState::Newer(plan),
                _ => CardState::Decided(decision(&plan)),
            })
        }
        CardKind::Execution => {
            let plan = card::find(context, &subject.session, &subject.subject).await?;
            let is_open = plan.as_deref().and_then(card::execution_key).as_ref() == Some(&subject.digest);
            Ok(if is_open { CardState::Open } else { CardState::Decided("This is decided.".to_owned()) })
        }
    }
}

fn decision(plan: &Plan) -> String {
    let ended = |what: &str| match &plan.ending {
        Some(ending) => format!("{what} by {}.", who(&ending.by)),
        None => format!("{what}."),
    };
    match plan.status {
        PlanStatus::Approved | PlanStatus::Executing | PlanStatus::Completed | PlanStatus::PartiallyCompleted => {
            match &plan.approval {
                Some(approval) => format!("Approved by {}.", who(&approval.by)),
                None => format!("The plan is {}.", plan.status.as_str()),
            }
        }
        PlanStatus::Rejected => ended("Rejected"),
        PlanStatus::Cancelled => ended("Cancelled"),
        PlanStatus::Superseded => "Another plan replaces this one.".to_owned(),
        PlanStatus::Collecting => "The plan is a draft again.".to_owned(),
        PlanStatus::Ready => "The plan waits for a decision.".to_owned(),
    }
}
