//! What is said in a conversation, and the turns it leads to.

use crate::command::TurnCommand;
use crate::conversation::Compaction;
use crate::decide::Case;
use crate::event::Event;
use crate::ids::TurnId;
use crate::policy::filled;
use crate::refusal::Refusal;
use crate::turn::{Ending, OpenTurn, Shown, TurnEnd, TurnInput};

impl Case<'_> {
    pub(super) fn turn(&self, command: &TurnCommand) -> Result<Vec<Event>, Refusal> {
        match command {
            TurnCommand::Begin { text, tokens } => self.begin_turn(text, *tokens),
            TurnCommand::Resume { turn } => {
                self.open_turn(turn)?;
                Ok(vec![Event::TurnResumed { turn: turn.clone() }])
            }
            TurnCommand::Record { turn, inputs, ending } => self.record(turn, inputs, ending.as_ref()),
            TurnCommand::Stop => self.stop(),
            TurnCommand::Compact(compaction) => self.compact(compaction),
            TurnCommand::Show(shown) => self.show(shown),
        }
    }

    fn begin_turn(&self, text: &str, tokens: u32) -> Result<Vec<Event>, Refusal> {
        let session = self.desk.opened()?;
        if session.turn.is_some() {
            return Err(Refusal::conflict("A turn is under way in this session; `/stop` ends it."));
        }
        filled("message", text)?;
        self.policy.limits.check_message(text)?;
        Ok(vec![Event::TurnBegun { turn: TurnId::from(&self.stamp.request), text: text.to_owned(), tokens }])
    }

    fn open_turn(&self, turn: &TurnId) -> Result<&OpenTurn, Refusal> {
        let open = self.desk.opened()?.turn.as_ref();
        open.filter(|open| open.id == *turn).ok_or_else(|| Refusal::wrong_status("This turn has ended."))
    }

    fn record(&self, turn: &TurnId, inputs: &[TurnInput], ending: Option<&Ending>) -> Result<Vec<Event>, Refusal> {
        let mut open = self.open_turn(turn)?.clone();
        let mut events = Vec::with_capacity(inputs.len() + 1);
        for input in inputs {
            match input {
                TurnInput::Replied { .. } if open.ended < open.calls => {
                    return Err(Refusal::conflict("Calls of the last reply have no outcome yet."));
                }
                TurnInput::ToolEnded { call, .. } if *call != open.ended + 1 || *call > open.calls => {
                    return Err(Refusal::conflict(format!("Call {call} is not the one that is to be carried out.")));
                }
                TurnInput::Replied { .. } | TurnInput::ToolEnded { .. } => {}
            }
            open.take_in(input);
            events.push(Event::of_turn(turn, input));
        }
        if let Some(ending) = ending {
            events.push(Event::TurnEnded { turn: turn.clone(), ending: ending.clone() });
        }
        Ok(events)
    }

    fn stop(&self) -> Result<Vec<Event>, Refusal> {
        let open = self.desk.opened()?.turn.as_ref();
        Ok(open.map_or_else(Vec::new, |open| {
            vec![Event::TurnEnded { turn: open.id.clone(), ending: TurnEnd::Stopped.into() }]
        }))
    }

    fn compact(&self, compaction: &Compaction) -> Result<Vec<Event>, Refusal> {
        let session = self.desk.opened()?;
        filled("summary", &compaction.summary)?;
        if compaction.kept_from <= session.history_from || compaction.reads_from() < session.history_from {
            return Err(Refusal::conflict("The conversation was compacted further already."));
        }
        Ok(vec![Event::Compacted(compaction.clone())])
    }

    fn show(&self, shown: &Shown) -> Result<Vec<Event>, Refusal> {
        let session = self.desk.opened()?;
        self.desk.named(&shown.plan)?;
        Ok(if session.shown.as_ref() == Some(shown) { Vec::new() } else { vec![Event::PlanShown(shown.clone())] })
    }
}

impl Event {
    fn of_turn(turn: &TurnId, input: &TurnInput) -> Self {
        let turn = turn.clone();
        match input.clone() {
            TurnInput::Replied { reply, tokens } => Self::ModelReplied { turn, reply, tokens },
            TurnInput::ToolEnded { call, outcome, tokens } => Self::ToolEnded { turn, call, outcome, tokens },
        }
    }
}
