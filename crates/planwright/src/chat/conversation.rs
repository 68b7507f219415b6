//! One exchange after another: what a person says goes to the agent, what happens is told meanwhile, and the answer comes
//! back. Ctrl+C ends what the agent does; a second one does not wait for that.

use std::io;
use std::path::Path;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{ProjectCommand, SlashCommand};
use planwright_core::turn::ShownPlan;
use planwright_engine::agent::Agent;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::session::input::{ChatLocation, Input, Request, SeenPlan};
use planwright_engine::session::outcome::{Answer, Outcome};
use planwright_engine::session::progress::{Progress, Update};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::signals::{Signal, Signals};
use super::view::View;
use crate::commands::project::absolute;
use crate::failure::Failure;

#[derive(Debug)]
pub(crate) struct Conversation {
    agent: Agent,
    person: Actor,
    place: ChatLocation,
    signals: Signals,
}

/// What an exchange begins with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked<'a> {
    /// What a person typed.
    Text(&'a str),
    /// Whatever was interrupted is resumed, if there is something.
    Resume,
}

/// What an exchange ended in.
#[derive(Debug)]
pub(super) enum Exchanged {
    Answer(Box<Answer>),
    /// There was nothing to do.
    Nothing,
    Failed(Failure),
    /// The person or the system does not want to wait.
    Left,
}

/// How often what is drawn is drawn anew.
const TICK: Duration = Duration::from_millis(100);

/// How long a turn that is to stop is waited for when the system wants the program to end.
const PATIENCE: Duration = Duration::from_secs(5);

impl Conversation {
    pub(crate) fn new(agent: Agent, person: Actor, place: ChatLocation) -> io::Result<Self> {
        Ok(Self { agent, person, place, signals: Signals::new()? })
    }

    /// Only what is shown at this terminal counts as seen from now on.
    pub(super) fn watch_what_is_seen(&mut self) {
        self.place.seen = SeenPlan::AtSurface(None);
    }

    fn note_seen(&mut self, answer: &Answer) {
        if let (SeenPlan::AtSurface(seen), Some(card)) = (&mut self.place.seen, &answer.plan) {
            *seen = Some(ShownPlan { plan: card.plan_id.clone(), digest: card.digest });
        }
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

    /// Only trouble with the output is an error; what goes wrong with the agent came of it.
    pub(super) async fn exchange(&mut self, asked: Asked<'_>, view: &mut dyn View) -> Result<Exchanged, Failure> {
        let outcome = self.watched(asked, view).await;
        match outcome {
            Ok(None) => {
                view.give_up()?;
                Ok(Exchanged::Left)
            }
            Ok(Some(Ok(None))) => {
                view.give_up()?;
                Ok(Exchanged::Nothing)
            }
            Ok(Some(Ok(Some(answer)))) => {
                self.place.session = answer.session.clone();
                view.answer(&answer)?;
                self.note_seen(&answer);
                Ok(Exchanged::Answer(Box::new(answer)))
            }
            Ok(Some(Err(error))) => {
                view.give_up()?;
                Ok(Exchanged::Failed(error.into()))
            }
            Err(failure) => {
                // The output is gone, so the agent does not go on unseen.
                let stopped = self.agent.submit(Input::StopHere, self.request());
                let _ = timeout(PATIENCE, stopped.outcome()).await;
                Err(failure)
            }
        }
    }

    /// The outcome, or nothing if it was not waited for.
    async fn watched(
        &mut self,
        asked: Asked<'_>,
        view: &mut dyn View,
    ) -> Result<Option<LedgerResult<Option<Answer>>>, Failure> {
        let (first, then) = match asked {
            Asked::Text(text) => (typed(text), None),
            Asked::Resume => (Input::ResumeTurn, Some(Input::ResumeExecution)),
        };
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
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopping = false;
        loop {
            tokio::select! {
                biased;
                signal = self.signals.next() => {
                    if stopping {
                        return Ok(None);
                    }
                    stopping = true;
                    let stopped = self.agent.submit(Input::StopHere, self.request());
                    match signal {
                        Signal::Interrupt => view.stopping()?,
                        Signal::Terminate => {
                            let _ = timeout(PATIENCE, stopped.outcome()).await;
                            return Ok(None);
                        }
                    }
                }
                update = stream.next() => match update {
                    Update::Progress(progress) => show(view, progress)?,
                    Update::Outcome(outcome) => return Ok(Some(outcome)),
                },
                _ = ticks.tick() => view.tick()?,
            }
        }
    }

    fn request(&self) -> Request {
        Request::new(self.place.clone(), self.person.clone())
    }
}

/// What a person typed. A folder that they name is relative to the one they are in.
fn typed(text: &str) -> Input {
    let input = Input::typed(text);
    match input {
        Input::Command(SlashCommand::Project(ProjectCommand::At(folder))) => {
            let path = absolute(Path::new(&folder)).ok().and_then(|path| path.into_os_string().into_string().ok());
            Input::Command(SlashCommand::Project(ProjectCommand::At(path.unwrap_or(folder))))
        }
        input => input,
    }
}

/// An interrupted turn that was finished first is an answer of its own.
fn show(view: &mut dyn View, progress: Progress) -> Result<(), Failure> {
    match progress {
        Progress::Finished(outcome) => view.answer(&Answer::from(*outcome)),
        Progress::Said(words) => view.said(&words),
        // The words that follow say it.
        Progress::Decided(_) => Ok(()),
        progress => view.tell(&progress),
    }
}
