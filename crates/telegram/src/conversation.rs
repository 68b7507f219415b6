//! One update: the session it belongs to, the agent's work on it, and the messages that answer it.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use planwright_agent::session::input::{BeginWork, ChatLocation, Input, Request, SeenPlan};
use planwright_agent::session::outcome::{Answer, Outcome};
use planwright_agent::session::progress::{Progress, ProgressStream, ProgressUpdate};
use planwright_core::actor::Actor;
use planwright_core::ids::PlanId;
use planwright_core::plan::PlanStatus;
use planwright_core::presence::Presence;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{Channel, SessionIdentity, TransportChat};
use planwright_core::slash::SlashCommand;
use planwright_core::turn::ShownPlan;
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{LedgerError, LedgerResult, NewMessage};
use tokio::time::interval;

use crate::buttons::{ButtonAction, ButtonMaker, ButtonPlan};
use crate::card;
use crate::context::{BotContext, chat_of_bot, is_transient};
use crate::live_message::{LiveMessage, live_key};
use crate::markdown::{FormattedText, LinkStyle, MAX_TEXT};
use crate::message::{ChangesPrompt, Keyboard, Markup, OutgoingMessage};
use crate::sender::prompt_key;
use crate::update::{IncomingMessage, Person, Update, UpdateContent};
use crate::{incoming_files, press, records, run_chats};

/// A longer reply is attached as a file.
const MAX_PARTS: usize = 4;
const MAX_ATTEMPTS: u32 = 20;
/// The pauses while the store does not take the end of an update.
const STORE_BACKOFF: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(30));
/// The pauses while an input cannot be worked on.
const WORK_BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));
/// The sessions that are offered as buttons.
const SESSION_BUTTONS: usize = 8;

const WELCOME: &str =
    "Planwright works by plans that you approve. Write what you want done; `/help` lists the commands.";
const EDITED: &str = "Edited messages are not read. Send a new message.";
const NOT_READ: &str = "Only text, documents and photos are read.";

/// An update whose work is under way.
pub(crate) struct StartedUpdate {
    /// Ends when the update is finished.
    pub(crate) work: BoxFuture<'static, ()>,
    /// Whether the chat may be in another session afterwards.
    pub(crate) moves_chat: bool,
}

impl StartedUpdate {
    pub(crate) fn new(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { work: work.boxed(), moves_chat: false }
    }
}

#[derive(Debug)]
pub(crate) struct UpdateHandler {
    pub(crate) context: Arc<BotContext>,
    username: Option<String>,
}

/// The person, the chat and the update that an answer is for.
#[derive(Debug, Clone)]
pub(crate) struct Addressee {
    pub(crate) update: i64,
    pub(crate) chat: i64,
    pub(crate) person: Person,
}

/// What is sent besides the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowUp {
    None,
    Sessions,
    Undelivered,
}

impl UpdateHandler {
    pub(crate) fn new(context: &Arc<BotContext>, username: Option<&str>) -> Self {
        Self { context: Arc::clone(context), username: username.map(str::to_owned) }
    }

