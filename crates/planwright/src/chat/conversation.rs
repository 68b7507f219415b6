//! One exchange after another: what a person says goes to the agent, what happens is told meanwhile, and the answer comes
//! back. Ctrl+C ends what the agent does; a second one does not wait for that.

use std::io;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::ShownPlan;
use planwright_engine::agent::{Agent, Answer, Place, Progress, Seen, Watcher};
use planwright_engine::ledger::LedgerResult;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::signals::{Signal, Signals};
use super::view::View;
use crate::failure::Failure;

#[derive(Debug)]
pub(crate) struct Conversation {
    agent: Agent,
    person: Actor,
    place: Place,
    signals: Signals,
}

/// What the agent is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked<'a> {
    /// To hear what was said.
    Text(&'a str),
    /// To go on with what was interrupted, if there is something.
    Resume,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Came {
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
    pub(crate) fn new(agent: Agent, person: Actor, place: Place) -> io::Result<Self> {
        Ok(Self { agent, person, place, signals: Signals::new()? })
    }

    /// Only what is shown at this terminal counts as seen from now on.
    pub(super) fn watch_what_is_seen(&mut self) {
        self.place.seen = Seen::KnownHere(None);
    }

    fn note_seen(&mut self, answer: &Answer) {
        if let (Seen::KnownHere(seen), Some(card)) = (&mut self.place.seen, &answer.plan) {
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
    pub(super) async fn exchange(&mut self, asked: Asked<'_>, view: &mut dyn View) -> Result<Came, Failure> {
        let outcome = self.watched(asked, view).await;
        match outcome {
            Ok(None) => {
                view.give_up()?;
                Ok(Came::Left)
            }
            Ok(Some(Ok(None))) => {
                view.give_up()?;
                Ok(Came::Nothing)
            }
            Ok(Some(Ok(Some(answer)))) => {
                self.place.session = answer.session.clone();
                view.answer(&answer)?;
                self.note_seen(&answer);
                Ok(Came::Answer(Box::new(answer)))
            }
            Ok(Some(Err(error))) => {
                view.give_up()?;
                Ok(Came::Failed(error.into()))
            }
            Err(failure) => {
                // Nobody sees what the agent does any more, so it does not go on doing it.
                let _ = timeout(PATIENCE, self.agent.stop_here(&self.place.session)).await;
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
        let (watcher, mut told) = Watcher::new();
        let Self { agent, person, place, signals } = self;
        let mut work = std::pin::pin!(ask(agent, person, place, asked, &watcher));
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopping = false;
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => {
                    if stopping {
                        return Ok(None);
                    }
                    stopping = true;
                    let (agent, session) = (agent.clone(), place.session.clone());
                    let stop = tokio::spawn(async move { agent.stop_here(&session).await });
                    match signal {
                        Signal::Interrupt => view.stopping()?,
                        Signal::Terminate => {
                            let _ = timeout(PATIENCE, stop).await;
                            return Ok(None);
                        }
                    }
                }
                Some(progress) = told.recv() => tell(view, progress)?,
                outcome = &mut work => {
                    while let Ok(progress) = told.try_recv() {
                        tell(view, progress)?;
                    }
                    return Ok(Some(outcome));
                }
                _ = ticks.tick() => view.tick()?,
            }
        }
    }
}

/// An interrupted turn that was finished first is an answer of its own.
fn tell(view: &mut dyn View, progress: Progress) -> Result<(), Failure> {
    match progress {
        Progress::Finished(outcome) => view.answer(&Answer::from(*outcome)),
        Progress::Said(words) => view.said(&words),
        progress => view.tell(&progress),
    }
}

async fn ask(
    agent: &Agent,
    person: &Actor,
    place: &Place,
    asked: Asked<'_>,
    watcher: &Watcher,
) -> LedgerResult<Option<Answer>> {
    match asked {
        Asked::Text(text) => agent.hear(place, person, text, watcher).await.map(Some),
        Asked::Resume => match agent.resume(&place.session, watcher).await? {
            Some(outcome) => Ok(Some(outcome.into())),
            None => agent.resume_execution(place, person, watcher).await,
        },
    }
}
