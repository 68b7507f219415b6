//! One exchange after another: what a person says goes to the agent, progress is shown meanwhile, and the answer comes
//! back. Ctrl+C ends what the agent does; a second one does not wait for that.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use planwright_agent::Agent;
use planwright_agent::session::input::{ChatLocation, Input, Request, SeenAsk, SeenPlan};
use planwright_agent::session::outcome::{Answer, Outcome};
use planwright_agent::session::progress::{Progress, ProgressUpdate};
use planwright_core::actor::Actor;
use planwright_core::ids::{AskId, PlanId};
use planwright_core::plan::{Digest, Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{AutoSubcommand, ProjectCommand, SlashCommand};
use planwright_core::turn::ShownPlan;
use planwright_engine::approvals::UnlockedKey;
use planwright_engine::ledger::LedgerResult;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::confirmation;
use super::typing::Typing;
use super::view::View;
use crate::commands::project::absolute;
use crate::failure::Failure;
use crate::signals::{Signal, Signals};
use crate::terminal::{live, screen};

#[derive(Debug)]
pub(crate) struct ChatConversation {
    agent: Agent,
    person: Actor,
    /// Whose passphrase is asked for; `None` stands for the only approver.
    approver: Option<String>,
    place: ChatLocation,
    signals: Signals,
    asker: Asker,
    typing: Typing,
    /// The plan that was being carried out when it was looked at last.
    watched: Option<PlanId>,
}

/// What a conversation does about approvals that need more than a line of text.
#[derive(Debug)]
pub(super) enum Asker {
    /// A person reads the screen: they are asked for their passphrase. It is remembered as long as the policy says.
    Terminal(Option<(Box<UnlockedKey>, Instant)>),
    /// No person reads the output: an approval names the digest of what it approves.
    Pipe,
}

/// What an exchange begins with.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExchangeStart<'a> {
    /// What a person typed.
    Text(&'a str),
    /// What the chat made of it.
    Input(&'a Input),
    /// Whatever was interrupted is resumed, if there is something.
    Resume,
}

/// What an exchange ended in.
#[derive(Debug)]
pub(super) enum ExchangeResult {
    Answer(Box<Answer>),
    /// There was nothing to do.
    Nothing,
    Failed(Failure),
    /// The person or the system does not want to wait.
    Left,
}

/// How often what is drawn is drawn anew.
pub(super) const REFRESH_INTERVAL: Duration = Duration::from_millis(100);

/// What is said at the start instead of waiting for the other process.
const WORKED_ON_ELSEWHERE: &str =
    "Another process works on this session. A message waits until it is done; `/stop` ends its work.";

/// How long a turn that is to stop is waited for when the system wants the program to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

impl ChatConversation {
    pub(crate) fn new(agent: Agent, person: Actor, place: ChatLocation) -> io::Result<Self> {
        // No person reads the output of a pipe, so a line of it names what it answers.
        let place = ChatLocation { seen_ask: SeenAsk::AtSurface(None), ..place };
        let (signals, typing) = (Signals::new()?, Typing::default());
        Ok(Self { agent, person, approver: None, place, signals, asker: Asker::Pipe, typing, watched: None })
    }

    /// The approver whose passphrase is asked for.
    pub(crate) fn with_approver(mut self, approver: Option<String>) -> Self {
        self.approver = approver;
        self
    }

    pub(super) fn approver(&self) -> Option<&str> {
        self.approver.as_deref()
    }

    /// Only what is shown at this terminal counts as seen from now on.
    pub(super) fn watch_what_is_seen(&mut self) {
        self.place.seen = SeenPlan::AtSurface(None);
        self.asker = Asker::Terminal(None);
    }

    /// Nothing is on the screen any more.
    pub(super) fn forget_what_is_seen(&mut self) {
        (self.place.seen, self.place.seen_ask) = (SeenPlan::AtSurface(None), SeenAsk::AtSurface(None));
    }

    /// Another model answers from now on.
    pub(super) fn change_agent(&mut self, agent: Agent) {
        self.agent = agent;
    }

    pub(super) fn note_seen(&mut self, answer: &Answer) {
        let Asker::Terminal(_) = self.asker else { return };
        if let Some(card) = &answer.plan {
            self.set_seen(SeenPlan::AtSurface(Some(ShownPlan { plan: card.plan_id.clone(), digest: card.digest })));
        }
        if let Some(ask) = &answer.ask {
            self.place.seen_ask = SeenAsk::AtSurface(Some(ask.ask.id.clone()));
        }
    }

    /// The person is in this session from now on. What they saw of another one is not before them any more.
    fn arrive(&mut self, session: &SessionIdentity) {
        if self.place.session == *session {
            return;
        }
        self.place.session = session.clone();
        if let Asker::Terminal(_) = self.asker {
            self.place.seen = SeenPlan::AtSurface(None);
            self.place.seen_ask = SeenAsk::AtSurface(None);
        }
    }

    pub(super) fn has_seen_ask(&self, ask: &AskId) -> bool {
        self.place.seen_ask == SeenAsk::AtSurface(Some(ask.clone()))
    }

    pub(super) fn typing(&mut self) -> &mut Typing {
        &mut self.typing
    }

    pub(super) fn agent(&self) -> &Agent {
        &self.agent
    }

    pub(super) fn session(&self) -> &SessionIdentity {
        &self.place.session
    }

    pub(super) fn signals(&mut self) -> &mut Signals {
        &mut self.signals
    }

    /// What tells about the person at the prompt.
    pub(super) fn signals_and_typing(&mut self) -> (&mut Signals, &mut Typing) {
        (&mut self.signals, &mut self.typing)
    }

    /// Only trouble with the output is an error; a failure of the agent is [`ExchangeResult::Failed`].
    pub(super) async fn exchange(
        &mut self,
        asked: ExchangeStart<'_>,
        view: &mut dyn View,
    ) -> Result<ExchangeResult, Failure> {
        self.typing.read();
        self.typing.take_stop();
        if self.typing.input().is_none() {
            view.queued(self.typing.queue().shown())?;
        }
        if let ExchangeStart::Resume = asked
            && self.agent.is_worked_on_elsewhere(self.session()).await?
        {
            view.message(WORKED_ON_ELSEWHERE)?;
            return Ok(ExchangeResult::Nothing);
        }
        let (first, then) = match asked {
            ExchangeStart::Text(text) => (text_input(text), None),
            ExchangeStart::Input(input) => (input.clone(), None),
            ExchangeStart::Resume => (Input::ResumeTurn, Some(Input::ResumeExecution)),
        };
        let (first, person) = match self.confirmed(first, asked).await {
            Ok(confirmed) => confirmed,
            Err(failure) => {
                view.give_up()?;
                return Ok(ExchangeResult::Failed(failure));
            }
        };
        let own = std::mem::replace(&mut self.person, person);
        let outcome = self.watched(first, then, view).await;
        self.person = own;
        match outcome {
            Ok(None) => {
                view.give_up()?;
                Ok(ExchangeResult::Left)
            }
            Ok(Some(Ok(None))) => {
                view.give_up()?;
                Ok(ExchangeResult::Nothing)
            }
            Ok(Some(Ok(Some(answer)))) => {
                self.arrive(&answer.session);
                if answer.plan.is_some() {
                    view.offer_keys(self.waiting().await.plan.map(|waiting| waiting.plan));
                }
                view.answer(&answer)?;
                self.note_seen(&answer);
                Ok(ExchangeResult::Answer(Box::new(answer)))
            }
            Ok(Some(Err(error))) => {
                view.give_up()?;
                Ok(ExchangeResult::Failed(error.into()))
            }
            Err(failure) => {
                // The output is gone, so the agent does not continue unseen.
                let stopped = self.agent.submit(Input::StopHere, self.request());
                let _ = timeout(STOP_TIMEOUT, stopped.outcome()).await;
                Err(failure)
            }
        }
    }

    /// The outcome, or nothing if it was not waited for.
    async fn watched(
        &mut self,
        first: Input,
        then: Option<Input>,
        view: &mut dyn View,
    ) -> Result<Option<LedgerResult<Option<Answer>>>, Failure> {
        match self.submitted(first, view).await? {
            Some(Ok(Outcome::NothingToDo)) => {}
            outcome => return Ok(outcome.map(|outcome| outcome.map(Outcome::answer))),
        }
        let Some(then) = then else { return Ok(Some(Ok(None))) };
        let outcome = self.submitted(then, view).await?;
        Ok(outcome.map(|outcome| outcome.map(Outcome::answer)))
    }

    /// Submits an input and shows its progress. Nothing if its outcome was not waited for.
    async fn submitted(&mut self, input: Input, view: &mut dyn View) -> Result<Option<LedgerResult<Outcome>>, Failure> {
        let mut stream = self.agent.submit(input, self.request());
        let mut ticks = interval(REFRESH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopping = false;
        loop {
            let signal = tokio::select! {
                biased;
                signal = self.signals.next() => signal,
                update = stream.next() => match update {
                    ProgressUpdate::Progress(progress) => {
                        let moves = moves_plan(&progress);
                        show(view, progress)?;
                        if moves {
                            self.show_plan(view).await?;
                        }
                        continue;
                    }
                    ProgressUpdate::Outcome(outcome) => return Ok(Some(outcome)),
                },
                () = self.typing.wait() => match self.read_keys(view)? {
                    Some(_) if stopping => continue,
                    Some(stop) => stop,
                    None => continue,
                },
                _ = ticks.tick() => {
                    let stop = self.read_keys(view)?;
                    view.tick()?;
                    match stop {
                        Some(_) if stopping => continue,
                        Some(stop) => stop,
                        None => continue,
                    }
                }
            };
            if stopping {
                return Ok(None);
            }
            stopping = true;
            self.typing.queue().hold();
            let stopped = self.agent.submit(Input::StopHere, self.request());
            match signal {
                Signal::Interrupt => view.stopping()?,
                Signal::Terminate | Signal::Hangup => {
                    let _ = timeout(STOP_TIMEOUT, stopped.outcome()).await;
                    return Ok(None);
                }
            }
        }
    }

    /// Shows how far the plan is to a person who watches, and how it ended.
    async fn show_plan(&mut self, view: &mut dyn View) -> Result<(), Failure> {
        let Asker::Terminal(_) = self.asker else { return Ok(()) };
        let engine = self.agent.engine().clone();
        // A store that cannot be read is reported by the work itself.
        let Ok(snapshot) = engine.sessions().snapshot(self.session()).await else { return Ok(()) };
        match snapshot.active().filter(|plan| plan.status == PlanStatus::Executing) {
            Some(plan) => {
                self.watched = Some(plan.id.clone());
                if let Some(input) = self.typing.input() {
                    input.status().plan = Some((plan.number, plan.status));
                }
                view.plan(plan, engine.now())
            }
            None => {
                let Some(plan) = self.watched.take() else { return Ok(()) };
                let ended = engine.plans().get(self.session(), &plan).await;
                ended.map_or(Ok(()), |plan| view.plan(&plan, engine.now()))
            }
        }
    }

    /// Reads what the person typed meanwhile, and shows that it waits. A `/stop` is the same as Ctrl+C, and so is Escape.
    pub(super) fn read_keys(&mut self, view: &mut dyn View) -> Result<Option<Signal>, Failure> {
        self.typing.read();
        let stops = self.typing.take_stop();
        match self.typing.drawn(live::width(), screen::window().1) {
            Some(input) => view.input(input)?,
            None => view.queued(self.typing.queue().shown())?,
        }
        Ok(stops.then_some(Signal::Interrupt))
    }

    /// Shows the runs that this process drives in the session until they pause, end or wait for the person. Ctrl+C ends
    /// them.
    pub(super) async fn watch_runs(&mut self, view: &mut dyn View) -> Result<(), Failure> {
        if !self.agent.drives(&self.place.session) {
            return Ok(());
        }
        let mut observed = self.agent.observe(&self.place.session);
        let mut watched = false;
        let mut ticks = interval(REFRESH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.agent.drives(&self.place.session) {
            tokio::select! {
                biased;
                _ = self.signals.next() => return self.stop_runs(view).await,
                progress = observed.recv() => match progress {
                    Ok(progress) => {
                        let waits = matches!(&progress, Progress::Finished(outcome) if outcome.ask.is_some() || outcome.plan.is_some());
                        if let Progress::Finished(outcome) = &progress {
                            self.note_seen(&Answer::from(outcome.as_ref().clone()));
                        }
                        show(view, progress)?;
                        if waits {
                            return Ok(());
                        }
                    }
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = self.typing.wait() => {
                    if self.read_keys(view)?.is_some() {
                        return self.stop_runs(view).await;
                    }
                }
                _ = ticks.tick() => {
                    if self.read_keys(view)?.is_some() {
                        return self.stop_runs(view).await;
                    }
                    view.tick()?;
                }
            }
            watched = true;
        }
        while let Ok(progress) = observed.try_recv() {
            show(view, progress)?;
        }
        if watched {
            let status = Input::Command(SlashCommand::Auto(AutoSubcommand::Status));
            if let Ok(Outcome::Answer(answer)) = self.agent.submit(status, self.request()).outcome().await {
                view.answer(&answer)?;
            }
        }
        Ok(())
    }

    async fn stop_runs(&mut self, view: &mut dyn View) -> Result<(), Failure> {
        view.stopping()?;
        self.typing.queue().hold();
        let stopped = self.agent.submit(Input::StopRuns { run: None }, self.request());
        if let Ok(Ok(Outcome::Answer(answer))) = timeout(STOP_TIMEOUT, stopped.outcome()).await {
            view.answer(&answer)?;
        }
        Ok(())
    }

    pub(super) fn person(&self) -> &Actor {
        &self.person
    }

    pub(super) fn asker(&self) -> &Asker {
        &self.asker
    }

    pub(super) fn set_seen(&mut self, seen: SeenPlan) {
        self.place.seen = seen;
    }

    /// The digest of the version of this plan that was shown here last.
    pub(super) fn seen_digest(&self, plan: &Plan) -> Option<Digest> {
        match &self.place.seen {
            SeenPlan::AtSurface(Some(shown)) if shown.plan == plan.id => Some(shown.digest),
            SeenPlan::AtSurface(_) | SeenPlan::InSession => None,
        }
    }

    /// The key that the person unlocked a moment ago.
    pub(super) fn remembered(&self) -> Option<UnlockedKey> {
        match &self.asker {
            Asker::Terminal(Some((key, until))) if *until > Instant::now() => Some(key.as_ref().clone()),
            Asker::Terminal(_) | Asker::Pipe => None,
        }
    }

    pub(super) fn remember(&mut self, key: UnlockedKey, until: Instant) {
        if let Asker::Terminal(remembered) = &mut self.asker {
            *remembered = Some((Box::new(key), until));
        }
    }

    fn request(&self) -> Request {
        Request::new(self.place.clone(), self.person.clone())
    }
}

/// Whether what a person typed waits for no other work of the session.
pub(super) fn acts_at_once(text: &str) -> bool {
    text_input(text).acts_at_once()
}

/// What a person typed. A folder that they name is relative to the one they are in.
fn text_input(text: &str) -> Input {
    let (text, _) = confirmation::split_digest(text);
    let input = Input::typed(&text);
    match input {
        Input::Command(SlashCommand::Project(ProjectCommand::At(folder))) => {
            let path = absolute(Path::new(&folder)).ok().and_then(|path| path.into_os_string().into_string().ok());
            Input::Command(SlashCommand::Project(ProjectCommand::At(path.unwrap_or(folder))))
        }
        input => input,
    }
}

/// Whether the plan may be further than before.
fn moves_plan(progress: &Progress) -> bool {
    matches!(
        progress,
        Progress::Accepted(_)
            | Progress::Resumed(_)
            | Progress::ToolEnded { .. }
            | Progress::StepStarted { .. }
            | Progress::StepEnded { .. }
    )
}

/// An interrupted turn that was finished first is an answer of its own.
fn show(view: &mut dyn View, progress: Progress) -> Result<(), Failure> {
    match progress {
        Progress::Finished(outcome) => view.answer(&Answer::from(*outcome)),
        Progress::Said(text) => view.message(&text),
        progress => view.show(&progress),
    }
}