    /// Begins the work on an update. `session` is the one that was decided before a restart.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        update: &Update,
        session: Option<SessionIdentity>,
    ) -> LedgerResult<StartedUpdate> {
        let id = update.id;
        // The list may have changed since the update was stored.
        let is_allowed = update
            .sender()
            .is_some_and(|(person, chat)| self.context.access(person, chat) == crate::access::ChatAccess::Allowed);
        if !is_allowed {
            return Ok(self.finishing(id, Vec::new()));
        }
        match &update.content {
            UpdateContent::Message(message) => self.begin_message(id, message, session).await,
            UpdateContent::Press(press) => press::begin(self, id, press).await,
            UpdateContent::Edited { from, chat } => {
                self.answering(&Addressee { update: id, chat: chat.id, person: from.clone() }, EDITED)
            }
            UpdateContent::InlineQuery { id: query, .. } => {
                let _ = self.context.api.answer_inline(query).await;
                Ok(self.finishing(id, Vec::new()))
            }
            UpdateContent::Other => Ok(self.finishing(id, Vec::new())),
        }
    }

    /// Ends an update that could not be carried out.
    pub(crate) fn failed(self: &Arc<Self>, update: &Update, error: &LedgerError) -> StartedUpdate {
        let text = format!("This could not be done: {error}");
        let answered = update.sender().and_then(|(person, chat)| {
            let to = Addressee { update: update.id, chat: chat?.id, person: person.clone() };
            self.answering(&to, &text).ok()
        });
        answered.unwrap_or_else(|| self.finishing(update.id, Vec::new()))
    }

    async fn begin_message(
        self: &Arc<Self>,
        update: i64,
        message: &IncomingMessage,
        session: Option<SessionIdentity>,
    ) -> LedgerResult<StartedUpdate> {
        let to = Addressee { update, chat: message.chat.id, person: message.from.clone() };
        let text = self.without_name(message.text.as_deref().unwrap_or_default());
        if text.trim().is_empty() && message.attachment.is_none() {
            return self.answering(&to, NOT_READ);
        }
        if text.split_whitespace().next() == Some("/start") {
            return self.answering(&to, WELCOME);
        }
        if let Some(begun) = self.begin_reply(&to, message, &text).await? {
            return Ok(begun);
        }
        let location = self.location(&to, session).await?;
        let (input, extra) = match &message.attachment {
            Some(attachment) => match incoming_files::receive(&self.context, &location.session, attachment).await? {
                Ok(path) => {
                    let gap = if text.trim().is_empty() { "" } else { "\n\n" };
                    (Input::Message(format!("{text}{gap}[The person sent the file `{path}`.]")), FollowUp::None)
                }
                Err(message) => return self.answering(&to, &message),
            },
            None if text.trim() == "/switch" => (Input::Command(SlashCommand::Sessions), FollowUp::Sessions),
            None => {
                let input = Input::typed(&text);
                let extra = match &input {
                    Input::Command(SlashCommand::Sessions) => FollowUp::Sessions,
                    Input::Command(SlashCommand::Status) => FollowUp::Undelivered,
                    _ => FollowUp::None,
                };
                (input, extra)
            }
        };
        let moves_chat = matches!(input, Input::Command(SlashCommand::New | SlashCommand::Switch { .. }));
        let work = ConversationWork { to, location, input, extra, about: None, links: LinkStyle::Hidden };
        Ok(StartedUpdate { moves_chat, ..self.submit(work) })
    }

    /// A reply to "What should be changed?" asks for changes of that plan.
    async fn begin_reply(
        self: &Arc<Self>,
        to: &Addressee,
        message: &IncomingMessage,
        text: &str,
    ) -> LedgerResult<Option<StartedUpdate>> {
        let Some(reply_to) = message.reply_to else { return Ok(None) };
        let key = prompt_key(&self.context, to.chat, reply_to);
        let prompt = records::read::<ChangesPrompt>(self.context.ledger.as_ref(), &key).await?;
        let Some(prompt) = prompt.map(|stored| stored.value).filter(|prompt| prompt.user == to.person.id) else {
            return Ok(None);
        };
        let Ok(plan) = PlanId::new(prompt.plan.clone()) else { return Ok(None) };
        let location = self.in_session(to, prompt.session.clone()).await?;
        let input = Input::Revise { plan, changes: text.to_owned().into(), begin: BeginWork::Now };
        let work = ConversationWork {
            to: to.clone(),
            location,
            input,
            extra: FollowUp::None,
            about: None,
            links: LinkStyle::Hidden,
        };
        Ok(Some(self.submit(work)))
    }

    /// The session of an update, which stays the same after a restart.
    pub(crate) async fn location(
        &self,
        to: &Addressee,
        session: Option<SessionIdentity>,
    ) -> LedgerResult<ChatLocation> {
        let transport = self.transport(to.chat);
        let (context, by) = (&self.context, self.actor(&to.person));
        let location = match session {
            Some(session) => ChatLocation::new(transport, session),
            None => {
                let location = context.agent.chats().arrive(&transport, Channel::Telegram, &by).await?;
                context.ledger.assign_update(&context.bot, to.update, &location.session).await?;
                location
            }
        };
        self.seen(to, location).await
    }

    /// A session that a button or a prompt names.
    pub(crate) async fn in_session(&self, to: &Addressee, session: SessionIdentity) -> LedgerResult<ChatLocation> {
        self.seen(to, ChatLocation::new(self.transport(to.chat), session)).await
    }

    /// With the plan that was shown last in this chat.
    async fn seen(&self, to: &Addressee, location: ChatLocation) -> LedgerResult<ChatLocation> {
        let shown = records::read::<ShownPlan>(self.context.ledger.as_ref(), &self.shown_key(to.chat)).await?;
        let seen = SeenPlan::AtSurface(shown.map(|stored| stored.value));
        Ok(ChatLocation { seen, ..location })
    }

    fn shown_key(&self, chat: i64) -> String {
        format!("shown/{}/{chat}", self.context.bot)
    }

    fn transport(&self, chat: i64) -> TransportChat {
        chat_of_bot(&self.context.bot, chat)
    }

    /// The person, recognised as an allowed user of the chat service. The store knows whether an approver bound them.
    pub(crate) fn actor(&self, person: &Person) -> Actor {
        Actor::person(person.name(), "telegram").recognised(Presence::chat_user(person.id))
    }

    /// In groups a command may name the bot: `/plan@our_bot on`.
    fn without_name(&self, text: &str) -> String {
        let (Some(name), true) = (&self.username, text.starts_with('/')) else { return text.to_owned() };
        let first = text.split_whitespace().next().unwrap_or_default();
        match first.split_once('@') {
            Some((command, to)) if to.eq_ignore_ascii_case(name) => format!("{command}{}", &text[first.len()..]),
            Some(_) | None => text.to_owned(),
        }
    }

    /// Finishes an update with one line.
    pub(crate) fn answering(self: &Arc<Self>, to: &Addressee, text: &str) -> LedgerResult<StartedUpdate> {
        let text = FormattedText::markdown(text, LinkStyle::Hidden);
        let message = OutgoingMessage::text(to.chat, text, None);
        let stored = self.context.stored(self.context.message_id(to.update, "0"), &message)?;
        Ok(self.finishing(to.update, vec![stored]))
    }

    pub(crate) fn finishing(self: &Arc<Self>, update: i64, messages: Vec<NewMessage>) -> StartedUpdate {
        let handler = Arc::clone(self);
        StartedUpdate::new(async move { handler.finish(update, &messages).await })
    }

    /// Stores the end of an update with its messages. It is tried until the store takes it or the process stops.
    async fn finish(&self, update: i64, messages: &[NewMessage]) {
        let (context, mut backoff) = (&self.context, STORE_BACKOFF);
        while let Err(error) = context.ledger.finish_update(&context.bot, update, messages, context.now()).await {
            tracing::warn!(event = "telegram_update_not_finished", update, %error);
            if !context.pause(&mut backoff).await {
                return;
            }
        }
        context.put.notify_one();
    }

    /// Gives an input to the agent, which has it in its queue when this returns.
    pub(crate) fn submit(self: &Arc<Self>, work: ConversationWork) -> StartedUpdate {
        let stream = self.stream(&work);
        let handler = Arc::clone(self);
        StartedUpdate::new(async move { handler.follow(work, stream).await })
    }

    fn stream(&self, work: &ConversationWork) -> ProgressStream {
        let by = self.actor(&work.to.person);
        let request = Request::new(work.location.clone(), by).named(self.context.request(work.to.update));
        self.context.agent.submit(work.input.clone(), request)
    }

    async fn follow(&self, work: ConversationWork, mut stream: ProgressStream) {
        let (context, mut backoff) = (&self.context, WORK_BACKOFF);
        let mut live = LiveMessage::new(context, work.to.chat, work.to.update).await;
        loop {
            let outcome = self.watch(&work, &mut stream, &mut live).await;
            let again = match &outcome {
                // The next process continues it under the same name.
                Err(_) if context.shutdown.is_cancelled() => return,
                Err(error) => is_transient(error) && backoff.failures() < MAX_ATTEMPTS,
                Ok(_) => false,
            };
            if !again {
                match self.messages(&work, outcome, live.message()).await {
                    Ok(messages) => {
                        self.finish(work.to.update, &messages).await;
                        let _ = context.ledger.remove_keyed_record(&live_key(context, work.to.update)).await;
                        return;
                    }
                    Err(error) if backoff.failures() >= MAX_ATTEMPTS => {
                        tracing::error!(event = "telegram_answer_lost", update = work.to.update, %error);
                        return;
                    }
                    Err(error) => tracing::warn!(event = "telegram_answer_not_stored", update = work.to.update, %error),
                }
            }
            if !context.pause(&mut backoff).await {
                return;
            }
            stream = self.stream(&work);
        }
    }

    /// Shows what happens until the outcome.
    async fn watch(
        &self,
        work: &ConversationWork,
        stream: &mut ProgressStream,
        live: &mut LiveMessage<'_>,
    ) -> LedgerResult<Outcome> {
        let mut ticks = interval(self.context.options.edit_pause);
        // The first tick comes at once, and there is nothing to show yet.
        ticks.tick().await;
        let mut last_error = 0;
        loop {
            tokio::select! {
                biased;
                update = stream.next() => match update {
                    ProgressUpdate::Outcome(outcome) => return outcome,
                    ProgressUpdate::Progress(Progress::Said(text)) => {
                        last_error += 1;
                        self.say(work, &text, last_error).await?;
                    }
                    ProgressUpdate::Progress(progress) => live.take(&progress),
                },
                _ = ticks.tick() => live.show().await,
            }
        }
    }

    /// Sends words at once that the agent's work begins with.
    async fn say(&self, work: &ConversationWork, text: &str, number: u32) -> LedgerResult<()> {
        let text = FormattedText::markdown(text, LinkStyle::Hidden);
        if text.is_blank() {
            return Ok(());
        }
        let parts = text.split(MAX_TEXT).into_iter().enumerate();
        let mut messages = Vec::new();
        for (index, part) in parts {
            let id = self.context.message_id(work.to.update, &format!("said-{number}-{index}"));
            messages.push(self.context.stored(id, &OutgoingMessage::text(work.to.chat, part, None))?);
        }
        self.context.put(&messages).await
    }

    /// The messages that answer an update.
    async fn messages(
        &self,
        work: &ConversationWork,
        outcome: LedgerResult<Outcome>,
        live: Option<i64>,
    ) -> LedgerResult<Vec<NewMessage>> {
        let (context, to) = (&self.context, &work.to);
        let mut messages = Vec::new();
        match outcome {
            Ok(Outcome::NothingToDo) => messages.extend(text_messages(to.chat, "There is nothing to do.", work.links)),
            Ok(Outcome::Answer(answer)) => {
                run_chats::note_chat(context, to.chat, &work.input, &answer).await?;
                messages.extend(self.answer(work, &answer).await?);
            }
            Err(error) => {
                let refusal = error.into_refusal();
                messages.extend(text_messages(to.chat, &refusal.message, work.links));
                let is_old = matches!(refusal.code, RefusalCode::StaleApproval | RefusalCode::WrongStatus);
                if let Some(version) = work.about.as_ref().filter(|_| is_old) {
                    let id = context.message_id(to.update, "fresh");
                    messages.extend(card::fresh(context, &id, to, version).await?);
                }
            }
        }
        match work.extra {
            FollowUp::None => {}
            FollowUp::Sessions => self.add_sessions(to, &mut messages).await?,
            FollowUp::Undelivered => messages.extend(self.undelivered(to).await?),
        }
        if let (Some(live), Some(first)) = (live, messages.first_mut()) {
            first.replaces = Some(live);
        }
        let stored = messages
            .iter()
            .enumerate()
            .map(|(index, message)| context.stored(context.message_id(to.update, &index.to_string()), message));
        stored.collect()
    }

    async fn answer(&self, work: &ConversationWork, answer: &Answer) -> LedgerResult<Vec<OutgoingMessage>> {
        let (context, to) = (&self.context, &work.to);
        let links = if answer.ask.is_some() { LinkStyle::Written } else { work.links };
        let mut messages = text_messages(to.chat, &answer.reply, links);
        if let Some(ask) = &answer.ask {
            let id = context.message_id(to.update, "ask");
            card::add_ask(context, &id, to, ask, &mut messages).await?;
        }
        if let Some(shown) = &answer.plan {
            let id = context.message_id(to.update, "plan");
            let plan = context.agent.engine().plans().get(&answer.session, &shown.plan_id).await?;
            messages.extend(card::plan_messages(context, &id, to, &plan).await?);
            if plan.status == PlanStatus::Ready && plan.digest() == shown.digest {
                let shown = ShownPlan { plan: plan.id.clone(), digest: shown.digest };
                records::replace(context.ledger.as_ref(), &self.shown_key(to.chat), &shown).await?;
            }
        }
        let waits = card::waiting_execution(context, &answer.session, work.about.as_ref()).await?;
        if let Some(plan) = waits {
            let id = context.message_id(to.update, "waits");
            messages.extend(card::execution_messages(context, &id, to, &plan).await?);
        }
        if messages.is_empty() {
            messages.extend(text_messages(to.chat, "Done.", links));
        }
        Ok(messages)
    }

    /// Buttons for the sessions below the list of them.
    async fn add_sessions(&self, to: &Addressee, messages: &mut [OutgoingMessage]) -> LedgerResult<()> {
        let context = &self.context;
        let id = context.message_id(to.update, "sessions");
        let mut maker = ButtonMaker::new(&context.options.token, &id, to.person.id, to.chat);
        let page = context.agent.engine().sessions().list(None, 64).await?;
        let here = context.ledger.active_session(&self.transport(to.chat)).await?;
        let others = page.items.iter().map(|stored| &stored.session);
        let others = others.filter(|session| session.identity.channel == Channel::Telegram);
        let mut rows = Vec::new();
        for session in others.filter(|session| Some(&session.identity) != here.as_ref()).take(SESSION_BUTTONS) {
            let key = session.identity.conversation.to_string();
            let title: String = session.topic.as_deref().unwrap_or(&key).chars().take(40).collect();
            rows.push(vec![maker.button(title, ButtonAction::Switch { key })]);
        }
        rows.push(vec![maker.button("New session", ButtonAction::New)]);
        maker.store(context.ledger.as_ref()).await?;
        card::set_markup(messages.last_mut(), Markup::Buttons(Keyboard { rows }));
        Ok(())
    }

    /// What could not be delivered, for `/status`.
    async fn undelivered(&self, to: &Addressee) -> LedgerResult<Vec<OutgoingMessage>> {
        let found = self.context.ledger.undelivered(10).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let lines = found.iter().map(|message| {
            let state = if message.failed { "given up" } else { "is tried again" };
            let why = message.why.as_deref().unwrap_or("unknown");
            format!("- {} ({} attempts, {state}): {why}", message.channel, message.attempts)
        });
        let count = self.context.ledger.count_undelivered().await?;
        let text = format!("Messages that could not be delivered: {count}\n{}", lines.collect::<Vec<_>>().join("\n"));
        Ok(text_messages(to.chat, &text, LinkStyle::Hidden))
    }
}

/// An input on its way to the agent.
#[derive(Debug)]
pub(crate) struct ConversationWork {
    to: Addressee,
    location: ChatLocation,
    input: Input,
    extra: FollowUp,
    /// The plan that a button is about.
    about: Option<ButtonPlan>,
    links: LinkStyle,
}

impl ConversationWork {
    pub(crate) fn new(to: Addressee, location: ChatLocation, input: Input, about: Option<ButtonPlan>) -> Self {
        Self { to, location, input, extra: FollowUp::None, about, links: LinkStyle::Hidden }
    }
}

/// A reply as messages. A very long one is a file with its beginning before it.
fn text_messages(chat: i64, reply: &str, links: LinkStyle) -> Vec<OutgoingMessage> {
    let parts = FormattedText::markdown(reply, links).split(MAX_TEXT);
    let mut parts: Vec<_> = parts.into_iter().filter(|part| !part.is_blank()).collect();
    let is_long = parts.len() > MAX_PARTS;
    if is_long {
        parts.truncate(1);
    }
    let mut messages: Vec<_> = parts.into_iter().map(|part| OutgoingMessage::text(chat, part, None)).collect();
    if is_long {
        let caption = "The whole answer".to_owned();
        messages.push(OutgoingMessage::document(chat, "answer.md".to_owned(), reply.to_owned(), caption));
    }
    messages
}
